// SPDX-License-Identifier: Apache-2.0
/* test_types.c - types that src/types makes from BTF. argv[1]: an object with the BTF of odd.c. The
 * kernel's own BTF is tested if it exists. */
#include <bpf/btf.h>
#include <stdio.h>
#include <string.h>

#include "../lib/check.h"
#include "base/arena.h"
#include "target/target.h"
#include "types/btf.h"

static struct member no_member;

static struct member member(const struct type *t, const char *name)
{
	struct member m = no_member;

	if (!t || t->kind != TYPE_STRUCT || !type_member(t, name, &m)) {
		fprintf(stderr, "no member %s\n", name);
		failed = 1;
		m = (struct member){.type = type_none};
	}
	return m;
}

static bool is_bits(const struct type *t, const char *name, unsigned bit, unsigned bits)
{
	struct member m = member(t, name);
	bool within = m.bit_offset + m.bit_size <= 8 * m.type->size && m.offset + m.type->size <= t->size;

	if (8 * m.offset + m.bit_offset == bit && m.bit_size == bits && within)
		return true;
	fprintf(stderr, "%s: bit %u of %u at %u, %u bits\n", name, m.bit_offset, m.type->size, m.offset,
		m.bit_size);
	return false;
}

static void test_bits(const struct type_source *s)
{
	const struct type *bits = s->find(s->state, TAG_STRUCT, "bits");
	const struct type *packed = s->find(s->state, TAG_STRUCT, "packed");
	const struct type *tiny = s->find(s->state, TAG_STRUCT, "tiny");
	struct member m;

	CHECK(is_bits(bits, "a", 0, 3) && is_bits(bits, "b", 3, 5) && is_bits(bits, "c", 12, 20));
	CHECK(is_bits(bits, "d", 32, 9) && is_bits(bits, "e", 64, 40));
	CHECK(member(bits, "d").type->is_signed && member(bits, "f").type == type_bool);
	CHECK(!strcmp(member(bits, "g").type->integer.names->name, "enum colour"));
	CHECK(composite_of(bits)->n == 7);
	CHECK(is_bits(packed, "a", 0, 7) && is_bits(packed, "b", 7, 6) && is_bits(packed, "c", 13, 3));
	CHECK(is_bits(packed, "d", 16, 50) && member(packed, "b").type->size == 2);
	m = member(packed, "e");
	CHECK(!m.bit_size && m.offset == 9 && m.type->size == 4);
	CHECK(is_bits(tiny, "only", 0, 5) && member(tiny, "only").type->size == 1);
	CHECK(member(tiny, "only").type->is_signed);
}

static void test_enums(const struct type_source *s)
{
	struct constant c;
	const struct type *t = s->find(s->state, TAG_ENUM, "colour");

	CHECK(t && t->kind == TYPE_INT && t->size == 4 && t->integer.names->n == 3);
	CHECK(s->constant(s->state, "GREEN", &c) && c.value == 7 && c.type == t);
	CHECK(s->constant(s->state, "DEEP", &c) && (int64_t)c.value == -3 && c.type->is_signed);
	CHECK(s->constant(s->state, "WIDE", &c) && c.value == 0x1234567890abcdef && c.type->size == 8);
	CHECK(s->constant(s->state, "SMALL", &c) && c.value == 200 && c.type->size == 1);
	CHECK(!s->constant(s->state, "PURPLE", &c));
}

static void test_pointers(const struct type *holder)
{
	struct member m = member(holder, "next");

	CHECK(m.type->kind == TYPE_POINTER && m.type->pointer.to == holder);
	CHECK(m.type->pointer.space == SPACE_KERNEL);
	m = member(holder, "text");
	CHECK(m.type->pointer.space == SPACE_USER && m.type->pointer.to->size == 1);
	CHECK(!strcmp(m.type->pointer.to->integer.c_name, "char"));
	CHECK(member(holder, "call").type->pointer.to == type_none);
	CHECK(member(holder, "any").type->pointer.to == type_none);
	m = member(holder, "unknown");
	CHECK(m.type->pointer.to->kind == TYPE_STRUCT && composite_of(m.type->pointer.to)->incomplete);
	m = member(holder, "pointers");
	CHECK(m.type->kind == TYPE_ARRAY && m.type->array.n == 4 && m.type->size == 32);
	CHECK(m.type->array.of->pointer.to->kind == TYPE_POINTER);
}

static void test_holder(const struct type_source *s)
{
	const struct type *t = s->find(s->state, TAG_STRUCT, "holder");
	struct member m;

	CHECK(t && t == s->find(s->state, TAG_STRUCT, "holder"));
	CHECK(!strcmp(composite_of(t)->members[0].name, "") && member(t, "y").offset == 4);
	CHECK(member(t, "z").type->kind == TYPE_ARRAY && member(t, "z").type->array.n == 4);
	m = member(t, "grid");
	CHECK(m.offset == 8 && m.type->array.n == 2 && m.type->array.of->array.n == 3 && m.type->size == 24);
	CHECK(member(t, "name").type->kind == TYPE_STRING && member(t, "name").type->size == 16);
	CHECK(member(t, "names").type->kind == TYPE_ARRAY);
	CHECK(member(t, "names").type->array.of->kind == TYPE_STRING);
	CHECK(member(t, "big").type->size == 16 && member(t, "big").type->array.of->size == 8);
	CHECK(member(t, "real").type->kind == TYPE_ARRAY && member(t, "real").type->size == 4);
	CHECK(member(t, "nothing").type->size == 0);
	m = member(t, "tail");
	CHECK(m.type->kind == TYPE_ARRAY && m.type->array.n == 0 && m.type->array.of->size == 4);
	m = member(s->find(s->state, TAG_STRUCT, "text"), "tail");
	CHECK(m.type->kind == TYPE_ARRAY && m.type->array.n == 0 && m.type->array.of->size == 1);
	test_pointers(t);
	CHECK(!s->find(s->state, TAG_UNION, "holder") && !s->find(s->state, TAG_STRUCT, "hold"));
	t = s->find(s->state, TAG_NAME, "number");
	CHECK(t && t->kind == TYPE_INT && t->size == 4 && t->is_signed);
}

