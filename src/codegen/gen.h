// SPDX-License-Identifier: Apache-2.0
/* gen.h - the state of the generator, which gen*.c and the builtins share.
 *
 * A value of a scalar type is a 64-bit integer. A value of a type that lies in memory (type_in_memory()) is a
 * pointer to its bytes; gen_into() makes it at a given address.
 *
 * Temporary memory is in the program's scratch slot (a CPU has one for each level of nesting, see
 * bpf/lib/lib.bpf.c), or on the BPF stack: small values, and all values of a program that needs little memory
 * and takes no stacks (scratch_prologue()). It is free again when the statement ends. */
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

/* The function being generated: a program, or the body of a loop for bpf_loop(). */
struct gen_fn {
	struct ir_block *leave;     /* leaves the program; in a body, leaves the loop */
	struct ir_block *loop_next, *loop_end;
	struct ir *mem_ptr;         /* stack slot: pointer to the scratch slot's memory */
	struct ir *slot_index;      /* stack slot: the scratch slot's index */
	struct ir *ids;             /* stack slot: tgid << 32 | tid from the filter; NULL if it has none */
	const struct expr *clock;   /* the nsecs that is read before the filter.. */
	struct ir *now;             /* ..and its value; see gen_clock_early() */
	struct ir *frame;           /* argument of a body, see gen_loop.c; NULL if there is none yet */
	bool is_body;               /* this is the body of a loop */

	struct { /* small temporaries on the BPF stack, by size: 8, 16, 32 */
		struct ir *slot[GEN_POOL_MAX];
		unsigned made, used;
	} pool[GEN_POOL_CLASSES];
};

/* A generated function, and its span in the script. */
struct gen_function {
	const char *name;
	struct span span;
	struct gen_function *next;
};

/* A stack that a program with has_frame() in a condition walks once. */
struct gate_walk {
	enum frame_lang lang;
	uint32_t limit, at; /* at: see gate_walk_at() */
};
enum { GATE_WALKS = 8 };

struct gen_apply;

struct gen {
	struct ir_builder *ir;
	struct arena *arena;
	struct script *script;
	const struct codegen_options *opt;
	struct image *img;

	/* The program being generated. */
	struct probe *probe;
	const struct provider *provider;
	struct expr *predicate;     /* its predicate and the command line's filter, or NULL */
	const struct place *place;  /* the first of its places.. */
	uint32_t first_place;       /* ..and the index of that place in the image */
	bool bound_to_place;        /* the code is only valid for this place.. */
	bool bound_to_args;         /* ..or for places with the same arguments */
	bool is_open;               /* with facts: the attach point is a pattern, which may match other places */
	struct gen_fn fn;
	struct ir *scratch;         /* the map of scratch slots */
	uint32_t mem_top, mem_max;  /* bytes of scratch in use, and the most of any program */
	uint32_t mem_kept;          /* memory below is not reused, since pointers refer to it */
	uint32_t mem_most;          /* the most of this program */
	uint32_t zeroed;            /* bytes of large values that this program zeros by stores */
	bool sleeps;                /* the program may sleep to load pages of the process */
	bool mem_used;
	bool mem_slot;              /* temporaries must be in a scratch slot: see is_on_stack() */
	bool mem_full;              /* the error was reported */
	bool has_walker;            /* a separate program walks user stacks: see gen_walk.c */
	bool needs_unwinder;        /* ..which is impossible: a part of the script needs the unwinder's functions */
	bool walks_all;             /* a stack has frames of all languages */
	unsigned nwalks;            /* calls of the unwinder in this program */
	bool gates;                 /* a condition needs names: see gate.h */
	bool holds;                 /* ..and the effects of an undecided event wait.. */
	const char *unheld;         /* ..or the reason why they cannot */
	unsigned level;             /* number of such conditions around the statement */
	uint32_t levels_at;         /* offset in scratch memory of the levels that are not decided, as bits */
	struct gate_walk walked[GATE_WALKS];
	unsigned nwalked;
	struct gen_apply *applies;  /* see gen_hold.c; of all programs, the last first */
	struct span at;             /* span of the current statement */
	struct source_cursor line;  /* line of the current statement */
	unsigned depth;             /* number of enclosing loop bodies */
	uint64_t part_weight;       /* weight of the functions into which a program is split; 0 if it is not */
	bool is_long;               /* too long for copies of loop bodies */
	bool has_bodies;            /* some loop bodies are functions: see gen_loop.c */
	uint32_t result_at;         /* a test's result, as an offset in scratch memory */
	uint32_t stop_at;           /* offset in scratch memory of a word that a body sets to leave the program */
	unsigned nbodies;           /* in all programs */
	struct gen_function *functions;
	struct ir *ring;            /* the ring buffer's map, once used */
	struct gen_places *places;  /* see gen_place.c */
	unsigned records_cap, progs_cap;
};

