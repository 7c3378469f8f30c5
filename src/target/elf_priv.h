// SPDX-License-Identifier: Apache-2.0
/* elf_priv.h - what elf.c and elf_symbols.c share. */
#pragma once
#include <elf.h>
#include <string.h>

#include "base/vec.h"
#include "elf.h"

struct strings { /* a string table; its last byte is a NUL */
	const char *data;
	size_t size;
};

struct elf {
	const uint8_t *data;
	size_t size, map_size;
	const uint8_t *map; /* by elf_open(), of map_size; NULL: data is not ours */
	bool is_32;         /* the file's structs are converted when they are read */
	Elf64_Ehdr head;
	VEC(Elf64_Phdr) phdrs;
	VEC(struct elf_segment) segments;
	VEC(Elf64_Shdr) sections;
	struct strings section_names;

	char *path;      /* see elf_has_path() */
	bool symbols_read, debug_sought;
	struct elf *debug; /* the separate debug file: owns the names of its symbols */
	VEC(struct elf_symbol) symbols;
	uint64_t *end;   /* of each; 0: not a function */
	uint64_t *reach; /* of symbols[0..i]: the highest end */

	bool dynamic_read;
	VEC(const char *) needed, runpath;
};

static inline const uint8_t *file_bytes(const struct elf *e, uint64_t offset, uint64_t size)
{
	if (offset > e->size || size > e->size - offset)
		return NULL;
	return e->data + offset;
}

static inline struct strings strings_at(const struct elf *e, uint64_t offset, uint64_t size)
{
	const uint8_t *p = file_bytes(e, offset, size);
	const uint8_t *last = p && size ? memrchr(p, 0, size) : NULL;

	return last ? (struct strings){(const char *)p, last - p + 1} : (struct strings){};
}

static inline const char *string(struct strings s, uint64_t offset)
{
	return offset < s.size ? s.data + offset : NULL;
}

/* Of the dynamic section, by index; false: it ends before. */
bool elf_dynamic_entry(const struct elf *e, size_t i, Elf64_Dyn *ret);
void elf_drop_symbols(struct elf *e);
