// SPDX-License-Identifier: Apache-2.0
/* child.c - starts a program built from chain.c and reads the stack that it prints. */
#include "child.h"

#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static int tests, failed;

void ok(int good, const char *program, const char *what)
{
	const char *slash = strrchr(program, '/');

	tests++;
	failed += !good;
	printf("%sok %d - %s %s\n", good ? "" : "not ", tests, slash ? slash + 1 : program, what);
	fflush(stdout);
}

int plan(void)
{
	printf("1..%d\n", tests);
	return failed != 0;
}

void stay_on_cpu(void)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	sched_setaffinity(0, sizeof(one), &one);
}

static void read_expected(struct child *c, int fd)
{
	FILE *f = fdopen(fd, "r");
	char line[256];

	while (fgets(line, sizeof(line), f) && strcmp(line, "ready\n") != 0) {
		line[strcspn(line, "\n")] = '\0';
		c->expected = reallocarray(c->expected, c->n + 1, sizeof(char *));
		c->expected[c->n++] = strdup(line);
	}
	fclose(f);
}

struct child child_start(const char *program, const char *depth, const char *mode)
{
	struct child c = {};
	int fds[2];

	if (pipe(fds) < 0)
		abort();
	c.pid = fork();
	if (!c.pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		dup2(fds[1], 1);
		execl(program, program, depth, mode, NULL);
		_exit(127);
	}
	close(fds[1]);
	read_expected(&c, fds[0]);
	return c;
}

void child_finish(struct child *c)
{
	kill(c->pid, SIGKILL);
	waitpid(c->pid, NULL, __WALL);
	for (size_t i = 0; i < c->n; i++)
		free(c->expected[i]);
	free(c->expected);
}

void show_frames(struct test_process *p, const struct host_stack *s, size_t from)
{
	char name[256];

	for (size_t i = from > 2 ? from - 2 : 0; i < s->nr && i < from + 6; i++) {
		test_frame_name(p, s->frames[i], name, sizeof(name));
		printf("#   %zu %012llx %s\n", i, (unsigned long long)s->frames[i], name);
	}
	printf("#   %u frames, end %d\n", s->nr, s->end);
}

static size_t matched(struct test_process *p, const struct child *c, const struct host_stack *s)
{
	size_t k = 0;
	int any = 1;
	char name[256];

	for (size_t i = 0; i < s->nr && k < c->n; i++) {
		if (!strcmp(c->expected[k], "*")) {
			any = 1;
			k++;
		}
		test_frame_name(p, s->frames[i], name, sizeof(name));
		if (!strcmp(name, c->expected[k])) {
			k++;
			any = 0;
		} else if (!any) {
			printf("# frame %zu is %s, not %s\n", i, name, c->expected[k]);
			show_frames(p, s, i);
			return k;
		}
	}
	return k;
}

int child_agrees(struct test_process *p, const struct child *c, const struct host_stack *s)
{
	char last[256] = "";

	if (s->nr)
		test_frame_name(p, s->frames[s->nr - 1], last, sizeof(last));
	if (s->end != UNWIND_COMPLETE || strcmp(last, "_start") != 0) {
		show_frames(p, s, s->nr);
		return 0;
	}
	return c->n && matched(p, c, s) == c->n;
}
