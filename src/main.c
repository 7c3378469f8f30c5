// SPDX-License-Identifier: Apache-2.0
/* main.c - selects a mode by the command line: run, list, dump, show. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/agent.h"
#include "agent/hosts.h"
#include "agent/push.h"
#include "base/allowance.h"
#include "base/arena.h"
#include "base/files.h"
#include "base/log.h"
#include "base/notify.h"
#include "base/owner.h"
#include "base/shell_word.h"
#include "base/stop.h"
#include "base/str.h"
#include "base/why.h"
#include "build.h"
#include "cached.h"
#include "cli/complete.h"
#include "cli/environment.h"
#include "cli/help.h"
#include "cli/info.h"
#include "cli/list.h"
#include "cli/needs.h"
#include "cli/stdout.h"
#include "cli/tools.h"
#include "cli/version.h"
#include "cli/words.h"
#include "model/image.h"
#include "modes/dump.h"
#include "modes/run.h"
#include "modes/show_file.h"
#include "options.h"
#include "output/output.h"
#include "output/recording.h"
#include "parser/settings.h"
#include "prompt/prompt.h"
#include "script.h"
#include "target/target.h"

/* Returns the options that a one-liner's session and the prompt's session share. */
static struct session_options session_options(struct options *o)
{
	return (struct session_options){
		.pid = o->traced.pid,
		.roots = {.pids = o->pids.data, .n = o->traced.tree ? o->pids.len : 0, .children = o->children},
		.child = o->traced.child.pid ? &o->traced.child : NULL,
		.quiet = log_level < 0,
		.until_eof = o->until_eof,
		.warn_reads = o->warn_reads,
		.top = o->top,
		.idle = o->idle,
		.startup = o->startup,
		.long_names = o->long_names,
		.output = o->format ? o->format : output_by_file(NULL),
	};
}

static int run(struct options *o)
{
	bool notifies = notify_open();

	allowance_open();
	if (notifies || o->until_eof)
		prctl(PR_SET_NAME, "strata"); /* strata agent runs /proc/self/exe, --push a descriptor */
	struct run_options opt = {
		.target = o->traced.target,
		.session = session_options(o),
		.path = o->output,
		.buffer_all = o->buffer_all,
		.has_filter = o->has_filter,
	};

	if (!cached_compile(o))
		return o->compile.helps ? 0 : 1;
	if (!o->compile.image)
		return 0;
	opt.image = o->compile.image;
	opt.session.is_last = true;
	opt.session.dry_run = o->dry_run;
	opt.session.mode = o->mode;
	opt.session.settings = &o->compile.req.settings;
	opt.session.output = o->format ? o->format : output_by_file(o->output);
	opt.session.libraries = o->libraries.hidden.len + o->libraries.only.len ? &o->libraries : NULL;
	opt.loop = (struct loop_options){
		.live = o->live, .duration = o->duration,
		.terminal = !o->output && isatty(STDOUT_FILENO),
		.image = o->compile.image,
		.notifies = notifies,
		.counts = o->compile.codegen.counts,
	};
	return run_image(&opt);
}

/* The far strata compiles the same text. */
static void add_remote_script(const struct options *o, struct str *out)
{
	if (o->tool && o->tool->script) {
		shell_word(o->tool->name, out);
	} else {
		shell_word("-e", out);
		shell_word(o->compile.source.text, out);
	}
	if (o->params.len + o->options.len && !(o->tool && o->tool->script))
		shell_word("--", out);
	for (size_t i = 0; i < o->params.len; i++)
		shell_word(o->params.data[i], out);
	for (size_t i = 0; i < o->options.len; i++) {
		char *word = arena_printf(o->compile.arena, "--%s", o->options.data[i]);

		shell_word(word, out);
	}
}

static void add_remote_option(const char *name, const char *value, struct str *out)
{
	if (!value)
		return;
	shell_word(name, out);
	shell_word(value, out);
}

