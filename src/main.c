// SPDX-License-Identifier: Apache-2.0
/* main.c - options to a mode: run, list, dump, check. */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <regex.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <bpf/libbpf.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/files.h"
#include "base/log.h"
#include "base/owner.h"
#include "base/stop.h"
#include "base/str.h"
#include "base/vec.h"
#include "base/why.h"
#include "cli/complete.h"
#include "cli/help.h"
#include "cli/info.h"
#include "cli/list.h"
#include "cli/needs.h"
#include "cli/option_rows.h"
#include "cli/peer_options.h"
#include "cli/probe_filter.h"
#include "cli/tools.h"
#include "cli/version.h"
#include "driver.h"
#include "model/provider.h"
#include "modes/dump.h"
#include "modes/loop.h"
#include "modes/namespace.h"
#include "modes/show.h"
#include "modes/traced.h"
#include "modes/unwind.h"
#include "output/output.h"
#include "output/stream.h"
#include "parser/settings.h"
#include "prompt/prompt.h"
#include "session/session.h"
#include "target/debugfile.h"
#include "target/target.h"
#include "types/types.h"
#include "values/libraries.h"

enum {
	OPT_BENCH = 256, OPT_COMPLETE, OPT_DEBUGINFO, OPT_DRY_RUN, OPT_DURATION, OPT_EXE, OPT_HIDE, OPT_INCLUDE,
	OPT_INFO, OPT_INTERACTIVE, OPT_NO_FEATURE, OPT_NO_WARNINGS, OPT_ONLY, OPT_PRINT, OPT_PROBE_FILTER, OPT_SYSROOT,
	OPT_TEST, OPT_TRACEABLE, OPT_UNSAFE, OPT_UNWIND, OPT_USDT_ACTIVATION
};

struct main {
	const char *eval, *file, *output, *command;
	const struct output *format;
	const char *complete; /* the option before what TAB completes, or "" */
	int top;
	struct libraries libraries; /* --hide, --only */
	bool interactive;
	double live; /* -t: seconds between two drawings; 0: none */
	double duration; /* -d: seconds; 0: until it ends */
	const struct tool *tool; /* what `file` names; or NULL */
	bool helps;  /* NAME --help */
	const char *core, *core_exe, *sysroot; /* of --unwind CORE */
	enum script_mode mode;
	bool list, dry_run, info, unsafe, unwind, warn_reads, buffer_all;
	VEC(const char *) params;  /* of the script */
	VEC(const char *) options; /* likewise, without -- */
	VEC(const char *) include_dirs, include_files;
	struct traced traced; /* -p, -c */
	VEC(int) pids;        /* each -p; dump takes several */
	struct types *types;
	struct compile compile;
	regex_t probe_filter;
	bool has_filter;
};

/* ---- the command line --------------------------------------------------- */

/* All modes but running a script print by stdio's stdout. */
static int check_stdout(int code)
{
	errno = 0;
	if (!fflush(stdout) && !ferror(stdout))
		return code;
	if (errno == EPIPE)
		return 128 + SIGPIPE;
	log_error("cannot write to the standard output: %s",
		errno ? why_errno(-errno) : "a write failed");
	return 1;
}

static bool set_dump(struct main *m, const struct option_row *row, const char *name)
{
	const struct peer_stage *peer = peer_stage(name);
	enum stage stage;

	if (loop_read_time(name, &m->duration))
		return true;
	if (!stage_by_name(peer && peer->stage ? peer->stage : name, &stage)) {
		log_error("unknown stage: %s", name);
		log_hint("%s%s", peer ? peer->instead : "the stages are ", peer ? "" : STAGE_LIST);
		return false;
	}
	m->compile.dump[stage] = true;
	return true;
}

static bool set_format(struct main *m, const struct option_row *row, const char *name)
{
	struct str names = {};
	const char *near;

	m->format = output_by_name(name);
	if (m->format)
		return true;
	near = output_nearest(name);
	log_error("unknown format: %s", name);
	for (const struct output *const *o = outputs; *o; o++)
		str_addf(&names, "%s%s", o == outputs ? "" : ", ", (*o)->name);
	if (near)
		log_hint("did you mean %s? the formats are %s", near, str_text(&names));
	else
		log_hint("the formats are %s", str_text(&names));
	str_done(&names);
	return false;
}

