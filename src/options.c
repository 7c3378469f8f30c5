// SPDX-License-Identifier: Apache-2.0
/* options.c - the rows of the command line's options, and the functions that set their values. */
#include "options.h"

#include <ctype.h>
#include <getopt.h>
#include <limits.h>
#include <pwd.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/push.h"
#include "base/arena.h"
#include "base/log.h"
#include "base/owner.h"
#include "base/str.h"
#include "base/why.h"
#include "cli/option_rows.h"
#include "cli/peer_options.h"
#include "cli/probe_filter.h"
#include "cli/stdout.h"
#include "cli/tools.h"
#include "cli/typos.h"
#include "cli/version.h"
#include "export/exporter.h"
#include "modes/loop.h"
#include "output/output.h"
#include "target/debugfile.h"
#include "target/target.h"
#include "unwinders/unwinders.h"

enum {
	OPT_BENCH = 256, OPT_BY, OPT_CGROUP, OPT_CHILDREN, OPT_COMPLETE, OPT_CONTAINER, OPT_DEBUGINFO, OPT_DRY_RUN,
	OPT_DURATION, OPT_EXE, OPT_HIDE, OPT_HOST, OPT_IDLE, OPT_INCLUDE, OPT_INFO, OPT_INTERACTIVE, OPT_LONG,
	OPT_NO_FEATURE, OPT_NO_INLINES, OPT_NO_WARNINGS, OPT_ONLY, OPT_PRINT, OPT_PROBE_FILTER, OPT_PUSH, OPT_SSH,
	OPT_STARTUP, OPT_SYSROOT, OPT_TEST, OPT_TRACEABLE, OPT_UNSAFE, OPT_UNTIL_EOF, OPT_UNWIND, OPT_USDT_ACTIVATION,
	OPT_USER, OPT_WINDOW
};

static bool set_dump(struct options *o, const struct option_row *row, const char *name)
{
	const struct peer_stage *peer = peer_stage(name);
	enum stage stage;

	if (loop_read_time(name, &o->duration))
		return true;
	if (o->tool || isdigit((unsigned char)*name))
		return usage("-d takes a time, such as 10 (seconds), 500ms or 2m, not", name);
	if (!stage_by_name(peer && peer->stage ? peer->stage : name, &stage)) {
		log_error("unknown stage: %s", name);
		log_hint("%s%s", peer ? peer->instead : "the stages are ", peer ? "" : STAGE_LIST);
		return false;
	}
	o->compile.dump[stage] = true;
	return true;
}

static bool set_format(struct options *o, const struct option_row *row, const char *name)
{
	struct str names = {};
	const char *near;

	o->format = output_by_name(name);
	if (o->format)
		return true;
	near = output_nearest(name);
	log_error("unknown format: %s", name);
	for (const struct output *const *f = outputs; *f; f++)
		str_addf(&names, "%s%s", f == outputs ? "" : ", ", (*f)->name);
	if (near)
		log_hint("did you mean %s? the formats are %s", near, str_text(&names));
	else
		log_hint("the formats are %s", str_text(&names));
	str_done(&names);
	return false;
}

static bool set_live(struct options *o, const struct option_row *row, const char *text)
{
	char *end;

	o->live = strtod(text, &end);
	return (end > text && !*end && o->live >= 0.05 && o->live <= 86400) ||
		usage("-t takes a number of seconds from 0.05 on, not", text);
}

static bool set_duration(struct options *o, const struct option_row *row, const char *text)
{
	return loop_read_time(text, &o->duration) || usage("--duration takes a time, such as 10, 500ms or 2m, not",
		text);
}

static bool set_by(struct options *o, const struct option_row *row, const char *text)
{
	o->by_host = true;
	return !strcmp(text, "host") || usage("--by takes the word host, not", text);
}

/* Without a program, it is this one. */
static bool set_push(struct options *o, const struct option_row *row, const char *path)
{
	o->push = path ? path : PUSH_SELF;
	return true;
}

static bool set_window(struct options *o, const struct option_row *row, const char *text)
{
	return (loop_read_time(text, &o->window) && o->window >= 0.001) ||
		usage("--window takes a time from 1 ms on, such as 10s, not", text);
}