static void add_remote_command(const struct options *o, struct str *out)
{
	static const char *const words[] = {"strata", "-q", "-f", "recording", "--until-eof"};

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		shell_word(words[i], out);
	if (o->unsafe)
		shell_word("--unsafe", out);
	if (o->duration > 0)
		add_remote_option("--duration", arena_printf(o->compile.arena, "%.3f", o->duration), out);
	add_remote_option("--container", o->container, out);
	add_remote_option("--cgroup", o->cgroup, out);
	add_remote_option("--user", o->user_text, out);
	add_remote_script(o, out);
}

/* Returns an option that the hosts do not get and that would change what they do, or NULL. */
static const char *option_of_one_host(const struct options *o)
{
	return o->dry_run ? "--dry-run" : o->mode != SCRIPT_RUNS ? "--test and --bench" :
		o->has_filter ? "--probe-filter" : o->window > 0 ? "--window" : o->warn_reads ? "-k" :
		o->idle ? "--idle" : o->startup ? "--startup" : o->children ? "--children" :
		o->include_dirs.len ? "-I" : o->include_files.len ? "--include" : NULL;
}

static bool may_run_on_hosts(const struct options *o, const struct output *format)
{
	if (option_of_one_host(o))
		log_error("--host cannot be used with %s", option_of_one_host(o));
	else if (o->command || o->pids.len)
		log_error("--host cannot be used with -p and -c");
	else if (o->live > 0)
		log_error("--host cannot be used with -t");
	else if (!format->render)
		log_error("--host cannot write the format %s", format->name);
	else
		return true;
	return false;
}

/* Says how many hosts the answer is of. */
static int show_sum(struct options *o, struct recording *sum, size_t hosts, size_t failed)
{
	const struct show_options opt = {
		.format = o->format ? o->format : output_by_file(o->output), .output = o->output,
		.libraries = &o->libraries, .top = o->top, .long_names = o->long_names,
	};
	int code = sum ? show_recording(sum, &opt) : 1;

	if (failed)
		log_error("%zu of %zu hosts answered", hosts - failed, hosts);
	recording_free(sum);
	return failed ? 1 : code;
}

static int run_on_hosts(struct options *o)
{
	static const char ssh[] = "ssh -o BatchMode=yes -o ConnectTimeout=10 -o ServerAliveInterval=5 "
		"-o ServerAliveCountMax=3";
	const struct output *format = o->format ? o->format : output_by_file(o->output);
	struct hosts_plan plan = {.ssh = o->ssh ? o->ssh : ssh, .seconds = o->duration, .by_host = o->by_host};
	struct recording *sum = NULL;
	struct str command = {};
	host_list hosts = {};
	size_t failed = 0;
	int r = may_run_on_hosts(o, format) && script_load(o) ? hosts_read(o->hosts, &hosts) : -ECANCELED, code = 1;

	if (r && r != -ECANCELED)
		log_error("--host %s: %s", o->hosts, r == -EINVAL ?
			"names of hosts, separated by commas, or @FILE with one "
			"per line, are needed" : why_errno(r));
	if (!r && o->push) {
		plan.push = push_open(o->push, version());
		r = plan.push ? 0 : -ECANCELED;
	}
	if (!r) {
		add_remote_command(o, &command);
		plan.command = command.data;
		sum = hosts_run(&hosts, &plan, &failed);
		code = show_sum(o, sum, hosts.len, failed);
	}
	push_free(plan.push);
	str_done(&command);
	hosts_done(&hosts);
	return code;
}

static int run_prompt(struct options *o)
{
	struct prompt_options opt = {
		.target = o->traced.target,
		.prepare = script_prepare,
		.arg = o,
		.colour = isatty(1) && !getenv("NO_COLOR"),
	};

	if (o->command && child_start(o->traced.target, o->command, &o->traced.child))
		return 1;
	opt.session = session_options(o);
	return prompt_run(&opt);
}

static int list(struct options *o)
{
	struct request req = script_request(o);

	req.listing = true;
	return list_probes(&req, o->file ? o->file : "*", log_level >= 1, stdout);
}

/* -l FILE: a pattern does not name a file. */
static bool has_script(const struct options *o)
{
	struct stat st;

	return o->eval || o->tool || (o->file && (!strcmp(o->file, "-") ||
					      (!stat(o->file, &st) && !S_ISDIR(st.st_mode))));
}

