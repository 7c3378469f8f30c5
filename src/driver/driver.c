// SPDX-License-Identifier: Apache-2.0
/* driver.c - the list of passes, which reads like a table of contents. */
#include "driver.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/diag.h"
#include "base/log.h"
#include "base/owner.h"
#include "model/builtin.h"
#include "model/facts.h"
#include "model/image.h"
#include "model/provider.h"
#include "parser/ast.h"
#include "parser/parser.h"
#include "parser/settings.h"
#include "probes/files.h"
#include "target/target.h"
#include "types/types.h"

#define S(id, name) name,
static const char *const names[STAGE_MAX] = { STAGES(S, S) };
#undef S

static const struct language language = {
	.builtins = builtin_families,
	.c_call = &builtin_c_call,
	.providers = providers,
};

bool stage_by_name(const char *name, enum stage *ret)
{
	for (int i = 0; i < STAGE_MAX; i++)
		if (!strcmp(names[i], name)) {
			*ret = i;
			return true;
		}
	return false;
}

static bool pass_parse(struct compile *c)
{
	if (c->dump[STAGE_LEX])
		lex_dump(&c->source, stdout);
	c->script = c->is_line ? parse_typed(c->arena, &c->source, c->earlier, &language, c->req.diags) :
		parse(c->arena, &c->source, c->req.diags);
	if (c->script && c->dump[STAGE_AST])
		ast_dump(c->script, false, stdout);
	return c->script != NULL;
}

bool compile_is_unfinished(const char *text)
{
	return line_is_unfinished(text, &language);
}

/* Handles -- --help: lists the script's options. */
static bool pass_macros(struct compile *c)
{
	if (!expand(c->script, &language, c->req.diags))
		return false;
	options_collect(c->script);
	for (unsigned i = 0; i < c->req.cmd.noptions; i++)
		c->helps |= !strcmp(c->req.cmd.options[i], "help");
	if (c->helps)
		options_print(c->script, stdout);
	return !c->helps;
}

static bool pass_types(struct compile *c)
{
	const struct script *s = c->script;
	struct c_options imported = c->c_options;
	bool ok = true;

	imported.nfiles = 0;
	for (unsigned i = 0; ok && i < s->nc_programs; i++)
		ok = types_add_c_program(c->req.types, c->req.diags, &c->source, s->c_programs[i], &imported);
	if (!ok || !s->nc_parts)
		return ok && types_add_c(c->req.types, c->req.diags, &c->source, (struct span){}, &c->c_options);
	for (unsigned i = 0; ok && i < s->nc_parts; i++)
		ok = types_add_c(c->req.types, c->req.diags, &c->source, s->c_parts[i],
			i + 1 == s->nc_parts ? &c->c_options : &imported);
	return ok;
}

static bool pass_settings(struct compile *c)
{
	bool ok = settings_read(c->script, c->req.diags, &c->req.settings);

	if (c->req.window && !settings_given(&c->req.settings, "window"))
		c->req.settings.window = c->req.window;
	return ok;
}

static bool pass_resolve(struct compile *c)
{
	_cleanup_(kept_files_freep) struct kept_files *files = kept_files_new();
	bool ok;

	c->req.files = files;
	ok = resolve(c->script, &language, &c->req);
	c->req.files = NULL;
	if (ok && c->dump[STAGE_NAMES])
		names_dump(c->script, stdout);
	return ok;
}

static bool pass_check(struct compile *c)
{
	bool ok;

	filters_add(c->script, &language, &c->req);
	ok = check(c->script, &language, &c->req);

	if (ok && c->dump[STAGE_TYPES])
		ast_dump(c->script, true, stdout);
	return ok;
}

static bool pass_options(struct compile *c)
{
	const char *wrong = options_complaint(c->script, &c->req);

	if (wrong) {
		log_error("%s", wrong);
		log_hint("%s lists the options of the script%s", c->help_words ? c->help_words : "-- --help",
			c->help_words ? "" : ", -h those of strata");
	}
	return !wrong;
}

/* Both passes report errors, so that one run shows all mistakes of the script. */
static bool pass_names_and_types(struct compile *c, int last)
{
	bool ok = pass_resolve(c);

	if (last < STAGE_TYPES)
		return ok;
	return pass_check(c) && ok && pass_options(c);
}

