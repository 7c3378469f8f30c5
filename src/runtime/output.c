// SPDX-License-Identifier: Apache-2.0
/* output.c - a FILE whose writes are checked: stdio itself would forget what it could
 * not write.
 *
 *     position:  0 ........ written ........ taken ........ taken + pending
 *                           (by the kernel)  (from stdio)   (in stdio's buffer)
 *
 * `ends` has the positions above `taken` where records end: a record is lost when its end
 * was taken, but not written. */
#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/log.h"
#include "base/owner.h"
#include "base/vec.h"
#include "runtime/stop.h"
#include "runtime/why.h"

/* After a signal: as long as records are printed; as many are even where naming the frames of
 * new stacks takes longer, up to NAMING_MS; how long nothing may be read then. */
enum { RECORDS_MS = 200, RECORDS_MIN = 200, NAMING_MS = 2000, STALLED_MS = 150, POLL_MS = 50, BUFFER = 64 * 1024 };

struct output {
	const char *path;
	int fd;
	FILE *file;
	uint64_t taken;
	VEC(uint64_t) ends;
	unsigned long lost; /* records */
	bool cut;           /* the last byte written is within a line, the rest was given up */
	bool last;          /* see output_last() */
	bool slow;          /* records are not written any more: they would block */
	unsigned after;     /* records printed since a signal */
	unsigned moved_at;  /* stop_age() when something was written */
	int error;          /* -errno of the first write that failed; -ETIME: given up */
	char buffer[BUFFER];
};

bool output_has_time(const struct output *o)
{
	return o->last || stop_age() < RECORDS_MS ||
		(!o->slow && o->after < RECORDS_MIN && stop_age() < NAMING_MS);
}

/* Nothing is read; or too slowly for many records. */
static bool is_given_up(const struct output *o)
{
	unsigned age = stop_age();
	bool stalled = age - o->moved_at >= STALLED_MS;

	if (o->last)
		return stalled;
	return age >= RECORDS_MS && (stalled || (o->after >= RECORDS_MIN && age >= 2 * RECORDS_MS));
}

/* After a write that failed: whether to try again. */
static bool may_retry(struct output *o)
{
	struct pollfd p = {.fd = o->fd, .events = POLLOUT};

	if (errno != EINTR && errno != EAGAIN) {
		o->error = -errno;
		return false;
	}
	if (stop_asked() && is_given_up(o)) {
		o->slow = true;
		if (o->last)
			o->error = -ETIME;
		return false;
	}
	if (errno == EAGAIN) /* whoever shares the file made it so */
		poll(&p, 1, POLL_MS);
	return true;
}

/* The bytes that the kernel took. */
static size_t write_all(struct output *o, const char *buf, size_t n)
{
	size_t done = 0;

	if (o->error || (o->slow && !o->last))
		return 0;
	while (done < n) {
		ssize_t r = write(o->fd, buf + done, n - done);

		if (r > 0) {
			done += r;
			o->moved_at = stop_age();
		} else if (r == 0 || !may_retry(o)) {
			break;
		}
	}
	return done;
}

/* All is taken: stdio must not keep what is given up. */
static ssize_t take(void *cookie, const char *buf, size_t n)
{
	struct output *o = cookie;
	size_t done = write_all(o, buf, n), kept = 0;

	for (size_t i = 0; i < o->ends.len; i++)
		if (o->ends.data[i] > o->taken + n)
			o->ends.data[kept++] = o->ends.data[i];
		else if (o->ends.data[i] > o->taken + done)
			o->lost++;
	o->ends.len = kept;
	if (done)
		o->cut = done < n && buf[done - 1] != '\n';
	o->taken += n;
	return n;
}

int output_open(const char *path, struct output **ret)
{
	struct output *o = calloc(1, sizeof(*o));

	if (!o)
		return -ENOMEM;
	o->path = path;
	o->fd = path ? open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666) : STDOUT_FILENO;
	if (o->fd < 0) {
		int r = -errno;

		free(o);
		return r;
	}
	o->file = fopencookie(o, "w", (cookie_io_functions_t){.write = take});
	if (!o->file) {
		free(o);
		return -ENOMEM;
	}
	setvbuf(o->file, o->buffer, _IOFBF, BUFFER);
	*ret = o;
	return 0;
}

FILE *output_file(struct output *o)
{
	return o->file;
}

int output_fd(const struct output *o)
{
	return o->fd;
}

void output_record(struct output *o, unsigned weight)
{
	uint64_t end = o->taken + __fpending(o->file);

	o->after += stop_asked() ? weight : 0;
	if (end > o->taken)
		vec_push(&o->ends, end);
}

void output_skip(struct output *o)
{
	o->lost++;
}

bool output_flush(struct output *o)
{
	fflush(o->file);
	return !o->error;
}

bool output_has_reader(const struct output *o)
{
	return o->error != -EPIPE;
}

void output_last(struct output *o)
{
	fflush(o->file);
	o->last = true;
	o->moved_at = stop_age();
	if (o->cut)
		fputc('\n', o->file);
}

static int report(const struct output *o)
{
	const char *name = o->path ? o->path : "the standard output";

	if (o->error == -EPIPE)
		return 128 + SIGPIPE;
	if (o->error && o->error != -ETIME)
		log_error("cannot write to %s: %s", name, why_errno(o->error));
	else if (o->error)
		log_error("gave up writing to %s: nothing reads it", name);
	if (o->lost)
		log_warn("%lu record%s of the script %s not written%s", o->lost, o->lost == 1 ? "" : "s",
			o->lost == 1 ? "was" : "were", o->error ? "" : o->slow ? ": the output is too slow" : ": there were too many to wait for");
	if (o->error)
		log_warn("what the script printed last, its maps too, is not complete");
	return o->error || o->lost ? 1 : 0;
}

int output_close(struct output *o)
{
	int code;

	if (!o)
		return 0;
	fclose(o->file);
	if (o->path && close(o->fd) && !o->error)
		o->error = -errno;
	code = report(o);
	vec_done(&o->ends);
	free(o);
	return code;
}
