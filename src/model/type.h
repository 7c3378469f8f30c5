// SPDX-License-Identifier: Apache-2.0
/* type.h - the type of a value, and its layout in memory.
 *
 * Types are made in the compilation's arena and never change. The predefined types may be compared by
 * pointer, the others by type_eq(). */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/walk/unwind.h"

struct arena;
struct str;

enum type_kind {
	TYPE_BAD,     /* type of a wrong expression: it agrees with every type, so that one mistake is one error */
	TYPE_NONE,    /* type of a statement, which has no value */
	TYPE_INT,     /* size 1, 2, 4 or 8; in registers always extended to 64 bits; enums, too */
	TYPE_BOOL,    /* 1 byte */
	TYPE_POINTER, /* 8 bytes; printed in hex */
	TYPE_STRING,  /* size bytes including the NUL, followed by zeros */
	TYPE_BUFFER,  /* size bytes: a u32 length, that many bytes, then zeros */
	TYPE_ARRAY,   /* n elements of one type, in the layout of their source */
	TYPE_STRUCT,  /* struct or union: size bytes, in the layout of its source */
	TYPE_TUPLE,   /* members at their offsets, with zeros as padding; a record if the members have names */
	TYPE_STACK,   /* 8 bytes: a stack's id, see bpf/walk/unwind.h */
	TYPE_FRAME,   /* 8 bytes: a stack's id; userspace prints one frame of the stack, or a part of the frame */
	TYPE_KSYM,    /* 8 bytes: a kernel address; or KSYM_PLACE with a place's number */
	TYPE_USYM,    /* 16 bytes: struct usym of bpf/lib/record.h */
	TYPE_PLACE,   /* 8 bytes: `probe` or `func`: image_place_id() */
	TYPE_INET,    /* 20 bytes: u32 address family, 16 bytes of address; IPv4 uses the first 4 */
	TYPE_SHOWN,   /* 8 bytes: a number that userspace prints as text */
	TYPE_ARGS,    /* `args`: it has only fields, no value of its own */
	TYPE_AGG,     /* a map value made by count(), hist()..; only maps have it */
};

enum agg_kind { AGG_COUNT, AGG_SUM, AGG_MIN, AGG_MAX, AGG_AVG, AGG_STATS, AGG_HIST, AGG_LHIST,
	AGG_TSERIES };

/* The meaning of the number in a TYPE_SHOWN. A(id, name in messages, ..) */
#define SHOWN_KINDS(A)                                                                   \
	A(TIME, "timestamp") /* ns since boot, printed with .format as by strftime(3) */             \
	A(USER, "username")  /* a user id */                                             \
	A(ERROR, "strerror") /* errno */                                                 \
	A(SIGNAL, "signal_name")                                                         \
	A(CGROUP, "cgroup_path") /* id of a cgroup; .format selects the hierarchies */         \
	A(CONTAINER, "container") /* id of a cgroup */                                    \
	A(POD, "pod") /* id of a cgroup */                                                \
	A(IN_CONTAINER, "in_container") /* id of a cgroup: whether its container has the name .format */ \
	A(SYSCALL, "syscall_name") /* number of a system call */                          \
	A(MAC, "macaddr")    /* the low 6 bytes; the lowest byte is the first of the address */

enum shown_kind {
#define A(id, name) SHOWN_##id,
	SHOWN_KINDS(A)
#undef A
};

/* M(id, name in scripts): how a stack is printed, and which stacks share an entry of a map with stacks as
 * keys. */
#define STACK_MODES(M)                                                                   \
	M(FUNC, "func")         /* bpftrace's text; stacks with the same functions share an entry */        \
	M(LINE, "line")         /* bpftrace's text; stacks with the same lines share an entry */            \
	M(ADDR, "addr")         /* bpftrace's text; stacks with the same text share an entry */             \
	M(BPFTRACE, "bpftrace") /* the same as addr */                                   \
	M(FULL, "full")                                                                  \
	M(PERF, "perf")                                                                  \
	M(RAW, "raw")                                                                    \
	M(BUILD_ID, "build_id")                                                          \
	M(FOLDED, "folded")     /* one line, outermost first; stacks with the same functions share an entry */