static bool set_live(struct main *m, const struct option_row *row, const char *text)
{
	char *end;

	m->live = strtod(text, &end);
	return (end > text && !*end && m->live >= 0.05 && m->live <= 86400) ||
		usage("-t takes a number of seconds from 0.05 on, not", text);
}

static bool set_duration(struct main *m, const struct option_row *row, const char *text)
{
	return loop_read_time(text, &m->duration) || usage("--duration takes a time, as 10, 500ms or 2m, not", text);
}

static bool set_pid(struct main *m, const struct option_row *row, const char *text)
{
	char *end;
	long pid = strtol(text, &end, 10);

	if (*end || pid <= 0)
		return usage("not a process ID:", text);
	if (pid > INT_MAX || !proc_alive(m->traced.target, pid)) {
		log_error("no process has the ID %s", text);
		return false;
	}
	m->traced.pid = pid;
	vec_push(&m->pids, (int)pid);
	return true;
}

static bool set_top(struct main *m, const struct option_row *row, const char *text)
{
	char *end;
	long n = strtol(text, &end, 10);

	if (*end || n < 1 || n > INT_MAX)
		return usage("--top needs a number of entries, 1 or more, not", text);
	m->top = n;
	return true;
}

static bool hide_library(struct main *m, const struct option_row *row, const char *pattern)
{
	vec_push(&m->libraries.hidden, pattern);
	return true;
}

static bool only_library(struct main *m, const struct option_row *row, const char *pattern)
{
	vec_push(&m->libraries.only, pattern);
	return true;
}

static bool set_no_feature(struct main *m, const struct option_row *row, const char *names)
{
	const char *name = names;

	for (size_t n; *names; names += n + (names[n] == ',')) {
		n = strcspn(names, ",");
		name = arena_printf(m->compile.arena, "%.*s", (int)n, names);
		if (strcmp(name, "kprobe_session") != 0 && !target_disable(m->traced.target, name)) /* not used */
			break;
	}
	if (!*names)
		return true;
	log_error("unknown feature: %s", name);
	log_hint("strata --info lists them");
	return false;
}

static bool set_buffering(struct main *m, const struct option_row *row, const char *mode)
{
	m->buffer_all = !strcmp(mode, "full");
	return m->buffer_all || !strcmp(mode, "line") || !strcmp(mode, "none") ||
		usage("-B needs line, full or none, not", mode);
}

static bool set_no_warnings(struct main *m, const struct option_row *row, const char *arg)
{
	log_warnings = false;
	return true;
}

static bool set_core(struct main *m, const struct option_row *row, const char *arg)
{
	m->unwind = true;
	m->core = arg[strspn(arg, "0123456789")] ? arg : NULL;
	return m->core || set_pid(m, row, arg);
}

static bool add_include_dir(struct main *m, const struct option_row *row, const char *arg)
{
	vec_push(&m->include_dirs, arg);
	return true;
}

static bool add_include_file(struct main *m, const struct option_row *row, const char *arg)
{
	vec_push(&m->include_files, arg);
	return true;
}

static bool set_verbose(struct main *m, const struct option_row *row, const char *arg)
{
	log_level++;
	return true;
}

static bool set_quiet(struct main *m, const struct option_row *row, const char *arg)
{
	log_level = -1;
	return true;
}

static void help(FILE *out);

static bool print_help(struct main *m, const struct option_row *row, const char *arg)
{
	m->helps = m->tool;
	if (m->tool)
		return true;
	help(stdout);
	exit(check_stdout(0));
}

static bool print_tool(struct main *m, const struct option_row *row, const char *name)
{
	const struct tool *t = tool_by_name(name);

	if (!t || !t->script) {
		log_error(t ? "strata %s is no script" : "there is no tool %s", name);
		log_hint("strata tools lists them");
		return false;
	}
	fputs(t->script, stdout);
	exit(check_stdout(0));
}

