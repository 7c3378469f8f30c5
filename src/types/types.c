// SPDX-License-Identifier: Apache-2.0
/* types.c - asks the sources of types one after the other. */
#include "types.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/str.h"
#include "base/vec.h"
#include "c_int.h"
#include "known_constants.h"
#include "source.h"
#include "target/target.h"

enum { SOURCES_MAX = 2 + 1 + 256 }; /* the kernel, programs, the script, its imports */

struct types {
	struct arena *arena;
	struct target *target;
	struct type_source sources[SOURCES_MAX]; /* the last one is asked first */
	unsigned n;
	bool kernel; /* the kernel's source, the first one, is open */
	const char *missing_header;
	bool c_is_bound; /* see types_c_is_bound() */
	struct programs *programs; /* state of the second source; NULL if there are none */
};

struct types *types_new(struct arena *a, struct target *t)
{
	struct types *ts = arena_new_obj(a, struct types);

	ts->arena = a;
	ts->target = t;
	ts->n = 2;
	return ts;
}

void types_close(struct types *ts)
{
	for (unsigned i = 0; ts && i < ts->n; i++)
		if (ts->sources[i].state)
			ts->sources[i].close(ts->sources[i].state);
}

struct arena *types_arena(struct types *ts)
{
	return ts->arena;
}

struct programs *types_programs(struct types *ts)
{
	if (!ts->programs)
		ts->programs = programs_source(ts->arena, &ts->sources[1]);
	return ts->programs;
}

bool types_has_btf(const struct types *ts)
{
	return ts->target && target_has_btf(ts->target);
}

struct target *types_target(struct types *ts)
{
	return ts->target;
}

void types_add_source(struct types *ts, const struct type_source *s)
{
	if (ts->n < SOURCES_MAX && s->state)
		ts->sources[ts->n++] = *s;
}

/* Returns the i-th source, counted from the one that is asked last, or NULL if it is empty. */
static const struct type_source *source(struct types *ts, unsigned i)
{
	if (!i && !ts->kernel) {
		ts->kernel = true;
		btf_source(ts->arena, ts->target, ts, &ts->sources[0]);
	}
	return ts->sources[i].state ? &ts->sources[i] : NULL;
}

struct btf_types *types_kernel(struct types *ts)
{
	const struct type_source *s = ts ? source(ts, 0) : NULL;

	return s ? s->state : NULL;
}

const struct type *types_find_kernel(struct types *ts, enum type_tag tag, const char *name)
{
	const struct type_source *s = source(ts, 0);

	return s ? s->find(s->state, tag, name) : NULL;
}

static bool is_incomplete(const struct type *t)
{
	return t->kind == TYPE_STRUCT && composite_of(t)->incomplete;
}

const struct type *types_find(struct types *ts, enum type_tag tag, const char *name)
{
	const struct type *declared = tag == TAG_NAME ? c_int(ts->arena, name) : NULL;

	if (declared)
		return declared;
	for (unsigned i = ts->n; i-- > 0;) {
		const struct type_source *s = source(ts, i);
		const struct type *t = s ? s->find(s->state, tag, name) : NULL;

		if (t && !is_incomplete(t))
			return t;
		declared = declared ? declared : t;
	}
	return declared;
}

/* Finds a type by a name with its tag, or by a typedef's name. */
static const struct type *find_named(struct types *ts, const char *name)
{
	if (!strncmp(name, "struct ", 7))
		return types_find(ts, TAG_STRUCT, name + 7);
	if (!strncmp(name, "union ", 6))
		return types_find(ts, TAG_UNION, name + 6);
	return strcmp(name, "struct") && strcmp(name, "union") ? types_find(ts, TAG_NAME, name) : NULL;
}

const struct type *types_complete(struct types *ts, const struct type *t)
{
	const struct type *found;

	if (!ts || !is_incomplete(t))
		return t;
	found = find_named(ts, composite_of(t)->name);
	return found && found->kind == TYPE_STRUCT ? found : t;
}

/* ---- types found later -------------------------------------------------- */

static struct composite *named(struct arena *a, const char *name)
{
	struct composite *c = arena_new_obj(a, struct composite);

	c->name = name;
	c->is_union = !strncmp(name, "union ", 6);
	return c;
}

const struct type *types_later(struct arena *a, const char *name)
{
	struct composite *c = named(a, name);

	c->incomplete = true;
	return type_struct(a, 0, c);
}

/* The composite's id is its size. */
static void fill_sized(struct composite *c)
{
	const struct type *t = find_named(c->source, c->name);

	c->incomplete = !t || t->kind != TYPE_STRUCT || t->size != c->id || composite_of(t)->incomplete;
	if (!c->incomplete) {
		c->n = composite_of(t)->n;
		c->members = composite_of(t)->members;
		c->origin = composite_of(t)->origin;
	}
}

