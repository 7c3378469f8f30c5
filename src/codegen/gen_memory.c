// SPDX-License-Identifier: Apache-2.0
/* gen_memory.c - reads values in memory: arguments, members, elements, and the targets of pointers.
 *
 * A chain such as p->a.b[2].c is followed without reading the values on the way: only the last value is read,
 * or a struct, once and completely. */
#include "gen.h"

#include <assert.h>
#include <linux/bpf.h>
#include <string.h>

#include "model/facts.h"
#include "model/regs.h"

/* The location of a value. */
struct ref {
	bool far;        /* base is an address for a helper; else it points to strata's own memory */
	bool context;    /* base is the program's context */
	struct ir *base;
	uint64_t offset;
	enum space space;
	struct ir *beyond; /* 1 if an index was beyond an array in strata's own memory; NULL if that is impossible */
};

static struct ir *add(struct gen *g, struct ir *v, uint64_t n)
{
	return n ? ir_binary(g->ir, IR_ADD, v, ir_int(g->ir, n)) : v;
}

/* ---- reading ------------------------------------------------------------ */

static struct ir *read_as(struct gen *g, bool user, bool text, struct ir *dst, struct ir *size,
	struct ir *addr)
{
	unsigned helper = text ? (user ? BPF_FUNC_probe_read_user_str : BPF_FUNC_probe_read_kernel_str) :
				 (user ? BPF_FUNC_probe_read_user : BPF_FUNC_probe_read_kernel);

	return gen_call(g, helper, 3, dst, size, addr);
}

static struct ir *read_any(struct gen *g, bool text, struct ir *dst, struct ir *size, struct ir *addr)
{
	struct ir_block *kernel = ir_block(g->ir, "kernel"), *user = ir_block(g->ir, "user");
	struct ir_block *end = ir_block(g->ir, "was_read");
	struct ir *a, *b;

	ir_branch(g->ir, ir_compare(g->ir, IR_SLT, addr, ir_int(g->ir, 0)), kernel, user);
	ir_at(g->ir, kernel);
	a = read_as(g, false, text, dst, size, addr);
	ir_jump(g->ir, end);
	ir_at(g->ir, user);
	b = read_as(g, true, text, dst, size, addr);
	ir_jump(g->ir, end);
	ir_at(g->ir, end);
	return ir_phi(g->ir, a, kernel, b, user);
}

static struct ir *read_once(struct gen *g, enum space space, bool text, struct ir *dst, struct ir *size,
	struct ir *addr)
{
	return space == SPACE_ANY ? read_any(g, text, dst, size, addr) :
		read_as(g, space == SPACE_USER, text, dst, size, addr);
}

/* Programs of uprobes may sleep, so a page that the process has not touched yet can be loaded, such as that
 * of a string constant. Values of more than a page are only read if their inner pages are loaded. */
static bool may_fault(struct gen *g, enum space space)
{
	return space != SPACE_KERNEL && g->provider->may_sleep && g->opt->can_fault && !g->opt->has_walker &&
		!g->img->grows;
}

static void touch(struct gen *g, struct ir *addr)
{
	gen_call(g, BPF_FUNC_copy_from_user, 3, gen_tmp(g, 8), ir_int(g->ir, 1), addr);
}

/* Loads the first and the last page, and reads again. */
static struct ir *read_again(struct gen *g, enum space space, bool text, struct ir *dst, struct ir *size,
	struct ir *addr)
{
	touch(g, addr);
	touch(g, ir_binary(g->ir, IR_SUB, ir_binary(g->ir, IR_ADD, addr, size), ir_int(g->ir, 1)));
	g->sleeps = true;
	return read_once(g, space, text, dst, size, addr);
}

struct ir *gen_read(struct gen *g, enum space space, bool text, struct ir *dst, struct ir *size,
	struct ir *addr)
{
	struct ir_block *failed = ir_block(g->ir, "failed"), *end = ir_block(g->ir, "goes_on"), *here;
	struct ir *n = read_once(g, space, text, dst, size, addr), *again = n;