/* Adds a process, once. */
static bool add_pid(struct options *o, long pid)
{
	if (pid > INT_MAX || !proc_alive(o->traced.target, (int)pid)) {
		log_error("no process has the ID %ld", pid);
		return false;
	}
	for (size_t i = 0; i < o->pids.len; i++)
		if (o->pids.data[i] == pid)
			return true;
	vec_push(&o->pids, (int)pid);
	o->traced.pid = o->pids.data[0];
	return true;
}

/* Reads process IDs, separated by commas. */
static bool set_pid(struct options *o, const struct option_row *row, const char *text)
{
	char *end;

	if (!strncmp(text, "id", 2)) {
		log_error("not a process ID: %s", text);
		log_hint("did you mean --pid or -p?");
		return false;
	}
	for (const char *at = text;; at = end + 1) {
		long pid = strtol(at, &end, 10);

		if ((*end && *end != ',') || pid <= 0)
			return usage("not a process ID:", text);
		if (!add_pid(o, pid))
			return false;
		if (!*end)
			return true;
	}
}

static bool find_cgroup(const struct options *o)
{
	uint64_t id;
	int level, r = target_cgroup_find(o->traced.target, o->cgroup, &id, &level);

	if (!r)
		return true;
	if (r == -ENOTTY)
		log_error("%s is not a directory of a cgroup (v2)", o->cgroup);
	else if (r == -ENOENT)
		log_error("there is no cgroup (v2) %s", o->cgroup);
	else
		log_error("cannot open the cgroup (v2) %s: %s", o->cgroup, why_errno(r));
	log_hint("--cgroup takes its directory, or the path in /proc/PID/cgroup after 0::");
	return false;
}

/* The option takes a name or an id. */
static bool find_user(struct options *o)
{
	const struct passwd *pw = getpwnam(o->user_text);
	char *end;
	unsigned long id = strtoul(o->user_text, &end, 10);

	if (!pw && (*end || end == o->user_text || id > UINT32_MAX))
		return usage("there is no user", o->user_text);
	o->user = pw ? pw->pw_uid : (unsigned)id;
	return true;
}

/* Cgroups and users of this machine. With --host, each host finds its own. */
static bool find_filters(struct options *o)
{
	return o->hosts || ((!o->cgroup || find_cgroup(o)) && (!o->user_text || find_user(o)));
}

static bool set_top(struct options *o, const struct option_row *row, const char *text)
{
	char *end;
	long n = strtol(text, &end, 10);

	if (*end || n < 1 || n > INT_MAX)
		return usage("--top needs a number of entries, 1 or more, not", text);
	o->top = n;
	return true;
}

static bool hide_library(struct options *o, const struct option_row *row, const char *pattern)
{
	vec_push(&o->libraries.hidden, pattern);
	return true;
}

static bool only_library(struct options *o, const struct option_row *row, const char *pattern)
{
	vec_push(&o->libraries.only, pattern);
	return true;
}

static bool set_no_feature(struct options *o, const struct option_row *row, const char *names)
{
	const char *name = names;

	o->lacks_features = true;
	for (size_t n; *names; names += n + (names[n] == ',')) {
		n = strcspn(names, ",");
		name = arena_printf(o->compile.arena, "%.*s", (int)n, names);
		if (strcmp(name, "kprobe_session") != 0 && !target_disable(o->traced.target, name)) /* not used */
			break;
	}
	if (!*names)
		return true;
	log_error("unknown feature: %s", name);
	log_hint("strata --info lists them");
	return false;
}

static bool set_buffering(struct options *o, const struct option_row *row, const char *mode)
{
	o->buffer_all = !strcmp(mode, "full");
	return o->buffer_all || !strcmp(mode, "line") || !strcmp(mode, "none") ||
		usage("-B needs line, full or none, not", mode);
}

static bool set_no_warnings(struct options *o, const struct option_row *row, const char *arg)
{
	log_warnings = false;
	return true;
}

static bool set_core(struct options *o, const struct option_row *row, const char *arg)
{
	o->unwind = true;
	o->core = arg[strspn(arg, "0123456789")] ? arg : NULL;
	return o->core || set_pid(o, row, arg);
}

