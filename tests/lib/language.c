// SPDX-License-Identifier: Apache-2.0
/* language.c - builtins and probe types without an implementation, for tests of the parser
 * only. Their messages differ from strata's. */
#include "language.h"

#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "model/attach_point.h"
#include "model/builtin.h"
#include "model/provider.h"
#include "model/request.h"
#include "model/type.h"
#include "parser/ast.h"
#include "parser/check.h"

/* ---- builtins ---- */

static const struct type *agg(struct check *c, struct expr *call, enum agg_kind kind)
{
	struct expr *arg = call_arg(call, 0);

	return type_agg(check_arena(c), kind, !arg || arg->type->is_signed);
}

#define AGG(name, kind)                                                                  \
	static const struct type *check_##name(struct check *c, struct expr *call)       \
	{                                                                                \
		return agg(c, call, kind);                                               \
	}
AGG(avg, AGG_AVG)
AGG(count, AGG_COUNT)
AGG(max, AGG_MAX)
AGG(min, AGG_MIN)
AGG(stats, AGG_STATS)
AGG(sum, AGG_SUM)

static const struct type *check_hist(struct check *c, struct expr *call)
{
	int64_t bits = 0;

	if (call_arg(call, 1))
		expr_is_const(call_arg(call, 1), &bits);
	if (bits < 0 || bits > 5)
		return check_fail(c, call_arg(call, 1)->span, DIAG_RANGE, "0 to 5");
	return type_hist(check_arena(c), (uint32_t)bits);
}

static const struct type *check_lhist(struct check *c, struct expr *call)
{
	int64_t min, max, step;

	expr_is_const(call_arg(call, 1), &min);
	expr_is_const(call_arg(call, 2), &max);
	expr_is_const(call_arg(call, 3), &step);
	if (min >= max || step < 1 ||
		((uint64_t)max - (uint64_t)min) / (uint64_t)step > 1000)
		return check_fail(c, call->span, DIAG_RANGE, "no such buckets");
	return type_lhist(check_arena(c), min, max, step);
}

static const struct type *check_args(struct check *c, struct expr *call)
{
	for (struct attach_point *ap = check_probe(c)->points; ap; ap = ap->next)
		if (ap->provider && !ap->provider->has_fields)
			return check_fail(c, call->span, DIAG_CONTEXT,
				"args is not available in %s probes", ap->provider->name);
	return type_args;
}

static const struct type *check_arg0(struct check *c, struct expr *call)
{
	for (struct attach_point *ap = check_probe(c)->points; ap; ap = ap->next)
		if (ap->provider && !ap->provider->has_args)
			return check_fail(c, call->span, DIAG_CONTEXT,
				"arg0 is not available in %s probes", ap->provider->name);
	return type_int64;
}

static const struct type *check_stack(struct check *c, struct expr *call)
{
	struct expr *mode = call_arg(call, 0);
	enum frame_lang lang = call->call.name[0] == 'k' ? FRAME_LANG_KERNEL : FRAME_LANG_NATIVE;
	enum stack_mode m = STACK_FUNC;

	if (mode && mode->kind == EXPR_WORD) {
		m = mode->word[0] == 'p' ? STACK_PERF : STACK_RAW;
		if (strcmp(mode->word, "perf") != 0 && strcmp(mode->word, "raw") != 0)
			return check_fail(
				c, mode->span, DIAG_STACK, "no mode %s", mode->word);
	}
	return type_stack(check_arena(c), lang, m, 127, false);
}

static const struct type *check_str(struct check *c, struct expr *call)
{
	expr_param_as_string(c, call_arg(call, 0));
	if (call_arg(call, 0)->type->kind == TYPE_STRING)
		return call_arg(call, 0)->type;
	return type_string(check_arena(c), 64);
}

static const struct type *check_printf(struct check *c, struct expr *call)
{
	struct expr *fmt = call_arg(call, 0);

	return check_format(c, fmt, fmt->next) ? type_none : type_bad;
}

static const struct type *check_len(struct check *c, struct expr *call)
{
	return type_int64;
}

#define VAR(n, s)                                                                        \
	{                                                                                \
		.name = n, .sig = " -> " s, .flags = BUILTIN_VAR                         \
	}
#define STACK(n)                                                                         \
	{                                                                                \
		.name = n, .sig = "[any] [literal] -> special", .flags = BUILTIN_VAR,    \
		.check = check_stack                                                     \
	}
#define STMT(n, s, f)                                                                    \
	{                                                                                \
		.name = n, .sig = s, .flags = BUILTIN_STMT, .check = f                   \
	}
#define AGGREGATION(n, s)                                                                \
	{                                                                                \
		.name = #n, .sig = s " -> special", .help = "a value for a map",         \
		.flags = BUILTIN_AGG, .check = check_##n                                 \
	}

