// SPDX-License-Identifier: Apache-2.0
/* code_type.c - types as bytes. A type is written once; later it is the number of the type that was coded. The
 * targets of pointers keep only their names, since nothing reads their members: so types are finite. */
#include <string.h>

#include "base/arena.h"
#include "bpf/lib/record.h"
#include "codec.h"
#include "model/type.h"

enum {
	NO_TYPE, NEW_TYPE,
	PREDEFINED, /* + index */
	CODED = 64, /* + index */
	DEPTH_MAX = 24, TYPES_MAX = 1 << 16,
};

static const struct type *const *predefined(void)
{
	static const struct type *list[24];

	if (!list[0])
		memcpy(list, (const struct type *[]){type_bad, type_none, type_bool, type_int8, type_int16, type_int32,
			type_int64, type_uint8, type_uint16, type_uint32, type_uint64, type_ksym, type_usym, type_probe,
			type_func, type_kfunc, type_inet, type_args}, 18 * sizeof(*list));
	return list;
}

/* ---- kinds -------------------------------------------------------------- */

static void code_enumeration(struct codec *c, struct type *t)
{
	bool has = c->out && t->integer.names;
	struct enumeration *e;
	struct enumerator *list;

	code_bool(c, &has);
	if (!has)
		return;
	e = arena_new_obj(c->arena, struct enumeration);
	if (c->out)
		*e = *enumeration_of(t);
	code_text(c, &e->name);
	c->bad |= !e->name;
	e->list = list = code_list(c, (void *)e->list, &e->n, sizeof(*e->list));
	for (unsigned i = 0; i < e->n; i++) {
		struct enumerator one = list[i];

		code_text(c, &one.name);
		code_int(c, &one.value);
		c->bad |= !one.name;
		if (!c->out)
			list[i] = one;
	}
	t->integer.names = e;
}

static void code_integer(struct codec *c, struct type *t)
{
	code_enumeration(c, t);
	code_text(c, &t->integer.c_name);
	code_type(c, &t->integer.natural);
	code_bool(c, &t->integer.weak);
	c->bad |= t->integer.natural && t->integer.natural->kind != TYPE_INT;
}

static void code_member(struct codec *c, struct member *m, const struct type *of)
{
	code_text(c, &m->name);
	code_type(c, &m->type);
	code_int(c, &m->offset);
	code_int(c, &m->bit_offset);
	code_int(c, &m->bit_size);
	c->bad |= !m->name || !m->type || m->offset > of->size || m->type->size > of->size - m->offset ||
		m->bit_offset + m->bit_size > 8 * m->type->size;
}

/* whole: with its members. */
static void code_composite(struct codec *c, struct type *t, bool whole)
{
	struct composite *copy = arena_new_obj(c->arena, struct composite);
	struct member *members;

	if (c->out)
		*copy = whole ? *composite_of(t) : (struct composite){.name = t->strct.composite->name,
			.is_union = t->strct.composite->is_union, .incomplete = true};
	copy->fill = NULL;
	code_text(c, &copy->name);
	code_bool(c, &copy->is_union);
	code_bool(c, &copy->incomplete);
	c->bad |= !copy->name;
	copy->members = members = code_list(c, (void *)copy->members, &copy->n, sizeof(*members));
	for (unsigned i = 0; i < copy->n; i++) {
		struct member m = members[i];

		code_member(c, &m, t);
		if (!c->out)
			members[i] = m;
	}
	t->strct.composite = copy;
}

static void code_pointer(struct codec *c, struct type *t)
{
	bool is_struct = c->out && t->pointer.to->kind == TYPE_STRUCT;
	struct type *to;

	code_enum(c, &t->pointer.space, SPACE_USER + 1);
	code_bool(c, &t->pointer.context);
	code_bool(c, &is_struct);
	if (!is_struct) {
		code_type(c, &t->pointer.to);
		c->bad |= !t->pointer.to;
		return;
	}
	to = arena_new_obj(c->arena, struct type);
	*to = (struct type){.kind = TYPE_STRUCT};
	if (c->out)
		to->strct = t->pointer.to->strct;
	code_composite(c, to, false);
	t->pointer.to = to;
}