	here = ir_here(g->ir);
	ir_branch(g->ir, ir_compare(g->ir, IR_SLT, n, ir_int(g->ir, 0)), failed, end);
	ir_at(g->ir, failed);
	if (may_fault(g, space)) {
		struct ir_block *read = ir_block(g->ir, "was_there");

		failed = ir_block(g->ir, "is_not_there");
		again = read_again(g, space, text, dst, size, addr);
		ir_branch(g->ir, ir_compare(g->ir, IR_SLT, again, ir_int(g->ir, 0)), failed, read);
		ir_at(g->ir, failed);
		gen_problem(g, PROBLEM_READ);
		ir_jump(g->ir, read);
		ir_at(g->ir, read);
	} else {
		gen_problem(g, PROBLEM_READ);
	}
	failed = ir_here(g->ir);
	ir_jump(g->ir, end);
	ir_at(g->ir, end);
	n = again == n ? n : ir_phi(g->ir, n, here, again, failed);
	return n;
}

static struct ir *address(struct gen *g, const struct ref *r)
{
	return add(g, r->base, r->offset);
}

/* Extracts the bits of a bit-field from an integer. */
static struct ir *bits_of(struct gen *g, const struct member *m, struct ir *v)
{
	unsigned up = 64 - m->bit_offset - m->bit_size;

	v = ir_binary(g->ir, IR_SHL, v, ir_int(g->ir, up));
	return ir_binary(g->ir, m->type->is_signed ? IR_ASHR : IR_LSHR, v, ir_int(g->ir, 64 - m->bit_size));
}

static struct ir *load_scalar(struct gen *g, const struct ref *r, const struct type *t)
{
	struct ir *slot;

	if (r->context)
		return ir_load_ctx(g->ir, r->base, (uint32_t)r->offset, t->size, t->is_signed);
	if (!r->far)
		return gen_get(g, t, r->base, (uint32_t)r->offset);
	slot = gen_tmp(g, 8);
	gen_read(g, r->space, false, slot, ir_int(g->ir, t->size), address(g, r));
	return gen_get(g, t, slot, 0);
}

/* Copies n bytes up to their first NUL, which may be missing. `bytes` has room for one more byte. */
static void put_chars(struct gen *g, struct ir *bytes, uint32_t n, struct ir *dst, uint32_t size)
{
	ir_store(g->ir, bytes, n, 1, ir_int(g->ir, 0));
	gen_zero(g, dst, size);
	gen_call(g, BPF_FUNC_probe_read_kernel_str, 3, dst, ir_int(g->ir, n < size ? n + 1 : size), bytes);
}

static struct ir *load_chars(struct gen *g, const struct ref *r, const struct type *t, struct ir *into)
{
	uint32_t n = t->string.bytes;
	struct ir *bytes = gen_mem(g, n + 1), *dst = into ? into : gen_mem(g, t->size);

	if (r->far)
		gen_read(g, r->space, false, bytes, ir_int(g->ir, n), address(g, r));
	else
		gen_copy(g, bytes, ir_offset(g->ir, r->base, r->offset), n);
	put_chars(g, bytes, n, dst, t->size);
	return dst;
}

static struct ir *load_memory(struct gen *g, const struct ref *r, const struct type *t, struct ir *into)
{
	bool text = t->kind == TYPE_STRING;
	struct ir *dst;

	if (text && t->string.bytes)
		return load_chars(g, r, t, into);
	if (!r->far && !into)
		return ir_offset(g->ir, r->base, r->offset);
	dst = into ? into : gen_mem(g, t->size);
	if (!r->far) {
		gen_copy(g, dst, ir_offset(g->ir, r->base, r->offset), t->size);
		return dst;
	}
	if (!t->size) /* an array without elements may be after the last byte of dst's memory */
		return dst;
	if (text)
		gen_zero(g, dst, t->size);
	gen_read(g, r->space, text, dst, ir_int(g->ir, t->size), address(g, r));
	return dst;
}

/* The verifier allows reads of the context in words. */
static struct ir *load_context(struct gen *g, const struct ref *r, const struct type *t)
{
	struct ir *dst = gen_mem(g, t->size);

	for (uint32_t at = 0; at < t->size; at += 8)
		ir_store(g->ir, dst, at, 8, ir_load_ctx(g->ir, r->base, (uint32_t)r->offset + at, 8, false));
	return dst;
}

static struct ir *load_beyond(struct gen *g, const struct ref *r, const struct type *t, struct ir *into)
{
	struct ir_block *beyond, *end;
	struct ir *dst;

	if (!type_in_memory(t))
		return ir_select(g->ir, r->beyond, ir_int(g->ir, 0), load_scalar(g, r, t));
	beyond = ir_block(g->ir, "beyond");
	end = ir_block(g->ir, "element");
	dst = load_memory(g, r, t, into ? into : gen_mem(g, t->size));
	ir_branch(g->ir, r->beyond, beyond, end);
	ir_at(g->ir, beyond);
	gen_zero(g, dst, t->size);
	ir_jump(g->ir, end);
	ir_at(g->ir, end);
	return dst;
}

