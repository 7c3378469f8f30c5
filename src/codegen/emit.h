// SPDX-License-Identifier: Apache-2.0
/* emit.h - instructions, as the generator sees them. llvm.c implements it; no
 * other file knows LLVM.
 *
 * A `struct ir *` is either a 64-bit integer (what emit_load() and arithmetic
 * give) or a pointer (memory, a map, the context). Memory is base + offset. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct emit;
struct ir;
struct ir_block;

enum emit_op {
	EMIT_ADD, EMIT_SUB, EMIT_MUL, EMIT_UDIV, EMIT_SDIV, EMIT_UMOD, EMIT_SMOD,
	EMIT_AND, EMIT_OR, EMIT_XOR, EMIT_SHL, EMIT_LSHR, EMIT_ASHR,
};
enum emit_cmp {
	EMIT_EQ, EMIT_NE, EMIT_ULT, EMIT_ULE, EMIT_UGT, EMIT_UGE, EMIT_SLT, EMIT_SLE,
	EMIT_SGT, EMIT_SGE,
};

struct emit *emit_new(const char *source_name);
void emit_free(struct emit *e);

/* Programs. The context is the program's one parameter; a program returns an int. */
void emit_prog_begin(struct emit *e, const char *name, const char *section, unsigned line);
/* A parameter of the function being written. */
struct ir *emit_param(struct emit *e, unsigned i);
void emit_prog_end(struct emit *e); /* the block being written must be ended */
/* A static callback int f(map, key, value, ctx) that returns 0: to count with. */
struct ir *emit_callback_zero(struct emit *e);
/* A static callback int f(u64, void *), written in the middle of another function: between
 * the two nothing else can be. Gives its address. */
struct emit_outer;
struct emit_outer *emit_body_begin(struct emit *e, const char *name);
struct ir *emit_body_end(struct emit *e, struct emit_outer *outer);
/* Script line of what follows: the verifier's log shows it. */
void emit_line(struct emit *e, unsigned line, unsigned col);

/* Blocks. */
struct ir_block *emit_block(struct emit *e, const char *name);
void emit_at(struct emit *e, struct ir_block *b);
bool emit_ended(struct emit *e); /* the block being written has its jump */
void emit_jump(struct emit *e, struct ir_block *to);
void emit_branch(struct emit *e, struct ir *cond, struct ir_block *yes, struct ir_block *no);
void emit_return(struct emit *e, struct ir *value);

/* The block being written; and in a block that two lead to, what came from each: before all
 * else there. */
struct ir_block *emit_here(struct emit *e);
struct ir *emit_phi(struct emit *e, struct ir *a, struct ir_block *from_a, struct ir *b,
	struct ir_block *from_b);

/* Values. */
struct ir *emit_int(struct emit *e, uint64_t v);
struct ir *emit_binary(struct emit *e, enum emit_op op, struct ir *a, struct ir *b);
/* 0 or 1 as an integer. */
struct ir *emit_compare(struct emit *e, enum emit_cmp op, struct ir *a, struct ir *b);
struct ir *emit_is_null(struct emit *e, struct ir *ptr);
struct ir *emit_select(struct emit *e, struct ir *cond, struct ir *yes, struct ir *no);
/* The same value, of which LLVM knows nothing. */
struct ir *emit_opaque(struct emit *e, struct ir *v);
/* Keep the low size bytes and extend them again. */
struct ir *emit_resize(struct emit *e, struct ir *v, uint32_t size, bool is_signed);

/* Memory. */
struct ir *emit_alloca(struct emit *e, uint32_t size); /* 8-aligned, of the program */
struct ir *emit_alloca_ptr(struct emit *e); /* room for a pointer: emit_{get,set}_ptr */
struct ir *emit_get_ptr(struct emit *e, struct ir *room);
void emit_set_ptr(struct emit *e, struct ir *room, struct ir *ptr);
struct ir *emit_offset(struct emit *e, struct ir *base, uint64_t offset);
struct ir *emit_index(struct emit *e, struct ir *base, struct ir *offset); /* bytes */
struct ir *emit_load(struct emit *e, struct ir *base, uint64_t offset, uint32_t size,
	bool is_signed);
struct ir *emit_load_ctx(struct emit *e, struct ir *ctx, uint32_t offset, uint32_t size,
	bool is_signed);
void emit_store(struct emit *e, struct ir *base, uint64_t offset, uint32_t size,
	struct ir *v);
void emit_atomic_add(struct emit *e, struct ir *ptr, struct ir *v); /* 8 bytes */
/* Zeros for ever, in .rodata. */
struct ir *emit_zeros(struct emit *e, uint32_t size);

/* Calls. Pointers and integers are passed as they are; an integer comes back. */
struct ir *emit_helper(struct emit *e, unsigned helper, struct ir *const *args, unsigned n);
struct ir *emit_helper_ptr(struct emit *e, unsigned helper, struct ir *const *args,
	unsigned n);
/* A function of the precompiled library, by name. params: 'i' int, 'u' u64, or the
 * name of the struct pointed to, one word each: "stack_req". */
struct ir *emit_library(struct emit *e, const char *name, const char *const *params,
	const uint32_t *sizes, struct ir *const *args, unsigned n);

/* Maps: defined here, or by the precompiled library (then only declared). */
struct emit_map {
	const char *name;
	uint32_t type, key_size, value_size, max_entries, flags; /* as libbpf's __uint */
};
struct ir *emit_map(struct emit *e, const struct emit_map *m);
struct ir *emit_map_extern(struct emit *e, const struct emit_map *m);

/* After the last program: the one, then the other. 0; -EINVAL with the complaint on stderr:
 * our bug; -E2BIG, see emit_refused(). */
int emit_optimize(struct emit *e);
int emit_finish(struct emit *e, void **ret_elf, size_t *ret_size);
/* BPF instructions that a function becomes, estimated high. */
unsigned emit_function_size(struct emit *e, const char *name);
/* After -E2BIG: the function that needs more stack than there is. */
const char *emit_refused(const struct emit *e);
void emit_dump(struct emit *e, FILE *out); /* -d llvm */
