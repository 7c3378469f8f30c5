// SPDX-License-Identifier: Apache-2.0
/* gen_map.c - reading and writing the script's maps.
 *
 * A scalar map (no key) is an array of one element, so it is always there; others
 * are hashes. Aggregations are per CPU and are summed when read. */
#include "gen.h"

#include <assert.h>
#include <linux/bpf.h>

#include "base/arena.h"
#include "bpf/lib/record.h"
#include "model/builtin.h"

bool map_is_per_cpu(const struct map *m)
{
	return m->value->kind == TYPE_AGG;
}

/* Integers lie in maps as 8 bytes; the rest in its own size. */
static uint32_t value_size(const struct type *t)
{
	return (t->size + 7) & ~7u;
}

/* An array's element is always there: a word behind it says whether it was ever set. */
static uint32_t slot_size(const struct map *m)
{
	return value_size(m->value) + (m->key ? 0 : 8);
}

static void mark_set(struct gen *g, const struct map *m, struct ir *slot)
{
	if (!m->key)
		emit_store(g->e, slot, value_size(m->value), 8, emit_int(g->e, 1));
}

static uint32_t key_size(const struct map *m)
{
	return m->key ? m->key->size : 4;
}

void gen_map_define(struct gen *g, struct map *m, struct image_map *ret)
{
	bool per_cpu = map_is_per_cpu(m);
	struct emit_map def = {
		.name = arena_printf(g->arena, "AT_%s", m->name),
		.key_size = key_size(m),
		.value_size = slot_size(m),
		.max_entries = m->key ? g->opt->max_map_keys : 1,
	};

	if (m->key)
		def.type = per_cpu ? BPF_MAP_TYPE_PERCPU_HASH : BPF_MAP_TYPE_HASH;
	else
		def.type = per_cpu ? BPF_MAP_TYPE_PERCPU_ARRAY : BPF_MAP_TYPE_ARRAY;
	m->slot = emit_map(g->e, &def);
	*ret = (struct image_map){
		.name = m->name,
		.bpf_name = def.name,
		.key = m->key,
		.value = m->value,
		.key_size = def.key_size,
		.value_size = def.value_size,
		.per_cpu = per_cpu,
	};
}

struct ir *gen_key(struct gen *g, struct map *m, struct node *keys)
{
	const struct type *t = m->key;
	struct ir *key;
	unsigned i = 0;

	if (!t) {
		key = gen_tmp(g, 8);
		emit_store(g->e, key, 0, 4, emit_int(g->e, 0));
		return key;
	}
	key = type_in_memory(t) ? gen_mem(g, t->size) : gen_tmp(g, 8);
	if (!keys->next) {
		gen_into(g, keys, t, key, 0);
		return key;
	}
	gen_zero(g, key, t->size);
	for (struct node *k = keys; k; k = k->next, i++)
		gen_into(g, k, t->tuple.members[i], key, t->tuple.offsets[i]);
	return key;
}

static void check_update(struct gen *g, struct ir *result)
{
	struct ir_block *full = emit_block(g->e, "full"), *done = emit_block(g->e, "stored");

	emit_branch(g->e, emit_compare(g->e, EMIT_EQ, result, emit_int(g->e, 0)), done, full);
	emit_at(g->e, full);
	gen_lost(g, LOST_MAP);
	emit_jump(g->e, done);
	emit_at(g->e, done);
}

/* The element, made with zeros when it was not there; what follows is written where it is at
 * hand. Where it is not, the map being full, it goes on at `end`: gives that block. */
static struct ir *lookup_or_make(struct gen *g, struct map *m, struct ir *key,
	struct ir_block *end, struct ir_block **ret_full)
{
	struct ir *p = gen_lookup(g, m->slot, key), *made = NULL;
	struct ir_block *make = emit_block(g->e, "make"), *found = emit_block(g->e, "found");
	struct ir_block *full = emit_block(g->e, "full"), *here = emit_here(g->e);

	emit_branch(g->e, emit_is_null(g->e, p), m->key ? make : full, found);
	emit_at(g->e, make);
	if (m->key) {
		/* NOEXIST: another CPU may have made it meanwhile. */
		gen_call(g, BPF_FUNC_map_update_elem, 4, m->slot, key,
			emit_zeros(g->e, slot_size(m)), emit_int(g->e, BPF_NOEXIST));
		made = gen_lookup(g, m->slot, key);
		emit_branch(g->e, emit_is_null(g->e, made), full, found);
	} else {
		emit_jump(g->e, full); /* never reached */
	}
	emit_at(g->e, full);
	gen_lost(g, LOST_MAP);
	*ret_full = emit_here(g->e);
	emit_jump(g->e, end);
	emit_at(g->e, found);
	if (made)
		p = emit_phi(g->e, p, here, made, make);
	mark_set(g, m, p);
	return p;
}