static struct ir *load(struct gen *g, const struct ref *r, const struct type *t, struct ir *into)
{
	gen_fixed(g, t);
	if (r->beyond)
		return load_beyond(g, r, t, into);
	if (r->context && type_in_memory(t))
		return load_context(g, r, t);
	return type_in_memory(t) ? load_memory(g, r, t, into) : load_scalar(g, r, t);
}

/* ---- following a chain -------------------------------------------------- */

static struct ref ref_of(struct gen *g, struct expr *n);

static struct ref pointed(struct gen *g, struct expr *pointer)
{
	return (struct ref){
		.far = !pointer->type->pointer.context,
		.context = pointer->type->pointer.context,
		.base = gen_value(g, pointer),
		.space = pointer->type->pointer.space,
	};
}

static struct ref ref_of_field(struct gen *g, struct expr *n)
{
	struct expr *object = n->field.object;
	struct ref r = object->type->kind == TYPE_POINTER ? pointed(g, object) : ref_of(g, object);
	struct ir *moved;

	if (!r.far && n->field.member)
		gen_fixed(g, n->field.of);
	if (r.far && n->field.member && gen_moves(g, n, &moved)) {
		r.base = ir_binary(g->ir, IR_ADD, r.base, moved);
		return r;
	}
	r.offset += object->type->kind == TYPE_TUPLE ? object->type->tuple.offsets[n->field.index] :
						       n->field.member->offset;
	return r;
}

/* Reports an index beyond the array. Strata's own memory ends there. In other memory, a read may at worst
 * fail, and C arrays at the end of a struct may have more elements than declared. */
static struct ir *within(struct gen *g, struct ref *r, struct span at, struct ir *i, uint32_t count)
{
	struct ir_block *beyond = ir_block(g->ir, "beyond"), *end = ir_block(g->ir, "indexed");
	struct ir *is_beyond = ir_compare(g->ir, IR_UGE, i, ir_int(g->ir, count));
	struct span statement = g->at;

	ir_branch(g->ir, is_beyond, beyond, end);
	ir_at(g->ir, beyond);
	g->at = at;
	gen_problem(g, PROBLEM_INDEX);
	g->at = statement;
	ir_jump(g->ir, end);
	ir_at(g->ir, end);
	if (r->far)
		return i;
	r->beyond = r->beyond ? ir_binary(g->ir, IR_OR, r->beyond, is_beyond) : is_beyond;
	return gen_index(g, i, count);
}

/* Moves r to the element of the index n. count is 0 if the number of elements is not known. */
static void step(struct gen *g, struct ref *r, const struct expr *n, uint32_t size, uint32_t count)
{
	struct expr *index = n->index.index;
	struct ir *i;
	int64_t v;

	if (index->kind == EXPR_INT) {
		v = (int64_t)index->integer.value;
		r->offset += (uint64_t)v * size;
		return;
	}
	i = gen_value(g, index);
	if (count)
		i = within(g, r, n->span, i, count);
	i = ir_binary(g->ir, IR_MUL, i, ir_int(g->ir, size));
	r->base = r->far ? ir_binary(g->ir, IR_ADD, r->base, i) : ir_index(g->ir, r->base, i);
}

static struct ref ref_of_element(struct gen *g, struct expr *n)
{
	struct expr *object = n->index.object;
	const struct type *t = object->type;
	struct ref r = t->kind == TYPE_POINTER ? pointed(g, object) : ref_of(g, object);
	uint32_t size = type_text_bytes(n->type);

	gen_fixed(g, n->type);
	if (r.context && n->index.index->kind != EXPR_INT) /* the verifier only allows constant offsets there */
		r = (struct ref){.base = load_context(g, &r, t)};
	if (t->kind == TYPE_TUPLE) {
		r.offset += t->tuple.offsets[n->index.index->integer.value];
	} else if (t->kind == TYPE_POINTER) {
		step(g, &r, n, size, 0);
	} else if (t->kind == TYPE_BUFFER) {
		r.offset += 4;
		step(g, &r, n, 1, t->size - 4);
	} else {
		step(g, &r, n, size, type_text_bytes(t) / size);
	}
	return r;
}

