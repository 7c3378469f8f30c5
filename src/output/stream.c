// SPDX-License-Identifier: Apache-2.0
/* stream.c - a FILE whose writes are checked: stdio itself drops text that it could not write.
 *
 *     position:  0 ........ written ........ taken ........ taken + pending
 *                           (by the kernel)  (from stdio)   (in stdio's buffer)
 *
 * `ends` has the positions above `taken` at which records end: a record is lost if its end
 * was taken, but not written. */
#include "stream.h"

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
#include "base/stop.h"
#include "base/vec.h"
#include "base/why.h"

/* After a signal, records are printed for RECORDS_MS; at least RECORDS_MIN of them if naming new stacks takes
 * longer, for at most NAMING_MS. Output is given up if its reader reads nothing for STALLED_MS. */
enum {
	RECORDS_MS = 200, RECORDS_MIN = 200, NAMING_MS = 2000, STALLED_MS = 150, POLL_MS = 50,
	BUFFER = 64 * 1024
};

struct stream {
	const char *path;
	int fd;
	size_t (*write)(void *arg, const char *text, size_t size); /* used instead of fd; or NULL */
	void *arg;
	FILE *file;
	uint64_t taken;
	VEC(uint64_t) ends;
	unsigned long lost; /* number of records */
	bool cut;           /* the rest of a line was given up after its last written byte */
	bool last;          /* see stream_last() */
	bool buffers_all;   /* see stream_buffer_all() */
	bool slow;          /* records would block, so they are no longer written */
	unsigned after;     /* number of records printed since a signal */
	unsigned moved_at;  /* stop_age() at the last write */
	int error;          /* -errno of the first write that failed; -ETIME: given up */
	char buffer[BUFFER];
};

bool stream_has_time(const struct stream *s)
{
	return s->last || stop_age() < RECORDS_MS ||
		(!s->slow && s->after < RECORDS_MIN && stop_age() < NAMING_MS);
}

/* The reader reads nothing, or too slowly for many records. */
static bool is_given_up(const struct stream *s)
{
	unsigned age = stop_age();
	bool stalled = age - s->moved_at >= STALLED_MS;

	if (s->last)
		return stalled;
	return age >= RECORDS_MS && (stalled || (s->after >= RECORDS_MIN && age >= 2 * RECORDS_MS));
}

/* Returns whether to try again after a write that failed. */
static bool may_retry(struct stream *s)
{
	struct pollfd p = {.fd = s->fd, .events = POLLOUT};

	if (errno != EINTR && errno != EAGAIN) {
		s->error = -errno;
		return false;
	}
	if (stop_asked() && is_given_up(s)) {
		s->slow = true;
		if (s->last)
			s->error = -ETIME;
		return false;
	}
	if (errno == EAGAIN) /* another user of the file made it non-blocking */
		poll(&p, 1, POLL_MS);
	return true;
}

/* Returns the number of bytes that the kernel took. */
static size_t write_all(struct stream *s, const char *buf, size_t n)
{
	size_t done = 0;

	if (s->error || (s->slow && !s->last))
		return 0;
	while (done < n) {
		ssize_t r = s->write ? (ssize_t)s->write(s->arg, buf + done, n - done) :
			write(s->fd, buf + done, n - done);

		if (r > 0) {
			done += r;
			s->moved_at = stop_age();
		} else if (r == 0 || !may_retry(s)) {
			break;
		}
	}
	return done;
}

/* Takes everything, because stdio must not keep text that was given up. */
static ssize_t take(void *cookie, const char *buf, size_t n)
{
	struct stream *s = cookie;
	size_t done = write_all(s, buf, n), kept = 0;

	for (size_t i = 0; i < s->ends.len; i++)
		if (s->ends.data[i] > s->taken + n)
			s->ends.data[kept++] = s->ends.data[i];
		else if (s->ends.data[i] > s->taken + done)
			s->lost++;
	s->ends.len = kept;
	if (done)
		s->cut = done < n && buf[done - 1] != '\n';
	s->taken += n;
	return n;
}

static int open_file(struct stream *s, struct stream **ret)
{
	s->file = fopencookie(s, "w", (cookie_io_functions_t){.write = take});
	if (!s->file) {
		free(s);
		return -ENOMEM;
	}
	setvbuf(s->file, s->buffer, _IOFBF, BUFFER);
	*ret = s;
	return 0;
}

int stream_open(const char *path, struct stream **ret)
{
	struct stream *s = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	s->path = path;
	s->fd = path ? open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666) : STDOUT_FILENO;
	if (s->fd < 0) {
		int r = -errno;

		free(s);
		return r;
	}
	return open_file(s, ret);
}

int stream_open_to(size_t (*write)(void *arg, const char *text, size_t size), void *arg, struct stream **ret)
{
	struct stream *s = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	s->fd = STDOUT_FILENO;
	s->write = write;
	s->arg = arg;
	return open_file(s, ret);
}

FILE *stream_file(struct stream *s)
{
	return s->file;
}

int stream_fd(const struct stream *s)
{
	return s->fd;
}

void stream_record(struct stream *s, unsigned weight)
{
	uint64_t end = s->taken + __fpending(s->file);

	s->after += stop_asked() ? weight : 0;
	if (end > s->taken)
		vec_push(&s->ends, end);
}

void stream_skip(struct stream *s)
{
	s->lost++;
}

void stream_buffer_all(struct stream *s)
{
	s->buffers_all = true;
}

bool stream_flush(struct stream *s)
{
	if (!s->buffers_all || s->last)
		fflush(s->file);
	return !s->error;
}

bool stream_has_reader(const struct stream *s)
{
	return s->error != -EPIPE;
}

void stream_last(struct stream *s)
{
	fflush(s->file);
	s->last = true;
	s->moved_at = stop_age();
	if (s->cut)
		fputc('\n', s->file);
}

static int report(const struct stream *s)
{
	const char *name = s->path ? s->path : "the standard output";

	if (s->error == -EPIPE)
		return 128 + SIGPIPE;
	if (s->error && s->error != -ETIME)
		log_error("cannot write to %s: %s", name, why_write(s->error));
	else if (s->error)
		log_error("gave up writing to %s: nothing reads it", name);
	if (s->lost)
		log_warn("%lu record%s of the script %s not written%s", s->lost, s->lost == 1 ? "" : "s",
			s->lost == 1 ? "was" : "were", s->error ? "" : s->slow ? ": the output is too slow" :
			": there were too many to wait for");
	if (s->error)
		log_warn("what the script printed last, its maps too, is not complete");
	return s->error || s->lost ? 1 : 0;
}

int stream_close(struct stream *s)
{
	int code;

	if (!s)
		return 0;
	fclose(s->file);
	if (s->path && close(s->fd) && !s->error)
		s->error = -errno;
	code = report(s);
	vec_done(&s->ends);
	free(s);
	return code;
}
