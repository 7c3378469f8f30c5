// SPDX-License-Identifier: Apache-2.0
/* request.h - the input for expanding a script's attach points: machine, command line, settings, and
 * functions that only the caller can provide. */
#pragma once
#include <stdbool.h>

#include "model/settings.h"

struct arena;
struct diags;
struct facts;
struct kept_files;
struct request;
struct symbols;
struct target;
struct types;

/* The mode of a script selects the probes that run in addition to begin and end: all except tests and
 * benchmarks, only tests, or only benchmarks. */
enum script_mode { SCRIPT_RUNS, SCRIPT_TESTS, SCRIPT_BENCHES };

struct command_line {
	const char *const *params; /* $1.. */
	unsigned nparams;
	const char *const *options; /* options of the script, as written after --: "depth=3", "all" */
	unsigned noptions;
	int pid;          /* -p, or the child of -c; 0 for all processes */
	int child;        /* the command of -c; 0 if there is none */
	const char *container, *cgroup; /* --container, --cgroup; NULL: not given */
	bool by_user;     /* --user was given: */
	unsigned user;    /* its user id */
	bool unsafe;      /* --unsafe: functions may change the system */
	enum script_mode mode; /* --test, --bench */
};

/* Each function may be NULL. */
struct request_hooks {
	/* Finds a file by the traced command or process. For a bare name whose first hit in PATH is a
	 * script (a version manager's): the ELF of that name which the process runs, or NULL if there is
	 * none. For a library: the file that the process loads. For a process with its own root: the file
	 * that the name or path means there. */
	const char *(*find_exe)(const struct request *req, const char *name);
	/* Returns the program that the command of -c or the process of -p runs. all: also the other files
	 * that it has mapped as code, or will have when it begins. The paths can be opened from here.
	 * Returns NULL if the program is not known. */
	const char *const *(*traced_files)(const struct request *req, bool all);
	void *find_arg; /* argument for both functions */
	/* Returns whether --probe-filter selects a probe of that name. NULL: every probe is selected. */
	bool (*wanted)(const struct request *req, const char *name);
	void *wanted_arg;
};

struct request {
	struct arena *arena;
	struct diags *diags;
	/* The machine. */
	struct target *target;
	struct types *types;       /* named types; NULL if none are needed */
	struct kept_files *files;  /* see probes/files.h; NULL: each attach point looks for its own files */

	struct command_line cmd;
	struct request_hooks hooks;
	struct settings settings;  /* from the config block */
	uint64_t window;           /* ns of --window, if the config block has none; 0: none */
	struct facts *facts;       /* collects what the code takes for granted; NULL: it stays on this machine */
	const struct symbols *symbols; /* of earlier scripts of the session; NULL if there are none */

	/* The requested information. */
	bool listing;     /* -l: finding nothing is not an error */
	bool lists_args;  /* -lv of a script: known arguments are listed */
	bool names_only;  /* -l without -v: arguments are not looked up */
	/* The probe's tree mentions `args`, `retval`. Only then is it worth the time to find them. */
	bool wants_args, wants_retval;
};
