// SPDX-License-Identifier: Apache-2.0
/* gen_map.c - reads and writes the script's maps.
 *
 * A scalar map (without key) is an array of one element, which always exists. Other maps are hashes.
 * Aggregations are per CPU and are merged when they are read. */
#include "gate.h"
#include "gen.h"

#include <assert.h>
#include <linux/bpf.h>

#include "base/arena.h"
#include "base/diag.h"
#include "bpf/lib/record.h"
#include "model/builtin.h"

bool map_is_per_cpu(const struct map *m)
{
	return m->value->kind == TYPE_AGG;
}

/* Integers in maps have 8 bytes; other types have their size, in whole words. */
static uint32_t value_size(const struct type *t)
{
	return (t->size + 7) & ~7u;
}

/* The element of an array always exists, so a word after the value is 1 once it was set. */
static uint32_t slot_size(const struct map *m)
{
	return value_size(m->value) + (m->key ? 0 : 8);
}

static void mark_set(struct gen *g, const struct map *m, struct ir *slot)
{
	if (!m->key)
		ir_store(g->ir, slot, value_size(m->value), 8, ir_int(g->ir, 1));
}

static uint32_t key_size(const struct map *m)
{
	return m->key ? m->key->size : 4;
}

static const char *key_text(struct gen *g, const struct map *m)
{
	const struct source *s = g->img->source;
	struct span at = m->first_key;

	if (!m->key || !s || at.end > s->len || at.start >= at.end)
		return NULL;
	return arena_strndup(g->arena, s->text + at.start, at.end - at.start);
}

/* The kernel allocates an element as one piece (KMALLOC_MAX_SIZE), with some bytes of its own. */
enum { ELEMENT_MAX = (4 << 20) - 256 };

static void check_element(struct gen *g, const struct map *m, const struct ir_map *def)
{
	uint64_t size = (uint64_t)def->key_size + def->value_size;

	if (size > ELEMENT_MAX)
		diag(g->opt->diags, m->key ? m->first_key : m->first_value, DIAG_TOO_LARGE,
			"an element of @%s has %llu bytes: the kernel's maps have at most %d", m->name,
			(unsigned long long)size, ELEMENT_MAX);
}

void gen_map_define(struct gen *g, struct map *m, struct image_map *ret)
{
	bool per_cpu = map_is_per_cpu(m);
	struct ir_map def = {
		.name = arena_printf(g->arena, "AT_%s", m->name),
		.key_size = key_size(m),
		.value_size = slot_size(m),
		.max_entries = !m->key ? 1 : m->decl ? (uint32_t)m->decl->max_entries : g->opt->max_map_keys,
	};

	check_element(g, m, &def);
	if (m->key && m->decl && m->decl->lru)
		def.type = per_cpu ? BPF_MAP_TYPE_LRU_PERCPU_HASH : BPF_MAP_TYPE_LRU_HASH;
	else if (m->key)
		def.type = per_cpu ? BPF_MAP_TYPE_PERCPU_HASH : BPF_MAP_TYPE_HASH;
	else
		def.type = per_cpu ? BPF_MAP_TYPE_PERCPU_ARRAY : BPF_MAP_TYPE_ARRAY;
	*ret = (struct image_map){
		.type = def.type,
		.max_entries = def.max_entries,
		.taken = m->taken,
		.name = m->name,
		.bpf_name = def.name,
		.key = m->key,
		.key_text = key_text(g, m),
		.value = m->value,
		.declared = m->decl ? m->decl->kind : NULL,
		.key_size = def.key_size,
		.value_size = def.value_size,
		.per_cpu = per_cpu,
		.sized_by_memory = m->key && !m->decl && !g->opt->map_keys_given && type_has_ids(m->key),
	};
	if (m->taken)
		def = (struct ir_map){.name = def.name, .type = BPF_MAP_TYPE_ARRAY_OF_MAPS, .key_size = 4,
			.value_size = 4, .max_entries = 1};
	m->slot = ir_map(g->ir, &def);
}

struct ir *gen_map_now(struct gen *g, const struct map *m)
{
	struct ir_block *found;
	struct ir *zero, *now;

	if (!m->taken)
		return m->slot;
	found = ir_block(g->ir, "current");
	zero = gen_tmp(g, 8);
	ir_store(g->ir, zero, 0, 8, ir_int(g->ir, 0));
	now = gen_lookup(g, m->slot, zero);
	ir_branch(g->ir, ir_is_null(g->ir, now), g->fn.leave, found); /* it is never NULL */
	ir_at(g->ir, found);
	return now;
}

struct ir *gen_key(struct gen *g, struct map *m, struct expr *keys)
{
	const struct type *t = m->key;
	struct ir *key;
	unsigned i = 0;

