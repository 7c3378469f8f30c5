// SPDX-License-Identifier: Apache-2.0
/* map.c - what is done with maps: clear, delete, has_key, zero. */
#include <linux/bpf.h>

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
	return send_map(g, call, "clear");
}

static struct ir *gen_zero_map(struct gen *g, struct expr *call, struct ir *into)
{
	return send_map(g, call, "zero");
}

/* delete(@m, key), or delete(@m[key]) as scripts before 0.22 have it. */
static struct expr *key_of(struct expr *call)
{
	struct expr *map = call_arg(call, 0), *key = call_arg(call, 1);

	return map->map.keys ? map->map.keys : key;
}

static struct ir *gen_delete(struct gen *g, struct expr *call, struct ir *into)
{
	return gen_map_delete(g, call_arg(call, 0)->map.map, key_of(call));
}

/* Opaque: of two of them LLVM would make an OR of the pointers, which the verifier refuses. */
static struct ir *gen_has_key(struct gen *g, struct expr *call, struct ir *into)
{
	struct map *m = call_arg(call, 0)->map.map;
	struct ir *p = gen_lookup(g, m->slot, gen_key(g, m, key_of(call)));

	return ir_opaque(g->ir, ir_compare(g->ir, IR_EQ, ir_is_null(g->ir, p), ir_int(g->ir, 0)));
}

const struct builtin builtins_map[] = {
	{
		.name = "clear",
		.sig = "map -> none",
		.help = "remove all elements of a map",
		.flags = BUILTIN_STMT,
		.gen = gen_clear_map,
	},
	{
		.name = "delete",
		.sig = "mapkey [any] -> bool",
		.help = "remove an element of a map; was it there?",
		.gen = gen_delete,
	},
	{
		.name = "has_key",
		.sig = "mapkey any -> bool",
		.help = "is there such an element?",
		.gen = gen_has_key,
	},
	{
		.name = "zero",
		.sig = "map -> none",
		.help = "set all values of a map to zero",
		.flags = BUILTIN_STMT,
		.gen = gen_zero_map,
	},
	BUILTINS_END,
};
