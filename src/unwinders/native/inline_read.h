// SPDX-License-Identifier: Apache-2.0
/* inline_read.h - shared by inlines.c and inline_*.c. */
#pragma once
#include <stdbool.h>

#include "base/arena.h"
#include "base/vec.h"
#include "cache.h"
#include "chains.h"
#include "inlines.h"
#include "lines.h"
#include "target/dwarf_file.h"
#include "unwinders/idmap.h"

enum {
	DIE_DEPTH_MAX = 128,      /* of nested DIEs */
	DIE_ORIGINS_MAX = 16,     /* of chains of references */
	DIE_RANGES_MAX = 1 << 16, /* of a DIE */
	DIES_MAX = 1 << 26,       /* visited in a file */
	UNITS_MAX = 1 << 20,
	FUNCTIONS_MAX = 1 << 22,  /* of a unit */
	BACK_MAX = 64,            /* ranges looked at for an address */
};
#define NO_UNIT UINT32_MAX
#define FIND_NS 4000000000ull  /* CPU time of a call of inlines_find() */
#define TOTAL_NS 20000000000ull /* and of all calls */

struct unit_range {
	uint64_t start, end;
	uint32_t unit;
};

struct function_range {
	uint64_t start, end, entry;
	Dwarf_Die die;
};

struct unit {
	Dwarf_Die die;       /* of a split unit, the DIE in the .dwo file */
	Dwarf_Die head;      /* of a split unit, that of the skeleton, which has the lines and the ranges */
	bool has_ranges;     /* from .debug_aranges */
	bool head_read;      /* the next three members but version are set */
	bool is_skeleton, is_split; /* has its DIEs in another file; that file is open */
	bool functions_read, all_read; /* all_read: including functions within other functions */
	bool has_lines;
	uint16_t version;    /* of DWARF */
	uint64_t lines;      /* offset of the line table */
	const char *comp_dir;
	VEC(struct function_range) functions; /* sorted by start */
};

struct inlines {
	struct elf *program;
	int dir;
	struct cache_key key;    /* its name is empty: nothing is kept */
	struct chains *known;    /* of this run and of earlier ones */
	int opened;              /* 0: the debug information is open; 1: not yet; -errno: it cannot be opened */
	bool has_parts;          /* in other files: .dwo, dwz */
	bool is_partial;         /* other files are missing */
	uint64_t whole_ns;       /* CPU time spent on whole functions, see inlines.c */

	const struct libdw *dw;  /* the following members are set when it is open */
	struct dwarf_file *file;
	struct line_sections sections;
	VEC(struct unit) units;
	VEC(struct unit_range) ranges; /* sorted by start */
	bool units_read, ranges_read; /* ranges_read: those of all units, by their DIEs */
	struct arena *arena;
	struct idmap files;      /* hash of unit and number -> char * */
	struct idmap names;      /* DIE -> char *, of names that needed their parents */
	uint32_t dies;           /* visited */
	uint64_t start;          /* CPU time at the start of this call */
	uint64_t ns;             /* CPU time of all calls */
	bool is_over;            /* the time of this call is over */
	bool is_cut;             /* a limit was exceeded */
};

/* ---- inline_units.c ---- */
/* Opens the debug information. Returns 0 or an error of dwarf_file_open(), also later. */
int inline_opened(struct inlines *in);
/* Begins a call at that CPU time. */
void inline_begin(struct inlines *in, uint64_t start);
/* Returns whether the time is over. */
bool inline_is_over(struct inlines *in);
/* Move to the first child, and to the next sibling; never backwards. */
bool inline_child(struct inlines *in, Dwarf_Die *die, Dwarf_Die *ret);
bool inline_next(struct inlines *in, Dwarf_Die *die);
/* Returns one of the units that may have code at vaddr, by its number from 0 on, or NO_UNIT. */
uint32_t inline_unit_at(struct inlines *in, uint64_t vaddr, unsigned candidate);
const struct unit *inline_unit(struct inlines *in, uint32_t unit);
/* Returns the innermost function of the unit with code at vaddr, or NULL. */
const struct function_range *inline_function_at(struct inlines *in, uint32_t unit, uint64_t vaddr);

/* ---- inline_text.c ---- */
/* Reads a number of the DIE itself. */
bool inline_number(struct inlines *in, Dwarf_Die *die, unsigned attr, uint64_t *ret);
/* Returns the name of a function, or NULL. */
const char *inline_name(struct inlines *in, Dwarf_Die *die);
/* Returns the path of a file in the unit's line table, or NULL. of_die: the number comes from a DIE, which counts in
 * the table of a split unit's .dwo file. */
const char *inline_file(struct inlines *in, uint32_t unit, uint32_t file, bool of_die);
