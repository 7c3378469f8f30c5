// SPDX-License-Identifier: Apache-2.0
/* gen.h - what gen*.c and the builtins share: the state of the generator.
 *
 * A value of a scalar type is a 64-bit integer. A value of a type that lies in memory
 * (type_in_memory()) is a pointer to its bytes; gen_into() makes it at a given address.
 *
 * Temporary memory is in the program's scratch slot (a CPU has one for each level of nesting, see
 * bpf/lib/lib.bpf.c), or on the BPF stack: what is small, and all of a program that needs little and
 * takes no stacks (scratch_prologue()). It is free again when the statement ends. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "codegen/codegen.h"
#include "codegen/ir.h"
#include "model/image.h"
#include "model/provider.h"
#include "model/type.h"
#include "parser/ast.h"

enum { GEN_POOL_CLASSES = 3, GEN_POOL_MAX = 64 };

/* The function that is being generated: a program, or the body of a loop for bpf_loop(). */
struct gen_fn {
	struct ir_block *leave;     /* leaves the program: its epilogue, or in a body the end of the loop */
	struct ir_block *loop_next, *loop_end;
	struct ir *mem_ptr;         /* stack slot: pointer to the scratch slot's memory */
	struct ir *slot_index;      /* stack slot: the scratch slot's index */
	struct ir *ids;             /* stack slot: tgid << 32 | tid, as the filter gave it; NULL: it did not */
	struct ir *frame;           /* what a body is passed, see gen_loop.c; NULL: nothing yet */
	bool is_body;               /* of a loop */

	struct { /* small temporaries on the BPF stack, by size: 8, 16, 32 */
		struct ir *slot[GEN_POOL_MAX];
		unsigned made, used;
	} pool[GEN_POOL_CLASSES];
};

/* A function that was generated, and its text in the script. */
struct gen_function {
	const char *name;
	struct span span;
	struct gen_function *next;
};

struct gen {
	struct ir_builder *ir;
	struct arena *arena;
	struct script *script;
	const struct codegen_options *opt;
	struct image *img;

	/* The program that is being generated. */
	struct probe *probe;
	const struct provider *provider;
	const struct place *place;  /* the first of those it serves, */
	uint32_t first_place;       /* and its index in the image */
	bool bound_to_place;        /* the code is valid for this place only, */
	bool bound_to_args;         /* or for those with its arguments */
	struct gen_fn fn;
	struct ir *scratch;         /* the map */
	uint32_t mem_top, mem_max;  /* bytes of scratch in use; most of any program */
	uint32_t mem_kept;          /* below it nothing is given back: pointers lead there */
	uint32_t mem_most;          /* most of this program */
	bool sleeps;                /* the program brings pages of the process in */
	bool mem_used;
	bool mem_slot;              /* it must be a scratch slot: see is_on_stack() */
	bool mem_full;              /* which was reported */
	bool has_walker;            /* user stacks are walked by a program of their own: see gen_walk.c */
	bool needs_unwinder;        /* ..which cannot be: a part of the script needs the functions */
	bool walks_all;             /* a stack is of all languages */
	unsigned nwalks;            /* calls of it in this program */
	struct span at;             /* of the statement */
	struct source_cursor line;  /* likewise */
	unsigned depth;             /* loop bodies around it */
	uint64_t part_weight;       /* of the functions that a long program becomes; 0: it is one function */
	bool is_long;               /* too long for copies of loops' bodies */
	bool has_bodies;            /* some loops' bodies are functions: see gen_loop.c */
	uint32_t result_at;         /* of a test: in scratch memory, what it returns */
	uint32_t stop_at;           /* then, in scratch memory: a word that is set to leave the program */
	unsigned nbodies;           /* in all programs */
	struct gen_function *functions;
	struct ir *ring;            /* the map, once used */
	struct gen_places *places;  /* see gen_place.c */
	unsigned records_cap, progs_cap;
};

/* gen.c */
struct gen_mark { /* the temporaries in use */
	uint32_t mem_top;
	unsigned used[GEN_POOL_CLASSES];
};
struct gen_mark gen_mark(struct gen *g);
void gen_release(struct gen *g, struct gen_mark m);
struct ir *gen_mem(struct gen *g, uint32_t size);  /* scratch, 8-aligned */
struct ir *gen_tmp(struct gen *g, uint32_t size);  /* stack if small (at most 32), or scratch */
/* 8 bytes whose address is not passed on: LLVM puts them in a register. */
struct ir *gen_local(struct gen *g);
struct ir *gen_slot(struct gen *g);                /* scratch slot index: cpu * SCRATCH_SLOTS + n */
/* As gen_mem(), by offset, which is valid in loop bodies, too. */
uint32_t gen_mem_take(struct gen *g, uint32_t size);
struct ir *gen_mem_at(struct gen *g, uint32_t at);
struct ir *gen_library(struct gen *g, const char *name, const char *const *params,
	const uint32_t *sizes, struct ir *const *args, unsigned n); /* as ir_library() */