static bool add_include_dir(struct options *o, const struct option_row *row, const char *arg)
{
	vec_push(&o->include_dirs, arg);
	return true;
}

static bool add_include_file(struct options *o, const struct option_row *row, const char *arg)
{
	vec_push(&o->include_files, arg);
	return true;
}

static bool set_verbose(struct options *o, const struct option_row *row, const char *arg)
{
	log_level++;
	return true;
}

static bool set_quiet(struct options *o, const struct option_row *row, const char *arg)
{
	log_level = -1;
	return true;
}

static void help(FILE *out);

static bool print_help(struct options *o, const struct option_row *row, const char *arg)
{
	o->helps = o->tool;
	if (o->tool)
		return true;
	help(stdout);
	exit(stdout_check(0));
}

static bool print_tool(struct options *o, const struct option_row *row, const char *name)
{
	const struct tool *t = tool_by_name(name);

	if (!t || !t->script) {
		log_error(t ? "strata %s is no script" : "there is no tool %s", name);
		log_hint("strata tools lists them");
		return false;
	}
	fputs(t->script, stdout);
	exit(stdout_check(0));
}

static bool print_version(struct options *o, const struct option_row *row, const char *arg)
{
	printf("strata %s\n", version());
	exit(stdout_check(0));
}

static bool set_probe_filter(struct options *o, const struct option_row *row, const char *text)
{
	char why[256];
	int r;

	if (o->has_filter)
		regfree(&o->probe_filter);
	r = probe_filter_compile(&o->probe_filter, text);
	o->has_filter = !r;
	if (!r)
		return true;
	regerror(r, &o->probe_filter, why, sizeof(why));
	log_error("--probe-filter: not a regular expression: %s: %s", text, why);
	return false;
}

static bool set_traceable(struct options *o, const struct option_row *row, const char *path)
{
	int r = target_set_traceable(o->traced.target, path);

	if (r)
		log_error("cannot read %s: %s", path, why_errno(r));
	return !r;
}

/* The kernel counts semaphores in each process that has the file, so nothing has to be activated. */
static bool set_usdt_activation(struct options *o, const struct option_row *row, const char *arg)
{
	return true;
}

static bool set_debuginfo(struct options *o, const struct option_row *row, const char *arg)
{
	debugfile_dirs(arg);
	return true;
}

static bool set_no_inlines(struct options *o, const struct option_row *row, const char *arg)
{
	unwinders_show_inlines(false);
	return true;
}

static bool set_mode(struct options *o, const struct option_row *row, const char *arg)
{
	o->mode = row->val == OPT_TEST ? SCRIPT_TESTS : SCRIPT_BENCHES;
	return true;
}

static bool set_text(struct options *o, const struct option_row *row, const char *arg)
{
	*(const char **)((char *)o + row->at) = arg;
	return true;
}

static bool set_flag(struct options *o, const struct option_row *row, const char *arg)
{
	*(bool *)((char *)o + row->at) = true;
	return true;
}

#define TEXT(field) set_text, offsetof(struct options, field)
#define FLAG(field) set_flag, offsetof(struct options, field)

static bool add_script_option(struct options *o, const char *option, int argc, char **argv);
static bool is_tools(const struct options *o, const char *option);