enum stack_mode {
#define M(id, name) STACK_##id,
	STACK_MODES(M)
#undef M
	STACK_MODE_MAX
};
extern const char *const stack_mode_names[STACK_MODE_MAX];
bool stack_mode_by_name(const char *name, enum stack_mode *ret);

/* P(id, name in scripts): the parts of a frame, `ustack[0].func`. */
#define FRAME_PARTS(P)                                                                   \
	P(FUNC, "func")     /* as in a stack of mode func */                             \
	P(FILE, "file")     /* the source file */                                        \
	P(LINE, "line")     /* the line in the source file */                            \
	P(MODULE, "module") /* the ELF file */                                           \
	P(LANG, "lang")     /* native, kernel, or the language */

#define FRAME_EACH INT32_MIN /* each frame: the variable of `for ($f : ustack)` */

enum frame_part {
	FRAME_PART_ALL, /* function and file, as in a stack of mode func */
#define P(id, name) FRAME_PART_##id,
	FRAME_PARTS(P)
#undef P
	FRAME_PART_MAX,
	FRAME_PART_HAS = FRAME_PART_MAX, /* has_frame(): whether a frame of the stack matches a pattern */
};

/* The functions that has_frame() accepts, or the containers of in_container(): `*` is any text. */
struct frame_pattern {
	const char *func;
	const char *module; /* NULL: any */
	bool container;     /* func is the name of a container instead */
};

/* The memory to which an address belongs. */
enum space {
	SPACE_ANY, /* depends on the address: kernel addresses have the highest bit set, on x86_64 and arm64 */
	SPACE_KERNEL,
	SPACE_USER,
};

struct enumerator {
	const char *name;
	uint64_t value; /* extended to 64 bits by the enum's sign */
};

struct enumeration {
	const char *name; /* "enum pid_type"; "enum" for an unnamed one */
	unsigned n;
	const struct enumerator *list;
	void (*fill)(struct enumeration *e); /* sets n and list at the first use, see enumeration_of(); then NULL */
	void *source;     /* argument for fill */
};

struct member {
	const char *name; /* "" if unnamed: its members also belong to the struct that holds it */
	const struct type *type;
	uint32_t offset;  /* in bytes; of a bit-field, the offset of the unit that holds it */
	/* A bit-field is the bits from bit_offset on, in the little-endian integer of type->size bytes at
	 * offset. bit_size is 0 for other members. */
	uint8_t bit_offset, bit_size;
};

/* Who decides the layout of a struct. */
enum origin {
	ORIGIN_SCRIPT, /* the script, by C text */
	ORIGIN_KERNEL, /* the running kernel, by BTF */
	ORIGIN_FILE,   /* a traced program, by DWARF */
};

/* The members of a struct or union. The source makes them at the first use: see composite_of(). */
struct composite {
	const char *name; /* "struct file", "union sigval"; "struct" for an unnamed one */
	bool is_union;
	enum origin origin;
	bool incomplete;  /* only declared; a type of that name may be known elsewhere */
	unsigned n;
	const struct member *members;
	void (*fill)(struct composite *c); /* sets n, members and incomplete; then NULL */
	void *source;     /* argument for fill */
	uint64_t id;      /* argument for fill */
};