	if (!t) {
		key = gen_tmp(g, 8);
		ir_store(g->ir, key, 0, 4, ir_int(g->ir, 0));
		return key;
	}
	key = type_in_memory(t) ? gen_mem(g, t->size) : gen_tmp(g, 8);
	if (!keys->next) {
		gen_into(g, keys, t, key, 0);
		return key;
	}
	gen_zero(g, key, t->size);
	for (struct expr *k = keys; k; k = k->next, i++)
		gen_into(g, k, t->tuple.members[i], key, t->tuple.offsets[i]);
	return key;
}

static void check_update(struct gen *g, const struct map *m, struct ir *result)
{
	struct ir_block *lost = ir_block(g->ir, "lost"), *done = ir_block(g->ir, "stored");

	ir_branch(g->ir, ir_compare(g->ir, IR_EQ, result, ir_int(g->ir, 0)), done, lost);
	ir_at(g->ir, lost);
	gen_update_lost(g, result, m);
	ir_jump(g->ir, done);
	ir_at(g->ir, done);
}

/* Returns a pointer to the element, which is created and zeroed if needed. Code after the call runs if
 * there is an element. If the kernel makes none, execution continues at `end`; *ret_full is the block from which
 * it comes. */
static struct ir *lookup_or_make(struct gen *g, struct map *m, struct ir *key,
	struct ir_block *end, struct ir_block **ret_full)
{
	struct ir *map = gen_map_now(g, m), *p = gen_lookup(g, map, key), *made = NULL, *updated = ir_int(g->ir, 0);
	struct ir_block *make = ir_block(g->ir, "make"), *found = ir_block(g->ir, "found");
	struct ir_block *full = ir_block(g->ir, "full"), *here = ir_here(g->ir);

	ir_branch(g->ir, ir_is_null(g->ir, p), m->key ? make : full, found);
	ir_at(g->ir, make);
	if (m->key) {
		/* NOEXIST does not overwrite an element that another CPU has created meanwhile. */
		updated = gen_call(g, BPF_FUNC_map_update_elem, 4, map, key,
			ir_zeros(g->ir, slot_size(m)), ir_int(g->ir, BPF_NOEXIST));
		made = gen_lookup(g, map, key);
		ir_branch(g->ir, ir_is_null(g->ir, made), full, found);
	} else {
		ir_jump(g->ir, full); /* not reached */
	}
	ir_at(g->ir, full);
	gen_update_lost(g, updated, m);
	*ret_full = ir_here(g->ir);
	ir_jump(g->ir, end);
	ir_at(g->ir, found);
	if (made)
		p = ir_phi(g->ir, p, here, made, make);
	mark_set(g, m, p);
	return p;
}

/* ---- reading ------------------------------------------------------------ */

/* Continues at `found` if p is an element, else at `end`; *ret_missing is then the block from which it
 * comes. */
static void find_element(struct gen *g, const struct map *m, struct ir *p, struct ir_block *found, struct ir_block *end,
	struct ir_block **ret_missing)
{
	bool warns = m->key && g->opt->warn_missing;
	struct ir_block *missing = warns ? ir_block(g->ir, "missing") : end;

	*ret_missing = ir_here(g->ir);
	ir_branch(g->ir, ir_is_null(g->ir, p), missing, found);
	if (warns) {
		ir_at(g->ir, missing);
		gen_missing(g, m);
		*ret_missing = ir_here(g->ir);
		ir_jump(g->ir, end);
	}
	ir_at(g->ir, found);
}

/* Returns the value of an element, or 0 if it does not exist. */
static struct ir *read_number(struct gen *g, struct map *m, struct ir *key)
{
	struct ir_block *found = ir_block(g->ir, "found"), *end = ir_block(g->ir, "read"), *missing;
	struct ir *p = gen_lookup(g, gen_map_now(g, m), key), *v;

	find_element(g, m, p, found, end, &missing);
	v = gen_get(g, m->value, p, 0);
	ir_jump(g->ir, end);
	ir_at(g->ir, end);
	return ir_phi(g->ir, ir_int(g->ir, 0), missing, v, found);
}

static struct ir *read_memory(struct gen *g, struct map *m, struct ir *key)
{
	struct ir_block *found = ir_block(g->ir, "found"), *end = ir_block(g->ir, "read"), *missing;
	struct ir *copy = gen_mem(g, m->value->size), *p = gen_lookup(g, gen_map_now(g, m), key);

	gen_zero(g, copy, m->value->size);
	find_element(g, m, p, found, end, &missing);
	gen_copy(g, copy, p, m->value->size);
	ir_jump(g->ir, end);
	ir_at(g->ir, end);
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
	case AGG_TSERIES:
		break;
	}
	return MERGE_SUM;
}

