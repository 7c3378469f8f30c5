// SPDX-License-Identifier: Apache-2.0
/* dwarf_names.c - finds types of programs by name, as a source of types. Units are read one by one until
 * one has the name, and their names are kept. Inner scopes of functions are not read. */
#include "dwarf_read.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/memory.h"
#include "source.h"

enum { BUCKETS = 1 << 16, NAMES_MAX = 1 << 24, PROGRAMS_MAX = 256 };

struct program {
	const char *path;
	struct debuginfo *info; /* NULL before it is opened, or after an error */
	int error;
	bool opened;
	bool named; /* scripts may name types of this program */
};

struct programs {
	struct arena *arena;
	VEC(struct program) list;
};

/* ---- names of one program ----------------------------------------------- */

static uint32_t hash_of(const char *name)
{
	uint32_t h = 2166136261u;

	for (; *name; name++)
		h = (h ^ (uint8_t)*name) * 16777619u;
	return (h ^ h >> 16) % BUCKETS;
}

static const struct name_entry *lookup(struct debuginfo *d, unsigned tag, const char *name)
{
	const struct name_entry *e;

	for (uint32_t i = d->names.buckets[hash_of(name)]; i; i = e->next) {
		e = &d->names.list.data[i];
		if (e->tag == tag && !strcmp(e->name, name))
			return e;
	}
	return NULL;
}

/* Adds the first type of a name: each unit has its own copy of a header's types. */
static void add(struct debuginfo *d, const char *name, unsigned tag, const Dwarf_Die *die)
{
	uint32_t *bucket;

	if (!name || d->names.list.len >= NAMES_MAX || lookup(d, tag, name))
		return;
	bucket = &d->names.buckets[hash_of(name)];
	vec_push(&d->names.list, (struct name_entry){name, *die, *bucket, (uint8_t)tag});
	*bucket = (uint32_t)d->names.list.len - 1;
}

static void add_enumerators(struct debuginfo *d, const Dwarf_Die *die)
{
	Dwarf_Die child;

	if (!die_child(d, die, &child))
		return;
	do {
		if (die_tag(d, &child) == DW_TAG_enumerator)
			add(d, die_name(d, &child), NAME_CONSTANT, die);
	} while (die_next(d, &child));
}

static void add_all(struct debuginfo *d, const Dwarf_Die *holder, unsigned depth);

static void add_one(struct debuginfo *d, const Dwarf_Die *die, unsigned depth)
{
	switch (die_tag(d, die)) {
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
		if (!die_is_declaration(d, die))
			add(d, die_name(d, die), TAG_STRUCT, die);
		add_all(d, die, depth + 1);
		break;
	case DW_TAG_union_type:
		if (!die_is_declaration(d, die))
			add(d, die_name(d, die), TAG_UNION, die);
		break;
	case DW_TAG_enumeration_type:
		add(d, die_name(d, die), TAG_ENUM, die);
		add_enumerators(d, die);
		break;
	case DW_TAG_typedef:
	case DW_TAG_base_type:
		add(d, die_name(d, die), TAG_NAME, die);
		break;
	case DW_TAG_namespace:
	case DW_TAG_module:
		add_all(d, die, depth + 1);
		break;
	default:
		break;
	}
}

static void add_all(struct debuginfo *d, const Dwarf_Die *holder, unsigned depth)
{
	Dwarf_Die child;

	if (depth > DIE_DEPTH_MAX || !die_child(d, holder, &child))
		return;
	do
		add_one(d, &child, depth);
	while (die_next(d, &child));
}

static bool read_unit(struct debuginfo *d)
{
	if (!d->names.buckets) {
		units_read(d);
		d->names.buckets = calloc(BUCKETS, sizeof(*d->names.buckets));
		if (!d->names.buckets)
			out_of_memory();
		vec_push(&d->names.list, (struct name_entry){});
	}
	if (d->names.next_unit >= d->units.len)
		return false;
	add_all(d, &d->units.data[d->names.next_unit++].die, 0);
	return true;
}

/* Returns whether the program may have the name. This saves reading all units for a name of the kernel's. */
static bool may_have(struct debuginfo *d, const char *name)
{
	size_t n = strlen(name) + 1;

	units_read(d);
	return !d->strings || n <= 4 || memmem(d->strings, d->strings_size, name, n);
}