struct type {
	enum type_kind kind;
	uint32_t size; /* bytes in memory */
	bool is_signed;
	union {
		struct { /* INT */
			const struct enumeration *names; /* of an enum; NULL for other integers */
			const char *c_name; /* name in C, for listings: "char", "unsigned long"; or NULL */
			const struct type *natural; /* type before it was put into 8 bytes; NULL for this type */
			bool weak; /* all values are literals that are not negative, so either sign fits */
		} integer;
		struct { /* STRING */
			uint32_t bytes; /* size of the array of char whose value the string is, or 0 */
		} string;
		struct { /* POINTER */
			const struct type *to; /* type_none for void and functions */
			enum space space;
			bool context; /* the program's context: only its members can be read */
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
			const char *const *names; /* of a record; NULL for a tuple */
		} tuple;
		struct { /* STACK */
			enum frame_lang lang; /* FRAME_LANG_KERNEL for kstack, _NATIVE for ustack (all) */
			enum stack_mode mode;
			uint32_t limit; /* the most frames */
			bool limited;   /* the script gave the limit: a stack that is cut there needs no mark */
			uint32_t last;  /* only this many outermost frames are shown; 0: all */
			/* The frames that are shown: from the innermost one with such a name on, and up to the
			 * innermost one (of these) with such a name; NULL: all. */
			const char *from, *to;
		} stack;
		struct { /* FRAME */
			const struct type *stack; /* STACK */
			int32_t index; /* from the innermost frame, 0; from the outermost one, -1; or FRAME_EACH */
			enum frame_part part;
			const struct frame_pattern *pattern; /* HAS */
		} frame;
		struct { /* PLACE */
			bool func;   /* printed as the function's name instead of the probe's */
			bool kernel; /* in the kernel, so that a map of ksym() may hold it, too */
		} place;
		struct { /* SHOWN */
			enum shown_kind as;
			const char *format; /* TIME, CGROUP, IN_CONTAINER */
		} shown;
		struct { /* AGG: is_signed above describes the elements; these members are the shape */
			enum agg_kind kind;
			uint32_t bits;           /* HIST: there are 2^bits sub-buckets */
			int64_t min, max, step;  /* LHIST; for TSERIES, step is the interval in ns */
			int series;              /* TSERIES: enum agg_series of bpf/lib/record.h */
			uint32_t buckets;        /* HIST, LHIST: u64 counters of the value; TSERIES: intervals */
		} agg;
	};
};

/* The upper two bits of a place. Addresses never have them. */
#define KSYM_PLACE (1ULL << 62)

extern const struct type *const type_bad, *const type_none, *const type_bool;
extern const struct type *const type_int8, *const type_int16, *const type_int32, *const type_int64;
extern const struct type *const type_uint8, *const type_uint16, *const type_uint32,
	*const type_uint64;
extern const struct type *const type_ksym, *const type_usym, *const type_probe, *const type_func,
	*const type_kfunc, *const type_inet, *const type_args;

/* Sizes in bytes, including a string's NUL. The kernel allocates at most 4 MB for an element of a map. */
#define TYPE_STRING_MAX ((4 << 20) - 4096)
const struct type *type_string(struct arena *a, uint32_t size);
/* Returns the type of an array of char as a value. The array may lack a NUL, so the string has one byte
 * more. */
const struct type *type_chars(struct arena *a, uint32_t bytes);
/* Returns the size of the array of char whose value the string is, or t's size. */
uint32_t type_text_bytes(const struct type *t);
const struct type *type_int(uint32_t size, bool is_signed);
/* Returns a signed integer type for values that are all literals and not negative. */
const struct type *type_weak_int(uint32_t size);
/* Returns the type of an integer of type t that is kept in 8 bytes. */
const struct type *type_int_in_word(const struct type *t);
/* Returns the type of an integer before it was put into a map or tuple; for other types returns t. */
const struct type *type_natural(const struct type *t);
/* Returns whether types are equal and their integers have equal natural types, which type_eq() ignores. */
bool type_same(const struct type *a, const struct type *b);
/* Returns an integer type whose values have names. */
const struct type *type_enum(
	struct arena *a, uint32_t size, bool is_signed, const struct enumeration *names);