static bool print_version(struct main *m, const struct option_row *row, const char *arg)
{
	printf("strata %s\n", version());
	exit(check_stdout(0));
}

static bool set_probe_filter(struct main *m, const struct option_row *row, const char *text)
{
	char why[256];
	int r;

	if (m->has_filter)
		regfree(&m->probe_filter);
	r = probe_filter_compile(&m->probe_filter, text);
	m->has_filter = !r;
	if (!r)
		return true;
	regerror(r, &m->probe_filter, why, sizeof(why));
	log_error("--probe-filter: not a regular expression: %s: %s", text, why);
	return false;
}

static bool set_traceable(struct main *m, const struct option_row *row, const char *path)
{
	int r = target_set_traceable(m->traced.target, path);

	if (r)
		log_error("cannot read %s: %s", path, why_errno(r));
	return !r;
}

/* Semaphores are counted by the kernel, in each process that has the file: nothing is to be activated. */
static bool set_usdt_activation(struct main *m, const struct option_row *row, const char *arg)
{
	return true;
}

static bool set_debuginfo(struct main *m, const struct option_row *row, const char *arg)
{
	debugfile_dirs(arg);
	return true;
}

static bool set_mode(struct main *m, const struct option_row *row, const char *arg)
{
	m->mode = row->val == OPT_TEST ? SCRIPT_TESTS : SCRIPT_BENCHES;
	return true;
}

static bool set_text(struct main *m, const struct option_row *row, const char *arg)
{
	*(const char **)((char *)m + row->at) = arg;
	return true;
}

static bool set_flag(struct main *m, const struct option_row *row, const char *arg)
{
	*(bool *)((char *)m + row->at) = true;
	return true;
}

#define TEXT(field) set_text, offsetof(struct main, field)
#define FLAG(field) set_flag, offsetof(struct main, field)

static bool add_tool_option(struct main *m, const char *option, int argc, char **argv);

static const struct option_row options[] = {
	{"eval", 'e', "PROGRAM", "run this one-liner", TEXT(eval)},
	{"cmd", 'c', "COMMAND", "run a command, trace it and its children, end when it ends", TEXT(command)},
	{"pid", 'p', "PID", "trace this process, end when it ends", set_pid},
	{"list", 'l', NULL, "list probes, of a pattern ('tracepoint:sched:*') or a script; -lv: with arguments",
		FLAG(list)},
	{"top", 'n', "N", "print the N largest entries of each map", set_top},
	{"hide", OPT_HIDE, "PATTERN", "leave out frames of libraries whose path or name matches", hide_library},
	{"only", OPT_ONLY, "PATTERN", "leave out the frames of all other libraries", only_library},
	{"live", 't', "SECONDS", "draw the maps again and again, so many seconds apart, while the script runs",
		set_live},
	{"format", 'f', "FORMAT", "write in this format, see below", set_format},
	{"output", 'o', "FILE", "write to FILE, not to stdout", TEXT(output)},
	{"buffering", 'B', "MODE", "when the output is written: line or none, as events are read; full: in blocks",
		set_buffering},
	{"no-warnings", OPT_NO_WARNINGS, NULL, "print no warnings", set_no_warnings},
	{"include-dir", 'I', "DIR", "look for headers of the C part in DIR first", add_include_dir},
	{"include", OPT_INCLUDE, "FILE", "read a header before the C part", add_include_file},
	{"verbose", 'v', NULL, "print what strata does; -vv: the verifier's log, too", set_verbose},
	{"failed-reads", 'k', NULL, "warn at once where memory cannot be read or a map lacks an element",
		FLAG(warn_reads)},
	{"quiet", 'q', NULL, "print only what the script prints", set_quiet},
	{"dump", 'd', "STAGE", "print a stage: " STAGE_LIST, set_dump},
	{"duration", OPT_DURATION, "TIME", "end after so long: 10 (seconds), 500ms, 2m; -d TIME is the same",
		set_duration},
	{"print", OPT_PRINT, "NAME", "print the script of a tool: strata tools lists them", print_tool},
	{"debuginfo", OPT_DEBUGINFO, "DIRS", "look for debug files in these directories, too, separated by ':'",
		set_debuginfo},
	{"interactive", OPT_INTERACTIVE, NULL, "open the prompt, where the input is no terminal, too",
		FLAG(interactive)},
	{"test", OPT_TEST, NULL, "run the script's test: probes instead of the others", set_mode},
	{"bench", OPT_BENCH, NULL, "run its bench: probes, and print how long each takes", set_mode},
	{"dry-run", OPT_DRY_RUN, NULL, "load the script, attach nothing", FLAG(dry_run)},
	{"info", OPT_INFO, NULL, "print what this kernel and this build can do", FLAG(info)},
	{"no-feature", OPT_NO_FEATURE, "NAME", "pretend the kernel lacks NAME (see --info)", set_no_feature},
	{"unsafe", OPT_UNSAFE, NULL, "allow functions that change the system, as system()", FLAG(unsafe)},
	{"probe-filter", OPT_PROBE_FILTER, "REGEX", "run only probes whose full name matches; begin and end always run",
		set_probe_filter},
	{"traceable-functions", OPT_TRACEABLE, "FILE",
		"the kernel's functions that patterns stand for, one a line; else tracefs says it", set_traceable},
	{"usdt-file-activation", OPT_USDT_ACTIVATION, NULL, "accepted; the kernel sets semaphores anyway",
		set_usdt_activation},
	{"unwind", OPT_UNWIND, "PID|CORE",
		"print all stacks of a process or a core file; needs neither BPF nor root", set_core},
	{"exe", OPT_EXE, "FILE", "the program that made the core file", TEXT(core_exe)},
	{"sysroot", OPT_SYSROOT, "DIR", "directory where the files that the core names are", TEXT(sysroot)},
	{"version", 'V', NULL, "print the version", print_version},
	{"help", 'h', NULL, "print this help, or of a word behind it: a builtin, a probe type, a format", print_help},
	{"complete", OPT_COMPLETE, "OPTION", NULL, TEXT(complete)},
	{.other = add_tool_option},
};

