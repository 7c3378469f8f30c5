/* SPDX-License-Identifier: Apache-2.0 */
/* unit.h - a script of the agent's directory, and the processes that run it.
 *
 *     text changes:   next starts -> next is attached -> next is the current one, the old one prints its last window
 *                     next fails  -> the current one goes on; the reason is kept
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

struct conf;
struct process;
struct series;
struct unit;
struct watches;

enum unit_state { UNIT_STARTS, UNIT_UP, UNIT_ENDED, UNIT_FAILED, UNIT_OVER_BUDGET, UNIT_DISABLED };

struct unit_env {
	struct watches *loop;
	const struct conf *conf;
	int notify;          /* the socket for messages of the units */
	int memory;          /* the file with what each process may use; see base/allowance.h */
	bool once;           /* each unit runs for one window */
	uint32_t nprocesses; /* started so far */
	void (*line)(void *arg, struct unit *u, const char *line, size_t n); /* of OTLP/JSON */
	void (*hear)(void *arg); /* takes the messages that wait in the socket */
	void *arg;
};

struct unit {
	struct unit *next_unit;
	struct unit_env *env;
	char *name, *path, *text; /* text: the script and its settings when it was last started */
	bool seen;                /* the file was there at the last scan */
	enum unit_state state;
	struct str why;           /* the last failure; "" after a start that succeeded */
	struct process *current, *next, *leaving[4];
	struct series *series;
	uint64_t restart_at;      /* CLOCK_MONOTONIC ns; 0: none is planned */
	unsigned crashes;         /* in a row */
	unsigned over, under;     /* windows over the budget, and far under it, in a row */
	unsigned thin, old_thin;  /* config thin of its processes, and of the one before; 0: as the script says */
	bool rigid;               /* the script cannot be thinned */
	uint64_t measured_at, measured; /* ns of the last look at the budget, and of CPU time then */
	double share;             /* of one CPU, in the last window */
	struct {
		uint64_t user_ns, bpf_ns, lost, incomplete, dropped; /* of processes that have ended */
	} past;
	uint64_t starts, reloads, failures, restarts, kills, lines;
	uint64_t last_line;       /* CLOCK_MONOTONIC ns; 0: none yet */
};

struct unit *unit_new(struct unit_env *env, const char *name, const char *path);
/* Stops and frees it; its processes are killed. */
void unit_free(struct unit *u);
/* Starts the script if it, or its settings, have changed since the last start. again: also if it does not run. */
void unit_update(struct unit *u, bool again);
/* Returns whether the script may be run, by its file's owner and mode; else reports why. */
bool unit_may_run(struct unit *u);
/* Asks all its processes to end. */
void unit_stop(struct unit *u);
/* Its file is gone: stops it, and starts it anew if the file comes back. */
void unit_remove(struct unit *u);
bool unit_is_running(const struct unit *u);
/* Returns its process with the pid, or NULL. */
struct process *unit_process(const struct unit *u, int pid);
/* Fills the list with its processes. Returns their number. */
enum { UNIT_PROCESSES = 6 };
size_t unit_processes(const struct unit *u, const struct process **ret);
/* Returns the bytes that all its processes use. */
uint64_t unit_memory(const struct unit *u);
/* Called each second: restarts after a crash, ends processes that hang, looks at the budget. */
void unit_tick(struct unit *u, uint64_t now);
/* The agent itself did not run: its processes may have spoken meanwhile. */
void unit_forgive(struct unit *u);
/* It, or all units together, used too much: its profile probes take fewer samples. Stops it if that cannot be, or does
 * not suffice. */
void unit_over_budget(struct unit *u, double share, double allowed, const char *whose);
/* Returns the window in seconds. */
double unit_window(const struct unit *u);
/* Returns the sums over all its processes. */
struct unit_sums {
	uint64_t user_ns, bpf_ns, lost, incomplete, dropped;
};
struct unit_sums unit_sums(const struct unit *u);
const char *unit_state_name(enum unit_state s);
/* Makes the words that run a script; to be freed with words_free(). */
char **unit_words(const struct unit *u, bool check);
void words_free(char **words);