/* ---- reading ------------------------------------------------------------ */

/* What a map's element is to a program: 0 where it is not there. */
static struct ir *read_number(struct gen *g, struct map *m, struct ir *key)
{
	struct ir_block *found = emit_block(g->e, "found"), *end = emit_block(g->e, "read");
	struct ir *p = gen_lookup(g, m->slot, key), *v;
	struct ir_block *here = emit_here(g->e);

	emit_branch(g->e, emit_is_null(g->e, p), end, found);
	emit_at(g->e, found);
	v = gen_get(g, m->value, p, 0);
	emit_jump(g->e, end);
	emit_at(g->e, end);
	return emit_phi(g->e, emit_int(g->e, 0), here, v, found);
}

static struct ir *read_memory(struct gen *g, struct map *m, struct ir *key)
{
	struct ir_block *found = emit_block(g->e, "found"), *end = emit_block(g->e, "read");
	struct ir *copy = gen_mem(g, m->value->size), *p = gen_lookup(g, m->slot, key);

	gen_zero(g, copy, m->value->size);
	emit_branch(g->e, emit_is_null(g->e, p), end, found);
	emit_at(g->e, found);
	gen_copy(g, copy, p, m->value->size);
	emit_jump(g->e, end);
	emit_at(g->e, end);
	return copy;
}

static enum agg_merge merge_of(const struct type *t)
{
	switch (t->agg.kind) {
	case AGG_MIN:
		return t->is_signed ? MERGE_MIN_SIGNED : MERGE_MIN;
	case AGG_MAX:
		return t->is_signed ? MERGE_MAX_SIGNED : MERGE_MAX;
	case AGG_AVG:
	case AGG_STATS:
		return MERGE_AVERAGE;
	case AGG_COUNT:
	case AGG_SUM:
	case AGG_HIST:
	case AGG_LHIST:
		break;
	}
	return MERGE_SUM;
}

static void merge_part(struct gen *g, const struct type *t, struct ir *part, struct ir *whole)
{
	static const char *const params[] = {"agg_whole", "u64", "u64", "int"};
	static const uint32_t sizes[] = {sizeof(struct agg_whole), 0, 0, 0};
	bool two = t->size > 8;
	struct ir *args[] = {
		whole,
		emit_load(g->e, part, 0, 8, false),
		two ? emit_load(g->e, part, 8, 8, false) : emit_int(g->e, 0),
		emit_int(g->e, merge_of(t)),
	};

	gen_library(g, "agg_merge", params, sizes, args, 4);
}

static struct ir *read_per_cpu(struct gen *g, struct map *m, struct ir *key)
{
	struct ir *whole = gen_tmp(g, sizeof(struct agg_whole)), *cpu = gen_local(g), *i, *p;
	struct ir_block *test = emit_block(g->e, "cpus"), *body = emit_block(g->e, "cpu");
	struct ir_block *part = emit_block(g->e, "part"), *end = emit_block(g->e, "summed");

	gen_zero(g, whole, sizeof(struct agg_whole));
	emit_store(g->e, cpu, 0, 8, emit_int(g->e, 0));
	emit_jump(g->e, test);
	emit_at(g->e, test);
	i = emit_load(g->e, cpu, 0, 8, false);
	emit_branch(g->e, emit_compare(g->e, EMIT_ULT, i, emit_int(g->e, g->opt->ncpus)), body,
		end);
	emit_at(g->e, body);
	p = emit_helper_ptr(g->e, BPF_FUNC_map_lookup_percpu_elem,
		(struct ir *[]){m->slot, key, i}, 3);
	emit_branch(g->e, emit_is_null(g->e, p), end, part);
	emit_at(g->e, part);
	merge_part(g, m->value, p, whole);
	emit_store(g->e, cpu, 0, 8, emit_binary(g->e, EMIT_ADD, i, emit_int(g->e, 1)));
	emit_jump(g->e, test);
	emit_at(g->e, end);
	i = emit_load(g->e, whole, offsetof(struct agg_whole, value), 8, false);
	if (merge_of(m->value) != MERGE_AVERAGE)
		return i;
	return gen_binary(g, OP_DIV, m->value->is_signed ? type_int64 : type_uint64, i,
		type_int64, emit_load(g->e, whole, offsetof(struct agg_whole, n), 8, false));
}

