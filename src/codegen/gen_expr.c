// SPDX-License-Identifier: Apache-2.0
/* gen_expr.c - the values of expressions. */
#include "gen.h"

#include <assert.h>
#include <linux/bpf.h>
#include <stdarg.h>
#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "bpf/lib/record.h"
#include "model/builtin.h"
#include "model/facts.h"

/* ---- memory ------------------------------------------------------------- */

struct ir *gen_call(struct gen *g, unsigned helper, unsigned n, ...)
{
	struct ir *args[5];
	va_list ap;

	assert(n <= 5);
	va_start(ap, n);
	for (unsigned i = 0; i < n; i++)
		args[i] = va_arg(ap, struct ir *);
	va_end(ap);
	return ir_helper(g->ir, helper, args, n);
}

struct ir *gen_lookup(struct gen *g, struct ir *map, struct ir *key)
{
	struct ir *args[] = {map, key};

	return ir_helper_ptr(g->ir, BPF_FUNC_map_lookup_elem, args, 2);
}

bool type_in_memory(const struct type *t)
{
	return t->kind == TYPE_STRING || t->kind == TYPE_TUPLE || t->kind == TYPE_USYM ||
	       t->kind == TYPE_BUFFER || t->kind == TYPE_ARRAY || t->kind == TYPE_STRUCT || t->kind == TYPE_INET;
}

static uint32_t chunk(uint32_t left)
{
	return left >= 8 ? 8 : left >= 4 ? 4 : left >= 2 ? 2 : 1;
}

enum { INLINE_BYTES = 64 }; /* a helper makes longer copies */

void gen_copy(struct gen *g, struct ir *dst, struct ir *src, uint32_t size)
{
	if (size > INLINE_BYTES) {
		gen_call(g, BPF_FUNC_probe_read_kernel, 3, dst, ir_int(g->ir, size), src);
		return;
	}
	for (uint32_t at = 0, n; at < size; at += n) {
		n = chunk(size - at);
		ir_store(g->ir, dst, at, n, ir_load(g->ir, src, at, n, false));
	}
}

/* The first strings of a program are set to zero by stores, which take a third of a helper's time. More stores would
 * make the program too long. */
enum { ZEROED_MAX = 1 << 12 };

static bool is_zeroed_inline(struct gen *g, uint32_t size)
{
	if (size <= INLINE_BYTES)
		return true;
	if (size > ZEROED_MAX - g->zeroed)
		return false;
	g->zeroed += size;
	return true;
}

/* The helper zeros memory by reading from address 0: the read fails, and the kernel then zeros the destination. */
static void gen_zero_from(struct gen *g, struct ir *dst, uint32_t at, uint32_t size)
{
	if (!is_zeroed_inline(g, size - at)) {
		gen_call(g, BPF_FUNC_probe_read_kernel, 3, ir_offset(g->ir, dst, at),
			ir_int(g->ir, size - at), ir_int(g->ir, 0));
		return;
	}
	for (uint32_t n; at < size; at += n) {
		n = chunk(size - at);
		while (at % n) /* the BPF stack only allows aligned accesses */
			n /= 2;
		ir_store(g->ir, dst, at, n, ir_int(g->ir, 0));
	}
}

void gen_zero(struct gen *g, struct ir *dst, uint32_t size)
{
	gen_zero_from(g, dst, 0, size);
}

/* v is opaque to LLVM, which may know the range of v and would drop the test that the verifier needs. */
struct ir *gen_below(struct gen *g, struct ir *v, uint32_t n)
{
	v = ir_opaque(g->ir, v);
	return ir_select(g->ir, ir_compare(g->ir, IR_ULT, v, ir_int(g->ir, n)), v,
		ir_int(g->ir, n - 1));
}

struct ir *gen_index(struct gen *g, struct ir *v, uint32_t n)
{
	g->mem_slot = true;
	return gen_below(g, v, n);
}

static void put_text(struct gen *g, const char *text, uint32_t len, struct ir *dst,
	uint32_t size)
{
	if (size > INLINE_BYTES)
		gen_zero(g, dst, size);
	for (uint32_t at = 0, n; at < size; at += n) {
		uint64_t v = 0;

		if (at >= len && size > INLINE_BYTES)
			return; /* it is zero already */
		n = chunk(size - at);
		if (at < len)
			memcpy(&v, text + at, len - at < n ? len - at : n);
		ir_store(g->ir, dst, at, n, ir_int(g->ir, v));
	}
}