static bool few_programs(struct compile *c)
{
	uint64_t n = 0, most = c->req.settings.max_bpf_progs;

	for (unsigned i = 0; i < c->image->nprogs; i++)
		n += c->image->progs[i].provider->run == RUN_ATTACHED;
	if (n <= most)
		return true;
	diag(c->req.diags, c->image->progs[0].span, DIAG_TOO_LARGE, "the script is %llu BPF programs, and "
		"max_bpf_progs allows %llu", (unsigned long long)n, (unsigned long long)most);
	diag_hint(c->req.diags, "config = { max_bpf_progs = %llu } allows as many", (unsigned long long)n);
	return false;
}

static void set_clocks(struct codegen_options *opt)
{
	opt->start_ns = clock_ns(CLOCK_BOOTTIME);
	opt->tai_ns = clock_ns(CLOCK_TAI) - opt->start_ns;
	opt->wall_ns = clock_ns(CLOCK_REALTIME) - opt->start_ns;
}

/* Returns whether a number or a text of the script has the mark of holes, which are then not made. */
static bool has_mark(struct expr *n, void *span)
{
	const uint32_t mark = HOLE_MARK;
	bool has = (n->kind == EXPR_INT && n->integer.value >> 32 == mark) ||
		(n->kind == EXPR_STRING && memmem(n->string.text, n->string.len, &mark, sizeof(mark)));

	if (has)
		*(struct span *)span = n->span;
	return has;
}

static void avoid_mark(struct compile *c)
{
	struct span at;

	for (struct probe *p = c->codegen.facts ? c->script->probes : NULL; p; p = p->next) {
		if (!(p->predicate && expr_any(p->predicate, has_mark, &at)) && !stmt_any(p->body, has_mark, &at))
			continue;
		facts_bind(c->codegen.facts, at, "strata itself marks code with this number");
		c->codegen.facts = NULL;
		return;
	}
}

static bool pass_codegen(struct compile *c)
{
	avoid_mark(c);
	set_clocks(&c->codegen);
	c->codegen.diags = c->req.diags;
	c->codegen.can_fault = (!c->codegen.facts || c->codegen.facts->stays) &&
		target_feature(c->req.target, FEATURE_UPROBE_SLEEP);
	/* bpf_task_pt_regs() takes the task of bpf_get_current_task_btf(), which is older */
	c->codegen.task_loads = (!c->codegen.facts || c->codegen.facts->stays) &&
		target_feature(c->req.target, FEATURE_TASK_PT_REGS);
	c->codegen.all_processes = c->req.settings.all_processes;
	c->codegen.max_map_keys = c->req.settings.max_map_keys;
	c->codegen.thin = (uint32_t)c->req.settings.thin;
	c->codegen.map_keys_given = settings_given(&c->req.settings, "max_map_keys");
	if (c->codegen.takes)
		check_taken(c->script, c->req.settings.window);
	if (c->dump[STAGE_LLVM])
		c->codegen.dump_llvm = stdout;
	if (!types_compile(c->req.types, c->arena, &c->codegen.c_objects, &c->codegen.nc_objects) ||
	    !codegen(c->script, &c->codegen, &c->image))
		return false;
	if (!few_programs(c))
		return false;
	c->image->print_maps = c->req.settings.print_maps_on_exit;
	if (c->dump[STAGE_ELF])
		fwrite(c->image->elf, 1, c->image->elf_size, stdout);
	if (c->dump[STAGE_IMAGE])
		image_dump(c->image, stdout);
	return true;
}

/* Returns the last stage that is printed. No work is needed after it. */
static int last_stage(const struct compile *c)
{
	int last = c->names_only ? STAGE_NAMES : -1;

	for (int i = 0; i < STAGE_MAX; i++)
		if (c->dump[i])
			last = i;
	return last < 0 ? STAGE_MAX : last;
}

static bool passes(struct compile *c)
{
	int last = last_stage(c);

	return pass_parse(c)
	    && (last < STAGE_NAMES || pass_macros(c))
	    && (last < STAGE_NAMES || pass_types(c))
	    && pass_settings(c)
	    && (last < STAGE_NAMES || pass_names_and_types(c, last))
	    && (last < STAGE_LLVM || !c->script->probes || pass_codegen(c));
}

bool compile(struct compile *c)
{
	bool ok = passes(c) && !diags_failed(c->req.diags);

	if (last_stage(c) != STAGE_MAX)
		c->image = NULL; /* the script is only printed */
	fflush(stdout);
	if (!c->is_again || !ok)
		diags_print(c->req.diags, stderr, c->colour);
	return ok;
}
