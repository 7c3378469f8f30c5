// SPDX-License-Identifier: Apache-2.0
/* dwarf_copy.h - copies debug sections of an ELF file, unpacked, to a file without a name in the cache's
 * directory, whose pages the kernel can give back. libdw unpacks all compressed sections at once into memory, and
 * old versions do not know zstd. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "target/elf.h"

enum { DWARF_PARTS = 16, DWARF_ROOM = 32 };

struct dwarf_part {
	const char *name;    /* "info": of .debug_info or .zdebug_info */
	const uint8_t *data; /* NULL: the file has no such section */
	size_t n;
	uint64_t size;       /* unpacked */
	uint64_t at;         /* place in the copy */
	uint8_t packing;
};

struct dwarf_copy {
	struct dwarf_part parts[DWARF_PARTS];
	size_t n;
	bool is_packed;      /* a section is compressed: it can only be read from a copy */
	uint64_t size;
	uint8_t *data;       /* of the copy, which can be changed; NULL: not made */
	struct elf *elf;     /* the copy */
};

/* Finds the sections with these names (at most DWARF_PARTS). room: whether the copy's sections of strings (str,
 * line_str) have DWARF_ROOM more bytes, which are 0. Returns false if the file is damaged or too large. */
bool dwarf_copy_plan(const struct elf *e, const char *const *names, size_t n, bool room, struct dwarf_copy *ret);
/* Makes the copy. dir: the cache's directory, or -1. Returns 0, or -errno: -EBADMSG if the data are damaged. */
int dwarf_copy_make(struct dwarf_copy *c, const struct elf *e, int dir);
/* Returns the section of a copy. NULL: there is no section of this name. */
const struct dwarf_part *dwarf_copy_part(const struct dwarf_copy *c, const char *name);
void dwarf_copy_done(struct dwarf_copy *c);