static struct ref ref_of(struct gen *g, struct expr *n)
{
	if (n->kind == EXPR_FIELD && n->field.object->type->kind != TYPE_ARGS)
		return ref_of_field(g, n);
	if (n->kind == EXPR_INDEX)
		return ref_of_element(g, n);
	if (n->kind == EXPR_UNOP && n->op.op == OP_DEREF)
		return pointed(g, n->op.left);
	return (struct ref){.base = gen_value(g, n)};
}

struct ir *gen_memory(struct gen *g, struct expr *n, struct ir *into)
{
	const struct member *m = n->kind == EXPR_FIELD ? n->field.member : NULL;
	struct ref r = ref_of(g, n);
	struct span statement = g->at;
	struct ir *v;

	if (m && m->type->kind == TYPE_ARRAY && n->type->kind == TYPE_POINTER)
		return address(g, &r); /* the address of a flexible array */
	g->at = n->span; /* the place of the failure */
	v = load(g, &r, n->type, into);
	g->at = statement;
	return m && m->bit_size ? bits_of(g, m, v) : v;
}

/* ---- addresses ---------------------------------------------------------- */

/* The pointer is stored in a map's memory and loaded again: for the verifier, a pointer loaded from the BPF
 * stack is still a pointer. */
struct ir *gen_pointer_number(struct gen *g, struct ir *pointer)
{
	struct ir *slot = gen_mem(g, 8);

	g->mem_slot = true;
	ir_store(g->ir, slot, 0, 8, ir_address(g->ir, pointer));
	return ir_load(g->ir, slot, 0, 8, false);
}

struct ir *gen_address(struct gen *g, struct expr *n)
{
	struct expr *of = n->op.left;
	struct ref r;

	if (of->kind == EXPR_MAP)
		return gen_pointer_number(g, gen_map_now(g, of->map.map));
	if (of->kind == EXPR_VAR)
		return gen_pointer_number(g, gen_var_slot(g, of->var.var));
	r = ref_of(g, of);
	return address(g, &r);
}

/* ---- arguments ---------------------------------------------------------- */

static const struct field *field_here(struct gen *g, const char *name)
{
	for (const struct field *f = g->place->fields; f; f = f->next)
		if (!strcmp(f->name, name))
			return f;
	return NULL;
}

/* The verifier does not allow a read of the context at a computed offset, but a helper may get its address. */
static struct ir *in_record(struct gen *g, const struct field *f)
{
	struct ir *at;

	if (f->where == FIELD_CONTEXT)
		return ir_offset(g->ir, gen_ctx(g), f->offset);
	at = ir_load_ctx(g->ir, gen_ctx(g), f->offset, 4, false);
	at = ir_binary(g->ir, IR_AND, at, ir_int(g->ir, 0xffff));
	return ir_index(g->ir, gen_ctx(g), f->where == FIELD_REL_LOC ? add(g, at, f->offset + 4) : at);
}

static struct ir *from_record(struct gen *g, const struct field *f, const struct type *t, struct ir *dst)
{
	bool text = t->kind == TYPE_STRING;
	uint32_t size = f->where == FIELD_CONTEXT && f->size + text < t->size ? f->size + text : t->size;

	gen_fixed(g, t);
	if (text || size < t->size)
		gen_zero(g, dst, t->size);
	gen_call(g, text ? BPF_FUNC_probe_read_kernel_str : BPF_FUNC_probe_read_kernel, 3, dst,
		ir_int(g->ir, size), in_record(g, f));
	return dst;
}

/* Uses a helper, since a value loaded from the context is a pointer of a known type for the verifier, which
 * forbids arithmetic with it. */
static struct ir *trampoline_arg(struct gen *g, const struct field *f)
{
	struct ir *slot = gen_tmp(g, 8);

	ir_store(g->ir, slot, 0, 8, ir_int(g->ir, 0));
	gen_call(g, BPF_FUNC_get_func_arg, 3, gen_ctx(g), ir_int(g->ir, f->offset / 8), slot);
	return ir_load(g->ir, slot, 0, f->size, f->type->is_signed);
}

/* Reads a struct that is passed by value, in one or two words. */
static struct ir *trampoline_words(struct gen *g, const struct field *f)
{
	struct ir *dst = gen_mem(g, 16);

	gen_zero(g, dst, 16);
	for (uint32_t i = 0; i * 8 < f->size; i++)
		gen_call(g, BPF_FUNC_get_func_arg, 3, gen_ctx(g), ir_int(g->ir, f->offset / 8 + i),
			ir_offset(g->ir, dst, 8 * i));
	return dst;
}

