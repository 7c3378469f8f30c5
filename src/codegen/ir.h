// SPDX-License-Identifier: Apache-2.0
/* ir.h - builds instructions. llvm.c and llvm_out.c implement it; no other file uses LLVM.
 *
 * A `struct ir *` is a value: a 64-bit integer (of ir_load() and arithmetic) or a pointer (to memory, a
 * map, the context). Memory is addressed by base + offset. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct ir_builder;
struct ir;
struct ir_block;

enum ir_op {
	IR_ADD, IR_SUB, IR_MUL, IR_UDIV, IR_SDIV, IR_UMOD, IR_SMOD,
	IR_AND, IR_OR, IR_XOR, IR_SHL, IR_LSHR, IR_ASHR,
};
enum ir_cmp {
	IR_EQ, IR_NE, IR_ULT, IR_ULE, IR_UGT, IR_UGE, IR_SLT, IR_SLE,
	IR_SGT, IR_SGE,
};

struct ir_builder *ir_new(const char *source_name);
void ir_free(struct ir_builder *ir);

/* Programs. The only parameter is the context; a program returns an int. */
void ir_prog_begin(struct ir_builder *ir, const char *name, const char *section, unsigned line);
/* A parameter of the function being written. */
struct ir *ir_param(struct ir_builder *ir, unsigned i);
void ir_prog_end(struct ir_builder *ir); /* the current block must have its jump */
/* A static function int f(map, key, value, ctx) that returns 0, for bpf_for_each_map_elem() to count
 * elements. */
struct ir *ir_callback_zero(struct ir_builder *ir);
/* A static function int f(u64, void *), generated in the middle of another one, which goes on after
 * ir_body_end(); that gives the address. */
struct ir_outer;
struct ir_outer *ir_body_begin(struct ir_builder *ir, const char *name);
/* The same: int f(map, key, value, void *), for bpf_for_each_map_elem(). */
struct ir_outer *ir_each_begin(struct ir_builder *ir, const char *name);
struct ir *ir_body_end(struct ir_builder *ir, struct ir_outer *outer);
/* Calls such a function, with round 0. */
struct ir *ir_call_body(struct ir_builder *ir, struct ir *body, struct ir *frame);
/* The script's line for the next instructions: the verifier's log shows it. */
void ir_line(struct ir_builder *ir, unsigned line, unsigned col);

/* Blocks. */
struct ir_block *ir_block(struct ir_builder *ir, const char *name);
void ir_at(struct ir_builder *ir, struct ir_block *b);
bool ir_ended(struct ir_builder *ir); /* has the current block its jump? */
void ir_jump(struct ir_builder *ir, struct ir_block *to);
void ir_branch(struct ir_builder *ir, struct ir *cond, struct ir_block *yes, struct ir_block *no);
void ir_return(struct ir_builder *ir, struct ir *value);

/* ir_here(): the current block. ir_phi(): a value that is a or b, by the block that execution came from;
 * first in its block. */
struct ir_block *ir_here(struct ir_builder *ir);
struct ir *ir_phi(struct ir_builder *ir, struct ir *a, struct ir_block *from_a, struct ir *b,
	struct ir_block *from_b);

/* Values. */
struct ir *ir_int(struct ir_builder *ir, uint64_t v);
struct ir *ir_binary(struct ir_builder *ir, enum ir_op op, struct ir *a, struct ir *b);
/* 0 or 1 as an integer. */
struct ir *ir_compare(struct ir_builder *ir, enum ir_cmp op, struct ir *a, struct ir *b);
/* Is it a constant number? */
bool ir_is_const(struct ir *v, int64_t *ret);
/* A pointer as a number. */
struct ir *ir_address(struct ir_builder *ir, struct ir *ptr);
struct ir *ir_is_null(struct ir_builder *ir, struct ir *ptr);
struct ir *ir_select(struct ir_builder *ir, struct ir *cond, struct ir *yes, struct ir *no);
/* The same value, of which LLVM cannot know anything: it removes no test of it. */
struct ir *ir_opaque(struct ir_builder *ir, struct ir *v);
/* The low `size` bytes, extended to 64 bits again. */
struct ir *ir_resize(struct ir_builder *ir, struct ir *v, uint32_t size, bool is_signed);

