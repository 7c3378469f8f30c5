// SPDX-License-Identifier: Apache-2.0
/* dwarf_read.h - shared by the dwarf_*.c files; no other file includes it.
 *
 * DIEs (DWARF's nodes) are untrusted: they may refer to each other in circles, and siblings may lead back. So
 * walks have a limit of depth, and only go forward. */
#pragma once
#include "base/vec.h"
#include "debuginfo.h"
#include "target/libdw.h"
#include "model/type.h"
#include "types.h"

enum {
	DIE_DEPTH_MAX = 64,   /* of nested DIEs, and of chains of references */
	DIE_ARGS_MAX = 256,
	DIE_SIZE_MAX = 1 << 28, /* bytes of a type */
};

struct die_type { /* a type that was made of a DIE */
	const void *addr; /* address of the DIE in memory, which is unique across files; NULL if the slot is free */
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
	Dwarf_Die die; /* of a split unit, the DIE in the .dwo */
	bool functions_read, all_read; /* all_read: including functions within other functions */
	VEC(struct unit_function) functions; /* sorted by entry */
};

struct name_entry {
	const char *name;
	Dwarf_Die die; /* of a constant, the enum's DIE */
	uint32_t next; /* next entry of the same hash, or 0 */
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
	const char *strings; /* .debug_str, if it has all names of 4 bytes and more; NULL if it may not */
	size_t strings_size;
	bool units_read;
	VEC(struct unit) units;
	VEC(struct unit_range) ranges; /* sorted by start */
	struct {
		struct die_type *slots; /* open addressing, a power of two */
		size_t n, size;
	} types;
	struct {
		VEC(struct name_entry) list; /* the first entry is not used */
		uint32_t *buckets;
		uint32_t next_unit; /* the units before it have been read */
	} names;
};

/* ---- dwarf_open.c ---- */
/* Returns 0 on success, -ENOTSUP if libdw is not installed, -ENODATA if there is no debug information,
 * another -errno if path cannot be read. */
int debuginfo_open(struct arena *a, const char *path, struct debuginfo **ret);
void debuginfo_close(struct debuginfo *d);

/* ---- dwarf_die.c ---- */
int die_tag(const struct debuginfo *d, const Dwarf_Die *die);
/* Returns the DIE's own name, or that of the DIE that it completes, or NULL. The name lives as long as the
 * file. */
const char *die_name(const struct debuginfo *d, const Dwarf_Die *die);
/* Returns the same name, safe for a terminal. A name that had to be changed is in the arena. */
const char *die_text(const struct debuginfo *d, const Dwarf_Die *die);
bool die_child(const struct debuginfo *d, const Dwarf_Die *die, Dwarf_Die *ret);
/* Moves to the next sibling, never backwards. */
bool die_next(const struct debuginfo *d, Dwarf_Die *die);
bool die_flag(const struct debuginfo *d, const Dwarf_Die *die, unsigned attr);
bool die_has(const struct debuginfo *d, const Dwarf_Die *die, unsigned attr);
/* Returns whether the DIE only declares something, whose definition may be elsewhere. */
bool die_is_declaration(const struct debuginfo *d, const Dwarf_Die *die);
/* Reads a constant; negative ones are extended to 64 bits. */
bool die_unsigned(const struct debuginfo *d, const Dwarf_Die *die, unsigned attr, uint64_t *ret);
/* Finds the DIE to which an attribute refers. */
bool die_ref(const struct debuginfo *d, const Dwarf_Die *die, unsigned attr, Dwarf_Die *ret);
/* Finds the DIE of DW_AT_type, without typedef, const and similar DIEs. Returns false for void. */
bool die_type(const struct debuginfo *d, const Dwarf_Die *die, Dwarf_Die *ret);
/* Skips typedef, const and similar DIEs, starting with die itself. Returns false for void. */
bool die_strip(const struct debuginfo *d, Dwarf_Die *die);
/* Returns the bytes of a type, or 0 if unknown. */
uint32_t die_size(const struct debuginfo *d, const Dwarf_Die *type);
/* Returns the number of elements of an array in all dimensions, or 0 if unknown. */
uint64_t die_elements(const struct debuginfo *d, const Dwarf_Die *array);
/* Returns the number of elements of a DW_TAG_subrange_type. */
uint64_t die_subrange(const struct debuginfo *d, const Dwarf_Die *range);
/* Finds the offset of a member within its struct. Returns false if it is not a constant. */
bool die_member_offset(const struct debuginfo *d, const Dwarf_Die *member, uint64_t *ret);
bool die_is_composite(int tag);
bool die_unit_is_rust(const struct debuginfo *d, const Dwarf_Die *die);

/* ---- dwarf_type.c ---- */
/* Returns the type of die's DW_AT_type; type_none for void. */
const struct type *die_to_type(struct debuginfo *d, const Dwarf_Die *die);
/* Returns the type that die describes. */
const struct type *die_as_type(struct debuginfo *d, const Dwarf_Die *die);

/* ---- dwarf_print.c ---- */
/* Returns the DW_AT_type of die as C writes it. */
const char *die_c_type(struct debuginfo *d, const Dwarf_Die *die);

/* ---- dwarf_unit.c ---- */
/* Reads all units. Forgets d->strings if a unit has its names elsewhere. */
void units_read(struct debuginfo *d);
bool units_function(struct debuginfo *d, uint64_t vaddr, Dwarf_Die *ret);
/* Returns the number of inlined copies of origin in other functions of the unit that contains vaddr. */
unsigned units_inlined(struct debuginfo *d, uint64_t vaddr, const Dwarf_Die *origin);

/* ---- dwarf_abi.c ---- */
struct abi_state { /* the registers and stack that earlier arguments use */
	bool arm, rust;
	bool lost;             /* an earlier argument of a Rust function has an unknown place */
	unsigned ints, floats; /* number of registers */
	uint32_t stack;        /* bytes above the return address */
};
/* Called before the first argument of a function. Uses the function's return type (DW_AT_type). */
void abi_begin(const struct debuginfo *d, const Dwarf_Die *function, struct abi_state *s);
/* Finds the place of the next argument, which has that type. */
void abi_next(const struct debuginfo *d, struct abi_state *s, const Dwarf_Die *type,
	struct argument *ret);
/* Returns whether the function's value is completely in the register for integers. */
bool abi_returns_int(const struct debuginfo *d, const Dwarf_Die *function);

/* ---- dwarf_location.c ---- */
enum location_kind {
	LOCATION_NONE,    /* the DIE has no location */
	LOCATION_UNKNOWN, /* there is no location for the function's first instruction, or it is not understood */
	LOCATION_CONST,   /* a constant value, in argument.offset */
	LOCATION_KNOWN,   /* ret has the place */
};
/* Reads DWARF's place of a parameter when the function begins. */
enum location_kind die_location(const struct debuginfo *d, const Dwarf_Die *function,
	const Dwarf_Die *param, uint64_t entry, struct argument *ret);
