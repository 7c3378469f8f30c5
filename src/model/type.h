// SPDX-License-Identifier: Apache-2.0
/* type.h - what a value is, and how it lies in memory.
 *
 * Types are made in the compilation's arena and never changed. The predefined
 * ones may be compared by pointer, the others by type_eq(). */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/walk/unwind.h"

struct arena;
struct str;

enum type_kind {
	TYPE_BAD,     /* of a wrong expression: agrees with everything */
	TYPE_NONE,    /* a statement's: no value */
	TYPE_INT,     /* size 1, 2, 4, 8; in registers always extended to 64 bits */
	TYPE_BOOL,    /* 1 byte */
	TYPE_POINTER, /* 8 bytes; printed in hex */
	TYPE_STRING,  /* size bytes with the NUL, zeros after it */
	TYPE_TUPLE,   /* members at their offsets, padding zero */
	TYPE_STACK,   /* 8 bytes: a stack's id, see bpf/walk/unwind.h */
	TYPE_KSYM,    /* 8 bytes: a kernel address */
	TYPE_USYM,    /* 16 bytes: struct usym of bpf/lib/record.h */
	TYPE_PLACE,   /* 8 bytes: `probe` or `func`: image_place_id() */
	TYPE_ARGS,    /* `args`: no value of its own, only fields */
	TYPE_AGG,     /* a map value made by count(), hist()..; lives in maps only */
};

enum agg_kind { AGG_COUNT, AGG_SUM, AGG_MIN, AGG_MAX, AGG_AVG, AGG_STATS, AGG_HIST, AGG_LHIST };

/* M(id, name in scripts). How a stack is printed, and which stacks are one where a map
 * aggregates by them. */
#define STACK_MODES(M)                                                                   \
	M(FUNC, "func")         /* bpftrace's text; one: of the same functions */        \
	M(LINE, "line")         /* bpftrace's text; one: of the same lines */            \
	M(ADDR, "addr")         /* bpftrace's text; one: of the same text */             \
	M(BPFTRACE, "bpftrace") /* the same as addr */                                   \
	M(FULL, "full")                                                                  \
	M(PERF, "perf")                                                                  \
	M(RAW, "raw")                                                                    \
	M(BUILD_ID, "build_id")                                                          \
	M(FOLDED, "folded")     /* a line, outermost first; one: of the same functions */

enum stack_mode {
#define M(id, name) STACK_##id,
	STACK_MODES(M)
#undef M
	STACK_MODE_MAX
};
extern const char *const stack_mode_names[STACK_MODE_MAX];
bool stack_mode_by_name(const char *name, enum stack_mode *ret);

struct type {
	enum type_kind kind;
	uint32_t size; /* bytes in memory */
	bool is_signed;
	union {
		struct { /* POINTER */
			const char *pointee; /* "char", for messages */
			bool user;           /* an address of userspace */
		} pointer;
		struct { /* TUPLE */
			unsigned n;
			const struct type **members;
			const uint32_t *offsets;
		} tuple;
		struct { /* STACK */
			enum frame_lang lang; /* of its frames: FRAME_LANG_KERNEL: kstack; _NATIVE: ustack, all */
			enum stack_mode mode;
			uint32_t limit; /* frames at most */
			bool limited;   /* the script said so: a stack that ends there is whole */
		} stack;
		struct { /* PLACE */
			bool func; /* printed as the function's name, not the probe's */
		} place;
		struct { /* AGG: element (is_signed above) and shape */
			enum agg_kind kind;
			uint32_t bits;           /* HIST: sub-buckets are 2^bits */
			int64_t min, max, step;  /* LHIST */
			uint32_t buckets;        /* HIST, LHIST: u64 counters of the value */
		} agg;
	};
};

extern const struct type *const type_bad, *const type_none, *const type_bool;
extern const struct type *const type_int8, *const type_int16, *const type_int32, *const type_int64;
extern const struct type *const type_uint8, *const type_uint16, *const type_uint32,
	*const type_uint64;
extern const struct type *const type_ksym, *const type_usym, *const type_probe, *const type_func,
	*const type_args;

/* Sizes in bytes; a string's with its NUL. */
const struct type *type_string(struct arena *a, uint32_t size);
const struct type *type_int(uint32_t size, bool is_signed);
const struct type *type_pointer(struct arena *a, const char *pointee, bool user);
/* Members at multiples of their alignment, the whole a multiple of 8. */
const struct type *type_tuple(struct arena *a, const struct type *const *members, unsigned n);
/* The language of a stack builtin by its name: "pystack". */
bool stack_lang_by_name(const char *name, enum frame_lang *ret);
const struct type *type_stack(struct arena *a, enum frame_lang lang, enum stack_mode mode,
	uint32_t limit, bool limited);
/* size of an AGG value: COUNT, SUM 8 bytes; MIN, MAX, AVG, STATS 16 (see
 * struct agg_* in bpf/lib/record.h); HIST, LHIST 8 x buckets. */
const struct type *type_agg(struct arena *a, enum agg_kind kind, bool is_signed);
/* buckets and size are worked out here: HIST see hist_buckets() in bpf/lib/record.h. */
const struct type *type_hist(struct arena *a, uint32_t bits);
const struct type *type_lhist(struct arena *a, int64_t min, int64_t max, int64_t step);

bool type_eq(const struct type *a, const struct type *b);
/* t is of that kind, or a tuple with such a member at any depth. t may be NULL. */
bool type_has(const struct type *t, enum type_kind kind);
/* "int64", "string[16]", "(int64, string[4])", "count", "ustack": as shown in
 * messages. Text lives in the arena. */
const char *type_name(struct arena *a, const struct type *t);

/* "uint64", "uint64_t", "string[16]", "bool", and what signatures of builtin.h say
 * besides: "none", "ksym"..; NULL when it is no type. */
#define TYPE_STRING_MAX 16384
const struct type *type_by_name(struct arena *a, const char *name);