static void code_tuple(struct codec *c, struct type *t)
{
	bool named = c->out && t->tuple.names;
	const char **names;
	uint32_t *offsets;

	t->tuple.members = code_list(c, t->tuple.members, &t->tuple.n, sizeof(*t->tuple.members));
	offsets = c->out ? (uint32_t *)t->tuple.offsets : arena_new_array(c->arena, uint32_t, t->tuple.n + 1);
	code_bool(c, &named);
	names = c->out ? (const char **)t->tuple.names : arena_new_array(c->arena, const char *, t->tuple.n + 1);
	for (unsigned i = 0; i < t->tuple.n; i++) {
		code_type(c, &t->tuple.members[i]);
		code_int(c, &offsets[i]);
		if (named)
			code_text(c, &names[i]);
		c->bad |= !t->tuple.members[i] || offsets[i] > t->size ||
			t->tuple.members[i]->size > t->size - offsets[i] || (named && !names[i]);
	}
	t->tuple.offsets = offsets;
	t->tuple.names = named ? names : NULL;
}

static void code_frame(struct codec *c, struct type *t)
{
	bool has = c->out && t->frame.pattern;
	struct frame_pattern *p = arena_new_obj(c->arena, struct frame_pattern);

	code_type(c, &t->frame.stack);
	code_int(c, &t->frame.index);
	code_enum(c, &t->frame.part, FRAME_PART_MAX + 1);
	code_bool(c, &has);
	if (has && c->out)
		*p = *t->frame.pattern;
	if (has) {
		code_text(c, &p->func);
		code_text(c, &p->module);
		code_bool(c, &p->container);
	}
	t->frame.pattern = has ? p : NULL;
	c->bad |= !t->frame.stack || t->frame.stack->kind != TYPE_STACK || (has && !p->func) ||
		(t->frame.part == FRAME_PART_HAS && !has);
}

static void code_stack(struct codec *c, struct type *t)
{
	code_enum(c, &t->stack.lang, FRAME_LANG_KERNEL + 1);
	code_enum(c, &t->stack.mode, STACK_MODE_MAX);
	code_int(c, &t->stack.limit);
	code_bool(c, &t->stack.limited);
	code_int(c, &t->stack.last);
	code_text(c, &t->stack.from);
	code_text(c, &t->stack.to);
	c->bad |= t->stack.lang >= FRAME_LANGS && t->stack.lang != FRAME_LANG_KERNEL;
}

static void code_shown(struct codec *c, struct type *t)
{
	code_enum(c, &t->shown.as, SHOWN_MAC + 1);
	code_text(c, &t->shown.format);
	c->bad |= !t->shown.format &&
		(t->shown.as == SHOWN_TIME || t->shown.as == SHOWN_CGROUP || t->shown.as == SHOWN_IN_CONTAINER);
}

/* The size must be that of the shape. */
static bool agg_is_sound(struct codec *c, const struct type *t)
{
	switch (t->agg.kind) {
	case AGG_HIST:
		return t->agg.bits <= HIST_BITS_MAX && type_hist(c->arena, t->agg.bits)->size == t->size &&
			t->agg.buckets == t->size / 8;
	case AGG_LHIST:
		return t->agg.step > 0 && t->agg.min < t->agg.max && t->agg.buckets >= 2 &&
			t->agg.buckets <= LHIST_BUCKETS_MAX && t->size == 8 * t->agg.buckets &&
			((uint64_t)t->agg.max - (uint64_t)t->agg.min) / (uint64_t)t->agg.step < t->agg.buckets;
	case AGG_TSERIES:
		return t->agg.step > 0 && t->agg.buckets && t->agg.buckets <= TSERIES_MAX &&
			t->size == t->agg.buckets * sizeof(struct agg_tseries);
	case AGG_COUNT:
	case AGG_SUM:
		return t->size == 8;
	case AGG_MIN:
	case AGG_MAX:
	case AGG_AVG:
	case AGG_STATS:
		return t->size == 16;
	}
	return false;
}

static void code_agg(struct codec *c, struct type *t)
{
	code_enum(c, &t->agg.kind, AGG_TSERIES + 1);
	code_int(c, &t->agg.bits);
	code_int(c, &t->agg.min);
	code_int(c, &t->agg.max);
	code_int(c, &t->agg.step);
	code_int(c, &t->agg.series);
	code_int(c, &t->agg.buckets);
	c->bad |= t->agg.series < 0 || t->agg.series > SERIES_SUM || !agg_is_sound(c, t);
}