void gen_text(struct gen *g, const char *text, struct ir *dst, uint32_t size)
{
	put_text(g, text, (uint32_t)strlen(text), dst, size);
}

static void put_string(struct gen *g, struct ir *src, uint32_t from, struct ir *dst,
	uint32_t to)
{
	if (from >= to) {
		gen_copy(g, dst, src, to);
		if (from > to) /* the string is cut: its last byte is the NUL */
			ir_store(g->ir, dst, to - 1, 1, ir_int(g->ir, 0));
		return;
	}
	gen_zero_from(g, dst, from, to);
	gen_copy(g, dst, src, from);
}

static void put_tuple(struct gen *g, struct ir *src, const struct type *from,
	const struct type *to, struct ir *dst)
{
	gen_zero(g, dst, to->size);
	for (unsigned i = 0; i < to->tuple.n; i++) {
		int k = type_tuple_member(from, to, i);
		const struct type *m = from->tuple.members[k];

		gen_put(g, gen_get(g, m, src, from->tuple.offsets[k]), m,
			to->tuple.members[i], dst, to->tuple.offsets[i]);
	}
}

/* Returns the bytes of a scalar in memory: pointers, ids and addresses have 8. */
static uint32_t scalar_size(const struct type *t)
{
	return t->kind == TYPE_INT || t->kind == TYPE_BOOL ? t->size : 8;
}

void gen_put(struct gen *g, struct ir *v, const struct type *from, const struct type *to,
	struct ir *dst, uint32_t offset)
{
	struct ir *at;

	if (from->kind == TYPE_PLACE && to->kind == TYPE_KSYM)
		v = ir_binary(g->ir, IR_OR, v, ir_int(g->ir, KSYM_PLACE));
	if (!type_in_memory(to)) {
		ir_store(g->ir, dst, offset, scalar_size(to), v);
		return;
	}
	at = ir_offset(g->ir, dst, offset);
	if (to->kind == TYPE_STRING)
		put_string(g, v, from->size, at, to->size);
	else if (to->kind == TYPE_BUFFER && from->size < to->size)
		put_string(g, v, from->size, at, to->size);
	else if (to->kind == TYPE_TUPLE && !type_eq(from, to))
		put_tuple(g, v, from, to, at);
	else
		gen_copy(g, at, v, to->size);
}

struct ir *gen_get(struct gen *g, const struct type *t, struct ir *src, uint32_t offset)
{
	if (type_in_memory(t))
		return ir_offset(g->ir, src, offset);
	return ir_load(g->ir, src, offset, scalar_size(t), t->is_signed);
}

static void tuple_into(struct gen *g, struct expr *n, const struct type *t, struct ir *dst)
{
	unsigned i = 0;

	gen_zero(g, dst, t->size);
	for (struct expr *m = n->tuple.first; m; m = m->next, i++) {
		int k = type_tuple_member(t, n->type, i);

		gen_into(g, m, t->tuple.members[k], dst, t->tuple.offsets[k]);
	}
}

static bool is_deref(const struct expr *n)
{
	return n->kind == EXPR_UNOP && n->op.op == OP_DEREF;
}

static bool is_in_context(const struct expr *n)
{
	while (n->kind == EXPR_FIELD || n->kind == EXPR_INDEX)
		n = n->kind == EXPR_FIELD ? n->field.object : n->index.object;
	return n->type->kind == TYPE_POINTER && n->type->pointer.context;
}

static bool is_argument(const struct expr *n)
{
	return n->kind == EXPR_FIELD && n->field.object->type->kind == TYPE_ARGS;
}