static void merge_cpu(struct gen *g, const struct type *t, struct ir *one, struct ir *whole)
{
	static const char *const params[] = {"agg_whole", "u64", "u64", "int"};
	static const uint32_t sizes[] = {sizeof(struct agg_whole), 0, 0, 0};
	bool two = t->size > 8;
	struct ir *args[] = {
		whole,
		ir_load(g->ir, one, 0, 8, false),
		two ? ir_load(g->ir, one, 8, 8, false) : ir_int(g->ir, 0),
		ir_int(g->ir, merge_of(t)),
	};

	gen_library(g, "agg_merge", params, sizes, args, 4);
}

static struct ir *read_per_cpu(struct gen *g, struct map *m, struct ir *key)
{
	struct ir *whole = gen_tmp(g, sizeof(struct agg_whole)), *cpu = gen_local(g), *i, *p;
	struct ir_block *test = ir_block(g->ir, "cpus"), *body = ir_block(g->ir, "cpu");
	struct ir_block *found = ir_block(g->ir, "found"), *end = ir_block(g->ir, "summed");

	gen_zero(g, whole, sizeof(struct agg_whole));
	ir_store(g->ir, cpu, 0, 8, ir_int(g->ir, 0));
	ir_jump(g->ir, test);
	ir_at(g->ir, test);
	i = ir_load(g->ir, cpu, 0, 8, false);
	ir_branch(g->ir, ir_compare(g->ir, IR_ULT, i, gen_cpus(g)), body,
		end);
	ir_at(g->ir, body);
	p = ir_helper_ptr(g->ir, BPF_FUNC_map_lookup_percpu_elem,
		(struct ir *[]){gen_map_now(g, m), key, i}, 3);
	ir_branch(g->ir, ir_is_null(g->ir, p), end, found);
	ir_at(g->ir, found);
	merge_cpu(g, m->value, p, whole);
	ir_store(g->ir, cpu, 0, 8, ir_binary(g->ir, IR_ADD, i, ir_int(g->ir, 1)));
	ir_jump(g->ir, test);
	ir_at(g->ir, end);
	i = ir_load(g->ir, whole, offsetof(struct agg_whole, value), 8, false);
	if (merge_of(m->value) != MERGE_AVERAGE)
		return i;
	return gen_binary(g, OP_DIV, m->value->is_signed ? type_int64 : type_uint64, i,
		type_int64, ir_load(g->ir, whole, offsetof(struct agg_whole, n), 8, false));
}

static void warn_missing(struct gen *g, struct map *m, struct ir *key)
{
	struct ir_block *found, *end, *missing;

	if (!m->key || !g->opt->warn_missing)
		return;
	found = ir_block(g->ir, "there");
	end = ir_block(g->ir, "looked");
	find_element(g, m, gen_lookup(g, gen_map_now(g, m), key), found, end, &missing);
	ir_jump(g->ir, end);
	ir_at(g->ir, end);
}

struct ir *gen_map_read(struct gen *g, struct expr *n)
{
	struct span statement = g->at;
	struct map *m = n->map.map;
	struct ir *key = gen_key(g, m, n->map.keys), *v;

	g->at = n->span;
	if (map_is_per_cpu(m)) {
		warn_missing(g, m, key);
		v = read_per_cpu(g, m, key);
	} else {
		v = type_in_memory(m->value) ? read_memory(g, m, key) : read_number(g, m, key);
	}
	g->at = statement;
	return v;
}

void gen_map_element(struct gen *g, struct map *m, struct ir *key, struct ir *value,
	const struct type *t, struct ir *dst)
{
	const struct type *tk = t->tuple.members[0], *tv = t->tuple.members[1];
	struct ir *copy;

	gen_put(g, gen_get(g, m->key, key, 0), m->key, tk, dst, t->tuple.offsets[0]);
	if (!map_is_per_cpu(m)) {
		gen_put(g, gen_get(g, m->value, value, 0), m->value, tv, dst, t->tuple.offsets[1]);
		return;
	}
	copy = gen_mem(g, m->key->size); /* helpers do not take a key in the memory of another element */
	gen_copy(g, copy, key, m->key->size);
	gen_put(g, read_per_cpu(g, m, copy), tv, tv, dst, t->tuple.offsets[1]);
}

/* ---- writing ------------------------------------------------------------ */

/* For @m[k] = count(), the builtin changes the element in place. */
void gen_agg_update(struct gen *g, struct map *m, struct ir *key, struct expr *call)
{
	struct ir_block *end = ir_block(g->ir, "counted"), *full;
	struct ir *p = lookup_or_make(g, m, key, end, &full);

	call->call.builtin->gen(g, call, p);
	ir_jump(g->ir, end);
	ir_at(g->ir, end);
}

