// SPDX-License-Identifier: Apache-2.0
/* ir.h - builds instructions. llvm.c and llvm_out.c implement it; no other file uses LLVM.
 *
 * A `struct ir *` is a value: a 64-bit integer (from ir_load() and arithmetic) or a pointer (to memory, a map,
 * the context). Memory is addressed by base + offset. */
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

/* A program. Its only parameter is the context; it returns an int. */
void ir_prog_begin(struct ir_builder *ir, const char *name, const char *section, unsigned line);
/* Returns a parameter of the function being written. */
struct ir *ir_param(struct ir_builder *ir, unsigned i);
void ir_prog_end(struct ir_builder *ir); /* the current block must have its jump */
/* Makes a static function int f(map, key, value, ctx) that returns 0, with which bpf_for_each_map_elem()
 * counts elements. */
struct ir *ir_callback_zero(struct ir_builder *ir);
/* Begins a static function int f(u64, void *) in the middle of another one, which continues after
 * ir_body_end(). That returns the address. */
struct ir_outer;
struct ir_outer *ir_body_begin(struct ir_builder *ir, const char *name);
/* Begins a function int f(map, key, value, void *) in the same way, for bpf_for_each_map_elem(). */
struct ir_outer *ir_each_begin(struct ir_builder *ir, const char *name);
struct ir *ir_body_end(struct ir_builder *ir, struct ir_outer *outer);
/* Calls such a function for round 0. */
struct ir *ir_call_body(struct ir_builder *ir, struct ir *body, struct ir *frame);
/* Sets the script's line for the next instructions, which the verifier's log shows. */
void ir_line(struct ir_builder *ir, unsigned line, unsigned col);

/* Blocks. */
struct ir_block *ir_block(struct ir_builder *ir, const char *name);
void ir_at(struct ir_builder *ir, struct ir_block *b);
bool ir_ended(struct ir_builder *ir); /* whether the current block has its jump */
void ir_jump(struct ir_builder *ir, struct ir_block *to);
void ir_branch(struct ir_builder *ir, struct ir *cond, struct ir_block *yes, struct ir_block *no);
void ir_return(struct ir_builder *ir, struct ir *value);

/* ir_here() returns the current block. ir_phi() makes a value that is a or b, depending on the block from
 * which execution came; it must be the first in its block. */
struct ir_block *ir_here(struct ir_builder *ir);
struct ir *ir_phi(struct ir_builder *ir, struct ir *a, struct ir_block *from_a, struct ir *b,
	struct ir_block *from_b);

/* Values. */
struct ir *ir_int(struct ir_builder *ir, uint64_t v);
struct ir *ir_binary(struct ir_builder *ir, enum ir_op op, struct ir *a, struct ir *b);
/* Returns a constant that LLVM does not know: hole number n of model/facts.h. */
struct ir *ir_hole(struct ir_builder *ir, uint64_t marked);
/* Returns 0 or 1 as an integer. */
struct ir *ir_compare(struct ir_builder *ir, enum ir_cmp op, struct ir *a, struct ir *b);
/* Returns whether it is a constant number. */
bool ir_is_const(struct ir *v, int64_t *ret);
/* Returns a pointer as a number. */
struct ir *ir_address(struct ir_builder *ir, struct ir *ptr);
struct ir *ir_is_null(struct ir_builder *ir, struct ir *ptr);
struct ir *ir_select(struct ir_builder *ir, struct ir *cond, struct ir *yes, struct ir *no);
/* Returns the same value, about which LLVM knows nothing, so that it does not remove tests of it. */
struct ir *ir_opaque(struct ir_builder *ir, struct ir *v);
/* Returns the low `size` bytes, extended to 64 bits again. */
struct ir *ir_resize(struct ir_builder *ir, struct ir *v, uint32_t size, bool is_signed);