void gen_into(struct gen *g, struct expr *n, const struct type *t, struct ir *dst,
	uint32_t offset)
{
	struct ir *at = ir_offset(g->ir, dst, offset);

	if (n->kind == EXPR_STRING)
		gen_own_text(g, n->string.text);
	if (n->kind == EXPR_STRING && t->kind == TYPE_STRING)
		put_text(g, n->string.text, n->string.len < t->size ? n->string.len : t->size - 1,
			at, t->size);
	else if (n->kind == EXPR_TUPLE)
		tuple_into(g, n, t, at);
	else if (n->kind == EXPR_CALL && n->call.builtin->gen && type_in_memory(t) &&
		type_eq(n->type, t))
		n->call.builtin->gen(g, n, at);
	else if ((n->kind == EXPR_FIELD || n->kind == EXPR_INDEX || is_deref(n)) && type_in_memory(t) &&
		 type_eq(n->type, t) && !is_argument(n) && !is_in_context(n))
		gen_memory(g, n, at);
	else
		gen_put(g, gen_value(g, n), n->type, t, dst, offset);
}

/* ---- arithmetic --------------------------------------------------------- */

static bool is_unsigned(const struct type *t)
{
	return t->kind == TYPE_POINTER || (t->kind == TYPE_INT && !t->is_signed && t->size == 8);
}

/* 64-bit numbers are compared as signed ones if one side may be negative. */
static bool compares_unsigned(const struct type *a, const struct type *b)
{
	const struct type *other = type_natural(is_unsigned(a) ? b : a);
	bool negative = other->kind == TYPE_INT && other->is_signed && !other->integer.weak;

	return a->kind == TYPE_POINTER || b->kind == TYPE_POINTER ||
		((is_unsigned(a) || is_unsigned(b)) && !negative);
}

static struct ir *absolute(struct gen *g, struct ir *v, struct ir **ret_negative)
{
	*ret_negative = ir_compare(g->ir, IR_SLT, v, ir_int(g->ir, 0));
	return ir_select(g->ir, *ret_negative,
		ir_binary(g->ir, IR_SUB, ir_int(g->ir, 0), v), v);
}

/* BPF before v4 only has unsigned division: divide absolute values, then set the sign. */
static struct ir *signed_div(struct gen *g, bool mod, struct ir *a, struct ir *b)
{
	struct ir *na, *nb, *v;

	a = absolute(g, a, &na);
	b = absolute(g, b, &nb);
	v = ir_binary(g->ir, mod ? IR_UMOD : IR_UDIV, a, b);
	return ir_select(g->ir, mod ? na : ir_binary(g->ir, IR_XOR, na, nb),
		ir_binary(g->ir, IR_SUB, ir_int(g->ir, 0), v), v);
}

/* A division by 0 gives a warning and the result 1, as in bpftrace. */
static struct ir *divide(struct gen *g, bool mod, bool u, struct ir *a, struct ir *b)
{
	struct ir_block *zero, *divides, *end, *from;
	struct ir *v;
	int64_t known;

	if (ir_is_const(b, &known) && known)
		return u ? ir_binary(g->ir, mod ? IR_UMOD : IR_UDIV, a, b) : signed_div(g, mod, a, b);
	zero = ir_block(g->ir, "zero");
	divides = ir_block(g->ir, "divides");
	end = ir_block(g->ir, "divided");
	ir_branch(g->ir, ir_compare(g->ir, IR_EQ, b, ir_int(g->ir, 0)), zero, divides);
	ir_at(g->ir, zero);
	gen_problem(g, PROBLEM_DIVISION);
	from = ir_here(g->ir);
	ir_jump(g->ir, end);
	ir_at(g->ir, divides);
	v = u ? ir_binary(g->ir, mod ? IR_UMOD : IR_UDIV, a, b) : signed_div(g, mod, a, b);
	divides = ir_here(g->ir);
	ir_jump(g->ir, end);
	ir_at(g->ir, end);
	return ir_phi(g->ir, ir_int(g->ir, 1), from, v, divides);
}

static struct ir *compare(struct gen *g, enum op op, bool u, struct ir *a, struct ir *b)
{
	switch ((int)op) {
	case OP_EQ:
		return ir_compare(g->ir, IR_EQ, a, b);
	case OP_NE:
		return ir_compare(g->ir, IR_NE, a, b);
	case OP_LT:
		return ir_compare(g->ir, u ? IR_ULT : IR_SLT, a, b);
	case OP_LE:
		return ir_compare(g->ir, u ? IR_ULE : IR_SLE, a, b);
	case OP_GT:
		return ir_compare(g->ir, u ? IR_UGT : IR_SGT, a, b);
	default:
		return ir_compare(g->ir, u ? IR_UGE : IR_SGE, a, b);
	}
}