static void assign_agg(struct gen *g, struct stmt *n)
{
	struct map *m = n->assign.left->map.map;

	gen_agg_update(g, m, gen_key(g, m, n->assign.left->map.keys), n->assign.right);
}

static void assign_plain(struct gen *g, struct stmt *n)
{
	struct map *m = n->assign.left->map.map;
	bool memory = type_in_memory(m->value);
	struct ir *value = memory ? gen_mem(g, slot_size(m)) : gen_tmp(g, slot_size(m));
	struct ir *key;

	if (!memory)
		ir_store(g->ir, value, 0, 8, ir_int(g->ir, 0));
	gen_into(g, n->assign.right, m->value, value, 0);
	mark_set(g, m, value);
	key = gen_key(g, m, n->assign.left->map.keys);
	check_update(g, m, gen_call(g, BPF_FUNC_map_update_elem, 4, gen_map_now(g, m), key, value,
		ir_int(g->ir, BPF_ANY)));
}

/* Handles compound assignments such as @m += v. += and -= are one atomic instruction; a pointer moves by
 * the size of its target. */
static struct ir *change(struct gen *g, struct expr *target, enum op op, const struct type *t,
	struct ir *operand, bool want_old)
{
	struct ir_block *end = ir_block(g->ir, "changed"), *full, *here;
	struct map *m = target->map.map;
	struct ir *key = gen_key(g, m, target->map.keys), *p, *old, *new;

	p = lookup_or_make(g, m, key, end, &full);
	old = ir_load(g->ir, p, 0, 8, m->value->is_signed);
	new = gen_binary(g, op, m->value, old, t, operand);
	operand = gen_scaled(g, m->value, t, operand);
	if (op == OP_ADD)
		ir_atomic_add(g->ir, p, operand);
	else if (op == OP_SUB)
		ir_atomic_add(g->ir, p, ir_binary(g->ir, IR_SUB, ir_int(g->ir, 0), operand));
	else
		ir_store(g->ir, p, 0, 8, new);
	here = ir_here(g->ir);
	ir_jump(g->ir, end);
	ir_at(g->ir, end);
	return ir_phi(g->ir, want_old ? old : new, here, ir_int(g->ir, 0), full);
}

/* For @m += { .. }, @m is read before the block's statements, which may change it. */
static void change_by_block(struct gen *g, struct stmt *n)
{
	struct map *m = n->assign.left->map.map;
	struct ir *old = gen_map_read(g, n->assign.left), *value = gen_tmp(g, slot_size(m)), *new;

	new = gen_value(g, n->assign.right);
	new = gen_binary(g, n->assign.op, m->value, old, n->assign.right->type, new);
	ir_store(g->ir, value, 0, 8, new);
	mark_set(g, m, value);
	check_update(g, m, gen_call(g, BPF_FUNC_map_update_elem, 4, gen_map_now(g, m),
		gen_key(g, m, n->assign.left->map.keys), value, ir_int(g->ir, BPF_ANY)));
}

void gen_map_assign(struct gen *g, struct stmt *n)
{
	struct expr *right = n->assign.right;
	struct map *m = n->assign.left->map.map;

	if (n->assign.op != OP_NONE && gen_runs_statements(right))
		change_by_block(g, n);
	else if (n->assign.op != OP_NONE)
		change(g, n->assign.left, n->assign.op, right->type, gen_value(g, right), false);
	else if (map_is_per_cpu(m) && g->holds)
		gate_hold_agg(g, n, assign_agg);
	else if (map_is_per_cpu(m))
		assign_agg(g, n);
	else
		assign_plain(g, n);
}

struct ir *gen_map_incdec(struct gen *g, struct expr *n)
{
	bool up = n->op.op == OP_PREINC || n->op.op == OP_POSTINC;
	bool post = n->op.op == OP_POSTINC || n->op.op == OP_POSTDEC;

	return change(g, n->op.left, up ? OP_ADD : OP_SUB, type_int64, ir_int(g->ir, 1), post);
}

struct ir *gen_map_delete(struct gen *g, struct map *m, struct expr *keys)
{
	struct ir *key = gen_key(g, m, keys);

	if (!m->key) { /* an element of an array cannot be removed, only zeroed */
		struct ir *zeros = ir_zeros(g->ir, slot_size(m));

		gen_call(g, BPF_FUNC_map_update_elem, 4, gen_map_now(g, m), key, zeros,
			ir_int(g->ir, BPF_ANY));
		return ir_int(g->ir, 1);
	}
	return ir_compare(g->ir, IR_EQ,
		gen_call(g, BPF_FUNC_map_delete_elem, 2, gen_map_now(g, m), key), ir_int(g->ir, 0));
}
