// SPDX-License-Identifier: Apache-2.0
/* options.h - reads the options and words of the command line. */
#pragma once
#include <regex.h>
#include <stdbool.h>
#include <stdio.h>

#include "base/vec.h"
#include "driver/driver.h"
#include "modes/traced.h"
#include "values/hidden.h"

struct output;
struct tool;
struct types;

struct options {
	const char *eval, *file, *output, *command;
	const struct output *format;
	const char *complete; /* the option before the word that TAB completes, or "" */
	int top;
	struct libraries libraries; /* --hide, --only */
	bool interactive;
	double live; /* -t: seconds between two drawings; 0 for none */
	const char *hosts, *ssh, *push; /* --host, --ssh, --push */
	bool by_host, until_eof;
	double window;   /* --window: seconds; 0 for none */
	double duration; /* -d: seconds; 0 for no limit */
	const struct tool *tool; /* the tool that `file` names, or NULL */
	bool helps;  /* NAME --help */
	bool builds; /* strata build */
	bool lacks_features; /* --no-feature */
	const char *container, *cgroup; /* --container, --cgroup */
	const char *user_text; /* --user */
	unsigned user; /* its id; not set with --host */
	const char *core, *core_exe, *sysroot; /* of --unwind CORE */
	enum script_mode mode;
	bool idle;     /* --idle */
	bool long_names; /* --long */
	bool startup;  /* --startup */
	bool children; /* --children */
	bool list, dry_run, info, unsafe, unwind, warn_reads, buffer_all;
	VEC(const char *) params;  /* of the script */
	VEC(const char *) options; /* of the script, without -- */
	VEC(const char *) include_dirs, include_files;
	struct traced traced; /* -p, -c */
	VEC(int) pids;        /* each -p */
	struct types *types;
	struct compile compile;
	regex_t probe_filter;
	bool has_filter;
};

/* Called with o->traced.target and o->compile.arena set. Returns false after an error. Options such as
 * --version print a text and end the process. */
bool options_read(struct options *o, int argc, char **argv);
/* Frees the lists that options_read() made. */
void options_done(struct options *o);
/* Prints a line for each option that begins with text, such as "--li": its name, a tab, its help. */
void options_complete(const char *text, FILE *out);