uint64_t gen_step(const struct type *t)
{
	return t->kind == TYPE_POINTER && t->pointer.to->size ? t->pointer.to->size : 1;
}

struct ir *gen_scaled(struct gen *g, const struct type *to, const struct type *t, struct ir *v)
{
	uint64_t size = gen_step(to);

	if (size != 1)
		gen_fixed(g, to->pointer.to);
	return size == 1 || t->kind == TYPE_POINTER ? v : ir_binary(g->ir, IR_MUL, v, ir_int(g->ir, size));
}

struct ir *gen_binary(struct gen *g, enum op op, const struct type *ta, struct ir *a,
	const struct type *tb, struct ir *b)
{
	bool u = is_unsigned(ta) || is_unsigned(tb);

	if (op == OP_ADD || op == OP_SUB) {
		b = gen_scaled(g, ta, tb, b);
		a = gen_scaled(g, tb, ta, a);
	}
	switch ((int)op) {
	case OP_ADD:
		return ir_binary(g->ir, IR_ADD, a, b);
	case OP_SUB:
		return ir_binary(g->ir, IR_SUB, a, b);
	case OP_MUL:
		return ir_binary(g->ir, IR_MUL, a, b);
	case OP_DIV:
	case OP_MOD:
		return divide(g, op == OP_MOD, u, a, b);
	case OP_AND:
		return ir_binary(g->ir, IR_AND, a, b);
	case OP_OR:
		return ir_binary(g->ir, IR_OR, a, b);
	case OP_XOR:
		return ir_binary(g->ir, IR_XOR, a, b);
	case OP_SHL:
		return ir_binary(g->ir, IR_SHL, a,
			ir_binary(g->ir, IR_AND, b, ir_int(g->ir, 63)));
	case OP_SHR:
		return ir_binary(g->ir, is_unsigned(ta) ? IR_LSHR : IR_ASHR, a,
			ir_binary(g->ir, IR_AND, b, ir_int(g->ir, 63)));
	default:
		return compare(g, op, compares_unsigned(ta, tb), a, b);
	}
}

/* ---- comparing memory --------------------------------------------------- */

/* Compares with a literal in chunks of up to 8 bytes, which are constants in the code. */
static struct ir *text_equal(struct gen *g, struct ir *s, uint32_t size, struct expr *lit)
{
	uint32_t n = lit->string.len + 1;
	struct ir *differ = ir_int(g->ir, 0);

	if (n > size)
		return ir_int(g->ir, 0);
	for (uint32_t at = 0, c; at < n; at += c) {
		uint64_t v = 0;
		uint32_t left = lit->string.len - at;

		c = chunk(n - at);
		memcpy(&v, lit->string.text + at, left < c ? left : c);
		differ = ir_binary(g->ir, IR_OR, differ,
			ir_binary(g->ir, IR_XOR, ir_load(g->ir, s, at, c, false),
				ir_int(g->ir, v)));
	}
	return ir_compare(g->ir, IR_EQ, differ, ir_int(g->ir, 0));
}

/* Returns 1 if the bytes from `at` to `end`, at most INLINE_BYTES, differ. */
static struct ir *words_differ(struct gen *g, struct ir *a, struct ir *b, uint32_t at, uint32_t end)
{
	struct ir *differ = ir_int(g->ir, 0);

	for (uint32_t c; at < end; at += c) {
		c = chunk(end - at);
		differ = ir_binary(g->ir, IR_OR, differ,
			ir_binary(g->ir, IR_XOR, ir_load(g->ir, a, at, c, false),
				ir_load(g->ir, b, at, c, false)));
	}
	return ir_compare(g->ir, IR_NE, differ, ir_int(g->ir, 0));
}

enum { COMPARED_MAX = 32 * 1024 }; /* each eight bytes take three instructions */

static void compares_too_much(struct gen *g, uint32_t size)
{
	diag(g->opt->diags, g->at, DIAG_TOO_LARGE, "at most %d KiB can be compared, not %u",
		COMPARED_MAX / 1024, size / 1024);
}