/* Memory. */
struct ir *ir_alloca(struct ir_builder *ir, uint32_t size); /* 8-aligned, in the program's stack */
struct ir *ir_alloca_ptr(struct ir_builder *ir); /* a slot for a pointer: see ir_get_ptr() and ir_set_ptr() */
struct ir *ir_get_ptr(struct ir_builder *ir, struct ir *slot);
void ir_set_ptr(struct ir_builder *ir, struct ir *slot, struct ir *ptr);
struct ir *ir_offset(struct ir_builder *ir, struct ir *base, uint64_t offset);
struct ir *ir_index(struct ir_builder *ir, struct ir *base, struct ir *offset); /* offset in bytes */
struct ir *ir_load(struct ir_builder *ir, struct ir *base, uint64_t offset, uint32_t size,
	bool is_signed);
struct ir *ir_load_ctx(struct ir_builder *ir, struct ir *ctx, uint32_t offset, uint32_t size,
	bool is_signed);
void ir_store(struct ir_builder *ir, struct ir *base, uint64_t offset, uint32_t size,
	struct ir *v);
void ir_atomic_add(struct ir_builder *ir, struct ir *ptr, struct ir *v); /* 8 bytes */
/* Makes constant zeros, in .rodata. */
struct ir *ir_zeros(struct ir_builder *ir, uint32_t size);
/* Makes constant bytes, in .rodata, or returns those that have the name. */
struct ir *ir_bytes(struct ir_builder *ir, const char *name, const uint8_t *bytes, uint32_t size);

/* Calls a helper. Pointers and integers are passed as they are; the result is an integer. */
struct ir *ir_helper(struct ir_builder *ir, unsigned helper, struct ir *const *args, unsigned n);
struct ir *ir_helper_ptr(struct ir_builder *ir, unsigned helper, struct ir *const *args,
	unsigned n);
/* Calls a function of the precompiled library that returns int. params has "int", "u64", or, for a pointer,
 * the name of its struct, whose size is in sizes. */
struct ir *ir_library(struct ir_builder *ir, const char *name, const char *const *params,
	const uint32_t *sizes, struct ir *const *args, unsigned n);
/* Calls a function of another object that takes n __u64 and returns one. Pointers are passed as they are. */
struct ir *ir_extern(struct ir_builder *ir, const char *name, struct ir *const *args, unsigned n);
/* Calls a library function without parameters that returns __u64. */
struct ir *ir_library_u64(struct ir_builder *ir, const char *name);
/* Makes a tail call to the map's first program, in a function of that name. The program returns to the
 * caller of the function. */
void ir_hand_over(struct ir_builder *ir, const char *name, struct ir *ctx, struct ir *map);
/* Returns the value of a library's `volatile __u32` or `__u64` (size 4, 8) in that section; in .rodata it
 * is const. */
struct ir *ir_library_value(struct ir_builder *ir, const char *name, uint32_t size, const char *section);

/* A map, defined here or by the precompiled library (then only declared). */
struct ir_map {
	const char *name;
	uint32_t type, key_size, value_size, max_entries, flags; /* the same as libbpf's __uint */
};
struct ir *ir_map(struct ir_builder *ir, const struct ir_map *m);
struct ir *ir_map_extern(struct ir_builder *ir, const struct ir_map *m);

/* Called after the last program: ir_optimize(), then ir_finish(). They return 0 on success, -EINVAL after a
 * message about a bug of the generator, -E2BIG if a function was refused, see ir_refused(). */
int ir_optimize(struct ir_builder *ir);
int ir_finish(struct ir_builder *ir, void **ret_elf, size_t *ret_size);
/* Estimates the number of BPF instructions of a function. The estimate is rather too high. */
unsigned ir_function_size(struct ir_builder *ir, const char *name);
/* Returns the function that needs too much stack, after -E2BIG. */
const char *ir_refused(const struct ir_builder *ir);
void ir_dump(struct ir_builder *ir, FILE *out); /* -d llvm */