static const struct name_entry *find_name(struct debuginfo *d, unsigned tag, const char *name)
{
	const struct name_entry *e = d->names.buckets ? lookup(d, tag, name) : NULL;

	if (!e && !may_have(d, name))
		return NULL;
	while (!e && read_unit(d))
		e = lookup(d, tag, name);
	return e;
}

/* ---- programs ----------------------------------------------------------- */

static struct program *program_of(struct programs *ps, const char *path)
{
	for (size_t i = 0; i < ps->list.len; i++)
		if (!strcmp(ps->list.data[i].path, path))
			return &ps->list.data[i];
	vec_push(&ps->list, (struct program){.path = arena_strdup(ps->arena, path)});
	return &ps->list.data[ps->list.len - 1];
}

static struct debuginfo *opened(struct programs *ps, struct program *p)
{
	if (!p->opened)
		p->error = debuginfo_open(ps->arena, p->path, &p->info);
	p->opened = true;
	return p->info;
}

static const struct type *find(void *state, enum type_tag tag, const char *name)
{
	struct programs *ps = state;

	for (size_t i = 0; i < ps->list.len; i++) {
		struct program *p = &ps->list.data[i];
		struct debuginfo *d = p->named ? opened(ps, p) : NULL;
		const struct name_entry *e = d ? find_name(d, tag, name) : NULL;
		const struct type *t = e ? die_as_type(d, &e->die) : NULL;

		if (t && t->kind != TYPE_NONE)
			return t;
	}
	return NULL;
}

/* Finds an enumerator in an enum's type. */
static bool enumerator(const struct type *t, const char *name, struct constant *ret)
{
	const struct enumeration *e = enumeration_of(t);

	for (unsigned i = 0; e && i < e->n; i++)
		if (!strcmp(e->list[i].name, name)) {
			*ret = (struct constant){.type = t, .value = e->list[i].value};
			return true;
		}
	return false;
}

static bool constant(void *state, const char *name, struct constant *ret)
{
	struct programs *ps = state;

	for (size_t i = 0; i < ps->list.len; i++) {
		struct program *p = &ps->list.data[i];
		struct debuginfo *d = p->named ? opened(ps, p) : NULL;
		const struct name_entry *e = d ? find_name(d, NAME_CONSTANT, name) : NULL;

		if (e && enumerator(die_as_type(d, &e->die), name, ret))
			return true;
	}
	return false;
}

static void names(void *state, enum type_tag tag, void (*f)(void *arg, const char *name), void *arg)
{
	struct programs *ps = state;

	for (size_t i = 0; i < ps->list.len; i++) {
		struct program *p = &ps->list.data[i];
		struct debuginfo *d = p->named ? opened(ps, p) : NULL;

		while (d && read_unit(d))
			;
		for (size_t k = 1; d && k < d->names.list.len; k++)
			if (d->names.list.data[k].tag == tag)
				f(arg, d->names.list.data[k].name);
	}
}

static void close_all(void *state)
{
	struct programs *ps = state;

	for (size_t i = 0; i < ps->list.len; i++)
		if (ps->list.data[i].info)
			debuginfo_close(ps->list.data[i].info);
	vec_done(&ps->list);
}

struct programs *programs_source(struct arena *a, struct type_source *ret)
{
	struct programs *ps = arena_new_obj(a, struct programs);

	ps->arena = a;
	*ret = (struct type_source){
		.state = ps, .find = find, .constant = constant, .names = names, .close = close_all};
	return ps;
}

void types_add_program(struct types *ts, const char *path)
{
	struct programs *ps = types_programs(ts);

	if (ps->list.len < PROGRAMS_MAX)
		program_of(ps, path)->named = true;
}

struct debuginfo *types_debuginfo(
	struct types *ts, const char *path, const char **ret_why, const char **ret_hint)
{
	struct programs *ps = types_programs(ts);
	struct program *p = program_of(ps, path);
	struct debuginfo *d = opened(ps, p);

	*ret_why = d ? NULL : p->error == -ENOTSUP ? "libdw, which reads debug information, is not installed" :
		p->error == -ENODATA ? "no debug information" : "its debug information cannot be read";
	*ret_hint = d ? NULL : p->error == -ENOTSUP ? "Debian and Ubuntu have it in the package libdw1, "
		"Fedora in elfutils-libs" : p->error == -ENODATA ? "compile with -g, or install its -dbgsym or "
		"-debuginfo package; --debuginfo DIR names a directory that has it" : NULL;
	return d;
}