/* Compares as many bytes as the shorter string has: its NUL and zeros after it are included. */
static struct ir *strings_equal(struct gen *g, struct ir *a, uint32_t na, struct ir *b,
	uint32_t nb)
{
	uint32_t size = na < nb ? na : nb;
	struct ir_block *end, *next;
	struct ir *result, *differ;

	if (size > COMPARED_MAX) {
		compares_too_much(g, size);
		return ir_int(g->ir, 0);
	}
	if (size <= INLINE_BYTES)
		return ir_binary(g->ir, IR_XOR, words_differ(g, a, b, 0, size),
			ir_int(g->ir, 1));
	end = ir_block(g->ir, "compared");
	result = gen_local(g);
	ir_store(g->ir, result, 0, 8, ir_int(g->ir, 0));
	for (uint32_t at = 0; at < size; at += INLINE_BYTES) {
		next = ir_block(g->ir, "words");
		differ = words_differ(g, a, b, at,
			at + INLINE_BYTES < size ? at + INLINE_BYTES : size);
		ir_branch(g->ir, differ, end, next);
		ir_at(g->ir, next);
	}
	ir_store(g->ir, result, 0, 8, ir_int(g->ir, 1));
	ir_jump(g->ir, end);
	ir_at(g->ir, end);
	return ir_load(g->ir, result, 0, 8, false);
}

static struct ir *equal(struct gen *g, const struct type *ta, struct ir *a,
	const struct type *tb, struct ir *b)
{
	struct ir *all = ir_int(g->ir, 1);

	if (ta->kind != TYPE_TUPLE && ta->kind != TYPE_USYM && type_in_memory(ta))
		return strings_equal(g, a, ta->size, b, tb->size);
	if (ta->kind == TYPE_USYM)
		return ir_compare(g->ir, IR_EQ, ir_load(g->ir, a, 0, 8, false),
			ir_load(g->ir, b, 0, 8, false));
	if (ta->kind != TYPE_TUPLE)
		return ir_compare(g->ir, IR_EQ, a, b);
	for (unsigned i = 0; i < ta->tuple.n; i++) {
		int k = type_tuple_member(tb, ta, i);
		const struct type *ma = ta->tuple.members[i], *mb = tb->tuple.members[k];

		all = ir_binary(g->ir, IR_AND, all,
			equal(g, ma, gen_get(g, ma, a, ta->tuple.offsets[i]), mb,
				gen_get(g, mb, b, tb->tuple.offsets[k])));
	}
	return all;
}

/* For `probe == "..."`, the value is the number of a place, whose name is known here. */
static struct ir *place_equals(struct gen *g, struct expr *place, struct expr *lit)
{
	struct ir *v = gen_value(g, place), *any = ir_int(g->ir, 0);
	bool func = place->type->place.func;
	uint32_t i = g->first_place;

	if (g->is_open)
		facts_bind(g->opt->facts, lit->span, "the names of a pattern's probes are not known before it runs");
	for (const struct place *p = g->place; p; p = p->next, i++)
		if (!strcmp(func ? p->func : p->name, lit->string.text))
			any = ir_binary(g->ir, IR_OR, any,
				ir_compare(g->ir, IR_EQ, v,
					ir_int(g->ir, gen_place_value(g, i, func))));
	return any;
}

static bool changes_something(struct expr *n, void *unused)
{
	return n->kind == EXPR_BLOCK || (n->kind == EXPR_UNOP && n->op.op >= OP_PREINC);
}

bool gen_runs_statements(struct expr *n)
{
	return expr_any(n, changes_something, NULL);
}

struct ir *gen_value_before(struct gen *g, struct expr *n, struct expr *next)
{
	struct ir *v = gen_value(g, n), *copy;

	if (!type_in_memory(n->type) || !gen_runs_statements(next))
		return v;
	copy = gen_mem(g, n->type->size);
	gen_copy(g, copy, v, n->type->size);
	return copy;
}

static struct ir *gen_equality(struct gen *g, struct expr *n)
{
	struct expr *a = n->op.left, *b = n->op.right;
	struct ir *v;

	if (a->kind == EXPR_STRING) {
		a = n->op.right;
		b = n->op.left;
	}
	if (a->type->kind == TYPE_PLACE && b->kind == EXPR_STRING)
		v = place_equals(g, a, b);
	else if (a->type->kind == TYPE_STRING && b->kind == EXPR_STRING)
		v = text_equal(g, gen_value(g, a), a->type->size, b);
	else {
		v = gen_value_before(g, a, b);
		v = equal(g, a->type, v, b->type, gen_value(g, b));
	}
	return n->op.op == OP_EQ ? v : ir_binary(g->ir, IR_XOR, v, ir_int(g->ir, 1));
}