const struct type *types_sized(struct types *ts, const char *name, uint32_t size)
{
	struct composite *c = named(ts->arena, name);

	c->id = size;
	c->source = ts;
	c->fill = fill_sized;
	return type_struct(ts->arena, size, c);
}

static void fill_enum(struct enumeration *e)
{
	const struct type *t = types_find(e->source, TAG_ENUM, strchr(e->name, ' ') + 1);
	const struct enumeration *found = t ? enumeration_of(t) : NULL;

	if (found) {
		e->n = found->n;
		e->list = found->list;
	}
}

const struct type *types_enum(struct types *ts, const char *name, uint32_t size, bool is_signed)
{
	struct enumeration *e = arena_new_obj(ts->arena, struct enumeration);

	*e = (struct enumeration){.name = name, .fill = fill_enum, .source = ts};
	return type_enum(ts->arena, size, is_signed, e);
}

bool types_constant(struct types *ts, const char *name, struct constant *ret)
{
	for (unsigned i = ts->n; i-- > 0;) {
		const struct type_source *s = source(ts, i);

		if (s && s->constant && s->constant(s->state, name, ret))
			return true;
		if (s && s->macro && s->macro(s->state, name)) /* hides an enumerator of BTF */
			return false;
	}
	return ts->missing_header && known_constant(name, ret);
}

void types_miss_header(struct types *ts, const char *name)
{
	if (!ts->missing_header)
		ts->missing_header = name;
}

void types_bind_c(struct types *ts)
{
	ts->c_is_bound = true;
}

bool types_c_is_bound(const struct types *ts)
{
	return ts && ts->c_is_bound;
}

const char *types_missing_header(const struct types *ts)
{
	return ts ? ts->missing_header : NULL;
}

const char *types_macro(struct types *ts, const char *name)
{
	const char *text = NULL;

	for (unsigned i = ts->n; i-- > 0 && !text;) {
		const struct type_source *s = &ts->sources[i];

		text = s->state && s->macro ? s->macro(s->state, name) : NULL;
	}
	return text;
}

/* ---- functions in C ----------------------------------------------------- */

const struct c_function *types_function(struct types *ts, const char *name)
{
	const struct c_function *f = NULL;

	for (unsigned i = 0; ts && i < ts->n && !f; i++)
		f = ts->sources[i].function ? ts->sources[i].function(ts->sources[i].state, name) : NULL;
	return f;
}

bool types_compile(struct types *ts, struct arena *a, struct c_object **ret, unsigned *ret_n)
{
	bool ok = true;

	*ret_n = 0;
	if (!ts) /* a script without types has no programs in C */
		return true;
	*ret = arena_new_array(a, struct c_object, ts->n);
	for (unsigned i = 0; i < ts->n; i++) {
		struct c_object *o = *ret + *ret_n;

		ok &= !ts->sources[i].compile || ts->sources[i].compile(ts->sources[i].state, o);
		*ret_n += o->size > 0;
	}
	return ok;
}

/* ---- names -------------------------------------------------------------- */

struct name_list {
	VEC(const char *) list;
};

static void add_name(void *arg, const char *name)
{
	struct name_list *l = arg;

	vec_push(&l->list, name);
}

const char *const type_tag_words[] = {"", "struct ", "union ", "enum "};

static struct name_list all_names(struct types *ts, enum type_tag tag)
{
	struct name_list l = {};

	for (unsigned i = 0; i < ts->n; i++) {
		const struct type_source *s = source(ts, i);

		if (s && s->names)
			s->names(s->state, tag, add_name, &l);
	}
	return l;
}

const char *types_nearest(struct types *ts, enum type_tag tag, const char *name)
{
	struct name_list l = all_names(ts, tag);
	const char *near = nearest(name, l.list.data, l.list.len);

	near = near ? arena_printf(ts->arena, "%s%s", type_tag_words[tag], near) : NULL;
	vec_done(&l.list);
	return near;
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

const char *const *types_names(struct types *ts, enum type_tag tag, const char *pattern)
{
	struct name_list l = all_names(ts, tag);
	const char **list = arena_new_array(ts->arena, const char *, l.list.len + 1);
	size_t n = 0;

	if (l.list.len)
		qsort(l.list.data, l.list.len, sizeof(*l.list.data), compare_names);
	for (size_t i = 0; i < l.list.len; i++)
		if (glob_match(pattern, l.list.data[i]) && (!n || strcmp(list[n - 1], l.list.data[i]) != 0))
			list[n++] = l.list.data[i];
	vec_done(&l.list);
	return list;
}
