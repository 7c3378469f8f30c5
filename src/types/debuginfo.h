// SPDX-License-Identifier: Apache-2.0
/* debuginfo.h - functions and types from a program's debug information (DWARF 2 to 5).
 *
 * Files are untrusted: parts that contradict themselves are left out. Types live in the compilation's arena;
 * their members are read at the first use, which must be before types_close(). */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct debuginfo;
struct type;
struct types;

/* The place of a function's argument when the function begins. Registers are those for integer arguments in
 * the calling convention, counted from 0: rdi, rsi, rdx, rcx, r8, r9; x0 to x7. */
enum arg_where {
	ARG_REGISTER,  /* in reg, from its lowest byte on */
	ARG_REGISTERS, /* bytes 0-7 in reg, the other bytes in reg2 */
	ARG_STACK,     /* in memory, offset bytes above the stack pointer */
	ARG_POINTED,   /* in memory, at the address in reg */
	ARG_NOWHERE,   /* not available, for the reason in why */
};

struct argument {
	const char *name;
	const struct type *type;
	const char *c_type; /* as C or C++ writes it, for listings: "const char*" */
	enum arg_where where;
	unsigned reg, reg2;
	uint32_t offset;
	const char *why;
};

struct signature {
	unsigned n;
	const struct argument *args;
	const struct type *ret; /* NULL for no value, or one that is not completely in the register for integers */
	const char *ret_c_type; /* of ret; NULL if ret is */
	unsigned inlined;       /* copies of the function in other functions of its compilation unit */
};

/* Opens the debug information of a program or library, until types_close(). Returns NULL if there is none;
 * then ret_why is the reason, the second half of a sentence ("no debug information..."), and ret_hint is a
 * remedy, or NULL. */
struct debuginfo *types_debuginfo(
	struct types *ts, const char *path, const char **ret_why, const char **ret_hint);
/* Reads the function that begins at the address (in the ELF file, not in memory); symbol is its name there.
 * count_inlined: sets inlined, which takes time. Returns false if nothing is known about it. */
bool debuginfo_function(struct debuginfo *d, const char *symbol, uint64_t vaddr, bool count_inlined,
	struct signature *ret);
struct source_line {
	const uint64_t *addresses; /* in an ELF file, ascending */
	size_t n;
	bool file_known, line_known; /* line_known: the line has code, but not at that column */
	unsigned next_line;          /* the next line that has code; 0 if there is none */
};
/* Finds the rows of the line table for a line. file is the end of a path: "a.c", "x/a.c". column 0 stands
 * for any. */
void debuginfo_line(struct debuginfo *d, const char *file, unsigned line, unsigned column,
	struct source_line *ret);
/* Adds a program to the sources of types that scripts name. It is opened for the first name that no earlier
 * source has. */
void types_add_program(struct types *ts, const char *path);