void gen_check_calls(struct gen *g, unsigned calls); /* error if so many nested calls are too many here */
/* The current thread's tgid << 32 | tid, as strata's PID namespace counts, or UNWANTED: -p, -c or the end
 * of the script leave its events out. */
struct ir *gen_wanted_ids(struct gen *g);
/* gen_tick.c: counts the run; to out if it cannot. */
void gen_tick(struct gen *g, struct ir_block *out);
struct ir *gen_ctx(struct gen *g);                 /* the program's context */
void gen_function_add(struct gen *g, const char *name, struct span span);
void gen_stmts(struct gen *g, struct stmt *first);
void gen_stmts_until(struct gen *g, struct stmt *first, const struct stmt *end);
void gen_stop(struct gen *g); /* leaves the program; code behind it is unreachable */

/* gen_var.c */
struct ir *gen_var_slot(struct gen *g, const struct var *v);
/* Gives the variables of the program their places, and zeros them. */
void gen_vars_make(struct gen *g);
void gen_assign_var(struct gen *g, struct stmt *n);
void gen_let(struct gen *g, struct stmt *n);
struct ir *gen_var_incdec(struct gen *g, struct expr *n); /* ++ and -- */

/* gen_loop.c */
/* Sets part_weight, is_long and has_bodies for a program. */
void gen_find_loops(struct gen *g, struct stmt *first);
/* A long list of statements; false: it is short, and nothing was done. */
bool gen_parts(struct gen *g, struct stmt *first);
void gen_unroll(struct gen *g, struct stmt *n);
void gen_while(struct gen *g, struct stmt *n);
void gen_for_range(struct gen *g, struct stmt *n);
void gen_for_map(struct gen *g, struct stmt *n);

/* gen_walk.c */
/* The unwinder answers req, a struct stack_req. what: enum handover_what; limit: frames that are stored. */
void gen_walk(struct gen *g, int what, uint32_t limit, struct ir *req);

/* gen_memory.c */
/* A member, an element, or what a pointer points to: its value, which is written to into if it lies in
 * memory and into is not NULL. */
struct ir *gen_memory(struct gen *g, struct expr *n, struct ir *into);
struct ir *gen_address(struct gen *g, struct expr *n);
/* A pointer as a number, with which the verifier allows everything. */
struct ir *gen_pointer_number(struct gen *g, struct ir *pointer);
/* Reads size bytes at an address, or a string of as many at most, text: with its NUL. What the helper
 * gave: less than 0 if it failed, which is counted, and dst is zero then. */
struct ir *gen_read(struct gen *g, enum space space, bool text, struct ir *dst, struct ir *size,
	struct ir *addr);
/* args.NAME; and all of them, as the record t. */
struct ir *gen_args_field(struct gen *g, const char *name, const struct type *t);
struct ir *gen_args_value(struct gen *g, const struct type *t, struct ir *into);
struct ir *gen_cast(struct gen *g, struct expr *n);
/* A pointer to the value's bytes. */
struct ir *gen_bytes(struct gen *g, struct expr *n);

/* gen_text.c */
struct ir *gen_concat(struct gen *g, struct expr *n);     /* "a" + "b" */
struct ir *gen_text_join(struct gen *g, struct expr *a, struct expr *b, const struct type *t,
	struct ir *into);
struct ir *gen_text_len(struct gen *g, struct expr *n);
/* 0: they are equal up to their end or byte `most`; else the difference of the first bytes that differ. */
struct ir *gen_text_differ(struct gen *g, struct expr *a, struct expr *b, uint32_t most);
/* The difference of the first of max bytes that differ; 0: none does. */
struct ir *gen_bytes_differ(struct gen *g, struct ir *a, struct ir *b, uint32_t max);
struct ir *gen_text_order(struct gen *g, struct expr *n); /* "a" < "b" */