static const struct option_row rows[] = {
	{"eval", 'e', "PROGRAM", "run this one-liner", TEXT(eval)},
	{"cmd", 'c', "COMMAND", "run and trace a command and its children; stop when it ends", TEXT(command)},
	{"pid", 'p', "PID", "trace this process; stop when it ends; several: -p 1,2 or -p 1 -p 2", set_pid},
	{"children", OPT_CHILDREN, NULL, "with -p: trace also its descendants, including those that start later",
		FLAG(children)},
	{"container", OPT_CONTAINER, "NAME", "trace only containers with this name or ID, also if they start later",
		TEXT(container)},
	{"cgroup", OPT_CGROUP, "PATH", "trace only processes in this cgroup (v2) and below", TEXT(cgroup)},
	{"user", OPT_USER, "NAME", "trace only processes of this user", TEXT(user_text)},
	{"list", 'l', NULL,
		"list the probes of a pattern ('tracepoint:sched:*') or a script; -lv: also their arguments",
		FLAG(list)},
	{"top", 'n', "N", "print the N largest entries of each map", set_top},
	{"hide", OPT_HIDE, "PATTERN", "omit frames of libraries whose path or name matches", hide_library},
	{"only", OPT_ONLY, "PATTERN", "omit frames of all other libraries", only_library},
	{"idle", OPT_IDLE, NULL, "also print waits that are idle by nature: event loops, pools without work",
		FLAG(idle)},
	{"long", OPT_LONG, NULL, "svg, html: show the whole names of C++ functions", FLAG(long_names)},
	{"startup", OPT_STARTUP, NULL, "leak: also print allocations of the C library for itself",
		FLAG(startup)},
	{"live", 't', "SECONDS", "redraw the maps every SECONDS while the script runs",
		set_live},
	{"format", 'f', "FORMAT", "write in this format, see below", set_format},
	{"output", 'o', "FILE", "write to FILE instead of stdout; the ending of its name chooses the format",
		TEXT(output)},
	{"buffering", 'B', "MODE", "write the output as events are read (line, none) or in blocks (full)",
		set_buffering},
	{"no-warnings", OPT_NO_WARNINGS, NULL, "do not print warnings", set_no_warnings},
	{"include-dir", 'I', "DIR", "search headers of the script's C definitions in DIR first", add_include_dir},
	{"include", OPT_INCLUDE, "FILE", "read a header before the script's C definitions", add_include_file},
	{"verbose", 'v', NULL, "print the steps of strata; -vv: also print the verifier's log", set_verbose},
	{"failed-reads", 'k', NULL, "report failed reads and missing map elements immediately, not only at exit",
		FLAG(warn_reads)},
	{"quiet", 'q', NULL, "print only the script's output", set_quiet},
	{"dump", 'd', "STAGE", "print a stage: " STAGE_LIST, set_dump},
	{"duration", OPT_DURATION, "TIME", "stop after TIME: 10 (seconds), 500ms, 2m; -d TIME is the same",
		set_duration},
	{"host", OPT_HOST, "HOSTS", "run the script on these hosts over ssh (a,b,@FILE); print one answer",
		TEXT(hosts)},
	{"by", OPT_BY, "host", "with --host: do not add up hosts; each key begins with its host", set_by},
	{"push", OPT_PUSH, "[=PROGRAM]",
		"with --host: send this static strata, or PROGRAM, to hosts without this version; leave no file there",
		set_push},
	{"ssh", OPT_SSH, "COMMAND", "with --host: run COMMAND HOST SCRIPT instead of ssh", TEXT(ssh)},
	{"until-eof", OPT_UNTIL_EOF, NULL, "end when the standard input ends", FLAG(until_eof)},
	{"window", OPT_WINDOW, "TIME",
		"print the aggregations every TIME and begin them anew; the script's own window wins",
		set_window},
	{"print", OPT_PRINT, "NAME", "print the script of a tool (see strata tools)", print_tool},
	{"debuginfo", OPT_DEBUGINFO, "DIRS", "search debug files in these directories, too, separated by ':'",
		set_debuginfo},
	{"no-inlines", OPT_NO_INLINES, NULL, "name native functions only by symbols: no inlined functions and lines",
		set_no_inlines},
	{"interactive", OPT_INTERACTIVE, NULL, "open the prompt even if the input is not a terminal",
		FLAG(interactive)},
	{"test", OPT_TEST, NULL, "run only the script's test: probes", set_mode},
	{"bench", OPT_BENCH, NULL, "run only the script's bench: probes; print the time per run", set_mode},
	{"dry-run", OPT_DRY_RUN, NULL, "load the script without attaching its probes", FLAG(dry_run)},
	{"info", OPT_INFO, NULL, "print the features of this kernel and this build, and all probes and builtins",
		FLAG(info)},
	{"no-feature", OPT_NO_FEATURE, "NAME", "pretend the kernel lacks NAME (see --info)", set_no_feature},
	{"unsafe", OPT_UNSAFE, NULL, "allow functions that change the system, such as system()", FLAG(unsafe)},
	{"probe-filter", OPT_PROBE_FILTER, "REGEX", "run only probes whose full name matches; begin and end always run",
		set_probe_filter},
	{"traceable-functions", OPT_TRACEABLE, "FILE",
		"read the kernel functions for patterns from FILE (one per line) instead of tracefs", set_traceable},
	{"usdt-file-activation", OPT_USDT_ACTIVATION, NULL, "no effect; the kernel sets semaphores anyway",
		set_usdt_activation},
	{"unwind", OPT_UNWIND, "PID|CORE",
		"the same as strata dump: all stacks of a process or a core file", set_core},
	{"exe", OPT_EXE, "FILE", "program of the core file", TEXT(core_exe)},
	{"sysroot", OPT_SYSROOT, "DIR", "directory of the files that the core names", TEXT(sysroot)},
	{"version", 'V', NULL, "print the version", print_version},
	{"help", 'h', NULL, "print this help, or help on WORD: a builtin, a probe type, a format, a tool", print_help},
	{"complete", OPT_COMPLETE, "OPTION", NULL, TEXT(complete)},
	{.other = add_script_option, .is_other = is_tools},
};

