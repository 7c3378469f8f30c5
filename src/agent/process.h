/* SPDX-License-Identifier: Apache-2.0 */
/* process.h - a child process that runs one script: strata itself, with -f otlp. Its lines come through a pipe, its
 * state through the socket of base/notify.h. It ends if the agent ends, however that happens. */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/str.h"
#include "memory.h"
#include "watch.h"

struct process;

struct process_calls {
	void *arg;
	/* A line of its output, without the newline. */
	void (*line)(void *arg, struct process *p, const char *line, size_t n);
	void (*ready)(void *arg, struct process *p); /* its probes are attached */
	void (*ending)(void *arg, struct process *p); /* before that: its last messages can still be heard; or NULL */
	void (*ended)(void *arg, struct process *p); /* its status is known; all output was read; free it */
};

struct process {
	struct watch out, err, end; /* pipes, pidfd; fd -1: closed */
	struct watches *loop;
	struct process_calls calls;
	const char *name;    /* of the unit, for its messages */
	uint32_t number;     /* counts the processes of the agent, from 1 */
	pid_t pid;
	int status;          /* of waitpid(), once it has ended */
	bool ready, quiet;   /* quiet: its messages are only kept, not printed */
	bool killed;         /* it did not end in time; its last window is lost */
	uint64_t started, ready_at, heard; /* CLOCK_MONOTONIC ns of the start, of READY=1, and of the last message */
	uint64_t stop_at;    /* ns of SIGTERM; 0: not yet */
	uint64_t user_ns, bpf_ns, lost, incomplete; /* so far */
	struct measure memory; /* its pages */
	uint64_t tables, refused; /* bytes of its tables in the kernel; files without one, because memory is short */
	uint64_t dropped;    /* lines that were too long */
	bool skips_line, skips_message; /* the rest of such a line comes */
	struct str line, said, message; /* unfinished lines; the end of all messages */
};

/* The number of plan.notify in the process. That of plan.memory is ALLOWANCE_NUMBER. */
enum { NOTIFY_NUMBER = 3 };

struct process_plan {
	const char *name;
	uint32_t number;
	const char *program; /* NULL: strata itself */
	char *const *argv, *const *environment; /* end with NULL */
	int notify;   /* the socket for its messages; 0: none */
	int memory;   /* the file of base/allowance.h, whose number is above 9; 0: none */
	int input;    /* its standard input; 0: /dev/null or that of the agent */
	bool quiet;   /* its messages are only kept */
	struct process_calls calls;
};

/* Returns 0 on success, -errno on failure. name must live as long as the process. */
int process_start(struct watches *l, const struct process_plan *plan, struct process **ret);
/* Takes a message of notify.h. */
void process_hear(struct process *p, const char *message);
/* Reads how much time and memory it uses. */
void process_measure(struct process *p);
/* Returns the bytes of its pages and of its tables in the kernel. */
uint64_t process_memory(const struct process *p);
/* Asks it to end; kills it if it was asked more than ten seconds ago. */
void process_stop(struct process *p);
void process_kill(struct process *p);
/* Kills it if it still runs, and waits for its end. */
void process_free(struct process *p);
/* Returns how it ended: "status 1", "signal 9 (Killed)". */
void process_end_text(const struct process *p, struct str *out);
