// SPDX-License-Identifier: Apache-2.0
/* btf.c - reads any bytes as BTF: every type by its name, its members, a value of it, its definition in C.
 *
 * The input is the length of the types in 2 bytes, the types, and the strings. The header is made here, since
 * a wrong header leads to nothing. */
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/str.h"
#include "values/show.h"
#include "target/target.h"
#include "types/btf.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { LOOKED_AT = 64, PRINTED = 4, STEPS = 20000, VALUE_MAX = 1 << 16 };

struct walk {
	struct arena *arena;
	struct type_source source;
	const char *names[LOOKED_AT];
	unsigned n, steps;
};

/* ---- functions of the rest of the program, which are never reached -------------------------- */

void show_stack(const struct show *s, const struct type *t, uint64_t id, struct str *out)
{
	abort();
}

void show_frame(const struct show *s, const struct type *t, uint64_t id, struct str *out)
{
	abort();
}

void show_ksym(const struct show *s, uint64_t addr, struct str *out)
{
	abort();
}

void show_usym(const struct show *s, const uint8_t *data, struct str *out)
{
	abort();
}

void target_cgroup_path(struct target *t, uint64_t id, const char *hierarchies, struct str *out)
{
}

const char *target_container(struct target *t, uint64_t cgroup)
{
	return "";
}

int target_container_is(struct target *t, uint64_t cgroup, const char *name)
{
	return 0;
}

struct btf *target_btf(struct target *t, const char *module)
{
	abort();
}

const char *const *target_btf_modules(struct target *t, const char *pattern)
{
	abort();
}

struct btf_types *types_kernel(struct types *ts)
{
	abort();
}

/* ---- what a type must be ------------------------------------------------ */

static void walk_type(struct walk *w, const struct type *t, unsigned depth);

static void walk_member(struct walk *w, const struct type *t, const struct member *m, unsigned depth)
{
	if ((uint64_t)m->offset + m->type->size > t->size)
		abort();
	if (m->bit_size && m->bit_offset + m->bit_size > 8 * m->type->size)
		abort();
	if (m->bit_size && m->type->kind != TYPE_INT && m->type->kind != TYPE_BOOL)
		abort();
	walk_type(w, m->type, depth + 1);
}

static void walk_type(struct walk *w, const struct type *t, unsigned depth)
{
	const struct composite *c;

	if (depth > 40 || ++w->steps > STEPS)
		return;
	switch ((int)t->kind) {
	case TYPE_POINTER:
		walk_type(w, t->pointer.to, depth + 1);
		break;
	case TYPE_ARRAY:
		if ((uint64_t)t->array.of->size * t->array.n != t->size)
			abort();
		walk_type(w, t->array.of, depth + 1);
		break;
	case TYPE_STRUCT:
		c = composite_of(t);
		for (unsigned i = 0; i < c->n; i++)
			walk_member(w, t, &c->members[i], depth);
		break;
	case TYPE_INT:
		if (t->size != 1 && t->size != 2 && t->size != 4 && t->size != 8)
			abort();
		break;
	}
}

static void look_at(struct walk *w, enum type_tag tag, const char *name)
{
	const struct type *t = w->source.find(w->source.state, tag, name);
	struct show s = {};
	struct str text = {};
	struct member m;
	uint8_t *value;

	if (!t)
		return;
	walk_type(w, t, 0);
	if (t->kind == TYPE_STRUCT)
		type_member(t, "no such member", &m);
	type_name(w->arena, t);
	if (t->size > VALUE_MAX)
		return;
	value = calloc(1, t->size ? t->size : 1);
	show_value(&s, t, value, &text);
	free(value);
	str_done(&text);
}

/* ---- all types ---------------------------------------------------------- */

static void add_name(void *arg, const char *name)
{
	struct walk *w = arg;

	if (w->n < LOOKED_AT)
		w->names[w->n++] = name;
}

static void print(struct walk *w, enum type_tag tag, const char *name)
{
	struct btf_file *f;
	uint32_t id = btf_find(w->source.state, tag, name, &f);
	struct str text = {};

	if (id) {
		btf_declare(f, id, "name", &text);
		btf_define(f, id, true, &text);
	}
	str_done(&text);
}

static void walk_all(struct walk *w)
{
	struct constant c;

	for (int tag = TAG_NAME; tag <= TAG_ENUM; tag++) {
		w->n = 0;
		w->source.names(w->source.state, (enum type_tag)tag, add_name, w);
		for (unsigned i = 0; i < w->n; i++)
			look_at(w, (enum type_tag)tag, w->names[i]);
		for (unsigned i = 0; i < w->n && i < PRINTED; i++)
			print(w, (enum type_tag)tag, w->names[i]);
	}
	w->source.constant(w->source.state, "RED", &c);
	w->source.constant(w->source.state, "no such constant", &c);
	w->source.close(w->source.state);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct btf_header h = {.magic = BTF_MAGIC, .version = BTF_VERSION, .hdr_len = sizeof(h)};
	struct walk w = {.arena = arena_new()};
	uint16_t types;
	uint8_t *blob;

	libbpf_set_print(NULL);
	if (size < 8)
		return arena_free(w.arena), 0;
	memcpy(&types, data, 2);
	h.type_len = (types < size - 4 ? types : (uint32_t)size - 4) & ~3u;
	h.str_off = h.type_len;
	h.str_len = (uint32_t)size - 2 - h.type_len;
	blob = malloc(sizeof(h) + size);
	memcpy(blob, &h, sizeof(h));
	memcpy(blob + sizeof(h), data + 2, size - 2);
	blob[sizeof(h) + h.str_off] = 0;
	blob[sizeof(h) + size - 3] = 0;
	btf_source_blob(w.arena, blob, sizeof(h) + size - 2, &w.source);
	free(blob);
	if (w.source.state)
		walk_all(&w);
	arena_free(w.arena);
	return 0;
}