/* gen_expr.c */
/* What ++ adds. */
uint64_t gen_step(const struct type *t);
/* The bytes that v, of type t, adds to a value of type `to`: a pointer moves by the size of what it points to. */
struct ir *gen_scaled(struct gen *g, const struct type *to, const struct type *t, struct ir *v);
bool type_in_memory(const struct type *t);
struct ir *gen_value(struct gen *g, struct expr *n);
struct ir *gen_truth(struct gen *g, struct expr *n); /* 0 or 1 */
/* Returns whether an expression may change variables and maps: it has a block, ++ or --. */
bool gen_runs_statements(struct expr *n);
/* The value of n, which stays as it is while `next` is evaluated. */
struct ir *gen_value_before(struct gen *g, struct expr *n, struct expr *next);
/* Makes the value of n at dst + offset, as type t (integers cut, strings cut or padded). */
void gen_into(struct gen *g, struct expr *n, const struct type *t, struct ir *dst,
	uint32_t offset);
void gen_put(struct gen *g, struct ir *v, const struct type *from, const struct type *to,
	struct ir *dst, uint32_t offset);
struct ir *gen_get(struct gen *g, const struct type *t, struct ir *src, uint32_t offset);
struct ir *gen_binary(struct gen *g, enum op op, const struct type *ta, struct ir *a,
	const struct type *tb, struct ir *b);
void gen_copy(struct gen *g, struct ir *dst, struct ir *src, uint32_t size);
void gen_zero(struct gen *g, struct ir *dst, uint32_t size);
/* A text with zeros behind it; it is shorter than size. */
void gen_text(struct gen *g, const char *text, struct ir *dst, uint32_t size);
/* min(v, n - 1): an index that the verifier accepts. */
struct ir *gen_below(struct gen *g, struct ir *v, uint32_t n);
struct ir *gen_index(struct gen *g, struct ir *v, uint32_t n); /* likewise, of bytes in temporary memory */
/* BPF helpers; the arguments are struct ir *. */
struct ir *gen_call(struct gen *g, unsigned helper, unsigned n, ...);
struct ir *gen_lookup(struct gen *g, struct ir *map, struct ir *key); /* a pointer, NULL: no element */

/* gen_map.c */
struct ir *gen_key(struct gen *g, struct map *m, struct expr *keys);
struct ir *gen_map_read(struct gen *g, struct expr *n);
/* Writes (key, value) of an element that a loop has come to, as the tuple t; key, value: pointers. */
void gen_map_element(struct gen *g, struct map *m, struct ir *key, struct ir *value,
	const struct type *t, struct ir *dst);
void gen_map_assign(struct gen *g, struct stmt *n);
struct ir *gen_map_incdec(struct gen *g, struct expr *n);
struct ir *gen_map_delete(struct gen *g, struct map *m, struct expr *keys);
bool map_is_per_cpu(const struct map *m);
void gen_map_define(struct gen *g, struct map *m, struct image_map *ret);

/* gen_named.c: what the condition names is read before the first event, also what stands among others. */
void gen_named(struct gen *g, const struct expr *condition);

/* gen_record.c */
struct image_record *gen_record_new(struct gen *g, const char *kind, struct span span);
/* What its struct record has as id. */
uint32_t gen_record_id(const struct gen *g, const struct image_record *r);
/* A text of the script itself, see image.texts. */
void gen_own_text(struct gen *g, const char *text);
/* Adds an argument list and sends the record. */
void gen_record_send(struct gen *g, struct image_record *r, struct expr *args);
/* Sends the record at mem; its size and texts are described. An event whose record had no space is counted. */
void gen_record_output(struct gen *g, struct image_record *r, struct ir *mem);
void gen_lost(struct gen *g, uint32_t kind); /* enum lost_kind */
void gen_lost_event(struct gen *g, struct ir *result); /* unless the result is 0: a record had no space */
/* Adds a place to the image; returns its index. */
uint32_t gen_place_add(struct gen *g, const struct place *p);
/* The value of `probe`, or of `func`, at the image's i-th place. */
uint64_t gen_place_value(const struct gen *g, uint32_t i, bool func);
/* The same at the place where the program runs. Returns false where the kernel does not tell which of the
 * program's places that is: the value is then the first one's. */
bool gen_place_id(struct gen *g, bool func, struct ir **ret);
/* Counts, for the statement's place, what went wrong there; the first time, userspace is sent a
 * record, too. */
void gen_problem(struct gen *g, enum problem what);
/* The same for a map: it is full, or lacks the element that is read (-k). */
void gen_map_problem(struct gen *g, enum problem what, const struct map *m);
struct ir *gen_ring(struct gen *g);
