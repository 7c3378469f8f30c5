// SPDX-License-Identifier: Apache-2.0
/* child.c - the command of -c.
 *
 * It is forked before the script is compiled, so that its pid is known, and waits for a byte on a pipe until
 * the probes are attached. */
#include "child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

#include "base/files.h"
#include "base/log.h"
#include "base/owner.h"
#include "base/stop.h"
#include "base/str.h"
#include "base/vec.h"
#include "base/why.h"
#include "target/target.h"

enum { TERM_MS = 1000, KILL_MS = 1000 }; /* time to end after each signal */

/* ---- words -------------------------------------------------------------- */

/* Reads one word into `word`. Returns its end, or NULL at an open quote. */
static const char *read_word(const char *p, struct str *word)
{
	char quote = 0;

	for (; *p && (quote || !strchr(" \t\n", *p)); p++) {
		if (quote ? *p == quote : (*p == '\'' || *p == '"')) {
			quote = quote ? 0 : *p;
		} else if (*p == '\\' && quote != '\'' && p[1]) {
			str_addc(word, *++p);
		} else {
			str_addc(word, *p);
		}
	}
	return quote ? NULL : p;
}

static char **split(const char *command)
{
	VEC(char *) words = {};
	const char *p = command;

	while (p && *(p += strspn(p, " \t\n"))) {
		struct str word = {};

		p = read_word(p, &word);
		vec_push(&words, strdup(str_text(&word)));
		str_done(&word);
	}
	vec_push(&words, NULL);
	if (p && words.len > 1)
		return words.data;
	log_error(p ? "-c needs a command" : "a quote is not closed in the command of -c");
	return NULL;
}

/* ---- start -------------------------------------------------------------- */

static void run_child(struct child *c, int go, int result)
{
	char byte;
	sigset_t none;
	int r;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	files_restore();
	prctl(PR_SET_PDEATHSIG, SIGTERM); /* it ends with strata */
	while ((r = read(go, &byte, 1)) < 0 && errno == EINTR)
		;
	if (r <= 0) /* strata has ended */
		_exit(126);
	execvp(c->argv[0], c->argv);
	r = errno;
	if (write(result, &r, sizeof(r)) < 0)
		_exit(126);
	_exit(127);
}

int child_start(struct target *t, const char *command, struct child *ret)
{
	int go[2], result[2];

	memset(ret, 0, sizeof(*ret));
	ret->argv = split(command);
	if (!ret->argv)
		return -EINVAL;
	if (!strchr(ret->argv[0], '/') && !target_which(t, ret->argv[0])) {
		log_error("command not found: %s", ret->argv[0]);
		return -ENOENT;
	}
	ret->pid = pipe2(go, O_CLOEXEC) || pipe2(result, O_CLOEXEC) ? -1 : fork();
	if (ret->pid < 0) {
		int r = -errno;

		log_error("cannot start %s: %s", ret->argv[0], why_errno(r));
		return r;
	}
	if (!ret->pid) {
		close(go[1]);
		close(result[0]);
		run_child(ret, go[0], result[1]);
	}
	close(go[0]);
	close(result[1]);
	ret->go = go[1];
	ret->result = result[0];
	return 0;
}

static void let_go(struct child *c)
{
	if (c->go >= 0 && write(c->go, "", 1) < 0)
		log_info("%s has ended before it began: %s", c->argv[0], why_errno(-errno));
	closep(&c->go);
	c->go = -1;
}

static int exec_result(struct child *c)
{
	int r = 0;

	if (read(c->result, &r, sizeof(r)) != sizeof(r))
		r = 0;
	close(c->result);
	c->result = -1;
	if (r)
		log_error("cannot run %s: %s", c->argv[0], why_errno(-r));
	return -r;
}

/* ---- start through scripts ----------------------------------------------- */

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static bool argv0_is(pid_t pid, const char *name)
{
	_cleanup_(fclosep) FILE *f = NULL;
	char path[64], argv0[4096];
	size_t n;

	snprintf(path, sizeof(path), "/proc/%d/cmdline", pid);
	f = fopen(path, "re");
	if (!f)
		return false;
	n = fread(argv0, 1, sizeof(argv0) - 1, f);
	argv0[n] = 0;
	return !strcmp(base_name(argv0), name);
}

