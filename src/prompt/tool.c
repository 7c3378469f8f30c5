// SPDX-License-Identifier: Apache-2.0
/* tool.c - runs a tool from the prompt, `cpu -p 1234`, as a command of its own. The scripts of the prompt go on; their
 * output comes when the tool has ended. */
#include <ctype.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <wordexp.h>

#include "base/log.h"
#include "base/vec.h"
#include "base/why.h"
#include "cli/tools.h"
#include "prompt/priv.h"
#include "session/session.h"

enum { NAME_BYTES = 32, POLL_MS = 100 };

/* Returns whether arguments follow, not the rest of an expression as in `cpu - 1`. */
static bool are_arguments(const char *rest)
{
	rest += strspn(rest, " \t\n");
	return !*rest || isalnum((unsigned char)*rest) || strchr("/.~\"'", *rest) ||
		(*rest == '-' && !isspace((unsigned char)rest[1]));
}

/* Waits for the tool, and reads events meanwhile. */
static void wait_for(struct prompt *p, pid_t pid)
{
	struct pollfd fd = {.fd = session_fd(p->session), .events = POLLIN};
	bool reads = true;

	while (!waitpid(pid, NULL, WNOHANG)) {
		poll(&fd, reads, POLL_MS);
		reads = reads && session_poll(p->session, 0);
	}
}

static void run(struct prompt *p, char **argv)
{
	struct sigaction ignored = {.sa_handler = SIG_IGN}, before;
	pid_t pid;

	fflush(NULL);
	sigaction(SIGINT, &ignored, &before); /* Ctrl-C is for the tool */
	editor_hold(p->editor, true);
	pid = fork();
	if (!pid) {
		signal(SIGINT, SIG_DFL);
		execv("/proc/self/exe", argv);
		_exit(127);
	}
	if (pid < 0)
		log_error("cannot run %s: %s", argv[1], why_errno(-errno));
	else
		wait_for(p, pid);
	editor_hold(p->editor, false);
	sigaction(SIGINT, &before, NULL);
}

bool prompt_tool(struct prompt *p, const char *text)
{
	size_t n = strcspn(text, " \t\n");
	char name[NAME_BYTES] = "", pid[16];
	VEC(char *) argv = {};
	wordexp_t words = {};

	if (n >= sizeof(name))
		return false;
	memcpy(name, text, n);
	if (!tool_by_name(name) || !are_arguments(text + n))
		return false;
	if (wordexp(text + n, &words, WRDE_NOCMD)) {
		log_error("%s: the arguments cannot be read", name);
		log_hint("characters such as | & ; < > ( ) { } stand within quotes");
		return true;
	}
	vec_push(&argv, (char *)"strata");
	vec_push(&argv, name);
	snprintf(pid, sizeof(pid), "-p%d", p->opt.session.pid);
	if (p->opt.session.pid > 0) /* as the prompt's scripts */
		vec_push(&argv, pid);
	for (size_t i = 0; i < words.we_wordc; i++)
		vec_push(&argv, words.we_wordv[i]);
	vec_push(&argv, NULL);
	run(p, argv.data);
	vec_done(&argv);
	wordfree(&words);
	return true;
}
