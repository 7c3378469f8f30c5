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
	TYPE_BAD,     /* of a wrong expression: goes with every type, so that one mistake is one error */
	TYPE_NONE,    /* a statement's: no value */
	TYPE_INT,     /* size 1, 2, 4, 8; in registers always extended to 64 bits; an enum's, too */
	TYPE_BOOL,    /* 1 byte */
	TYPE_POINTER, /* 8 bytes; printed in hex */
	TYPE_STRING,  /* size bytes with the NUL, zeros after it */
	TYPE_BUFFER,  /* size bytes: a u32 length, then that many, zeros after them */
	TYPE_ARRAY,   /* n elements of one type; in the layout of their source */
	TYPE_STRUCT,  /* struct or union; size bytes in the layout of its source */
	TYPE_TUPLE,   /* members at their offsets, padding zero; a record if they have names */
	TYPE_STACK,   /* 8 bytes: a stack's id, see bpf/walk/unwind.h */
	TYPE_KSYM,    /* 8 bytes: a kernel address; or KSYM_PLACE with a place's number */
	TYPE_USYM,    /* 16 bytes: struct usym of bpf/lib/record.h */
	TYPE_PLACE,   /* 8 bytes: `probe` or `func`: image_place_id() */
	TYPE_INET,    /* 20 bytes: u32 address family, 16 bytes of address; of IPv4 the first 4 */
	TYPE_SHOWN,   /* 8 bytes: a number that userspace prints as text */
	TYPE_ARGS,    /* `args`: no value of its own, only fields */
	TYPE_AGG,     /* a map value made by count(), hist()..; lives in maps only */
};

enum agg_kind { AGG_COUNT, AGG_SUM, AGG_MIN, AGG_MAX, AGG_AVG, AGG_STATS, AGG_HIST, AGG_LHIST,
	AGG_TSERIES };

/* What the number of a TYPE_SHOWN is. A(id, name in messages, ..) */
#define SHOWN_KINDS(A)                                                                   \
	A(TIME, "timestamp") /* ns since boot, by .format, as strftime(3) */             \
	A(USER, "username")  /* a user id */                                             \
	A(ERROR, "strerror") /* errno */                                                 \
	A(SIGNAL, "signal_name")                                                         \
	A(CGROUP, "cgroup_path") /* a cgroup's id; .format: which hierarchies */         \
	A(CONTAINER, "container") /* a cgroup's id */                                    \
	A(SYSCALL, "syscall_name") /* a system call's number */                          \
	A(MAC, "macaddr")    /* the low 6 bytes, the first the lowest */

enum shown_kind {
#define A(id, name) SHOWN_##id,
	SHOWN_KINDS(A)
#undef A
};

/* M(id, name in scripts): how a stack is printed, and which stacks share an entry where a map is
 * keyed by stacks. */
#define STACK_MODES(M)                                                                   \
	M(FUNC, "func")         /* bpftrace's text; shared by stacks of the same functions */        \
	M(LINE, "line")         /* bpftrace's text; by stacks of the same lines */            \
	M(ADDR, "addr")         /* bpftrace's text; by stacks of the same text */             \
	M(BPFTRACE, "bpftrace") /* the same as addr */                                   \
	M(FULL, "full")                                                                  \
	M(PERF, "perf")                                                                  \
	M(RAW, "raw")                                                                    \
	M(BUILD_ID, "build_id")                                                          \
	M(FOLDED, "folded")     /* one line, outermost first; by stacks of the same functions */

enum stack_mode {
#define M(id, name) STACK_##id,
	STACK_MODES(M)
#undef M
	STACK_MODE_MAX
};
extern const char *const stack_mode_names[STACK_MODE_MAX];
bool stack_mode_by_name(const char *name, enum stack_mode *ret);

/* Whose memory an address is of. */
enum space {
	SPACE_ANY, /* seen from the address: the kernel's have the highest bit set, on x86_64 and arm64 */
	SPACE_KERNEL,
	SPACE_USER,
};

struct enumerator {
	const char *name;
	uint64_t value; /* extended to 64 bits by the enum's sign */
};