static struct ir *on_stack(struct gen *g, const struct field *f)
{
	return add(g, ir_load_ctx(g->ir, gen_ctx(g), regs_sp(), 8, false), f->offset);
}

/* The offset is signed; a 64-bit addition wraps as needed. */
static struct ir *sum(struct gen *g, const struct field *f)
{
	struct ir *at = ir_load_ctx(g->ir, gen_ctx(g), f->offset, 8, false), *index;

	if (f->scale) {
		index = ir_load_ctx(g->ir, gen_ctx(g), f->offset2, 8, false);
		at = ir_binary(g->ir, IR_ADD, at, ir_binary(g->ir, IR_MUL, index, ir_int(g->ir, f->scale)));
	}
	return ir_binary(g->ir, IR_ADD, at, ir_int(g->ir, (uint64_t)f->value));
}

static struct ir *in_registers(struct gen *g, const struct field *f)
{
	struct ir *dst = gen_mem(g, 16);

	ir_store(g->ir, dst, 0, 8, ir_load_ctx(g->ir, gen_ctx(g), f->offset, 8, false));
	if (f->type->size > 8)
		ir_store(g->ir, dst, 8, 8, ir_load_ctx(g->ir, gen_ctx(g), f->offset2, 8, false));
	return dst;
}

/* Returns the value of an argument, as type t. */
static struct ir *argument(struct gen *g, const struct field *f, const struct type *t)
{
	struct ref r = {.far = true, .space = g->provider->kernel ? SPACE_KERNEL : SPACE_USER};

	switch (f->where) {
	case FIELD_CONTEXT:
	case FIELD_DATA_LOC:
	case FIELD_REL_LOC:
		if (type_in_memory(t) && g->provider->ctx == CTX_TRACEPOINT)
			return from_record(g, f, t, gen_mem(g, t->size));
		if (type_in_memory(t)) {
			r = (struct ref){.base = in_registers(g, f)};
			return load(g, &r, t, NULL);
		}
		if (f->where != FIELD_CONTEXT) /* for arrays of other elements than char, the value is the address */
			return gen_pointer_number(g, in_record(g, f));
		return ir_load_ctx(g->ir, gen_ctx(g), f->offset, f->size, f->type->is_signed);
	case FIELD_ARG:
		if (!type_in_memory(t))
			return trampoline_arg(g, f);
		r = (struct ref){.base = trampoline_words(g, f)};
		return load(g, &r, t, NULL);
	case FIELD_REGS:
		r = (struct ref){.base = in_registers(g, f)};
		return load(g, &r, t, NULL);
	case FIELD_STACK:
		r.base = on_stack(g, f);
		return load(g, &r, t, NULL);
	case FIELD_POINTED:
		r.base = ir_load_ctx(g->ir, gen_ctx(g), f->offset, 8, false);
		return load(g, &r, t, NULL);
	case FIELD_CONSTANT:
		return ir_int(g->ir, (uint64_t)f->value);
	case FIELD_MEMORY:
		r.base = sum(g, f);
		return load(g, &r, f->type, NULL);
	case FIELD_ADDRESS:
		return sum(g, f);
	case FIELD_NOWHERE:
		break;
	}
	return NULL;
}

static struct ir *nothing(struct gen *g, const struct type *t)
{
	struct ir *dst;

	if (!type_in_memory(t))
		return ir_int(g->ir, 0);
	dst = gen_mem(g, t->size);
	gen_zero(g, dst, t->size);
	return dst;
}

struct ir *gen_args_field(struct gen *g, const char *name, const struct type *t)
{
	const struct field *f = field_here(g, name);
	struct ir *v = NULL;

	g->bound_to_args = true;
	if (f)
		facts_field(g->opt->facts, g->first_place, f);
	if (f) /* another place of the probe has the argument, but this one does not */
		v = argument(g, f, t);
	return v ? v : nothing(g, t);
}

struct ir *gen_args_value(struct gen *g, const struct type *t, struct ir *into)
{
	struct ir *dst = into ? into : gen_mem(g, t->size);

	gen_zero(g, dst, t->size);
	for (unsigned i = 0; i < t->tuple.n; i++) {
		const struct type *m = t->tuple.members[i];

		gen_put(g, gen_args_field(g, t->tuple.names[i], m), m, m, dst, t->tuple.offsets[i]);
	}
	return dst;
}

/* ---- casts -------------------------------------------------------------- */