static void help(FILE *out)
{
	fputs("strata: tracing one-liners whose stacks cross languages\n\n"
	      "Usage: strata [OPTIONS] -e PROGRAM [ARGS...]\n"
	      "       strata [OPTIONS] FILE [ARGS...]          (- is stdin)\n"
	      "       strata NAME [OPTIONS]                    (cpu, offcpu..: strata tools lists them)\n"
	      "       strata show FILE [OPTIONS]               (a recording, of -o x.json: strata show -h)\n\n", out);
	option_rows_help(options, ARRAY_SIZE(options), out);
	fputs("\nFormats (-f):\n", out);
	for (const struct output *const *o = outputs; *o; o++)
		fprintf(out, "  %-24s %s\n", (*o)->name, (*o)->help);
	fputs("\nExamples:\n"
	      "  strata cpu -p 1234 -d 10 -o cpu.svg\n"
	      "      a flame graph of what a process does for ten seconds\n"
	      "  strata -e 'profile:hz:99 { @[ustack] = count(); }'\n"
	      "      whole user stacks of everything that runs, all languages\n"
	      "  strata -e 'uprobe:libc:malloc { @[pystack] = sum(arg0); }' -c 'python3 app.py'\n"
	      "      which Python allocates how much\n"
	      "  strata -e 'tracepoint:syscalls:sys_enter_openat { printf(\"%s %s\\n\", comm, "
	      "str(args.filename)); }'\n"
	      "      who opens which files\n", out);
}

/* What strata does not know is the tool's: --hz=199, or --hz 199. */
static bool add_tool_option(struct main *m, const char *option, int argc, char **argv)
{
	if (!m->tool)
		return false;
	if (optind < argc && tool_option_takes_value(m->tool, option))
		option = arena_printf(m->compile.arena, "%s=%s", option, argv[optind++]);
	vec_push(&m->options, option);
	return true;
}

static bool read_options(struct main *m, int argc, char **argv)
{
	return option_rows_read(options, ARRAY_SIZE(options), m, argc, argv);
}

