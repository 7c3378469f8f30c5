// SPDX-License-Identifier: Apache-2.0
/* process.c - see process.h. */
#include "process.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/allowance.h"
#include "base/clock.h"
#include "base/memory.h"
#include "base/owner.h"

#define KILL_NS 10000000000ull
enum {
	LINE_MAX_BYTES = 128 << 20, /* OTLP allows 64 MiB for a request; a longer line is dropped */
	SAID_MAX = 4096, PART = 256 * 1024, PIPE_BYTES = 1 << 20,
};

#define OWNER(w, member) ((struct process *)((char *)(w) - offsetof(struct process, member)))

/* ---- output -------------------------------------------------------------- */

static void take_line(struct process *p, const char *text, size_t n)
{
	if (n)
		p->calls.line(p->calls.arg, p, text, n);
}

/* Messages are kept for the status page, and printed after the name of the unit. */
static void take_message(struct process *p, const char *text, size_t n)
{
	n -= n && text[n - 1] == '\r'; /* ssh's own lines end with \r\n */
	if (p->said.len + n > SAID_MAX)
		str_clear(&p->said);
	str_add_lines(&p->said, text, n < SAID_MAX ? n : SAID_MAX);
	str_addc(&p->said, '\n');
	if (p->quiet)
		return;
	struct str line = {};
	str_addf(&line, "%s: ", p->name);
	str_add_lines(&line, text, n);
	fprintf(stderr, "%s\n", line.data);
	str_done(&line);
}

/* Splits bytes into lines; the rest is kept in *kept. skips: until the next newline. */
static void split(struct process *p, struct str *kept, bool *skips, const char *text, size_t n,
	void (*take)(struct process *p, const char *line, size_t n))
{
	for (const char *end; (end = memchr(text, '\n', n)); n -= (size_t)(end + 1 - text), text = end + 1) {
		if (*skips) {
			*skips = false;
			continue;
		}
		if (!kept->len) {
			take(p, text, (size_t)(end - text));
			continue;
		}
		str_addn(kept, text, (size_t)(end - text));
		take(p, kept->data, kept->len);
		str_done(kept);
	}
	if (*skips)
		return;
	if (kept->len + n > LINE_MAX_BYTES) {
		p->dropped++;
		*skips = true;
		str_done(kept);
		return;
	}
	if (n)
		str_addn(kept, text, n);
}

/* Returns false if there is nothing to read now. */
static bool read_some(struct process *p, struct watch *w)
{
	static char part[PART]; /* the loop has one thread */
	ssize_t n = w->fd < 0 ? 0 : read(w->fd, part, sizeof(part));

	if (n > 0 && w == &p->out)
		split(p, &p->line, &p->skips_line, part, (size_t)n, take_line);
	else if (n > 0)
		split(p, &p->message, &p->skips_message, part, (size_t)n, take_message);
	if (n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR)))
		return n > 0;
	if (w->fd >= 0) {
		watch_remove(p->loop, w);
		close(w->fd);
		w->fd = -1;
	}
	return false;
}

static void on_out(struct watch *w, uint32_t events)
{
	read_some(OWNER(w, out), w);
}

static void on_err(struct watch *w, uint32_t events)
{
	read_some(OWNER(w, err), w);
}

static void on_end(struct watch *w, uint32_t events)
{
	struct process *p = OWNER(w, end);

	if (!p->pid || waitpid(p->pid, &p->status, WNOHANG) != p->pid)
		return;
	watch_remove(p->loop, w); /* it stays readable */
	closep(&w->fd);
	w->fd = -1;
	while (read_some(p, &p->out))
		;
	while (read_some(p, &p->err))
		;
	if (p->message.len)
		take_message(p, p->message.data, p->message.len);
	if (p->calls.ending)
		p->calls.ending(p->calls.arg, p);
	p->pid = 0;
	p->calls.ended(p->calls.arg, p);
}

/* ---- the start ----------------------------------------------------------- */

/* Runs in the child, which may only make system calls. */
_Noreturn static void become(const struct process_plan *plan, int out, int err, pid_t parent)
{
	static const char too_long[] = "the script is too long: the kernel takes words of up to 128 KiB\n";
	static const char other[] = "the program cannot be executed\n";
	const char *why;
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
	setpgid(0, 0); /* Ctrl-C is for the agent, which ends its units */
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent)
		_exit(1);
	if (plan->input > 0)
		dup2(plan->input, STDIN_FILENO);
	dup2(out, STDOUT_FILENO);
	dup2(err, STDERR_FILENO);
	if (plan->notify == NOTIFY_NUMBER)
		fcntl(NOTIFY_NUMBER, F_SETFD, 0);
	else if (plan->notify > 0)
		dup2(plan->notify, NOTIFY_NUMBER);
	if (plan->memory > 0)
		dup2(plan->memory, ALLOWANCE_NUMBER);
	execve(plan->program ? plan->program : "/proc/self/exe", plan->argv, plan->environment);
	why = errno == E2BIG ? too_long : other;
	_exit(write(STDERR_FILENO, why, strlen(why)) < 0 ? 126 : 127);
}

