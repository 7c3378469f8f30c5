// SPDX-License-Identifier: Apache-2.0
/* script.c - loads the script of the command line, and compiles it. */
#include "script.h"

#include <errno.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/libbpf.h>

#include "base/diag.h"
#include "base/log.h"
#include "base/why.h"
#include "cli/option_rows.h"
#include "cli/tools.h"
#include "cli/typos.h"
#include "options.h"
#include "parser/settings.h"
#include "target/target.h"

bool script_load(struct options *o)
{
	struct source *s = &o->compile.source;
	int r;

	if (o->eval) {
		*s = (struct source){.name = "-e", .text = o->eval, .len = strlen(o->eval)};
		return true;
	}
	if (o->tool && o->tool->script) {
		*s = (struct source){.name = o->tool->name, .text = o->tool->script, .len = strlen(o->tool->script)};
		return true;
	}
	if (!o->file && isatty(0))
		return usage("no script: give -e PROGRAM or a file", NULL);
	if (!o->file)
		o->file = "-";
	r = source_read(o->compile.arena, o->file, s);
	if (r)
		log_error("cannot read %s: %s", o->file, why_errno(r));
	if (r == -ENOENT)
		typos_hint_word(o->file);
	return !r;
}

static bool is_wanted(const struct request *req, const char *name)
{
	const struct options *o = req->hooks.wanted_arg;

	return !o->has_filter || !regexec(&o->probe_filter, name, 0, NULL, 0);
}

static bool may_show_progress(const struct options *o)
{
	return isatty(STDERR_FILENO) && log_level == 0 && o->live <= 0;
}

struct request script_request(struct options *o)
{
	return (struct request){
		.arena = o->compile.arena,
		.target = o->traced.target,
		.types = o->types,
		.cmd = {
			.params = o->params.data,
			.nparams = (unsigned)o->params.len,
			.options = o->options.data,
			.noptions = (unsigned)o->options.len,
			.pid = o->traced.child.pid ? o->traced.child.pid : o->traced.pid,
			.child = o->traced.child.pid,
			.container = o->container,
			.cgroup = o->cgroup,
			.by_user = o->user_text,
			.user = o->user,
			.unsafe = o->unsafe,
			.mode = o->mode,
		},
		.hooks = {
			.find_exe = traced_find,
			.traced_files = traced_files,
			.find_arg = &o->traced,
			.wanted = is_wanted,
			.wanted_arg = o,
		},
		.lists_args = o->list && log_level >= 1,
		.settings = settings_default(),
		.window = (uint64_t)(o->window * 1e9),
	};
}

void script_prepare(void *arg, struct compile *c)
{
	struct options *o = arg;

	c->help_words = o->tool ? "--help" : NULL;
	c->colour = isatty(2) && !getenv("NO_COLOR");
	c->req = script_request(o);
	c->req.arena = c->arena;
	c->req.diags = diags_new(c->arena, &c->source);
	c->c_options = (struct c_options){
		.dirs = o->include_dirs.data,
		.files = o->include_files.data,
		.ndirs = (unsigned)o->include_dirs.len,
		.nfiles = (unsigned)o->include_files.len,
		.kernel_source = getenv("BPFTRACE_KERNEL_SOURCE"),
		.kernel_build = getenv("BPFTRACE_KERNEL_BUILD"),
	};
	c->codegen = (struct codegen_options){
		.pid_tree = o->traced.child.pid > 0 || o->traced.tree,
		.pid_ns = target_pid_ns(o->traced.target)->inode != 0,
		.ncpus = libbpf_num_possible_cpus(),
		.no_cookies = !target_feature(o->traced.target, FEATURE_COOKIE),
		.counts = may_show_progress(o),
		.no_loops = !target_feature(o->traced.target, FEATURE_BPF_LOOP),
		.warn_missing = o->warn_reads,
		.takes = true,
	};
}

bool script_compile(struct options *o)
{
	script_prepare(o, &o->compile);
	return compile(&o->compile);
}
