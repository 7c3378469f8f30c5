// SPDX-License-Identifier: Apache-2.0
/* request.h - for whom a script's attach points are expanded: machine, command line, settings, and questions that
 * only the caller can answer. */
#pragma once
#include <stdbool.h>

#include "model/settings.h"

struct arena;
struct diags;
struct kept_files;
struct request;
struct symbols;
struct target;
struct types;

/* Beside begin and end: all but its tests and benchmarks, or those alone. */
enum script_mode { SCRIPT_RUNS, SCRIPT_TESTS, SCRIPT_BENCHES };

struct command_line {
	const char *const *params; /* $1.. */
	unsigned nparams;
	const char *const *options; /* of the script, as written behind --: "depth=3", "all" */
	unsigned noptions;
	int pid;          /* -p, or the child of -c; 0: all */
	int child;        /* the command of -c; 0: none */
	bool unsafe;      /* --unsafe: functions that change the system are allowed */
	enum script_mode mode; /* --test, --bench */
};

/* Each may be NULL. */
struct request_hooks {
	/* For a bare name whose first hit in PATH is a script (a version manager's): the
	 * ELF of that name which the traced command or process runs; NULL when that does
	 * not help. For a library: what the traced program loads. Of a process with a root of
	 * its own: what the name, or path, is there. */
	const char *(*find_exe)(const struct request *req, const char *name);
	/* The program that the command of -c or the process of -p runs; all: with all else that is mapped as
	 * code, or will be when it begins. By paths that can be opened from here; NULL: it is not known. */
	const char *const *(*traced_files)(const struct request *req, bool all);
	void *find_arg; /* for both */
	/* --probe-filter: whether a probe of that name is wanted. NULL: all are. */
	bool (*wanted)(const struct request *req, const char *name);
	void *wanted_arg;
};

struct request {
	struct arena *arena;
	struct diags *diags;
	/* The machine. */
	struct target *target;
	struct types *types;       /* named types; NULL: none are needed */
	struct kept_files *files;  /* see probes/files.h; NULL: each attach point looks for its own */

	struct command_line cmd;
	struct request_hooks hooks;
	struct settings settings;  /* config */
	const struct symbols *symbols; /* of earlier scripts of the session; NULL: there are none */

	/* What is asked for. */
	bool listing;     /* -l: nothing found is no error */
	bool lists_args;  /* -lv of a script: arguments are listed where they are known */
	bool names_only;  /* -l without -v: arguments are not asked for */
	/* The probe's tree mentions `args`, `retval`: what costs time to find out is asked for. */
	bool wants_args, wants_retval;
};
