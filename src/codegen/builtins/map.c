// SPDX-License-Identifier: Apache-2.0
/* map.c - functions on maps: clear, delete, find, has_key, zero. */
#include <linux/bpf.h>
#include <string.h>

#include "builtins.h"

static struct ir *send_map(struct gen *g, struct expr *call, const char *kind)
{
	struct image_record *r = gen_record_new(g, kind, call->span);

	r->map = call_arg(call, 0)->map.map->index;
	gen_record_send(g, r, NULL);
	return NULL;
}

static struct ir *gen_clear_map(struct gen *g, struct expr *call, struct ir *into)
{
	return call->call.takes ? NULL : send_map(g, call, "clear"); /* print() has taken the map */
}

static struct ir *gen_zero_map(struct gen *g, struct expr *call, struct ir *into)
{
	return send_map(g, call, "zero");
}

/* Returns the key of delete(@m, key), or of delete(@m[key]), the form in scripts for bpftrace before 0.22. */
static struct expr *key_of(struct expr *call)
{
	struct expr *map = call_arg(call, 0), *key = call_arg(call, 1);

	return map->map.keys ? map->map.keys : key;
}

static struct ir *gen_delete(struct gen *g, struct expr *call, struct ir *into)
{
	return gen_map_delete(g, call_arg(call, 0)->map.map, key_of(call));
}

/* Opaque, since LLVM would combine two results into an OR of pointers, which the verifier refuses. */
static struct ir *gen_has_key(struct gen *g, struct expr *call, struct ir *into)
{
	struct map *m = call_arg(call, 0)->map.map;
	struct ir *p = gen_lookup(g, gen_map_now(g, m), gen_key(g, m, key_of(call)));

	return ir_opaque(g->ir, ir_compare(g->ir, IR_EQ, ir_is_null(g->ir, p), ir_int(g->ir, 0)));
}

/* ---- find --------------------------------------------------------------- */

static struct expr *new_expr(struct check *c, const struct expr *at, enum expr_kind kind)
{
	struct expr *n = arena_new_obj(check_arena(c), struct expr);

	n->kind = kind;
	n->span = at->span;
	return n;
}

static const struct builtin *row_has_key(void)
{
	const struct builtin *b = builtins_map;

	while (strcmp(b->name, "has_key"))
		b++;
	return b;
}

/* Returns a block: the statement `$out = @m[key]`, then the value true. */
static struct expr *found_value(struct check *c, struct expr *map, struct expr *key, struct expr *out)
{
	struct expr *value = new_expr(c, map, EXPR_BLOCK), *element = new_expr(c, map, EXPR_MAP);
	struct stmt *set = arena_new_obj(check_arena(c), struct stmt);

	element->map = map->map;
	element->map.keys = key;
	set->kind = STMT_ASSIGN;
	set->span = map->span;
	set->assign.left = out;
	set->assign.right = element;
	value->block.stmts = set;
	value->block.value = new_expr(c, map, EXPR_BOOL);
	value->block.value->boolean = true;
	return value;
}

/* Replaces find(@m, key, $out) by has_key(@m, key) ? { $out = @m[key]; true } : false. */
static const struct type *check_find(struct check *c, struct expr *call)
{
	struct expr *map = call_arg(call, 0), *key = call_arg(call, 1), *out = call_arg(call, 2);
	struct expr *test = new_expr(c, call, EXPR_CALL), *next = call->next;

	test->call = call->call;
	test->call.name = "has_key";
	test->call.builtin = row_has_key();
	test->call.nargs = 2;
	key->next = out->next = NULL;
	*call = (struct expr){.kind = EXPR_TERNARY, .depth = call->depth, .span = call->span, .next = next};
	call->cond.test = test;
	call->cond.then = found_value(c, map, key, out);
	call->cond.els = new_expr(c, call, EXPR_BOOL);
	check_again(c);
	return type_bool;
}

const struct builtin builtins_map[] = {
	{
		.name = "clear",
		.sig = "map -> none",
		.help = "delete all elements of a map",
		.flags = BUILTIN_STMT | BUILTIN_RECORD,
		.gen = gen_clear_map,
	},
	{
		.name = "delete",
		.sig = "mapkey [any] -> bool",
		.help = "delete an element of a map; returns whether it existed",
		.flags = BUILTIN_CHANGES,
		.gen = gen_delete,
	},
	{
		.name = "find",
		.sig = "map key var -> bool",
		.help = "whether a map has an element; if so, the variable gets its value",
		.check = check_find,
	},
	{
		.name = "has_key",
		.sig = "mapkey any -> bool",
		.help = "whether a map has an element",
		.gen = gen_has_key,
	},
	{
		.name = "zero",
		.sig = "map -> none",
		.help = "set all values of a map to zero",
		.flags = BUILTIN_STMT | BUILTIN_RECORD,
		.gen = gen_zero_map,
	},
	BUILTINS_END,
};