struct enumeration {
	const char *name; /* "enum pid_type"; "enum" when it has none */
	unsigned n;
	const struct enumerator *list;
	void (*fill)(struct enumeration *e); /* sets n, list at the first use: enumeration_of(); NULL: done */
	void *source;     /* of fill */
};

struct member {
	const char *name; /* "": an unnamed struct or union, whose members are its holder's, too */
	const struct type *type;
	uint32_t offset;  /* in bytes, of the unit that holds a bit-field */
	/* A bit-field: bits of the little-endian integer of type->size bytes at offset, from bit_offset
	 * on. bit_size 0: it is none. */
	uint8_t bit_offset, bit_size;
};

/* What a struct or union is made of. Sources make it at the first use: see composite_of(). */
struct composite {
	const char *name; /* "struct file", "union sigval"; "struct" when it has none */
	bool is_union;
	bool incomplete;  /* declared only; a type of that name may be known elsewhere */
	unsigned n;
	const struct member *members;
	void (*fill)(struct composite *c); /* sets n, members, incomplete; NULL: done */
	void *source;     /* of fill */
	uint64_t id;      /* likewise */
};

struct type {
	enum type_kind kind;
	uint32_t size; /* bytes in memory */
	bool is_signed;
	union {
		struct { /* INT */
			const struct enumeration *names; /* of an enum; NULL: it is none */
			const char *c_name; /* as C has it: "char", "unsigned long"; for listings; NULL */
			const struct type *natural; /* the type before it was put into 8 bytes; NULL: this */
			bool weak; /* its values are literals that are not negative: it takes either sign */
		} integer;
		struct { /* STRING */
			uint32_t bytes; /* size of the array of char that it is the value of; 0: none */
		} string;
		struct { /* POINTER */
			const struct type *to; /* type_none: void, or a function */
			enum space space;
			bool context; /* the program's own: only its members can be read, without a helper */
		} pointer;
		struct { /* ARRAY */
			const struct type *of;
			uint32_t n;
		} array;
		struct { /* STRUCT */
			struct composite *composite;
		} strct;
		struct { /* TUPLE */
			unsigned n;
			const struct type **members;
			const uint32_t *offsets;
			const char *const *names; /* of a record; NULL: a tuple */
		} tuple;
		struct { /* STACK */
			enum frame_lang lang; /* of its frames: FRAME_LANG_KERNEL: kstack; _NATIVE: ustack, all */
			enum stack_mode mode;
			uint32_t limit; /* frames at most */
			bool limited;   /* the script gave the limit: a stack cut there needs no mark */
		} stack;
		struct { /* PLACE */
			bool func;   /* printed as the function's name, not the probe's */
			bool kernel; /* of the kernel's: a map of ksym() may hold it, too */
		} place;
		struct { /* SHOWN */
			enum shown_kind as;
			const char *format; /* TIME, CGROUP */
		} shown;
		struct { /* AGG: element (is_signed above) and shape */
			enum agg_kind kind;
			uint32_t bits;           /* HIST: sub-buckets are 2^bits */
			int64_t min, max, step;  /* LHIST; step: of TSERIES the interval, in ns */
			int series;              /* TSERIES: enum agg_series of bpf/lib/record.h */
			uint32_t buckets;        /* HIST, LHIST: u64 counters of the value; TSERIES: intervals */
		} agg;
	};
};

/* No address has this bit alone of the upper ones. */
#define KSYM_PLACE (1ULL << 62)

extern const struct type *const type_bad, *const type_none, *const type_bool;
extern const struct type *const type_int8, *const type_int16, *const type_int32, *const type_int64;
extern const struct type *const type_uint8, *const type_uint16, *const type_uint32,
	*const type_uint64;
extern const struct type *const type_ksym, *const type_usym, *const type_probe, *const type_func,
	*const type_kfunc, *const type_inet, *const type_args;