static void help(FILE *out)
{
	fputs("strata: tracing one-liners whose stacks cross languages\n\n"
	      "Usage: strata [OPTIONS] -e PROGRAM [ARGS...]\n"
	      "       strata [OPTIONS] FILE [ARGS...]          (- is stdin)\n"
	      "       strata help [WORD], strata list [PATTERN]\n"
	      "       strata NAME [OPTIONS]                    (a tool, such as cpu: strata tools lists them)\n"
	      "       strata show FILE [OPTIONS]               (print or draw a recording: strata show -h)\n"
	      "       strata build FILE -o NAME                (make a program of a script: strata build -h)\n"
	      "       strata agent [DIR]                       (run scripts as services: strata agent -h)\n\n", out);
	option_rows_help(rows, ARRAY_SIZE(rows), out);
	fputs("\nFormats (-f):\n", out);
	for (const struct output *const *f = outputs; *f; f++)
		fprintf(out, "  %-24s %s\n", (*f)->name, (*f)->help);
	fputs("\nExamples:\n"
	      "  strata cpu -p 1234 -d 10 -o cpu.svg\n"
	      "      a flame graph of a process over ten seconds\n"
	      "  strata -e 'profile:hz:99 { @[ustack] = count(); }'\n"
	      "      whole user stacks of all processes, in all languages\n"
	      "  strata -e 'uprobe:libc:malloc { @[pystack] = sum(arg0); }' -c 'python3 app.py'\n"
	      "      allocated bytes by Python stack\n"
	      "  strata -e 'tracepoint:syscalls:sys_enter_openat { printf(\"%s %s\\n\", comm, "
	      "str(args.filename)); }'\n"
	      "      files that processes open\n", out);
}

/* After a script, an option that strata does not know is the script's: --hz=199, and for a tool --hz 199. */
static bool add_script_option(struct options *o, const char *option, int argc, char **argv)
{
	if (!o->file)
		return false;
	if (o->tool && optind < argc && tool_option_takes_value(o->tool, option))
		option = arena_printf(o->compile.arena, "%s=%s", option, argv[optind++]);
	vec_push(&o->options, option);
	return true;
}

static bool is_tools(const struct options *o, const char *option)
{
	char name[64] = "";

	strncat(name, option, strcspn(option, "=") < sizeof(name) ? strcspn(option, "=") : sizeof(name) - 1);
	return o->tool && tool_has_option(o->tool, name);
}

/* Uses the tool's defaults where the command line has no option. */
static void use_tool(struct options *o)
{
	const struct output *to;

	if (!o->tool)
		return;
	if (o->output && !strcmp(o->output, "-") && !o->format)
		o->format = output_by_file(o->tool->output);
	if (!o->output && o->tool->output)
		o->output = o->tool->output;
	if (o->idle && tool_has_option(o->tool, "idle"))
		vec_push(&o->options, "idle");
	if (o->live <= 0)
		o->live = o->tool->live;
	to = o->format ? o->format : output_by_file(o->output);
	if (to->content == OUTPUT_STACKS && tool_has_option(o->tool, "stacks"))
		vec_push(&o->options, "stacks"); /* the tool draws stacks */
}