static void watch_file(struct process *p, struct watch *w, int fd, void (*ready)(struct watch *w, uint32_t events))
{
	*w = (struct watch){fd, ready};
	if (fd >= 0)
		fcntl(fd, F_SETFL, O_NONBLOCK);
	if (fd >= 0 && watch_add(p->loop, w, EPOLLIN)) {
		close(fd);
		w->fd = -1;
	}
}

int process_start(struct watches *l, const struct process_plan *plan, struct process **ret)
{
	int out[2] = {-1, -1}, err[2] = {-1, -1}, r = 0;
	pid_t parent = getpid(), pid = -1;
	struct process *p;

	if (pipe2(out, O_CLOEXEC) || pipe2(err, O_CLOEXEC))
		r = -errno;
	if (!r)
		pid = fork();
	if (!r && pid < 0)
		r = -errno;
	if (!pid)
		become(plan, out[1], err[1], parent);
	closep(&out[1]);
	closep(&err[1]);
	if (r) {
		closep(&out[0]);
		closep(&err[0]);
		return r;
	}
	p = calloc(1, sizeof(*p));
	if (!p)
		out_of_memory();
	*p = (struct process){.loop = l, .calls = plan->calls, .name = plan->name, .number = plan->number, .pid = pid,
		.quiet = plan->quiet,
		.started = clock_ns(CLOCK_MONOTONIC)};
	p->heard = p->started;
	fcntl(out[0], F_SETPIPE_SZ, PIPE_BYTES);
	watch_file(p, &p->out, out[0], on_out);
	watch_file(p, &p->err, err[0], on_err);
	watch_file(p, &p->end, (int)syscall(SYS_pidfd_open, pid, 0), on_end);
	*ret = p;
	return 0;
}

/* ---- its state ----------------------------------------------------------- */

static uint64_t number_of(const char *message, const char *name)
{
	const char *at = strstr(message, name);

	return at ? strtoull(at + strlen(name), NULL, 10) : 0;
}

static void raise_to(uint64_t *to, uint64_t value)
{
	*to = value > *to ? value : *to;
}

void process_hear(struct process *p, const char *message)
{
	p->heard = clock_ns(CLOCK_MONOTONIC);
	raise_to(&p->bpf_ns, number_of(message, "X_STRATA_BPF_NS="));
	raise_to(&p->lost, number_of(message, "X_STRATA_LOST="));
	raise_to(&p->incomplete, number_of(message, "X_STRATA_INCOMPLETE="));
	if (strstr(message, "X_STRATA_TABLES=")) {
		p->tables = number_of(message, "X_STRATA_TABLES=");
		p->refused = number_of(message, "X_STRATA_REFUSED=");
	}
	if (p->ready || !strstr(message, "READY=1"))
		return;
	p->ready = true;
	p->ready_at = p->heard;
	p->calls.ready(p->calls.arg, p);
}

void process_measure(struct process *p)
{
	struct timespec t;
	clockid_t clock;

	if (p->pid && !clock_getcpuclockid(p->pid, &clock) && !clock_gettime(clock, &t))
		p->user_ns = (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
	if (p->pid)
		measure(&p->memory, p->pid, clock_ns(CLOCK_MONOTONIC));
}

uint64_t process_memory(const struct process *p)
{
	return p->memory.bytes + p->tables;
}

void process_kill(struct process *p)
{
	if (p->pid)
		kill(p->pid, SIGKILL);
}

void process_stop(struct process *p)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC);

	if (p->stop_at && now - p->stop_at > KILL_NS) {
		p->killed = true;
		process_kill(p);
	} else if (!p->stop_at && p->pid) {
		p->stop_at = now;
		kill(p->pid, SIGTERM);
	}
}

static void drop(struct process *p, struct watch *w)
{
	if (w->fd < 0)
		return;
	watch_remove(p->loop, w);
	close(w->fd);
}

void process_free(struct process *p)
{
	if (!p)
		return;
	process_kill(p);
	if (p->pid)
		waitpid(p->pid, NULL, 0);
	drop(p, &p->out);
	drop(p, &p->err);
	drop(p, &p->end);
	str_done(&p->line);
	str_done(&p->message);
	str_done(&p->said);
	free(p);
}

void process_end_text(const struct process *p, struct str *out)
{
	if (WIFSIGNALED(p->status))
		str_addf(out, "signal %d (%s)", WTERMSIG(p->status), strsignal(WTERMSIG(p->status)));
	else
		str_addf(out, "status %d", WEXITSTATUS(p->status));
}