/* Memory. */
struct ir *ir_alloca(struct ir_builder *ir, uint32_t size); /* 8-aligned, of the program */
struct ir *ir_alloca_ptr(struct ir_builder *ir); /* a slot for a pointer: see ir_get_ptr() and ir_set_ptr() */
struct ir *ir_get_ptr(struct ir_builder *ir, struct ir *slot);
void ir_set_ptr(struct ir_builder *ir, struct ir *slot, struct ir *ptr);
struct ir *ir_offset(struct ir_builder *ir, struct ir *base, uint64_t offset);
struct ir *ir_index(struct ir_builder *ir, struct ir *base, struct ir *offset); /* bytes */
struct ir *ir_load(struct ir_builder *ir, struct ir *base, uint64_t offset, uint32_t size,
	bool is_signed);
struct ir *ir_load_ctx(struct ir_builder *ir, struct ir *ctx, uint32_t offset, uint32_t size,
	bool is_signed);
void ir_store(struct ir_builder *ir, struct ir *base, uint64_t offset, uint32_t size,
	struct ir *v);
void ir_atomic_add(struct ir_builder *ir, struct ir *ptr, struct ir *v); /* 8 bytes */
/* Constant zeros, in .rodata. */
struct ir *ir_zeros(struct ir_builder *ir, uint32_t size);

/* Calls. Pointers and integers are passed as they are; an integer comes back. */
struct ir *ir_helper(struct ir_builder *ir, unsigned helper, struct ir *const *args, unsigned n);
struct ir *ir_helper_ptr(struct ir_builder *ir, unsigned helper, struct ir *const *args,
	unsigned n);
/* Calls a function of the precompiled library that returns int. params: "int", "u64", or for a pointer the
 * name of its struct, whose size is in sizes. */
struct ir *ir_library(struct ir_builder *ir, const char *name, const char *const *params,
	const uint32_t *sizes, struct ir *const *args, unsigned n);
/* Calls a function of another object that takes n __u64, and returns one; pointers are passed as they are. */
struct ir *ir_extern(struct ir_builder *ir, const char *name, struct ir *const *args, unsigned n);
/* One that takes nothing and returns __u64. */
struct ir *ir_library_u64(struct ir_builder *ir, const char *name);
/* A tail call into the map's first program, which comes back: it is made in a function of that name. */
void ir_hand_over(struct ir_builder *ir, const char *name, struct ir *ctx, struct ir *map);
/* The value of a library's `volatile __u32` or `__u64` (size 4, 8) in that section; in .rodata it is const. */
struct ir *ir_library_value(struct ir_builder *ir, const char *name, uint32_t size, const char *section);

/* Maps: defined here, or by the precompiled library (then only declared). */
struct ir_map {
	const char *name;
	uint32_t type, key_size, value_size, max_entries, flags; /* as libbpf's __uint */
};
struct ir *ir_map(struct ir_builder *ir, const struct ir_map *m);
struct ir *ir_map_extern(struct ir_builder *ir, const struct ir_map *m);

/* After the last program: first ir_optimize(), then ir_finish(). 0; -EINVAL after a message: a bug of
 * the generator; -E2BIG: see ir_refused(). */
int ir_optimize(struct ir_builder *ir);
int ir_finish(struct ir_builder *ir, void **ret_elf, size_t *ret_size);
/* Number of BPF instructions of a function: an estimate, rather too high. */
unsigned ir_function_size(struct ir_builder *ir, const char *name);
/* After -E2BIG: the function that needs more stack than there is. */
const char *ir_refused(const struct ir_builder *ir);
void ir_dump(struct ir_builder *ir, FILE *out); /* -d llvm */