/* Functions of gen.c. */
struct gen_mark { /* the temporaries in use */
	uint32_t mem_top;
	unsigned used[GEN_POOL_CLASSES];
};
struct gen_mark gen_mark(struct gen *g);
void gen_release(struct gen *g, struct gen_mark m);
struct ir *gen_mem(struct gen *g, uint32_t size);  /* scratch memory, 8-aligned */
struct ir *gen_tmp(struct gen *g, uint32_t size);  /* on the stack if at most 32 bytes, else scratch memory */
/* Returns 8 bytes whose address is not passed on, so that LLVM puts them into a register. */
struct ir *gen_local(struct gen *g);
struct ir *gen_slot(struct gen *g);                /* index of the scratch slot: cpu * SCRATCH_SLOTS + n */
/* The same as gen_mem(), but returns an offset, which is also valid in loop bodies. */
uint32_t gen_mem_take(struct gen *g, uint32_t size);
struct ir *gen_mem_at(struct gen *g, uint32_t at);
struct ir *gen_library(struct gen *g, const char *name, const char *const *params,
	const uint32_t *sizes, struct ir *const *args, unsigned n); /* see ir_library() */
void gen_check_calls(struct gen *g, unsigned calls); /* reports calls that are nested too deeply */
/* Returns the current thread's tgid << 32 | tid in strata's PID namespace, or UNWANTED if -p, -c or the end
 * of the script excludes its events. */
struct ir *gen_wanted_ids(struct gen *g);
/* In builtins/clock.c: reads the clock before the filter, if the first statement is @x = nsecs, @x = hist(nsecs) or
 * the like. */
void gen_clock_early(struct gen *g);
/* In gen_tick.c: counts the run. Jumps to out if it cannot. */
void gen_tick(struct gen *g, struct ir_block *out);
/* Returns the bytes from the start of the function to the probed instruction, see place.skip. */
struct ir *gen_skip(struct gen *g);
struct ir *gen_ctx(struct gen *g);                 /* the program's context */
/* Generates a program for g->probe that is not in the image's list. */
void gen_program_add(struct gen *g, const char *name, struct span span);
void gen_function_add(struct gen *g, const char *name, struct span span);
void gen_stmts(struct gen *g, struct stmt *first);
void gen_stmts_until(struct gen *g, struct stmt *first, const struct stmt *end);
void gen_stop(struct gen *g); /* leaves the program; later code is unreachable */

/* Functions of gen_var.c. */
struct ir *gen_var_slot(struct gen *g, const struct var *v);
/* Gives places to the variables of the program, and zeros them. */
void gen_vars_make(struct gen *g);
void gen_assign_var(struct gen *g, struct stmt *n);
void gen_let(struct gen *g, struct stmt *n);
struct ir *gen_var_incdec(struct gen *g, struct expr *n); /* ++ and -- */

/* Functions of gen_loop.c. */
/* Sets part_weight, is_long and has_bodies for a program. */
void gen_find_loops(struct gen *g, struct stmt *first);
/* Splits a long list of statements. Does nothing and returns false for a short list. */
bool gen_parts(struct gen *g, struct stmt *first);
void gen_unroll(struct gen *g, struct stmt *n);
void gen_while(struct gen *g, struct stmt *n);
void gen_for(struct gen *g, struct stmt *n);

/* Functions of gen_walk.c. */
/* Lets the unwinder answer req, a struct stack_req. what is an enum handover_what, limit the number of
 * frames that are stored. */
void gen_walk(struct gen *g, int what, uint32_t limit, struct ir *req);

/* Functions of gen_memory.c. */
/* Returns the value of a member, an element, or a pointer's target. A value in memory is written to into,
 * unless into is NULL. */
