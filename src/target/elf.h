// SPDX-License-Identifier: Apache-2.0
/* elf.h - reading ELF files, without a library. Files are untrusted: every offset is checked, sizes
 * have limits. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct elf;

struct elf_segment { /* a PT_LOAD */
	uint64_t offset, vaddr, filesz, memsz;
	bool exec, write;
};

struct elf_section {
	const char *name;
	uint64_t vaddr, offset, size; /* size within the file */
	uint32_t type;                /* SHT_* */
	const uint8_t *data;          /* NULL: NOBITS */
	uint64_t flags;               /* SHF_* */
};

struct elf_symbol {
	const char *name;  /* owned by the elf */
	uint64_t vaddr, size;
	uint8_t bind, type; /* STB_*, STT_* */
};

/* 0 and an object to be elf_close()d, or -errno: -ENOEXEC not an ELF file, or one
 * of another byte order. */
int elf_open(const char *path, struct elf **ret);
int elf_open_fd(int fd, struct elf **ret); /* fd stays the caller's */
/* An image in memory, such as the vDSO; data must outlive the object. */
int elf_open_memory(const void *data, size_t size, struct elf **ret);
/* "ARCHIVE!/MEMBER": a file that is stored in a zip archive. -EMEDIUMTYPE: it is compressed there. */
int elf_open_member(const char *path, struct elf **ret);
/* Where the file begins in the one that elf_open_member() opened; else 0. */
uint64_t elf_start(const struct elf *e);
void elf_close(struct elf *e);
/* The file's path from here, for a separate debug file that lies beside it; elf_open() has set it. */
void elf_has_path(struct elf *e, const char *path);
/* Frees the memory of the file's pages; those that are needed again are read again. */
void elf_release_pages(const struct elf *e);
/* And of its symbols, which are read again, too: what elf_symbols() and elf_symbol_at() gave is gone,
 * names stay. */
void elf_release(struct elf *e);
static inline void elf_closep(struct elf **e) { elf_close(*e); }

bool elf_is_32(const struct elf *e);        /* its class is ELFCLASS32 */
uint16_t elf_machine(const struct elf *e); /* EM_X86_64, EM_AARCH64, EM_386 */
bool elf_is_dynamic(const struct elf *e);  /* ET_DYN */
bool elf_is_core(const struct elf *e);
uint64_t elf_entry(const struct elf *e);   /* vaddr */
/* The whole file, mapped read-only. */
const uint8_t *elf_data(const struct elf *e, size_t *ret_size);

size_t elf_segments(const struct elf *e, const struct elf_segment **ret);
/* By name; false when absent. */
bool elf_section(const struct elf *e, const char *name, struct elf_section *ret);
/* Program header of a type (PT_GNU_EH_FRAME, PT_INTERP..): vaddr, offset, size. */
bool elf_phdr(const struct elf *e, uint32_t type, struct elf_section *ret);
/* File bytes behind a vaddr, NULL when fewer than size are there. */
const uint8_t *elf_at(const struct elf *e, uint64_t vaddr, size_t size);
bool elf_vaddr_to_offset(const struct elf *e, uint64_t vaddr, uint64_t *ret_offset);
bool elf_offset_to_vaddr(const struct elf *e, uint64_t offset, uint64_t *ret_vaddr);

/* The note's bytes; 0 when there is none, else its length (at most 64). */
size_t elf_build_id(const struct elf *e, uint8_t ret[64]);

/* Function and object symbols of .symtab, .dynsym, and of the separate debug file
 * where /usr/lib/debug (under root) has it by build id; defined ones only, no
 * section, file or mapping symbols. Sorted by vaddr, aliases ordered global, weak,
 * local, then by name. The array is owned by the elf and read once. */
size_t elf_symbols(struct elf *e, const struct elf_symbol **ret);
/* The function whose code holds vaddr; NULL when none does. Sizes of 0 reach to
 * the next symbol. */
const struct elf_symbol *elf_symbol_at(struct elf *e, uint64_t vaddr);
/* That for n addresses, which are sorted, in one pass: of a file whose symbols were not read none is kept.
 * Without a name: none holds it. */
void elf_symbols_at(struct elf *e, const uint64_t *vaddrs, size_t n, struct elf_symbol *ret);
/* By name, first definition. Looks in .dynsym and .symtab; does not sort all. */
bool elf_symbol_named(struct elf *e, const char *name, struct elf_symbol *ret);
/* At most max of those whose names begin with one of n prefixes; the count. One symbol may be there
 * twice. */
size_t elf_symbols_starting(struct elf *e, const char *const *prefixes, size_t n,
	struct elf_symbol *ret, size_t max);

/* DT_NEEDED and DT_RUNPATH/RPATH entries in order. NULL-terminated, owned by e. */
const char *const *elf_needed(struct elf *e);
const char *const *elf_runpath(struct elf *e);
/* PT_INTERP's text, or NULL. */
const char *elf_interp(const struct elf *e);