static struct ir *bytes_to_string(struct gen *g, struct expr *from, const struct type *t, struct ir *dst)
{
	uint32_t skip = from->type->kind == TYPE_BUFFER ? 4 : 0, n = from->type->size - skip;
	struct ir *src = ir_offset(g->ir, gen_bytes(g, from), skip), *bytes = gen_mem(g, n + 1);

	gen_copy(g, bytes, src, n);
	put_chars(g, bytes, n, dst, t->size);
	return dst;
}

static struct ir *cast_to_string(struct gen *g, struct expr *from, const struct type *t)
{
	struct ir *dst = gen_mem(g, t->size);

	gen_zero(g, dst, t->size);
	if (from->type->kind != TYPE_POINTER)
		return bytes_to_string(g, from, t, dst);
	gen_read(g, from->type->pointer.space, true, dst, ir_int(g->ir, t->size), gen_value(g, from));
	return dst;
}

/* Writes the length, then the bytes. */
static struct ir *cast_to_buffer(struct gen *g, struct expr *from, const struct type *t)
{
	uint32_t room = t->size - 4, n = from->type->size < room ? from->type->size : room;
	struct ir *dst = gen_mem(g, t->size), *data = ir_offset(g->ir, dst, 4);

	gen_zero(g, dst, t->size);
	if (from->type->kind == TYPE_POINTER) {
		n = room;
		gen_read(g, from->type->pointer.space, false, data, ir_int(g->ir, n), gen_value(g, from));
	} else {
		gen_call(g, BPF_FUNC_probe_read_kernel, 3, data, ir_int(g->ir, n), gen_bytes(g, from));
	}
	ir_store(g->ir, dst, 0, 4, ir_int(g->ir, n));
	return dst;
}

/* Reads a whole array of char, including the bytes after a NUL. */
static struct ir *all_chars(struct gen *g, struct expr *n)
{
	const struct type *t = type_array(g->arena, type_int8, n->type->string.bytes);
	struct ref r;

	if (n->kind == EXPR_FIELD && n->field.object->type->kind == TYPE_ARGS)
		return gen_args_field(g, n->field.name, t);
	r = ref_of(g, n);
	return load(g, &r, t, NULL);
}

struct ir *gen_bytes(struct gen *g, struct expr *n)
{
	bool place = n->kind == EXPR_FIELD || n->kind == EXPR_INDEX || (n->kind == EXPR_UNOP && n->op.op == OP_DEREF);
	struct ir *v, *dst;

	if (place && n->type->kind == TYPE_STRING && n->type->string.bytes)
		return all_chars(g, n);
	v = gen_value(g, n);
	if (type_in_memory(n->type))
		return v;
	dst = gen_mem(g, 8);
	ir_store(g->ir, dst, 0, 8, v);
	return dst;
}

static struct ir *cast_to_array(struct gen *g, struct expr *from, const struct type *t)
{
	struct ir *src = gen_bytes(g, from), *dst;

	if (from->type->kind != TYPE_STRING || type_text_bytes(from->type) == t->size)
		return src;
	dst = gen_mem(g, t->size);
	gen_put(g, src, from->type, type_string(g->arena, t->size), dst, 0);
	return dst;
}

struct ir *gen_cast(struct gen *g, struct expr *n)
{
	struct expr *from = n->cast.value;
	const struct type *t = n->type, *was = from->type;
	struct ir *v;

	if (type_eq(t, was))
		return gen_value(g, from);
	if (t->kind == TYPE_STRING && was->kind != TYPE_STRING)
		return cast_to_string(g, from, t);
	if (t->kind == TYPE_BUFFER && was->kind != TYPE_BUFFER)
		return cast_to_buffer(g, from, t);
	if (t->kind == TYPE_ARRAY)
		return cast_to_array(g, from, t);
	if (t->kind == TYPE_BOOL)
		return gen_truth(g, from);
	if (t->kind == TYPE_POINTER && was->kind == TYPE_STRING) {
		v = gen_pointer_number(g, gen_bytes(g, from));
		g->mem_kept = g->mem_top; /* the pointer may outlive the statement */
		return v;
	}
	v = gen_value(g, from);
	if (t->kind == TYPE_STRING || t->kind == TYPE_BUFFER) {
		struct ir *dst = gen_mem(g, t->size);

		gen_put(g, v, was, t, dst, 0);
		return dst;
	}
	if (type_in_memory(t))
		return v;
	if (type_in_memory(was)) /* it was an array of the same size */
		return gen_get(g, t, v, 0);
	return t->kind == TYPE_INT ? ir_resize(g->ir, v, t->size, t->is_signed) : v;
}