/* Uses stdout for -o -, as other programs do. */
static bool use_output(struct options *o)
{
	if (o->output && !strcmp(o->output, "-"))
		o->output = NULL;
	if (export_is_url(o->output)) {
		o->format = o->format ? o->format : output_by_name("otlp");
		return !strcmp(o->format->name, "otlp") || usage("to a URL strata writes only the format otlp, not",
			o->format->name);
	}
	return !o->output || o->format || output_check_file(o->output);
}

/* A word with a brace that is not the name of a file is a script whose -e was forgotten. */
static void take_script(struct options *o)
{
	bool is_script = o->file && !o->list && strchr(o->file, '{') && access(o->file, F_OK);

	if (!is_script)
		return;
	o->eval = o->file;
	o->file = NULL;
}

/* dump CORE and dump PID need no option. */
static bool take_dumped(struct options *o)
{
	bool ok = true;

	if (o->params.len == 1)
		ok = set_core(o, NULL, o->params.data[0]);
	if (o->params.len == 1)
		o->params.len = 0;
	return ok;
}

/* Checks a tool's options before its script is read, of which a person need not know. */
static bool check_tool_options(struct options *o)
{
	const char *names[ARRAY_SIZE(rows)];
	size_t n = 0;
	bool ok = true;

	if (!o->tool || !o->tool->script)
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (rows[i].help)
			names[n++] = rows[i].name;
	for (size_t i = 0; i < o->options.len && ok; i++)
		ok = typos_check_option(o->tool, o->options.data[i], names, n);
	return ok;
}

static void add_word(struct options *o, const char *word)
{
	if (!strncmp(word, "--", 2) && word[2])
		vec_push(&o->options, word + 2);
	else
		vec_push(&o->params, word);
}

static bool stray_word(const char *tool, const char *word)
{
	bool number = *word && !word[strspn(word, "0123456789")];

	log_error("strata %s takes options only, not %s", tool, word);
	log_hint("did you mean -%c %s?", number ? 'p' : 'c', word);
	return false;
}

bool options_read(struct options *o, int argc, char **argv)
{
	if (!option_rows_read(rows, ARRAY_SIZE(rows), o, argc, argv))
		return false;
	if (!o->eval && optind < argc)
		o->file = argv[optind++];
	o->tool = tool_by_name(o->file);
	take_script(o);
	if (!option_rows_words(rows, ARRAY_SIZE(rows), o, argc, argv, add_word))
		return false;
	if (!check_tool_options(o))
		return false;
	use_tool(o);
	if (!use_output(o))
		return false;
	if (o->tool && o->tool->command == TOOL_DUMP && !take_dumped(o))
		return false;
	if (o->tool && o->params.len)
		return stray_word(o->tool->name, o->params.data[0]);
	if (o->children && !o->pids.len)
		return usage("--children needs -p PID; -c traces the children of its command anyway", NULL);
	if (!o->hosts && (o->push || o->ssh || o->by_host))
		return usage(o->push ? "--push needs --host" : o->ssh ? "--ssh needs --host" :
			"--by needs --host", NULL);
	o->traced.tree = o->pids.len > 1 || o->children;
	if (o->command && o->traced.pid)
		return usage("-c and -p cannot be used together", NULL);
	if ((o->core_exe || o->sysroot) && !o->core)
		return usage("--exe and --sysroot need a core file: strata dump CORE", NULL);
	return find_filters(o);
}

void options_complete(const char *text, FILE *out)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows) && rows[i].help; i++) {
		char name[64];

		snprintf(name, sizeof(name), "--%s", rows[i].name);
		if (!strncmp(name, text, strlen(text)))
			fprintf(out, "%s\t%s\n", name, rows[i].help);
	}
}

void options_done(struct options *o)
{
	if (o->has_filter)
		regfree(&o->probe_filter);
	vec_done(&o->pids);
	vec_done(&o->params);
	vec_done(&o->options);
	vec_done(&o->include_dirs);
	vec_done(&o->include_files);
	libraries_done(&o->libraries);
}