/* What the tool has where the command line has nothing. */
static void use_tool(struct main *m)
{
	const struct output *to;

	if (!m->tool)
		return;
	if (!m->output && m->tool->output)
		m->output = m->tool->output;
	if (m->live <= 0)
		m->live = m->tool->live;
	to = m->format ? m->format : output_by_file(m->output);
	if (to != outputs[0] && to != &output_json && tool_has_option(m->tool, "stacks"))
		vec_push(&m->options, "stacks"); /* they are what it draws */
}

static void add_word(struct main *m, const char *word)
{
	if (!strncmp(word, "--", 2) && word[2])
		vec_push(&m->options, word + 2);
	else
		vec_push(&m->params, word);
}

static bool parse_options(struct main *m, int argc, char **argv)
{
	if (!read_options(m, argc, argv))
		return false;
	if (!m->eval && optind < argc)
		m->file = argv[optind++];
	m->tool = tool_by_name(m->file);
	if (!option_rows_words(options, ARRAY_SIZE(options), m, argc, argv, add_word))
		return false;
	use_tool(m);
	if (m->tool && m->params.len)
		return usage("a tool takes options alone (-p PID names a process), not", m->params.data[0]);
	if (m->pids.len > 1 && (!m->tool || m->tool->command != TOOL_DUMP))
		return usage("one process alone: only strata dump takes several -p", NULL);
	if (m->command && m->traced.pid)
		return usage("-c and -p cannot be used together", NULL);
	if ((m->core_exe || m->sysroot) && !m->core)
		return usage("--exe and --sysroot need --unwind with a core file", NULL);
	return true;
}

/* ---- the script --------------------------------------------------------- */

static bool load_source(struct main *m)
{
	struct source *s = &m->compile.source;
	int r;

	if (m->eval) {
		*s = (struct source){.name = "-e", .text = m->eval, .len = strlen(m->eval)};
		return true;
	}
	if (m->tool && m->tool->script) {
		*s = (struct source){.name = m->tool->name, .text = m->tool->script, .len = strlen(m->tool->script)};
		return true;
	}
	if (!m->file && isatty(0))
		return usage("no script: give -e PROGRAM or a file", NULL);
	if (!m->file)
		m->file = "-";
	r = source_read(m->compile.arena, m->file, s);
	if (r)
		log_error("cannot read %s: %s", m->file, why_errno(r));
	if (r == -ENOENT && tool_nearest(m->file))
		log_hint("did you mean strata %s? strata tools lists what has a name", tool_nearest(m->file));
	return !r;
}

/* ---- compiling ---------------------------------------------------------- */

static bool is_wanted(const struct resolve_env *env, const char *name)
{
	const struct main *m = env->wanted_arg;

	return !m->has_filter || !regexec(&m->probe_filter, name, 0, NULL, 0);
}

static bool may_show_progress(const struct main *m)
{
	return isatty(STDERR_FILENO) && log_level == 0 && m->live <= 0;
}

/* What the command line says for a script; its source is set. */
static void prepare(void *arg, struct compile *c)
{
	struct main *m = arg;

	c->help_words = m->tool ? "--help" : NULL;
	c->colour = isatty(2) && !getenv("NO_COLOR");
	c->env = (struct resolve_env){
		.arena = c->arena,
		.diags = diags_new(c->arena, &c->source),
		.target = m->traced.target,
		.types = m->types,
		.params = m->params.data,
		.nparams = (unsigned)m->params.len,
		.options = m->options.data,
		.noptions = (unsigned)m->options.len,
		.pid = m->traced.child.pid ? m->traced.child.pid : m->traced.pid,
		.child = m->traced.child.pid,
		.unsafe = m->unsafe,
		.mode = m->mode,
		.lists_args = m->list && log_level >= 1,
		.find_exe = traced_find,
		.traced_files = traced_files,
		.wanted = is_wanted,
		.find_arg = &m->traced,
		.wanted_arg = m,
		.settings = settings_default(),
	};
	c->c_options = (struct c_options){
		.dirs = m->include_dirs.data,
		.files = m->include_files.data,
		.ndirs = (unsigned)m->include_dirs.len,
		.nfiles = (unsigned)m->include_files.len,
		.kernel_source = getenv("BPFTRACE_KERNEL_SOURCE"),
		.kernel_build = getenv("BPFTRACE_KERNEL_BUILD"),
	};
	c->codegen = (struct codegen_options){
		.pid_tree = m->traced.child.pid > 0,
		.pid_ns = target_pid_ns(m->traced.target)->inode != 0,
		.ncpus = libbpf_num_possible_cpus(),
		.no_cookies = !target_feature(m->traced.target, FEATURE_COOKIE),
		.counts = may_show_progress(m),
		.no_loops = !target_feature(m->traced.target, FEATURE_BPF_LOOP),
		.warn_missing = m->warn_reads,
	};
}

