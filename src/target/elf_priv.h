// SPDX-License-Identifier: Apache-2.0
/* elf_priv.h - shared by elf.c and elf_symbols.c. */
#pragma once
#include <elf.h>
#include <string.h>

#include "base/vec.h"
#include "elf.h"

struct strings { /* a string table, whose last byte is a NUL */
	const char *data;
	size_t size;
};

struct elf {
	const uint8_t *data;
	size_t size, map_size;
	const uint8_t *map; /* the mapping of elf_open(), map_size bytes; NULL if the data belongs to the caller */
	struct elf_identity identity;
	bool is_32;         /* the file's structs are converted when they are read */
	Elf64_Ehdr head;
	VEC(Elf64_Phdr) phdrs;
	VEC(struct elf_segment) segments;
	VEC(Elf64_Shdr) sections;
	struct strings section_names;

	char *path;      /* see elf_has_path() */
	bool symbols_read, debug_sought;
	struct elf *debug; /* the separate debug file, which owns the names of its symbols */
	VEC(struct elf_symbol) symbols;
	uint64_t *end;   /* the end of each symbol; 0 for symbols that are not functions */
	uint64_t *reach; /* the highest end of symbols[0..i] */
	size_t passed;   /* bytes since elf_passed() freed pages */

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

/* Reads an entry of the dynamic section by index. Returns false if the section has fewer entries. */
bool elf_dynamic_entry(const struct elf *e, size_t i, Elf64_Dyn *ret);
void elf_drop_symbols(struct elf *e);