struct ir *gen_map_read(struct gen *g, struct node *n)
{
	struct map *m = n->map.map;
	struct ir *key = gen_key(g, m, n->map.keys);

	if (map_is_per_cpu(m))
		return read_per_cpu(g, m, key);
	return type_in_memory(m->value) ? read_memory(g, m, key) : read_number(g, m, key);
}

/* ---- writing ------------------------------------------------------------ */

/* @m[k] = count(): the builtin changes the element in place. */
static void assign_agg(struct gen *g, struct node *n)
{
	struct map *m = n->op.left->map.map;
	struct ir_block *end = emit_block(g->e, "counted"), *full;
	struct ir *key = gen_key(g, m, n->op.left->map.keys);
	struct ir *p = lookup_or_make(g, m, key, end, &full);

	n->op.right->call.builtin->emit(g, n->op.right, p);
	emit_jump(g->e, end);
	emit_at(g->e, end);
}

static void assign_plain(struct gen *g, struct node *n)
{
	struct map *m = n->op.left->map.map;
	bool memory = type_in_memory(m->value);
	struct ir *value = memory ? gen_mem(g, slot_size(m)) : gen_tmp(g, slot_size(m));
	struct ir *key;

	if (!memory)
		emit_store(g->e, value, 0, 8, emit_int(g->e, 0));
	gen_into(g, n->op.right, m->value, value, 0);
	mark_set(g, m, value);
	key = gen_key(g, m, n->op.left->map.keys);
	check_update(g, gen_call(g, BPF_FUNC_map_update_elem, 4, m->slot, key, value,
		emit_int(g->e, BPF_ANY)));
}

/* Read, change, write: += and -= in one atomic instruction. */
static struct ir *change(struct gen *g, struct map *m, struct node *keys, enum op op,
	const struct type *t, struct ir *operand, bool want_old)
{
	struct ir_block *end = emit_block(g->e, "changed"), *full, *here;
	struct ir *key = gen_key(g, m, keys), *p, *old, *new;

	p = lookup_or_make(g, m, key, end, &full);
	old = emit_load(g->e, p, 0, 8, m->value->is_signed);
	new = gen_binary(g, op, m->value, old, t, operand);
	if (op == OP_ADD)
		emit_atomic_add(g->e, p, operand);
	else if (op == OP_SUB)
		emit_atomic_add(g->e, p, emit_binary(g->e, EMIT_SUB, emit_int(g->e, 0), operand));
	else
		emit_store(g->e, p, 0, 8, new);
	here = emit_here(g->e);
	emit_jump(g->e, end);
	emit_at(g->e, end);
	return emit_phi(g->e, want_old ? old : new, here, emit_int(g->e, 0), full);
}

void gen_map_assign(struct gen *g, struct node *n)
{
	struct node *right = n->op.right;
	struct map *m = n->op.left->map.map;

	if (n->op.op != OP_NONE)
		change(g, m, n->op.left->map.keys, n->op.op, right->type, gen_value(g, right),
			false);
	else if (map_is_per_cpu(m))
		assign_agg(g, n);
	else
		assign_plain(g, n);
}

struct ir *gen_map_incdec(struct gen *g, struct node *n)
{
	bool up = n->op.op == OP_PREINC || n->op.op == OP_POSTINC;
	bool post = n->op.op == OP_POSTINC || n->op.op == OP_POSTDEC;

	return change(g, n->op.left->map.map, n->op.left->map.keys, up ? OP_ADD : OP_SUB,
		type_int64, emit_int(g->e, 1), post);
}

struct ir *gen_map_delete(struct gen *g, struct map *m, struct node *keys)
{
	struct ir *key = gen_key(g, m, keys);

	if (!m->key) { /* an array's element cannot go: it becomes zero */
		struct ir *zeros = emit_zeros(g->e, slot_size(m));

		gen_call(g, BPF_FUNC_map_update_elem, 4, m->slot, key, zeros,
			emit_int(g->e, BPF_ANY));
		return emit_int(g->e, 1);
	}
	return emit_compare(g->e, EMIT_EQ,
		gen_call(g, BPF_FUNC_map_delete_elem, 2, m->slot, key), emit_int(g->e, 0));
}