/* Returns the program's path if its argv[0] or its file is called name: /usr/bin/python3.11
 * may have argv[0] python3. */
static char *exec_matches(pid_t pid, const char *name)
{
	char link[64], path[4096];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/%d/exe", pid);
	n = readlink(link, path, sizeof(path) - 1);
	if (n < 0)
		return NULL;
	path[n] = 0;
	if (argv0_is(pid, name) || !strcmp(base_name(path), name))
		return strdup(path);
	return NULL;
}

/* Passes the child's signals on, and checks each of its execs. */
static char *follow_execs(struct child *c, const char *name)
{
	int status, sig = 0;

	for (;;) {
		if (ptrace(PTRACE_CONT, c->pid, NULL, (void *)(long)sig))
			return NULL;
		if (waitpid(c->pid, &status, 0) < 0 || !WIFSTOPPED(status)) {
			c->pid = 0;
			return NULL;
		}
		sig = 0;
		if (status >> 8 == (SIGTRAP | PTRACE_EVENT_EXEC << 8)) {
			char *path = exec_matches(c->pid, name);

			if (path)
				return path;
		} else {
			sig = WSTOPSIG(status);
		}
	}
}

char *child_run_to_exec(struct child *c, const char *name)
{
	int status;
	char *path;

	if (!c->pid || c->traced)
		return NULL;
	if (ptrace(PTRACE_SEIZE, c->pid, NULL, (void *)(long)PTRACE_O_TRACEEXEC)) {
		log_warn("cannot follow %s through its scripts: %s", c->argv[0],
			why_errno(-errno));
		return NULL;
	}
	ptrace(PTRACE_INTERRUPT, c->pid, NULL, NULL);
	if (waitpid(c->pid, &status, 0) < 0)
		return NULL;
	let_go(c);
	path = follow_execs(c, name);
	c->traced = path != NULL;
	if (!path)
		log_error("%s ended before it ran a program called %s", c->argv[0], name);
	return path;
}

/* ---- run, stop ---------------------------------------------------------- */

int child_release(struct child *c)
{
	if (!c->pid)
		return 0;
	let_go(c);
	if (c->traced)
		ptrace(PTRACE_DETACH, c->pid, NULL, NULL);
	c->traced = false;
	return exec_result(c);
}

/* Waits for its end for a limited time, because it may ignore signals, or hang in the kernel. */
static bool ended_within(pid_t pid, unsigned ms, int *ret_status)
{
	for (unsigned i = 0; i <= ms / 2; i++) {
		pid_t r = waitpid(pid, ret_status, WNOHANG);

		if (r == pid || (r < 0 && errno == ECHILD))
			return true;
		usleep(2000);
	}
	return false;
}

/* Ends it by SIGTERM, or else by SIGKILL. */
static void end_process(struct child *c, int *ret_status)
{
	kill(c->pid, SIGTERM);
	kill(c->pid, SIGCONT);
	if (c->traced)
		ptrace(PTRACE_DETACH, c->pid, NULL, (void *)SIGTERM);
	if (ended_within(c->pid, TERM_MS, ret_status))
		return;
	log_warn("%s does not end on SIGTERM: killing it", c->argv[0]);
	kill(c->pid, SIGKILL);
	if (!ended_within(c->pid, KILL_MS, ret_status))
		log_warn("%s, process %d, does not end on SIGKILL either: it hangs in the kernel",
			c->argv[0], c->pid);
}

/* The command's status is not strata's, as in bpftrace. */
static void say_status(const struct child *c, int status)
{
	if (WIFSIGNALED(status))
		log_warn("%s was ended by signal %d (%s)", c->argv[0], WTERMSIG(status),
			strsignal(WTERMSIG(status)));
	else if (WIFEXITED(status) && WEXITSTATUS(status))
		log_warn("%s ended with status %d", c->argv[0], WEXITSTATUS(status));
}

void child_stop(struct child *c)
{
	int status = 0;

	if (c->pid > 0 && waitpid(c->pid, &status, WNOHANG) == 0)
		end_process(c, &status);
	else if (c->pid > 0)
		say_status(c, status);
	stop_kills(0);
	c->pid = 0;
	for (char **p = c->argv; p && *p; p++)
		free(*p);
	free(c->argv);
	c->argv = NULL;
}
