// SPDX-License-Identifier: Apache-2.0
/* output.c - functions that send records: print, join, exit. The image describes the record of each call;
 * the session prints it. */
#include <linux/bpf.h>
#include <stddef.h>

#include "builtins.h"

#include "base/arena.h"
#include "codegen/gate.h"
#include "bpf/lib/record.h"

/* ---- print -------------------------------------------------------------- */

static bool is_whole_map(const struct expr *n)
{
	return n->kind == EXPR_MAP && !n->map.keys;
}

/* print(@m[k]) of a count, sum or similar is read here and printed as a number. */
static bool check_element_read(struct check *c, struct expr *what)
{
	const struct type *t = what->type;

	if (t->agg.kind > AGG_AVG)
		return check_fail(c, what->span, DIAG_ARG_TYPE,
			"a single element of @%s cannot be printed: it is a %s",
			what->map.name, type_name(check_arena(c), t));
	what->type = type_int(8, t->is_signed || t->agg.kind == AGG_COUNT);
	return true;
}

static const struct type *check_print(struct check *c, struct expr *call)
{
	struct expr *what = call_arg(call, 0), *top = call_arg(call, 1);
	struct expr *div = call_arg(call, 2);
	int64_t v;

	if (what->kind == EXPR_MAP && !is_whole_map(what) && what->type->kind == TYPE_AGG &&
		!check_element_read(c, what))
		return type_bad;
	if (top && !is_whole_map(what))
		return check_fail(c, top->span, DIAG_ARG_COUNT,
			"only a whole map is printed with a number of elements");
	if (top && expr_is_const(top, &v) && v < 0)
		return check_fail(c, top->span, DIAG_RANGE,
			"the number of elements must not be negative");
	if (div && expr_is_const(div, &v) && v <= 0)
		return check_fail(c, div->span, DIAG_RANGE,
			"the divisor must be greater than 0");
	return type_none;
}

static struct ir *print_map(struct gen *g, struct expr *call)
{
	struct image_record *r = gen_record_new(g, "print-map", call->span);

	r->map = call_arg(call, 0)->map.map->index;
	r->takes = call->call.takes;
	if (call_arg(call, 1))
		expr_is_const(call_arg(call, 1), &r->top);
	if (call_arg(call, 2))
		expr_is_const(call_arg(call, 2), &r->div);
	gen_record_send(g, r, NULL);
	return NULL;
}

static struct ir *gen_print(struct gen *g, struct expr *call, struct ir *into)
{
	struct expr *what = call_arg(call, 0);

	if (is_whole_map(what))
		return print_map(g, call);
	gen_record_send(g, gen_record_new(g, "print", call->span), what);
	return NULL;
}

/* ---- exit --------------------------------------------------------------- */

static struct ir *gen_exit(struct gen *g, struct expr *call, struct ir *into)
{
	gen_record_send(g, gen_record_new(g, "exit", call->span), call_arg(call, 0));
	gen_stop(g);
	return NULL;
}

/* ---- join --------------------------------------------------------------- */

static void describe_strings(struct gen *g, struct image_record *r)
{
	struct image_text *list = arena_new_array(g->arena, struct image_text, JOIN_STRINGS);

	for (uint32_t i = 0; i < JOIN_STRINGS; i++)
		list[i] = (struct image_text){
			.offset = (uint32_t)offsetof(struct join_record, text) + i * JOIN_LENGTH, .size = JOIN_LENGTH,
		};
	r->texts = list;
	r->ntexts = JOIN_STRINGS;
}

/* argv is an array of pointers to strings that ends with NULL. The library reads the strings into the
 * record. */
static struct ir *gen_join(struct gen *g, struct expr *call, struct ir *into)
{
	static const char *const params[] = {"join_record", "u64"};
	static const uint32_t sizes[] = {sizeof(struct join_record), 0};
	struct image_record *r = gen_record_new(g, "join", call->span);
	struct expr *sep = call_arg(call, 1);
	uint32_t id = gen_record_id(g, r);
	struct ir *mem = gen_mem(g, sizeof(struct join_record));

	r->text = sep ? sep->string.text : " ";
	r->text_len = sep ? sep->string.len : 1;
	r->size = sizeof(struct join_record);
	describe_strings(g, r);
	gen_record_head(g, mem, id);
	gen_library(g, "join_strings", params, sizes, (struct ir *[]){mem, gen_value(g, call_arg(call, 0))}, 2);
	gen_record_output(g, r, mem);
	return NULL;
}

/* ---- hold, keep, drop ------------------------------------------------------ */

static const struct type *check_held_key(struct check *c, struct expr *call)
{
	struct expr *key = call_arg(call, 0);

	if (key->type->kind == TYPE_INT || key->type->kind == TYPE_STRING || key->type->kind == TYPE_BAD)
		return type_none;
	return check_fail(c, key->span, DIAG_ARG_TYPE, "the key of %s() is an integer or a string, not %s",
		call->call.name, type_name(check_arena(c), key->type));
}

static struct ir *gen_hold(struct gen *g, struct expr *call, struct ir *into)
{
	gate_hold(g, call);
	return NULL;
}

static struct ir *gen_keep(struct gen *g, struct expr *call, struct ir *into)
{
	gen_record_send(g, gen_record_new(g, "keep", call->span), call_arg(call, 0));
	return NULL;
}

static struct ir *gen_drop(struct gen *g, struct expr *call, struct ir *into)
{
	gen_record_send(g, gen_record_new(g, "drop", call->span), call_arg(call, 0));
	return NULL;
}

const struct builtin builtins_output[] = {
	{
		.name = "drop",
		.sig = "any -> special",
		.help = "forget the output and the counts that hold() keeps under a key",
		.flags = BUILTIN_STMT | BUILTIN_RECORD,
		.check = check_held_key,
		.gen = gen_drop,
	},
	{
		.name = "exit",
		.sig = "[int] -> none",
		.help = "end the script, with an exit code if given",
		.flags = BUILTIN_STMT | BUILTIN_RECORD | BUILTIN_LEAVES,
		.gen = gen_exit,
	},
	{
		.name = "hold",
		.sig = "any -> special",
		.help = "hold back the output and the counts of the rest of the probe, under a key, until keep() or "
			"drop()",
		.flags = BUILTIN_STMT | BUILTIN_RECORD | BUILTIN_HOLDS,
		.check = check_held_key,
		.gen = gen_hold,
	},
	{
		.name = "join",
		.sig = "int [format] -> none",
		.help = "print an array of strings (char *[]) with a separator",
		.flags = BUILTIN_STMT | BUILTIN_RECORD,
		.gen = gen_join,
	},
	{
		.name = "keep",
		.sig = "any -> special",
		.help = "print the output and add the counts that hold() keeps under a key",
		.flags = BUILTIN_STMT | BUILTIN_RECORD,
		.check = check_held_key,
		.gen = gen_keep,
	},
	{
		.name = "print",
		.sig = "any [literal] [literal] -> none",
		.help = "print a value, or a map: at most TOP elements, divided by DIV",
		.flags = BUILTIN_STMT | BUILTIN_RECORD,
		.check = check_print,
		.gen = gen_print,
	},
	BUILTINS_END,
};
