// SPDX-License-Identifier: Apache-2.0
/* types.c - a source of types for the fuzzer of the parser, which has no kernel: a struct that points to
 * itself, with a bit-field, arrays and an unnamed union; an enum; a constant. */
#include "types/types.h"

#include <string.h>

#include "base/arena.h"

struct types {
	struct arena *arena;
	const struct type *node, *colour;
};

static const struct enumerator colours[] = {{"RED", 0}, {"GREEN", 7}};
static const struct enumeration colour = {.name = "enum colour", .n = 2, .list = colours};

static void fill_node(struct composite *c)
{
	struct types *ts = c->source;
	struct arena *a = ts->arena;
	struct composite *both = arena_new_obj(a, struct composite);
	struct member *m = arena_new_array(a, struct member, 6), *u = arena_new_array(a, struct member, 2);

	u[0] = (struct member){.name = "whole", .type = type_uint32};
	u[1] = (struct member){.name = "half", .type = type_uint16, .offset = 2};
	*both = (struct composite){.name = "union", .is_union = true, .n = 2, .members = u};
	m[0] = (struct member){.name = "next", .type = type_pointer(a, ts->node, SPACE_KERNEL)};
	m[1] = (struct member){.name = "text", .type = type_string(a, 8), .offset = 8};
	m[2] = (struct member){.name = "list", .type = type_array(a, type_int16, 4), .offset = 16};
	m[3] = (struct member){.name = "bits", .type = type_uint32, .offset = 24, .bit_offset = 3, .bit_size = 5};
	m[4] = (struct member){.name = "", .type = type_struct(a, 4, both), .offset = 28};
	m[5] = (struct member){.name = "rest", .type = type_array(a, type_uint8, 0), .offset = 32};
	c->members = m;
	c->n = 6;
}

struct types *types_new(struct arena *a, struct target *t)
{
	struct types *ts = arena_new_obj(a, struct types);
	struct composite *c = arena_new_obj(a, struct composite);

	ts->arena = a;
	*c = (struct composite){.name = "struct node", .fill = fill_node, .source = ts};
	ts->node = type_struct(a, 32, c);
	ts->colour = type_enum(a, 4, false, &colour);
	return ts;
}

const struct type *types_find(struct types *ts, enum type_tag tag, const char *name)
{
	if ((tag == TAG_STRUCT || tag == TAG_NAME) && !strcmp(name, "node"))
		return ts->node;
	return tag == TAG_ENUM && !strcmp(name, "colour") ? ts->colour : NULL;
}

const struct type *types_complete(struct types *ts, const struct type *t)
{
	return t;
}

bool types_constant(struct types *ts, const char *name, struct constant *ret)
{
	*ret = (struct constant){.type = ts->colour, .value = 7};
	return !strcmp(name, "GREEN");
}

const char *types_missing_header(const struct types *ts)
{
	return NULL;
}

const char *types_macro(struct types *ts, const char *name)
{
	return !strcmp(name, "MACRO") ? "$x + 1" : NULL;
}

const struct c_function *types_function(struct types *ts, const char *name)
{
	return NULL;
}

const char *types_nearest(struct types *ts, enum type_tag tag, const char *name)
{
	return NULL;
}
