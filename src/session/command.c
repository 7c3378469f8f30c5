// SPDX-License-Identifier: Apache-2.0
/* command.c - runs commands for system(), reads files for cat().
 *
 * A command is a process group, so that its children can be ended with it. It ends when its shell ends, even
 * if another process still has the pipe open: strata does not wait for `daemon &`. */
#include "command.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/files.h"
#include "base/log.h"
#include "base/owner.h"
#include "base/priority.h"
#include "base/stop.h"
#include "base/str.h"
#include "base/why.h"

enum {
	OUTPUT_MAX = 16 << 20, /* bytes of a command's output that are kept */
	TERM_MS = 1000,        /* time from a signal to strata until the command gets SIGTERM */
	KILL_MS = 1500,        /* the same until it gets SIGKILL */
};

struct command {
	pid_t pid;   /* also its group's id */
	int process; /* pidfd */
	int output;  /* read end, non-blocking; -1: all was read */
	uint64_t started;
	bool cut;    /* output beyond OUTPUT_MAX was dropped */
	int signal;  /* the last signal sent to it */
};

static void run_child(const char *command, int output)
{
	int nothing = open("/dev/null", O_RDONLY);
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
	files_restore();
	priority_normal();
	setpgid(0, 0);
	dup2(nothing, STDIN_FILENO);
	dup2(output, STDOUT_FILENO);
	dup2(output, STDERR_FILENO);
	execl("/bin/sh", "sh", "-c", command, (char *)NULL);
	_exit(127);
}

static int start(struct command *c, const char *command)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC))
		return -errno;
	c->pid = fork();
	if (!c->pid)
		run_child(command, ends[1]);
	close(ends[1]);
	c->output = ends[0];
	if (c->pid < 0)
		return -errno;
	setpgid(c->pid, c->pid); /* parent and child both call it: either may be first */
	fcntl(c->output, F_SETFL, O_NONBLOCK);
	c->started = clock_ns(CLOCK_MONOTONIC);
	c->process = syscall(SYS_pidfd_open, c->pid, 0);
	return c->process < 0 ? -errno : 0;
}

static void keep(struct command *c, const char *text, size_t n, struct str *out)
{
	size_t left = out->len < OUTPUT_MAX ? OUTPUT_MAX - out->len : 0;

	c->cut |= n > left;
	str_addn(out, text, n < left ? n : left);
}

/* Reads the pipe's content. */
static void read_output(struct command *c, struct str *out)
{
	char buf[4096];
	ssize_t n = 0;

	while (c->output >= 0 && ((n = read(c->output, buf, sizeof(buf))) > 0 || (n < 0 && errno == EINTR)))
		if (n > 0)
			keep(c, buf, (size_t)n, out);
	if (c->output >= 0 && n == 0) {
		close(c->output);
		c->output = -1;
	}
}

/* Returns the milliseconds since strata was asked to end, while the command ran. */
static unsigned overdue(const struct command *c)
{
	uint64_t runs = (clock_ns(CLOCK_MONOTONIC) - c->started) / 1000000;

	return runs < stop_age() ? (unsigned)runs : stop_age();
}

static void send(struct command *c, int sig)
{
	if (c->signal != sig)
		kill(-c->pid, sig);
	c->signal = sig;
}

/* Reads until the shell has ended. After a signal, SIGALRM interrupts poll(). */
static void wait_for(struct command *c, struct str *out)
{
	for (;;) {
		struct pollfd fds[] = {{.fd = c->process, .events = POLLIN}, {.fd = c->output, .events = POLLIN}};
		int n = poll(fds, 2, stop_asked() ? 50 : -1);

		read_output(c, out);
		if (n > 0 && fds[0].revents)
			return;
		if (overdue(c) >= KILL_MS)
			send(c, SIGKILL);
		else if (overdue(c) >= TERM_MS)
			send(c, SIGTERM);
	}
}

static void report(const struct command *c, int status, const char *command)
{
	if (c->cut)
		log_warn("system() keeps %d MiB of a command's output, not more: %s", OUTPUT_MAX >> 20, command);
	if (c->signal)
		log_error("system(): the command was ended with strata: %s", command);
	else if (WIFSIGNALED(status))
		log_error("system(): the command was ended by signal %d (%s): %s", WTERMSIG(status),
			strsignal(WTERMSIG(status)), command);
	else if (WEXITSTATUS(status))
		log_error("system(): the command exited with code %d: %s", WEXITSTATUS(status), command);
}

void command_run(const char *command, struct str *out)
{
	struct command c = {.process = -1, .output = -1};
	int status = 0, r = start(&c, command);

	if (r)
		log_error("system() cannot run a command: %s", why_errno(r));
	else
		wait_for(&c, out);
	if (c.pid > 0)
		while (waitpid(c.pid, &status, 0) < 0 && errno == EINTR)
			;
	if (!r)
		report(&c, status, command);
	closep(&c.output);
	closep(&c.process);
}

int file_start(const char *path, size_t max, struct str *out)
{
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC), r = 0;
	char buf[4096];

	if (fd < 0)
		return -errno;
	while (max) {
		ssize_t n = read(fd, buf, max < sizeof(buf) ? max : sizeof(buf));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno != EAGAIN)
			r = -errno;
		if (n <= 0)
			break;
		str_addn(out, buf, (size_t)n);
		max -= (size_t)n;
	}
	close(fd);
	return r;
}
