// SPDX-License-Identifier: Apache-2.0
/* dwarf_file.h - a program's debug information, opened by libdw: its own, or that of a separate debug file, with
 * the file that it shares with others (dwz), and its split units (.dwo files, or one .dwp file).
 *
 * A file with compressed sections is first copied, with only the sections that names and lines need (dwarf_copy.h).
 * So is a file with a .dwp file, since the names of its split units are changed. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "target/dwarf_copy.h"
#include "target/dwp.h"
#include "target/elf.h"
#include "target/libdw.h"

struct dwarf_file {
	const struct libdw *dw;
	Dwarf *dwarf;
	struct elf *elf; /* the file that libdw reads: for its sections */
	bool has_parts, is_partial; /* it refers to a file that it shares with others; that file is missing */

	/* The parts to close. */
	Elf *libelf;
	const void *guarded; /* libelf's own mapping of the file; NULL: none */
	size_t guarded_size;
	struct dwarf_copy copy; /* not made: the file itself is read */
	struct dwp *dwp;        /* NULL: none */
	struct elf *alt_elf;
	struct dwarf_file *alt;
};

/* Opens the debug information of e, which must live longer. dir: the cache's directory, or -1. Returns 0 on success,
 * -ENODATA if there is none on this machine, -ENOTSUP if libdw is not installed, -errno if it cannot be read. */
int dwarf_file_open(struct elf *e, int dir, struct dwarf_file **ret);
void dwarf_file_close(struct dwarf_file *d);
/* Finds the split unit of a skeleton unit in the .dwp file, or in a .dwo file. Returns false if it is missing. */
bool dwarf_file_split(struct dwarf_file *d, Dwarf_Die *skeleton, Dwarf_Die *ret);
/* Gives the pages of the files back. They are read again when needed. */
void dwarf_file_release(const struct dwarf_file *d);
/* Returns whether the elf itself has debug information: a stripped file still has sections without content. */
bool dwarf_file_is_in(const struct elf *e);
