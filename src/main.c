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
#include "base/str.h"
#include "base/vec.h"
#include "complete.h"
#include "driver.h"
#include "info.h"
#include "list.h"
#include "live.h"
#include "model/provider.h"
#include "parser/settings.h"
#include "peer_options.h"
#include "parser/settings.h"
#include "peer_options.h"
#include "prompt/prompt.h"
#include "runtime/output/output.h"
#include "runtime/output/stream.h"
#include "runtime/session.h"
#include "runtime/why.h"
#include "target/debugfile.h"
#include "target/target.h"
#include "traced.h"
#include "types/types.h"
#include "unwind.h"
#include "version.h"

enum {
	OPT_COMPLETE = 256, OPT_DEBUGINFO, OPT_DRY_RUN, OPT_EXE, OPT_INCLUDE, OPT_INFO, OPT_INTERACTIVE,
	OPT_NO_FEATURE, OPT_NO_WARNINGS, OPT_PROBE_FILTER, OPT_SYSROOT, OPT_TRACEABLE, OPT_UNSAFE, OPT_UNWIND,
	OPT_USDT_ACTIVATION
};

struct main {
	const char *eval, *file, *output, *command;
	const struct output *format;
	const char *complete; /* the option before what TAB completes, or "" */
	int top;
	bool interactive;
	double live; /* -t: seconds between two drawings; 0: none */
	const char *core, *core_exe, *sysroot; /* of --unwind CORE */
	bool list, dry_run, info, unsafe, unwind, warn_reads, buffer_all;
	VEC(const char *) params;  /* of the script */
	VEC(const char *) options; /* likewise, without -- */
	VEC(const char *) include_dirs, include_files;
	struct traced traced; /* -p, -c */
	struct types *types;
	struct compile compile;
	regex_t probe_filter;
	bool has_filter;
};