/* Returns t's enumerators, filled in, or NULL if t is not an enum. */
const struct enumeration *enumeration_of(const struct type *t);
/* Returns an integer type with its name in C. */
const struct type *type_c_int(struct arena *a, uint32_t size, bool is_signed, const char *c_name);
const struct type *type_pointer(struct arena *a, const struct type *to, enum space space);
/* The most bytes of a buffer. */
#define TYPE_BUFFER_MAX TYPE_STRING_MAX
const struct type *type_buffer(struct arena *a, uint32_t n);
/* For an array of char, sources make a string instead. */
const struct type *type_array(struct arena *a, const struct type *of, uint32_t n);
/* Returns a struct or union. size is 0 for an incomplete one. */
const struct type *type_struct(struct arena *a, uint32_t size, struct composite *c);
/* Returns t's members, filled in. t is a STRUCT. */
const struct composite *composite_of(const struct type *t);
/* Finds the member of that name, also in unnamed members. Its offset counts from t's start. */
bool type_member(const struct type *t, const char *name, struct member *ret);
/* Members are at multiples of their alignment. The size is a multiple of 8. */
const struct type *type_tuple(struct arena *a, const struct type *const *members, unsigned n);
const struct type *type_record(struct arena *a, const struct type *const *members,
	const char *const *names, unsigned n);
/* Finds the language of a stack builtin by the builtin's name: "pystack". */
bool stack_lang_by_name(const char *name, enum frame_lang *ret);
const struct type *type_stack(struct arena *a, enum frame_lang lang, enum stack_mode mode,
	uint32_t limit, bool limited);
/* Returns the type of the last frames of a stack: ustack(-3). */
const struct type *type_stack_last(struct arena *a, const struct type *stack, uint32_t last);
/* Returns whether two STACKs show the same part of their frames. */
bool type_same_part(const struct type *a, const struct type *b);
/* The same, of a part of its frames. from and to may be NULL. */
const struct type *type_stack_part(struct arena *a, const struct type *stack, const char *from, const char *to);
/* Returns the type of a stack's frame, or of a part of it. */
const struct type *type_frame(struct arena *a, const struct type *stack, int32_t index, enum frame_part part);
/* Returns the type of has_frame(). */
const struct type *type_has_frame(struct arena *a, const struct type *stack, const struct frame_pattern *pattern);
bool type_is_has_frame(const struct type *t);
/* Returns whether a value is true or false, but known only after the event: has_frame(), in_container(). */
bool type_is_late(const struct type *t);
/* format is NULL except for TIME, CGROUP and IN_CONTAINER. */
const struct type *type_shown(struct arena *a, enum shown_kind as, const char *format);
/* The size of a value is 8 bytes for COUNT and SUM, 16 for MIN, MAX, AVG and STATS (struct agg_* in
 * bpf/lib/record.h), and 8 x buckets for HIST and LHIST. */
const struct type *type_agg(struct arena *a, enum agg_kind kind, bool is_signed);
/* These functions compute buckets and size; for HIST see HIST_BUCKETS in bpf/lib/record.h. */
const struct type *type_hist(struct arena *a, uint32_t bits);
/* A value consists of n struct agg_tseries. */
const struct type *type_tseries(struct arena *a, bool is_signed, int64_t step, uint32_t n, int series);
const struct type *type_lhist(struct arena *a, int64_t min, int64_t max, int64_t step);

bool type_eq(const struct type *a, const struct type *b);
/* Returns the index of the member of t for the i-th member of `like`; in records, members correspond by
 * name. Returns -1 if there is none. */
int type_tuple_member(const struct type *t, const struct type *like, unsigned i);
/* Returns the alignment of a value in memory, in bytes. */
uint32_t type_align(const struct type *t);
/* Returns whether t is of that kind, or is a tuple with such a member at any depth. t may be NULL. */
bool type_has(const struct type *t, enum type_kind kind);
/* Returns whether t contains frames of a loop over frames: userspace shows each frame of a stack. */
bool type_has_each(const struct type *t);
/* Returns whether t contains ids of stacks: stacks, or frames of stacks. */
bool type_has_ids(const struct type *t);
/* Returns the name for messages, in the arena: "int64", "string[16]", "(int64, string[4])", "count",
 * "ustack". */
const char *type_name(struct arena *a, const struct type *t);

/* Returns the type that a signature names (see builtin.h): "uint64", "string[16]", "none", "ksym"..; or
 * NULL for other names. parser/type_name.h has the types of scripts. */
const struct type *type_by_name(struct arena *a, const char *name);