struct ir *gen_memory(struct gen *g, struct expr *n, struct ir *into);
struct ir *gen_address(struct gen *g, struct expr *n);
/* Returns a pointer as a number, which the verifier does not restrict. */
struct ir *gen_pointer_number(struct gen *g, struct ir *pointer);
/* Reads size bytes at an address. text: reads a string of at most size bytes, with its NUL. Returns the
 * helper's result; if it is less than 0, the failure is counted, and dst is zero. */
struct ir *gen_read(struct gen *g, enum space space, bool text, struct ir *dst, struct ir *size,
	struct ir *addr);
/* Returns args.NAME, or all arguments as the record t. */
struct ir *gen_args_field(struct gen *g, const char *name, const struct type *t);
struct ir *gen_args_value(struct gen *g, const struct type *t, struct ir *into);
struct ir *gen_cast(struct gen *g, struct expr *n);
/* Returns a pointer to the value's bytes. */
struct ir *gen_bytes(struct gen *g, struct expr *n);

/* Functions of gen_text.c. */
struct ir *gen_concat(struct gen *g, struct expr *n);     /* "a" + "b" */
struct ir *gen_text_join(struct gen *g, struct expr *a, struct expr *b, const struct type *t,
	struct ir *into);
struct ir *gen_text_len(struct gen *g, struct expr *n);
/* Returns 0 if the texts are equal up to their end or byte `most`, else the difference of the first bytes
 * that differ. */
struct ir *gen_text_differ(struct gen *g, struct expr *a, struct expr *b, uint32_t most);
/* Returns the difference of the first bytes that differ, of max bytes; 0 if there is none. */
struct ir *gen_bytes_differ(struct gen *g, struct ir *a, struct ir *b, uint32_t max);
struct ir *gen_text_order(struct gen *g, struct expr *n); /* "a" < "b" */

/* Functions of gen_expr.c. */
/* Returns the number that ++ adds. */
uint64_t gen_step(const struct type *t);
/* Returns the bytes that v, of type t, adds to a value of type `to`: a pointer moves by multiples of its
 * target's size. */
struct ir *gen_scaled(struct gen *g, const struct type *to, const struct type *t, struct ir *v);
bool type_in_memory(const struct type *t);
struct ir *gen_value(struct gen *g, struct expr *n);
struct ir *gen_truth(struct gen *g, struct expr *n); /* 0 or 1 */
/* Returns whether an expression may change variables and maps: it has a block, ++ or --. */
bool gen_runs_statements(struct expr *n);
/* Returns the value of n, which does not change while `next` is evaluated. */
struct ir *gen_value_before(struct gen *g, struct expr *n, struct expr *next);
/* Writes the value of n to dst + offset as type t (cuts integers; cuts or pads strings). */
void gen_into(struct gen *g, struct expr *n, const struct type *t, struct ir *dst,
	uint32_t offset);
void gen_put(struct gen *g, struct ir *v, const struct type *from, const struct type *to,
	struct ir *dst, uint32_t offset);
struct ir *gen_get(struct gen *g, const struct type *t, struct ir *src, uint32_t offset);
struct ir *gen_binary(struct gen *g, enum op op, const struct type *ta, struct ir *a,
	const struct type *tb, struct ir *b);
void gen_copy(struct gen *g, struct ir *dst, struct ir *src, uint32_t size);
void gen_zero(struct gen *g, struct ir *dst, uint32_t size);
/* Writes a text, which is shorter than size, followed by zeros. */
void gen_text(struct gen *g, const char *text, struct ir *dst, uint32_t size);
/* Returns min(v, n - 1) in a form that the verifier accepts as an index. */
struct ir *gen_below(struct gen *g, struct ir *v, uint32_t n);
struct ir *gen_index(struct gen *g, struct ir *v, uint32_t n); /* the same, for bytes in temporary memory */
/* Calls a BPF helper; the arguments are struct ir *. */
struct ir *gen_call(struct gen *g, unsigned helper, unsigned n, ...);
struct ir *gen_lookup(struct gen *g, struct ir *map, struct ir *key); /* NULL if there is no element */

/* Functions of gen_map.c. */
/* Returns the map itself, or the one that takes its place at the moment: see image_map.taken. */
struct ir *gen_map_now(struct gen *g, const struct map *m);
struct ir *gen_key(struct gen *g, struct map *m, struct expr *keys);
struct ir *gen_map_read(struct gen *g, struct expr *n);
/* Calls the aggregation for the element with the key, which is made if it is missing. */
void gen_agg_update(struct gen *g, struct map *m, struct ir *key, struct expr *call);
/* Writes (key, value) of a loop's element as the tuple t. key and value are pointers. */
void gen_map_element(struct gen *g, struct map *m, struct ir *key, struct ir *value,
	const struct type *t, struct ir *dst);