/* ---- operators ---------------------------------------------------------- */

static struct ir *nothing(struct gen *g, uint32_t size)
{
	struct ir *zeros = gen_mem(g, size);

	gen_zero(g, zeros, size);
	return zeros;
}

/* The truth of has_frame() and in_container() is known only after the event, so no value can depend on it. */
static struct ir *no_gate(struct gen *g)
{
	diag(g->opt->diags, g->at, DIAG_STACK, "has_frame() and names of containers decide only in a predicate "
		"or in the condition of an if, joined by &&, || and !");
	diag_hint(g->opt->diags, "it may be a part of a key, or be printed: @[has_frame(ustack, \"f\")] = count()");
	return ir_int(g->ir, 0);
}

/* A string is true if it is not empty; an array, if one of its bytes is not 0. */
static struct ir *truth_of(struct gen *g, const struct type *t, struct ir *v)
{
	if (type_is_late(t))
		return no_gate(g);
	if (t->kind == TYPE_STRING)
		v = ir_load(g->ir, v, 0, 1, false);
	else if (type_in_memory(t))
		return ir_binary(g->ir, IR_XOR, ir_int(g->ir, 1),
			strings_equal(g, v, t->size, nothing(g, t->size), t->size));
	return ir_compare(g->ir, IR_NE, v, ir_int(g->ir, 0));
}

struct ir *gen_truth(struct gen *g, struct expr *n)
{
	return truth_of(g, n->type, gen_value(g, n));
}

static struct ir *gen_logical(struct gen *g, struct expr *n)
{
	struct ir_block *second = ir_block(g->ir, "second"), *end = ir_block(g->ir, "decided");
	struct ir *left = gen_truth(g, n->op.left), *right;
	struct ir_block *from_left = ir_here(g->ir), *from_right;

	if (n->op.op == OP_LAND)
		ir_branch(g->ir, left, second, end);
	else
		ir_branch(g->ir, left, end, second);
	ir_at(g->ir, second);
	right = gen_truth(g, n->op.right);
	from_right = ir_here(g->ir);
	ir_jump(g->ir, end);
	ir_at(g->ir, end);
	return ir_phi(g->ir, left, from_left, right, from_right);
}

static struct ir *gen_binop(struct gen *g, struct expr *n)
{
	struct span statement = g->at;
	struct ir *a, *b, *v;

	if (n->op.op == OP_LAND || n->op.op == OP_LOR)
		return gen_logical(g, n);
	if (n->op.op == OP_EQ || n->op.op == OP_NE)
		return gen_equality(g, n);
	if (n->op.left->type->kind == TYPE_STRING && n->op.op == OP_ADD)
		return gen_concat(g, n);
	if (n->op.left->type->kind == TYPE_STRING)
		return gen_text_order(g, n);
	a = gen_value(g, n->op.left);
	b = gen_value(g, n->op.right);
	g->at = n->span; /* the place for an error about a division by 0 */
	v = gen_binary(g, n->op.op, n->op.left->type, a, n->op.right->type, b);
	g->at = statement;
	return n->type->kind == TYPE_BOOL && n->op.op > OP_GE ? ir_compare(g->ir, IR_NE, v, ir_int(g->ir, 0)) : v;
}

/* The result of - or ~ of an unsigned number has the number's size, also if repeated: ~~x is x. */
static struct ir *sized(struct gen *g, const struct expr *n, struct ir *v)
{
	const struct type *t;

	while (n->kind == EXPR_UNOP && (n->op.op == OP_NEG || n->op.op == OP_BNOT))
		n = n->op.left;
	t = type_natural(n->type);
	return t->kind == TYPE_INT && !t->is_signed ? ir_resize(g->ir, v, t->size, false) : v;
}

static struct ir *gen_unop(struct gen *g, struct expr *n)
{
	struct ir *v;