static bool compile_script(struct main *m)
{
	prepare(m, &m->compile);
	return compile(&m->compile);
}

/* ---- modes -------------------------------------------------------------- */

/* One image, until it ends. */
static int run_session(const struct main *m, const struct session_options *opt)
{
	struct session *s = NULL;
	const struct loop_options loop = {
		.live = m->live, .duration = m->duration,
		.terminal = !m->output && isatty(STDOUT_FILENO),
		.image = m->compile.image,
		.counts = m->compile.codegen.counts,
	};
	int code = 1, r = session_open(m->traced.target, opt, &s);

	if (!r)
		r = session_add(s, m->compile.image);
	if (!r)
		loop_run(s, &loop);
	if (!r)
		code = session_finish(s);
	session_close(s);
	if (r && !log_errors)
		log_error("the script could not be started: %s", why_errno(r));
	return code;
}

static int run(struct main *m)
{
	struct session_options opt = {
		.pid = m->traced.pid, .child = m->traced.child.pid ? &m->traced.child : NULL,
		.quiet = log_level < 0, .is_last = true,
		.dry_run = m->dry_run,
		.mode = m->mode,
		.warn_reads = m->warn_reads,
		.top = m->top,
		.settings = &m->compile.env.settings,
		.output = m->format ? m->format : output_by_file(m->output),
		.libraries = m->libraries.hidden.len + m->libraries.only.len ? &m->libraries : NULL,
	};
	int r, code;

	opt.pack = output_pack(opt.output, m->output);
	if (!compile_script(m))
		return m->compile.helps ? 0 : 1;
	if (!m->compile.image)
		return 0;
	if (!m->compile.image->nprogs) {
		log_error(m->has_filter ? "no probes to attach: none that exists here matches --probe-filter" :
					  "no probes to attach: no attach point of the script exists here");
		return 1;
	}
	namespace_warn(m->traced.target, m->compile.image, m->traced.pid || m->traced.child.pid);
	r = stream_open(m->output, &opt.stream);
	if (r) {
		log_error("cannot write %s: %s", m->output ? m->output : "the output", why_write(r));
		return 1;
	}
	if (m->buffer_all)
		stream_buffer_all(opt.stream);
	code = run_session(m, &opt);
	r = stream_close(opt.stream);
	return r ? r : code;
}

static int run_prompt(struct main *m)
{
	struct prompt_options opt = {
		.target = m->traced.target,
		.session = {
			.pid = m->traced.pid,
			.child = m->traced.child.pid ? &m->traced.child : NULL,
			.quiet = log_level < 0,
			.warn_reads = m->warn_reads,
			.top = m->top,
			.output = m->format ? m->format : outputs[0],
		},
		.prepare = prepare,
		.arg = m,
		.colour = isatty(1) && !getenv("NO_COLOR"),
	};

	if (m->command && child_start(m->traced.target, m->command, &m->traced.child))
		return 1;
	opt.session.child = m->traced.child.pid ? &m->traced.child : NULL;
	return prompt_run(&opt);
}

static int list(struct main *m)
{
	struct resolve_env env = {
		.arena = m->compile.arena,
		.target = m->traced.target,
		.types = m->types,
		.pid = m->traced.pid,
		.find_exe = traced_find,
		.traced_files = traced_files,
		.wanted = is_wanted,
		.find_arg = &m->traced,
		.wanted_arg = m,
		.settings = settings_default(),
		.listing = true,
	};
	const char *pattern = m->file ? m->file : "*";

	return list_probes(&env, pattern, log_level >= 1, stdout);
}