void gen_map_assign(struct gen *g, struct stmt *n);
struct ir *gen_map_incdec(struct gen *g, struct expr *n);
struct ir *gen_map_delete(struct gen *g, struct map *m, struct expr *keys);
bool map_is_per_cpu(const struct map *m);
void gen_map_define(struct gen *g, struct map *m, struct image_map *ret);

/* In gen_named.c: notes processes that the condition names, so that they are read before the first event. */
void gen_named(struct gen *g, const struct expr *condition);

/* Functions of gen_record.c. */
struct image_record *gen_record_new(struct gen *g, const char *kind, struct span span);
/* Returns the id for its struct record. */
uint32_t gen_record_id(const struct gen *g, const struct image_record *r);
/* Notes a text of the script itself, see image.texts. */
void gen_own_text(struct gen *g, const char *text);
/* Writes the head of a record. id: of gen_record_id(). */
void gen_record_head(struct gen *g, struct ir *mem, uint32_t id);
/* Sends a record. Returns 0, or not 0 if there is no space. */
struct ir *gen_output(struct gen *g, struct ir *mem, struct ir *size);
/* Adds an argument list and sends the record. */
void gen_record_send(struct gen *g, struct image_record *r, struct expr *args);
/* The same; if there is no space for the record, the event is counted, and its program ends. */
void gen_record_send_or_leave(struct gen *g, struct image_record *r, struct expr *args);
/* Sends the record at mem, whose size and texts r describes. An event without space for its record is
 * counted. */
void gen_record_output(struct gen *g, struct image_record *r, struct ir *mem);
void gen_lost(struct gen *g, uint32_t kind); /* kind is an enum lost_kind */
void gen_lost_event(struct gen *g, struct ir *result); /* result is 0 if there was space for the record */
/* Adds a place to the image. Returns its index. */
uint32_t gen_place_add(struct gen *g, const struct place *p);
/* Returns the value of `probe`, or of `func`, at the image's i-th place. */
uint64_t gen_place_value(const struct gen *g, uint32_t i, bool func);
/* Returns the same value for the place where the program runs. Returns false if the kernel does not tell
 * which of the program's places that is; then the value is that of the first place. */
bool gen_place_id(struct gen *g, bool func, struct ir **ret);
/* Counts a problem for the statement's place. The first time, also sends a record to userspace. */
void gen_problem(struct gen *g, enum problem what);
/* Does the same for a map that lacks an element that is read (-k). */
void gen_missing(struct gen *g, const struct map *m);
/* Counts an update of a map that the kernel refused, and does the same. result: of bpf_map_update_elem(). */
void gen_update_lost(struct gen *g, struct ir *result, const struct map *m);
struct ir *gen_ring(struct gen *g);
/* Returns whether all places of the probe have events of other tasks than the current one. */
bool gen_wants_own_events(const struct gen *g);

/* Functions of gen_facts.c. Stores what current_ids() of the library returns in the slot. */
void gen_current_ids(struct gen *g, struct ir *slot);
/* Notes an attach point, before its programs are made, and after; from: the number of the first one. */
void gen_point_begin(struct gen *g, const struct attach_point *ap);
void gen_point_end(struct gen *g, const struct attach_point *ap, unsigned from);
/* Each of these is a number of this machine, or a hole: see model/facts.h. */
struct ir *gen_cpus(struct gen *g);
struct ir *gen_start_ns(struct gen *g);
struct ir *gen_tai_ns(struct gen *g);
struct ir *gen_wall_ns(struct gen *g);
struct ir *gen_child(struct gen *g); /* process id of the command of -c, or 0 */
/* The offset of a member ("d_name.len") of a kernel struct ("struct dentry"). */
struct ir *gen_kernel_offset(struct gen *g, const char *root, const char *path, uint32_t offset);
/* Returns whether the offset of the member n may differ where the image runs; then *ret is a hole for it. */
bool gen_moves(struct gen *g, const struct expr *n, struct ir **ret);
/* The code depends on the size or all members of t. */
void gen_fixed(struct gen *g, const struct type *t);