/* ---- any type ----------------------------------------------------------- */

static bool size_is_sound(const struct type *t)
{
	switch (t->kind) {
	case TYPE_INT:
		return t->size == 1 || t->size == 2 || t->size == 4 || t->size == 8;
	case TYPE_POINTER:
	case TYPE_STACK:
	case TYPE_FRAME:
	case TYPE_SHOWN:
		return t->size == 8;
	case TYPE_STRING:
		return t->size && t->size <= TYPE_STRING_MAX && t->string.bytes <= t->size;
	case TYPE_BUFFER:
		return t->size >= 4 && t->size <= TYPE_BUFFER_MAX + 8;
	case TYPE_ARRAY:
		return t->array.of && (uint64_t)t->array.of->size * t->array.n == t->size;
	case TYPE_STRUCT:
	case TYPE_TUPLE:
	case TYPE_AGG:
		return true;
	case TYPE_BAD:
	case TYPE_NONE:
	case TYPE_BOOL:
	case TYPE_KSYM:
	case TYPE_USYM:
	case TYPE_PLACE:
	case TYPE_INET:
	case TYPE_ARGS:
		break;
	}
	return false; /* a predefined one */
}

static void code_parts(struct codec *c, struct type *t)
{
	switch (t->kind) {
	case TYPE_INT:
		code_integer(c, t);
		break;
	case TYPE_POINTER:
		code_pointer(c, t);
		break;
	case TYPE_STRING:
		code_int(c, &t->string.bytes);
		break;
	case TYPE_ARRAY:
		code_type(c, &t->array.of);
		code_int(c, &t->array.n);
		break;
	case TYPE_STRUCT:
		code_composite(c, t, true);
		break;
	case TYPE_TUPLE:
		code_tuple(c, t);
		break;
	case TYPE_STACK:
		code_stack(c, t);
		break;
	case TYPE_FRAME:
		code_frame(c, t);
		break;
	case TYPE_SHOWN:
		code_shown(c, t);
		break;
	case TYPE_AGG:
		code_agg(c, t);
		break;
	case TYPE_BUFFER: case TYPE_BAD: case TYPE_NONE: case TYPE_BOOL: case TYPE_KSYM: case TYPE_USYM:
	case TYPE_PLACE: case TYPE_INET: case TYPE_ARGS:
		break;
	}
}

static const struct type *code_new(struct codec *c, const struct type *from)
{
	struct type *t = arena_new_obj(c->arena, struct type);

	if (c->out)
		*t = *from;
	c->bad |= ++c->depth > DEPTH_MAX || c->types.len > TYPES_MAX;
	code_enum(c, &t->kind, TYPE_AGG + 1);
	code_int(c, &t->size);
	code_bool(c, &t->is_signed);
	if (c->out || !c->bad)
		code_parts(c, t);
	c->depth--;
	c->bad |= !size_is_sound(t);
	vec_push(&c->types, c->out ? from : t);
	return t;
}

static uint32_t reference(const struct codec *c, const struct type *t)
{
	if (!t)
		return NO_TYPE;
	for (unsigned i = 0; predefined()[i]; i++)
		if (predefined()[i] == t)
			return PREDEFINED + i;
	for (size_t i = 0; i < c->types.len; i++)
		if (c->types.data[i] == t)
			return CODED + (uint32_t)i;
	return NEW_TYPE;
}

void code_type(struct codec *c, const struct type **t)
{
	uint32_t ref = c->out ? reference(c, *t) : 0;

	code_int(c, &ref);
	if (ref == NEW_TYPE && c->out)
		code_new(c, *t);
	if (c->out)
		return;
	*t = NULL;
	if (ref == NEW_TYPE && !c->bad)
		*t = code_new(c, NULL);
	else if (ref >= PREDEFINED && ref < PREDEFINED + 18)
		*t = predefined()[ref - PREDEFINED];
	else if (ref >= CODED && ref - CODED < c->types.len)
		*t = c->types.data[ref - CODED];
	else
		c->bad |= ref != NO_TYPE;
	if (c->bad)
		*t = type_bad; /* the caller may look at it */
}
