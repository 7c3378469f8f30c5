// SPDX-License-Identifier: Apache-2.0
/* debuginfo.h - what a program's debug information (DWARF 2 to 5) says of its functions and types.
 *
 * Files are untrusted: what contradicts itself is left out. Types live in the compilation's arena;
 * their members are read when they are first asked for, before types_close(). */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct debuginfo;
struct type;
struct types;

/* Where a function has an argument when it begins. Registers are those of integer arguments by the
 * calling convention, counted from 0: rdi, rsi, rdx, rcx, r8, r9; x0 to x7. */
enum arg_where {
	ARG_REGISTER,  /* reg, from its lowest byte on */
	ARG_REGISTERS, /* bytes 0-7 in reg, the rest in reg2 */
	ARG_STACK,     /* in memory, offset bytes above the stack pointer */
	ARG_POINTED,   /* in memory, where reg points to */
	ARG_NOWHERE,   /* why says it */
};

struct argument {
	const char *name;
	const struct type *type;
	const char *c_type; /* as C or C++ writes it: "const char*", for listings */
	enum arg_where where;
	unsigned reg, reg2;
	uint32_t offset;
	const char *why;
};

struct signature {
	unsigned n;
	const struct argument *args;
	const struct type *ret; /* NULL: none, or one that is not in the register of integers whole */
	const char *ret_c_type; /* ret's; NULL likewise */
	unsigned inlined;       /* copies of the function within others of its compilation unit */
};

/* Of the program or library; kept open until types_close(). NULL: ret_why says why there is none, a
 * sentence's second half ("no debug information..."), ret_hint what would bring it, or NULL. */
struct debuginfo *types_debuginfo(
	struct types *ts, const char *path, const char **ret_why, const char **ret_hint);
/* Of the function that begins at the address (an ELF file's, not of memory); symbol is its name there.
 * count_inlined: sets inlined, which takes time. False: nothing is known of it. */
bool debuginfo_function(struct debuginfo *d, const char *symbol, uint64_t vaddr, bool count_inlined,
	struct signature *ret);
struct source_line {
	const uint64_t *addresses; /* of an ELF file, ascending */
	size_t n;
	bool file_known, line_known; /* line_known: it has code, but not at that column */
	unsigned next_line;          /* the first behind it that has code; 0: none */
};
/* Where rows of the line table of that line are; file: the end of a path, "a.c", "src/a.c". column: 0 any. */
void debuginfo_line(struct debuginfo *d, const char *file, unsigned line, unsigned column,
	struct source_line *ret);
/* Types that scripts name are looked for in that program, too: it is opened when there is a name that
 * no source before has. */
void types_add_program(struct types *ts, const char *path);