static void test_odd(struct arena *a, const char *path)
{
	struct btf *btf = btf__parse(path, NULL);
	struct type_source s = {};
	uint32_t size;
	const void *data = btf ? btf__raw_data(btf, &size) : NULL;

	if (data)
		btf_source_blob(a, data, size, &s);
	btf__free(btf);
	CHECK(s.state);
	if (!s.state)
		return;
	test_bits(&s);
	test_enums(&s);
	test_holder(&s);
	s.close(s.state);
}

static void test_c(struct types *ts)
{
	const struct type *t = types_find(ts, TAG_NAME, "unsigned long");

	CHECK(t && t->size == 8 && !t->is_signed);
	t = types_find(ts, TAG_NAME, "long unsigned int");
	CHECK(t && t->size == 8 && !t->is_signed);
	t = types_find(ts, TAG_NAME, "short");
	CHECK(t && t->size == 2 && t->is_signed);
	CHECK(types_find(ts, TAG_NAME, "_Bool") == type_bool);
	CHECK(!types_find(ts, TAG_NAME, "long char") && !types_find(ts, TAG_NAME, "signed unsigned"));
	CHECK(!types_find(ts, TAG_NAME, ""));
}

static void count_name(void *arg, const char *name)
{
	(void)name;
	++*(unsigned *)arg;
}

/* Bit-fields without a name are padding. */
static unsigned members_of(const struct btf *btf, const struct btf_type *t)
{
	unsigned n = 0;

	for (uint32_t i = 0; i < btf_vlen(t); i++)
		n += *btf__name_by_offset(btf, btf_members(t)[i].name_off) || !btf_member_bitfield_size(t, i);
	return n;
}

/* No type of the kernel is refused as impossible. */
static void test_members(struct btf_types *all)
{
	struct btf_file *f = btf_kernel(all);
	unsigned n = 0, missing = 0;

	for (uint32_t id = f->first; id < f->end; id++) {
		const struct btf_type *from = btf__type_by_id(f->btf, id);
		const struct type *t = btf_is_composite(from) ? btf_make(f, id) : NULL;

		if (!t)
			continue;
		n++;
		if (composite_of(t)->n != members_of(f->btf, from) && !missing++)
			fprintf(stderr, "%s has %u of %u members\n", composite_of(t)->name, composite_of(t)->n,
				members_of(f->btf, from));
	}
	CHECK(n > 1000 && !missing);
}

static const char *const known[] = {"task_struct", "file", "sock", "sk_buff", "rq", "mm_struct", "page"};

static void test_kernel(struct arena *a, struct target *target, struct types *ts)
{
	struct type_source s;
	struct constant c;
	const struct type *t;
	unsigned n = 0;

	btf_source(a, target, ts, &s);
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		t = types_find(ts, TAG_STRUCT, known[i]);
		CHECK(t && t->kind == TYPE_STRUCT && t->size && composite_of(t)->n);
	}
	t = types_find(ts, TAG_STRUCT, "task_struct");
	CHECK(member(t, "comm").type->kind == TYPE_STRING && member(t, "comm").type->size == 16);
	CHECK(member(t, "real_parent").type->pointer.to == t);
	CHECK((int)member(t, "pid").offset == target_btf_offset(target, "task_struct", "pid"));
	CHECK(types_constant(ts, "TCP_LISTEN", &c) && c.value == 10);
	t = types_find(ts, TAG_NAME, "atomic_t");
	CHECK(t && t->kind == TYPE_STRUCT && member(t, "counter").type->size == 4);
	t = types_find(ts, TAG_NAME, "u64");
	CHECK(t && t->kind == TYPE_INT && t->size == 8 && !t->is_signed);
	s.names(s.state, TAG_STRUCT, count_name, &n);
	CHECK(n > 1000);
	test_members(s.state);
	CHECK(!types_find(ts, TAG_STRUCT, "task_strct"));
	CHECK(!strcmp(types_nearest(ts, TAG_STRUCT, "task_strct"), "struct task_struct"));
	s.close(s.state);
}

int main(int argc, char **argv)
{
	struct target *target = target_open("/");
	struct arena *a = arena_new();
	struct types *ts = types_new(a, target);

	if (argc < 2)
		return 2;
	test_odd(a, argv[1]);
	test_c(ts);
	if (target_has_btf(target))
		test_kernel(a, target, ts);
	types_close(ts);
	target_close(target);
	arena_free(a);
	return failed;
}