static const struct builtin rows[] = {
	{.name = "arg0", .sig = " -> special", .flags = BUILTIN_VAR, .check = check_arg0},
	{.name = "args", .sig = " -> special", .flags = BUILTIN_VAR, .check = check_args},
	AGGREGATION(avg, "int"),
	STMT("clear", "map -> none", NULL),
	VAR("comm", "string[16]"),
	AGGREGATION(count, ""),
	VAR("cpu", "uint32"),
	{.name = "delete", .sig = "mapkey [key] -> bool"},
	STMT("exit", "[int] -> none", NULL),
	VAR("func", "func"),
	{.name = "has_key", .sig = "map key -> bool"},
	AGGREGATION(hist, "int [literal]"),
	STACK("kstack"),
	{.name = "ksym", .sig = "int -> ksym"},
	{.name = "len", .sig = "any -> special", .check = check_len},
	AGGREGATION(lhist, "int literal literal literal"),
	AGGREGATION(max, "int"),
	AGGREGATION(min, "int"),
	VAR("nsecs", "uint64"),
	VAR("pid", "uint32"),
	STMT("print", "any [literal] [literal] -> none", NULL),
	STMT("printf", "format ... -> none", check_printf),
	VAR("probe", "probe"),
	AGGREGATION(stats, "int"),
	{.name = "str", .sig = "any [int] -> special", .check = check_str},
	AGGREGATION(sum, "int"),
	STACK("ustack"),
	VAR("tid", "uint32"),
	{.name = "usym", .sig = "int -> usym"},
	STMT("zero", "map -> none", NULL),
	{},
};

static const struct builtin *const families[] = {rows, NULL};

/* ---- probe types ---- */

static struct place *place(
	const struct request *req, struct attach_point *ap, const char *func)
{
	struct place *p = arena_new_obj(req->arena, struct place);

	p->name = ap->words[0];
	for (unsigned i = 1; i < ap->nwords; i++)
		p->name = arena_printf(req->arena, "%s:%s", p->name, ap->words[i]);
	p->func = func;
	p->next = ap->places;
	ap->places = p;
	return p;
}

static bool wants(const struct request *req, struct attach_point *ap, unsigned parts)
{
	if (ap->nwords == parts)
		return true;
	return diag(req->diags, ap->span, DIAG_ATTACH_POINT, "%s has %u parts, not %u",
		ap->provider->name, parts, ap->nwords);
}

static bool expand_alone(const struct request *req, struct attach_point *ap)
{
	if (!wants(req, ap, 1))
		return false;
	place(req, ap, "");
	return true;
}

static bool expand_timer(const struct request *req, struct attach_point *ap)
{
	if (!wants(req, ap, 3))
		return false;
	place(req, ap, "");
	return true;
}

static bool expand_uprobe(const struct request *req, struct attach_point *ap)
{
	if (!wants(req, ap, 3))
		return false;
	if (strstr(ap->words[1], "nonexistent"))
		return diag(req->diags, ap->word_spans[1], DIAG_NO_PLACE, "no file %s",
			ap->words[1]);
	place(req, ap, ap->words[2]);
	return true;
}

/* Two events with a field of the same name and different types. */
static bool expand_tracepoint(const struct request *req, struct attach_point *ap)
{
	static const struct field flags = {.name = "flags", .offset = 24, .size = 4};
	struct field *filename, *rest;
	struct place *p;

	if (!wants(req, ap, 3))
		return false;
	if (!strcmp(ap->words[2], "missing"))
		return diag(req->diags, ap->word_spans[2], DIAG_NO_PLACE, "no event %s",
			ap->words[2]);
	p = place(req, ap, "");
	filename = arena_new_obj(req->arena, struct field);
	rest = arena_new_obj(req->arena, struct field);
	*rest = flags;
	rest->type = type_int32;
	filename->name = "filename";
	filename->type = strcmp(ap->words[2], "exec") == 0
				 ? type_string(req->arena, 64)
				 : type_pointer(req->arena, type_c_int(req->arena, 1, true, "char"), SPACE_USER);
	filename->next = rest;
	p->fields = filename;
	return true;
}

static const struct provider begin = {.name = "begin", .expand = expand_alone};
static const struct provider end = {.name = "end", .expand = expand_alone};
static const struct provider interval = {
	.name = "interval",
	.short_name = "i",
	.expand = expand_timer,
};
static const struct provider profile = {
	.name = "profile",
	.short_name = "p",
	.expand = expand_timer,
};
static const struct provider tracepoint = {
	.name = "tracepoint",
	.short_name = "t",
	.has_fields = true,
	.expand = expand_tracepoint,
};
static const struct provider uprobe = {
	.name = "uprobe",
	.short_name = "u",
	.has_args = true,
	.expand = expand_uprobe,
};

static const struct provider *const all_providers[] = {
	&begin,
	&end,
	&interval,
	&profile,
	&tracepoint,
	&uprobe,
	NULL,
};

const struct language test_language = {.builtins = families, .providers = all_providers};