	switch ((int)n->op.op) {
	case OP_PREINC:
	case OP_PREDEC:
	case OP_POSTINC:
	case OP_POSTDEC:
		return n->op.left->kind == EXPR_VAR ? gen_var_incdec(g, n) : gen_map_incdec(g, n);
	case OP_DEREF:
		return gen_memory(g, n, NULL);
	case OP_ADDRESS:
		return gen_address(g, n);
	case OP_NOT:
		v = gen_truth(g, n->op.left);
		return ir_binary(g->ir, IR_XOR, v, ir_int(g->ir, 1));
	case OP_NEG:
		v = gen_value(g, n->op.left);
		return sized(g, n, ir_binary(g->ir, IR_SUB, ir_int(g->ir, 0), v));
	default:
		assert(n->op.op == OP_BNOT);
		v = gen_value(g, n->op.left);
		return sized(g, n, ir_binary(g->ir, IR_XOR, v, ir_int(g->ir, UINT64_MAX)));
	}
}

static struct ir *gen_ternary(struct gen *g, struct expr *n)
{
	struct ir_block *then = ir_block(g->ir, "yes"), *els = ir_block(g->ir, "no");
	struct ir_block *end = ir_block(g->ir, "chosen");
	bool none = n->type->kind == TYPE_NONE, memory = !none && type_in_memory(n->type);
	struct ir *result = none ? NULL :
		memory ? gen_mem(g, n->type->size) : gen_local(g);

	if (!n->cond.then) { /* a ?: b: a is evaluated once */
		gen_put(g, gen_value(g, n->cond.test), n->cond.test->type, n->type, result, 0);
		ir_branch(g->ir, truth_of(g, n->type, gen_get(g, n->type, result, 0)), then, els);
	} else {
		ir_branch(g->ir, gen_truth(g, n->cond.test), then, els);
	}
	ir_at(g->ir, then);
	if (none && n->cond.then)
		gen_value(g, n->cond.then);
	else if (n->cond.then)
		gen_into(g, n->cond.then, n->type, result, 0);
	ir_jump(g->ir, end);
	ir_at(g->ir, els);
	if (none)
		gen_value(g, n->cond.els);
	else
		gen_into(g, n->cond.els, n->type, result, 0);
	ir_jump(g->ir, end);
	ir_at(g->ir, end);
	return none ? NULL : gen_get(g, n->type, result, 0);
}

/* ---- all expressions ------------------------------------------------------ */

static struct ir *in_memory(struct gen *g, struct expr *n)
{
	struct ir *dst = gen_mem(g, n->type->size);

	gen_into(g, n, n->type, dst, 0);
	return dst;
}

/* The value of a frame is its stack's id. */
static struct ir *member_value(struct gen *g, struct expr *n)
{
	struct expr *object = n->kind == EXPR_FIELD ? n->field.object : n->index.object;

	if (n->kind == EXPR_FIELD && object->type->kind == TYPE_ARGS)
		return gen_args_field(g, n->field.name, n->type);
	return n->type->kind == TYPE_FRAME ? gen_value(g, object) : gen_memory(g, n, NULL);
}

struct ir *gen_value(struct gen *g, struct expr *n)
{
	switch (n->kind) {
	case EXPR_INT:
		return ir_int(g->ir, n->integer.value);
	case EXPR_BOOL:
		return ir_int(g->ir, n->boolean);
	case EXPR_STRING:
	case EXPR_TUPLE:
		return in_memory(g, n);
	case EXPR_VAR:
		return gen_get(g, n->var.var->type, gen_var_slot(g, n->var.var), 0);
	case EXPR_MAP:
		return gen_map_read(g, n);
	case EXPR_CALL:
		return n->call.builtin->gen(g, n, NULL);
	case EXPR_FIELD:
	case EXPR_INDEX:
		return member_value(g, n);
	case EXPR_BLOCK:
		gen_stmts(g, n->block.stmts);
		return gen_value(g, n->block.value);
	case EXPR_UNOP:
		return gen_unop(g, n);
	case EXPR_BINOP:
		return gen_binop(g, n);
	case EXPR_TERNARY:
		return gen_ternary(g, n);
	case EXPR_CAST:
		return gen_cast(g, n);
	case EXPR_PARAM:
	case EXPR_WORD:
	case EXPR_TYPE:
	case EXPR_SIZEOF:
	case EXPR_OFFSETOF:
	case EXPR_TYPEINFO:
	case EXPR_COMPTIME:
		break;
	}
	assert(!"resolve and check leave none of these");
	return NULL;
}