/* An option: what it is called, and what it sets. */
struct option_row {
	const char *name;
	int val;          /* the short one's letter, or OPT_.. */
	const char *arg;  /* its name in the help; NULL: it takes none */
	const char *help; /* NULL: for the shells' completion, not for people */
	bool (*set)(struct main *m, const struct option_row *row, const char *arg);
	size_t at;        /* in struct main: of what set_text() and set_flag() set */
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

static bool usage(const char *what, const char *arg)
{
	log_error("%s%s%s", what, arg ? " " : "", arg ? arg : "");
	log_hint("strata -h lists the options");
	return false;
}

static bool set_dump(struct main *m, const struct option_row *row, const char *name)
{
	const struct peer_stage *peer = peer_stage(name);
	enum stage stage;

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
	help(stdout);
	exit(check_stdout(0));
}

static bool print_version(struct main *m, const struct option_row *row, const char *arg)
{
	printf("strata %s\n", version());
	exit(check_stdout(0));
}

/* \d, which bpftrace's have, is not known to regcomp(). */
static int compile_regex(regex_t *ret, const char *text)
{
	struct str posix = {};
	int r;

	for (; *text; text++) {
		bool escape = text[0] == '\\' && text[1];

		if (escape && text[1] == 'd')
			str_add(&posix, "[0-9]");
		else
			str_addn(&posix, text, 1 + escape);
		text += escape;
	}
	r = regcomp(ret, str_text(&posix), REG_EXTENDED | REG_NOSUB);
	str_done(&posix);
	return r;
}

static bool set_probe_filter(struct main *m, const struct option_row *row, const char *text)
{
	char why[256];
	int r;

	if (m->has_filter)
		regfree(&m->probe_filter);
	r = compile_regex(&m->probe_filter, text);
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

static const struct option_row options[] = {
	{"eval", 'e', "PROGRAM", "run this one-liner", TEXT(eval)},
	{"cmd", 'c', "COMMAND", "run a command, trace it and its children, end when it ends", TEXT(command)},
	{"pid", 'p', "PID", "trace this process, end when it ends", set_pid},
	{"list", 'l', NULL, "list probes, of a pattern ('tracepoint:sched:*') or a script; -lv: with arguments",
		FLAG(list)},
	{"top", 'n', "N", "print the N largest entries of each map", set_top},
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
	{"failed-reads", 'k', NULL, "warn at once where memory cannot be read, not at the end alone",
		FLAG(warn_reads)},
	{"quiet", 'q', NULL, "print only what the script prints", set_quiet},
	{"dump", 'd', "STAGE", "print a stage: " STAGE_LIST, set_dump},
	{"debuginfo", OPT_DEBUGINFO, "DIRS", "look for debug files in these directories, too, separated by ':'",
		set_debuginfo},
	{"interactive", OPT_INTERACTIVE, NULL, "open the prompt, where the input is no terminal, too",
		FLAG(interactive)},
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
	{"help", 'h', NULL, "print this help", print_help},
	{"complete", OPT_COMPLETE, "OPTION", NULL, TEXT(complete)},
};

static const struct option_row *find_option(int val)
{
	for (size_t i = 0; i < ARRAY_SIZE(options); i++)
		if (options[i].val == val)
			return &options[i];
	return NULL;
}

static void help(FILE *out)
{
	fputs("strata: tracing one-liners whose stacks cross languages\n\n"
	      "Usage: strata [OPTIONS] -e PROGRAM [ARGS...]\n"
	      "       strata [OPTIONS] FILE [ARGS...]          (- is stdin)\n\n", out);
	for (size_t i = 0; i < ARRAY_SIZE(options) && options[i].help; i++) {
		struct str name = {};

		if (options[i].val < 256)
			str_addf(&name, "-%c, ", options[i].val);
		else
			str_add(&name, "    ");
		str_addf(&name, "--%s", options[i].name);
		if (options[i].arg)
			str_addf(&name, " %s", options[i].arg);
		fprintf(out, "  %-24s %s\n", str_text(&name), options[i].help);
		str_done(&name);
	}
	fputs("\nFormats (-f):\n", out);
	for (const struct output *const *o = outputs; *o; o++)
		fprintf(out, "  %-24s %s\n", (*o)->name, (*o)->help);
	fputs("\nExamples:\n"
	      "  strata -e 'profile:hz:99 { @[ustack] = count(); }'\n"
	      "      whole user stacks of everything that runs, all languages\n"
	      "  strata -e 'uprobe:libc:malloc { @[pystack] = sum(arg0); }' -c 'python3 app.py'\n"
	      "      which Python allocates how much\n"
	      "  strata -e 'tracepoint:syscalls:sys_enter_openat { printf(\"%s %s\\n\", comm, "
	      "str(args.filename)); }'\n"
	      "      who opens which files\n", out);
}

/* getopt's '?': an option that is none, or one without its argument, or one of bpftrace's. */
static bool bad_option(int argc, char **argv)
{
	const char *word = argv[optind - 1];
	const struct peer_option *peer = peer_option(word);

	if (!peer)
		return usage(optopt && find_option(optopt) ? "this option needs an argument:" :
			"unknown option:", word);
	if (!peer->instead) {
		optind += peer->takes_arg && !strchr(word, '=') && optind < argc;
		return true;
	}
	log_error("strata has no option %s", peer->name);
	log_hint("%s", peer->instead);
	return false;
}

/* '+': what follows the script is the script's. */
static void make_getopt(char shorts[2 * ARRAY_SIZE(options) + 2], struct option *longs)
{
	*shorts++ = '+';
	for (size_t i = 0; i < ARRAY_SIZE(options); i++) {
		const struct option_row *row = &options[i];

		longs[i] = (struct option){row->name, row->arg ? required_argument : no_argument, NULL, row->val};
		if (row->val < 256)
			*shorts++ = (char)row->val;
		if (row->val < 256 && row->arg)
			*shorts++ = ':';
	}
	*shorts = 0;
}

static bool read_options(struct main *m, int argc, char **argv)
{
	struct option longs[ARRAY_SIZE(options) + 1] = {};
	char shorts[2 * ARRAY_SIZE(options) + 2];
	int c;

	make_getopt(shorts, longs);
	opterr = 0; /* the complaint is ours */
	while ((c = getopt_long(argc, argv, shorts, longs, NULL)) != -1) {
		const struct option_row *row = find_option(c);

		if (c == '?' ? !bad_option(argc, argv) : !row || !row->set(m, row, optarg))
			return false;
	}
	return true;
}

static bool parse_options(struct main *m, int argc, char **argv)
{
	if (!read_options(m, argc, argv))
		return false;
	if (!m->eval && optind < argc)
		m->file = argv[optind++];
	/* Options may also follow the file, as bpftrace's users write them. */
	if (m->file && optind < argc && argv[optind][0] == '-' && !read_options(m, argc, argv))
		return false;
	for (; optind < argc; optind++) {
		const char *arg = argv[optind];

		if (!strncmp(arg, "--", 2) && arg[2])
			vec_push(&m->options, arg + 2);
		else
			vec_push(&m->params, arg);
	}
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
	if (!m->file && isatty(0))
		return usage("no script: give -e PROGRAM or a file", NULL);
	if (!m->file)
		m->file = "-";
	r = source_read(m->compile.arena, m->file, s);
	if (r)
		log_error("cannot read %s: %s", m->file, why_errno(r));
	return !r;
}

/* ---- compiling ---------------------------------------------------------- */

static bool is_wanted(const struct resolve_env *env, const char *name)
{
	const struct main *m = env->wanted_arg;

	return !m->has_filter || !regexec(&m->probe_filter, name, 0, NULL, 0);
}

/* What the command line says for a script; its source is set. */
static void prepare(void *arg, struct compile *c)
{
	struct main *m = arg;

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
		.no_loops = !target_feature(m->traced.target, FEATURE_BPF_LOOP),
	};
}

static bool compile_script(struct main *m)
{
	prepare(m, &m->compile);
	return compile(&m->compile);
}

/* ---- modes -------------------------------------------------------------- */

/* Some programs look at processes other than those that -p and -c name. */
static bool is_system_wide(const struct main *m)
{
	const struct image *img = m->compile.image;

	for (unsigned i = 0; i < img->nprogs && !m->traced.pid && !m->traced.child.pid; i++)
		if (img->progs[i].provider->run == RUN_ATTACHED &&
			!img->progs[i].provider->any_process)
			return true;
	return false;
}

/* What does not work within a container. */
static void say_namespace(const struct main *m)
{
	const struct pid_ns *ns = target_pid_ns(m->traced.target);

	if (ns->no_proc || ns->foreign_proc) {
		log_warn(ns->no_proc ? "/proc is not mounted: nothing is known of processes" :
			"/proc is that of another PID namespace: names and stacks of processes will "
			"be missing or wrong");
		log_hint("mount -t proc proc /proc");
	} else if (ns->inode && is_system_wide(m)) {
		log_warn("strata is in a PID namespace (a container): processes outside of it have "
			 "pid 0 and no user stacks");
	}
}

/* One image, until it ends. */
static int run_session(const struct main *m, const struct session_options *opt)
{
	struct session *s = NULL;
	int code = 1, r = session_open(m->traced.target, opt, &s);

	if (!r)
		r = session_add(s, m->compile.image);
	if (!r && m->live)
		live_run(s, m->live, !m->output && isatty(STDOUT_FILENO));
	while (!r && session_poll(s, -1))
		;
	if (!r)
		code = session_finish(s);
	session_close(s);
	return code;
}

static int run(struct main *m)
{
	struct session_options opt = {
		.pid = m->traced.pid,
		.child = m->traced.child.pid ? &m->traced.child : NULL,
		.quiet = log_level < 0,
		.dry_run = m->dry_run,
		.warn_reads = m->warn_reads,
		.top = m->top,
		.settings = &m->compile.env.settings,
		.output = m->format ? m->format : output_by_file(m->output),
	};
	int r, code;

	if (!compile_script(m))
		return m->compile.helps ? 0 : 1;
	if (!m->compile.image)
		return 0;
	if (!m->compile.image->nprogs) {
		log_error(m->has_filter ? "no probes to attach: none that exists here matches --probe-filter" :
					  "no probes to attach: no attach point of the script exists here");
		return 1;
	}
	say_namespace(m);
	r = stream_open(m->output, &opt.stream);
	if (r) {
		log_error("cannot write %s: %s", m->output ? m->output : "the output", why_errno(r));
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

	return m->eval || (m->file && (!strcmp(m->file, "-") ||
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
	struct resolve_env env = {
		.arena = m->compile.arena,
		.target = m->traced.target,
		.types = m->types,
		.settings = settings_default(),
		.listing = true,
	};
	const char *text = m->file ? m->file : "";

	if (*text != '-') {
		complete_argument(&env, m->complete, text, stdout);
		return 0;
	}
	for (size_t i = 0; i < ARRAY_SIZE(options) && options[i].help; i++) {
		char *name = arena_printf(env.arena, "--%s", options[i].name);

		if (!strncmp(name, text, strlen(text)))
			printf("%s\t%s\n", name, options[i].help);
	}
	return 0;
}

static int mode(struct main *m)
{
	if (m->complete)
		return complete(m);
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
	struct main m = {.traced.target = target_open("/")};
	int code = 1;

	files_raise();
	m.compile.arena = arena_new();
	m.types = types_new(m.compile.arena, m.traced.target);
	if (m.traced.target && parse_options(&m, argc, argv))
		code = check_stdout(mode(&m));
	child_stop(&m.traced.child);
	free(m.traced.exe);
	if (m.has_filter)
		regfree(&m.probe_filter);
	vec_done(&m.params);
	vec_done(&m.options);
	vec_done(&m.include_dirs);
	vec_done(&m.include_files);
	types_close(m.types);
	target_close(m.traced.target);
	arena_free(m.compile.arena);
	return code;
}