static int list_of_script(struct options *o)
{
	o->compile.names_only = true;
	if (!script_compile(o))
		return o->compile.helps ? 0 : 1;
	list_script(o->compile.arena, o->compile.script, log_level >= 1, stdout);
	return 0;
}

/* Handles --complete=OPTION -- TEXT. */
static int complete(struct options *o)
{
	struct request req = {.arena = o->compile.arena, .target = o->traced.target, .types = o->types,
		.settings = settings_default(), .listing = true};
	const char *text = o->file ? o->file : "";

	if (!strcmp(o->complete, "show") && *text == '-') {
		show_complete(text, stdout);
		return 0;
	}
	if (!strcmp(o->complete, "agent") && *text == '-') {
		agent_complete(text, stdout);
		return 0;
	}
	if (*text != '-') {
		complete_argument(&req, o->complete, text, stdout);
		return 0;
	}
	if (tool_by_name(o->complete))
		tool_complete(tool_by_name(o->complete), text, stdout);
	options_complete(text, stdout);
	return 0;
}

/* Handles strata NAME --help. */
static int help_tool(struct options *o)
{
	tool_print_head(o->tool, o->compile.arena, stdout);
	if (o->tool->script) {
		vec_push(&o->options, "help");
		putchar('\n');
		script_load(o);
		script_compile(o);
	}
	fputs("\nOptions of all tools: -p PID, -c COMMAND, -d SECONDS, -o FILE, -f FORMAT, -t SECONDS, -n N\n", stdout);
	return 0;
}

/* Handles strata dump and --unwind. */
static int dump_threads(struct options *o)
{
	struct dump_options opt = {
		.pids = o->pids.data, .npids = o->pids.len, .children = o->children,
		.core = o->core, .exe = o->core_exe, .sysroot = o->sysroot,
		.output = o->format, .file = o->output,
	};

	return dump(o->traced.target, &opt);
}

static int mode(struct options *o)
{
	if (o->complete)
		return complete(o);
	if (o->tool && o->tool->command == TOOL_LIST) {
		tools_list(o->compile.arena, stdout);
		return 0;
	}
	if (o->helps)
		return help_tool(o);
	if (o->unwind || (o->tool && o->tool->command == TOOL_DUMP))
		return dump_threads(o);
	if (o->info) {
		info_print(o->traced.target, stdout);
		return 0;
	}
	if (o->builds)
		return build_program(o);
	if (o->list && !has_script(o))
		return list(o);
	if (o->hosts)
		return run_on_hosts(o);
	if (!o->list && !needs_met(o->traced.target))
		return 1;
	if (o->interactive || (!o->eval && !o->file && isatty(0) && isatty(1)))
		return run_prompt(o);
	if (!script_load(o))
		return 1;
	if (o->list)
		return list_of_script(o);
	if (o->command && child_start(o->traced.target, o->command, &o->traced.child))
		return 1;
	return run(o);
}

int main(int argc, char **argv)
{
	struct options o = {};
	int code = 1;

	stop_survive();
	words_replace(argc, argv);
	if (argc > 1 && !strcmp(argv[1], "show"))
		return show_main(argc - 1, argv + 1);
	if (argc > 1 && !strcmp(argv[1], "agent"))
		return agent_main(argc - 1, argv + 1);
	if (argc == 3 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")) && *argv[2] != '-')
		return stdout_check(help_name(argv[2], stdout) ? 0 : 1);
	if (argc == 3 && !strcmp(argv[1], "build") && (!strcmp(argv[2], "--help") || !strcmp(argv[2], "-h"))) {
		build_help();
		return stdout_check(0);
	}
	if (argc > 1 && !strcmp(argv[1], "build")) {
		o.builds = true;
		argv[1] = argv[0];
		argc--;
		argv++;
	}
	o.traced.target = target_open("/");
	files_raise();
	o.compile.arena = arena_new();
	o.types = types_new(o.compile.arena, o.traced.target);
	if (o.traced.target && options_read(&o, argc, argv)) {
		if (!o.complete)
			environment_check();
		code = stdout_check(mode(&o));
	}
	child_stop(&o.traced.child);
	free(o.traced.exe);
	options_done(&o);
	types_close(o.types);
	target_close(o.traced.target);
	arena_free(o.compile.arena);
	return code;
}
