// SPDX-License-Identifier: Apache-2.0
/* dwarf_read.h - what the dwarf_*.c files share; only they include it.
 *
 * DIEs (DWARF's nodes) are untrusted: they may refer to each other in circles, and siblings may lead
 * back. So walks have a limit of depth, and go forward only. */
#pragma once
#include "base/vec.h"
#include "debuginfo.h"
#include "libdw.h"
#include "model/type.h"
#include "types.h"

enum {
	DIE_DEPTH_MAX = 64,   /* of nested DIEs, and of references followed */
	DIE_ARGS_MAX = 256,
	DIE_SIZE_MAX = 1 << 28, /* of a type in bytes */
};

struct die_type { /* the type made of a DIE */
	const void *addr; /* of the DIE in memory: unique, whatever the file; NULL: free */
	const struct type *type;
};

struct unit_range {
	uint64_t start, end;
	uint32_t unit;
};

struct unit_function {
	uint64_t entry;
	Dwarf_Die die;
};

struct unit {
	Dwarf_Die die; /* of a split unit: what the .dwo has */
	bool functions_read, all_read; /* all: those within other functions, too */
	VEC(struct unit_function) functions; /* by entry */
};

struct name_entry {
	const char *name;
	Dwarf_Die die; /* of a constant its enum's */
	uint32_t next; /* of the same hash, 0: none */
	uint8_t tag;   /* enum type_tag, or NAME_CONSTANT */
};
#define NAME_CONSTANT 0xff

struct debuginfo {
	const struct libdw *dw;
	struct arena *arena;
	const char *path;
	Elf *elf;
	Dwarf *dwarf;
	const void *map; /* guarded by filemap.h */
	uint16_t machine;
	bool units_read;
	VEC(struct unit) units;
	VEC(struct unit_range) ranges; /* by start */
	struct {
		struct die_type *slots; /* open addressing, a power of two */
		size_t n, size;
	} types;
	struct {
		VEC(struct name_entry) list; /* the first is none */
		uint32_t *buckets;
		uint32_t next_unit; /* those before have been read */
	} names;
};

/* ---- dwarf_open.c ---- */
/* 0 or -errno: -ENOTSUP libdw is not installed, -ENODATA no debug information, others: path cannot be
 * read. */
int debuginfo_open(struct arena *a, const char *path, struct debuginfo **ret);
void debuginfo_close(struct debuginfo *d);

/* ---- dwarf_die.c ---- */
int die_tag(const struct debuginfo *d, const Dwarf_Die *die);
/* An own name, or that of the DIE it completes; NULL. Lives as long as the file. */
const char *die_name(const struct debuginfo *d, const Dwarf_Die *die);
/* The same, safe for a terminal; in the arena where it is not as it stands. NULL: none. */
const char *die_text(const struct debuginfo *d, const Dwarf_Die *die);
bool die_child(const struct debuginfo *d, const Dwarf_Die *die, Dwarf_Die *ret);
/* Never backwards. */
bool die_next(const struct debuginfo *d, Dwarf_Die *die);
bool die_flag(const struct debuginfo *d, const Dwarf_Die *die, unsigned attr);
bool die_has(const struct debuginfo *d, const Dwarf_Die *die, unsigned attr);
/* Not complete; what it declares may be elsewhere. */
bool die_is_declaration(const struct debuginfo *d, const Dwarf_Die *die);
/* A constant; negative ones are as large as they become in 64 bits. */
bool die_unsigned(const struct debuginfo *d, const Dwarf_Die *die, unsigned attr, uint64_t *ret);
/* The DIE that an attribute refers to. */
bool die_ref(const struct debuginfo *d, const Dwarf_Die *die, unsigned attr, Dwarf_Die *ret);
/* Its DW_AT_type, without typedef, const and the like; false: void. */
bool die_type(const struct debuginfo *d, const Dwarf_Die *die, Dwarf_Die *ret);
/* die itself without them. False: void. */
bool die_strip(const struct debuginfo *d, Dwarf_Die *die);
/* Bytes of a type, 0: unknown. */
uint32_t die_size(const struct debuginfo *d, const Dwarf_Die *type);
/* Elements of an array, all dimensions; 0: unknown. */
uint64_t die_elements(const struct debuginfo *d, const Dwarf_Die *array);
/* Number of elements of a DW_TAG_subrange_type. */
uint64_t die_subrange(const struct debuginfo *d, const Dwarf_Die *range);
/* Offset of a member within its struct; false: not a constant. */
bool die_member_offset(const struct debuginfo *d, const Dwarf_Die *member, uint64_t *ret);
bool die_is_composite(int tag);
bool die_unit_is_rust(const struct debuginfo *d, const Dwarf_Die *die);

/* ---- dwarf_type.c ---- */
/* The type that DW_AT_type of die refers to; type_none: void. */
const struct type *die_to_type(struct debuginfo *d, const Dwarf_Die *die);
/* The type that die is. */
const struct type *die_as_type(struct debuginfo *d, const Dwarf_Die *die);

/* ---- dwarf_print.c ---- */
/* DW_AT_type of die as C writes it. */
const char *die_c_type(struct debuginfo *d, const Dwarf_Die *die);

/* ---- dwarf_unit.c ---- */
void units_read(struct debuginfo *d);
bool units_function(struct debuginfo *d, uint64_t vaddr, Dwarf_Die *ret);
/* Copies of the function that origin declares, in other functions of the unit that has vaddr. */
unsigned units_inlined(struct debuginfo *d, uint64_t vaddr, const Dwarf_Die *origin);

/* ---- dwarf_abi.c ---- */
struct abi_state { /* registers and stack that earlier arguments have taken */
	bool arm, rust;
	bool lost;             /* of Rust's it is not known what it has taken */
	unsigned ints, floats; /* registers */
	uint32_t stack;        /* bytes, above the return address */
};
/* Before the first argument of a function that returns what its DW_AT_type says. */
void abi_begin(const struct debuginfo *d, const Dwarf_Die *function, struct abi_state *s);
/* Where the next argument, of that type, is passed. */
void abi_next(const struct debuginfo *d, struct abi_state *s, const Dwarf_Die *type,
	struct argument *ret);
/* The function's value is whole in the register of integers. */
bool abi_returns_int(const struct debuginfo *d, const Dwarf_Die *function);

/* ---- dwarf_location.c ---- */
enum location_kind {
	LOCATION_NONE,    /* the DIE has no location at all */
	LOCATION_UNKNOWN, /* none at the function's begin, or none that is understood */
	LOCATION_CONST,   /* it has a constant value; argument.offset */
	LOCATION_KNOWN,   /* ret says where */
};
/* Where a parameter is when the function begins, as DWARF has it. */
enum location_kind die_location(const struct debuginfo *d, const Dwarf_Die *function,
	const Dwarf_Die *param, uint64_t entry, struct argument *ret);