/* -l FILE: a pattern is no file. */
static bool has_script(const struct main *m)
{
	struct stat st;

	return m->eval || m->tool || (m->file && (!strcmp(m->file, "-") ||
					      (!stat(m->file, &st) && !S_ISDIR(st.st_mode))));
}

static int list_of_script(struct main *m)
{
	m->compile.names_only = true;
	if (!compile_script(m))
		return m->compile.helps ? 0 : 1;
	list_script(m->compile.arena, m->compile.script, log_level >= 1, stdout);
	return 0;
}

/* --complete=OPTION -- TEXT */
static int complete(struct main *m)
{
	struct resolve_env env = {.arena = m->compile.arena, .target = m->traced.target, .types = m->types,
		.settings = settings_default(), .listing = true};
	const char *text = m->file ? m->file : "";

	if (!strcmp(m->complete, "show") && *text == '-') {
		show_complete(text, stdout);
		return 0;
	}
	if (*text != '-') {
		complete_argument(&env, m->complete, text, stdout);
		return 0;
	}
	if (tool_by_name(m->complete))
		tool_complete(tool_by_name(m->complete), text, stdout);
	for (size_t i = 0; i < ARRAY_SIZE(options) && options[i].help; i++) {
		char *name = arena_printf(env.arena, "--%s", options[i].name);

		if (!strncmp(name, text, strlen(text)))
			printf("%s\t%s\n", name, options[i].help);
	}
	return 0;
}

/* strata NAME --help */
static int help_tool(struct main *m)
{
	tool_print_head(m->tool, m->compile.arena, stdout);
	if (m->tool->script) {
		vec_push(&m->options, "help");
		putchar('\n');
		load_source(m);
		compile_script(m);
	}
	fputs("\nOptions of all tools: -p PID, -c COMMAND, -d SECONDS, -o FILE, -f FORMAT, -t SECONDS, -n N\n", stdout);
	return 0;
}

static int mode(struct main *m)
{
	if (m->complete)
		return complete(m);
	if (m->tool && m->tool->command == TOOL_LIST) {
		tools_list(m->compile.arena, stdout);
		return 0;
	}
	if (m->helps)
		return help_tool(m);
	if (m->tool && m->tool->command == TOOL_DUMP)
		return dump(m->traced.target, m->pids.data, m->pids.len, m->format, m->output);
	if (m->info) {
		info_print(m->traced.target, stdout);
		return 0;
	}
	if (m->core)
		return unwind_core(m->core, m->core_exe, m->sysroot, stdout);
	if (m->unwind)
		return unwind_process(m->traced.target, m->traced.pid, stdout);
	if (m->list && !has_script(m))
		return list(m);
	if (!m->list && !needs_met(m->traced.target))
		return 1;
	if (m->interactive || (!m->eval && !m->file && isatty(0) && isatty(1)))
		return run_prompt(m);
	if (!load_source(m))
		return 1;
	if (m->list)
		return list_of_script(m);
	if (m->command && child_start(m->traced.target, m->command, &m->traced.child))
		return 1;
	return run(m);
}

int main(int argc, char **argv)
{
	struct main m = {};
	int code = 1;

	stop_survive();
	if (argc > 1 && !strcmp(argv[1], "show"))
		return show_main(argc - 1, argv + 1);
	if (argc == 3 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")) && *argv[2] != '-')
		return check_stdout(help_name(argv[2], stdout) ? 0 : 1);
	m.traced.target = target_open("/");
	files_raise();
	m.compile.arena = arena_new();
	m.types = types_new(m.compile.arena, m.traced.target);
	if (m.traced.target && parse_options(&m, argc, argv))
		code = check_stdout(mode(&m));
	child_stop(&m.traced.child);
	free(m.traced.exe);
	if (m.has_filter)
		regfree(&m.probe_filter);
	vec_done(&m.pids);
	vec_done(&m.params);
	vec_done(&m.options);
	vec_done(&m.include_dirs);
	vec_done(&m.include_files);
	libraries_done(&m.libraries);
	types_close(m.types);
	target_close(m.traced.target);
	arena_free(m.compile.arena);
	return code;
}