/* Sizes in bytes; a string's with its NUL. The kernel allocates at most 4 MB for an element of a map. */
#define TYPE_STRING_MAX ((4 << 20) - 4096)
const struct type *type_string(struct arena *a, uint32_t size);
/* The value of an array of char, which may lack a NUL: a string with one byte more. */
const struct type *type_chars(struct arena *a, uint32_t bytes);
/* Returns the size of the array of char that a string is the value of, else t's size. */
uint32_t type_text_bytes(const struct type *t);
const struct type *type_int(uint32_t size, bool is_signed);
/* A signed integer that holds only literals that are not negative. */
const struct type *type_weak_int(uint32_t size);
/* An integer of type t that is kept in 8 bytes. */
const struct type *type_int_in_word(const struct type *t);
/* Returns the type that an integer had before it was put into a map or tuple; for other types t. */
const struct type *type_natural(const struct type *t);
/* Returns whether types are equal and their integers have equal natural types, which type_eq() ignores. */
bool type_same(const struct type *a, const struct type *b);
/* An integer whose values have names. */
const struct type *type_enum(
	struct arena *a, uint32_t size, bool is_signed, const struct enumeration *names);
/* t's enumerators, filled; NULL: t is no enum. */
const struct enumeration *enumeration_of(const struct type *t);
/* An integer as C names it. */
const struct type *type_c_int(struct arena *a, uint32_t size, bool is_signed, const char *c_name);
const struct type *type_pointer(struct arena *a, const struct type *to, enum space space);
/* Of n bytes at most. */
#define TYPE_BUFFER_MAX TYPE_STRING_MAX
const struct type *type_buffer(struct arena *a, uint32_t n);
/* Arrays of char are strings: sources make those. */
const struct type *type_array(struct arena *a, const struct type *of, uint32_t n);
/* A struct or union of size bytes, 0 when it is incomplete. */
const struct type *type_struct(struct arena *a, uint32_t size, struct composite *c);
/* t's, filled; t is a STRUCT. */
const struct composite *composite_of(const struct type *t);
/* The member of that name, also of unnamed ones in it, its offset from t's start. */
bool type_member(const struct type *t, const char *name, struct member *ret);
/* Members at multiples of their alignment, the whole a multiple of 8. */
const struct type *type_tuple(struct arena *a, const struct type *const *members, unsigned n);
const struct type *type_record(struct arena *a, const struct type *const *members,
	const char *const *names, unsigned n);
/* The language of a stack builtin by its name: "pystack". */
bool stack_lang_by_name(const char *name, enum frame_lang *ret);
const struct type *type_stack(struct arena *a, enum frame_lang lang, enum stack_mode mode,
	uint32_t limit, bool limited);
/* format: of TIME and CGROUP, else NULL. */
const struct type *type_shown(struct arena *a, enum shown_kind as, const char *format);
/* Size of a value: COUNT, SUM 8 bytes; MIN, MAX, AVG, STATS 16 (struct agg_* in bpf/lib/record.h);
 * HIST, LHIST 8 x buckets. */
const struct type *type_agg(struct arena *a, enum agg_kind kind, bool is_signed);
/* These compute buckets and size; for HIST see HIST_BUCKETS in bpf/lib/record.h. */
const struct type *type_hist(struct arena *a, uint32_t bits);
/* n struct agg_tseries. */
const struct type *type_tseries(struct arena *a, bool is_signed, int64_t step, uint32_t n, int series);
const struct type *type_lhist(struct arena *a, int64_t min, int64_t max, int64_t step);

bool type_eq(const struct type *a, const struct type *b);
/* Which member of t the i-th of `like` is: of records, the one of its name; -1: there is none. */
int type_tuple_member(const struct type *t, const struct type *like, unsigned i);
/* Bytes of a value in memory that its alignment is a multiple of. */
uint32_t type_align(const struct type *t);
/* t is of that kind, or a tuple with such a member at any depth. t may be NULL. */
bool type_has(const struct type *t, enum type_kind kind);
/* "int64", "string[16]", "(int64, string[4])", "count", "ustack": as shown in
 * messages. Text lives in the arena. */
const char *type_name(struct arena *a, const struct type *t);

/* The types of signatures, see builtin.h: "uint64", "string[16]", "none", "ksym"..; NULL: none of
 * them. Types in scripts are parser/type_name.h's. */
const struct type *type_by_name(struct arena *a, const char *name);
