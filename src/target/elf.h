// SPDX-License-Identifier: Apache-2.0
/* elf.h - reads ELF files without a library. Files are untrusted: every offset is checked, and sizes have
 * limits. */
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
	uint64_t vaddr, offset, size; /* size is the number of bytes in the file */
	uint32_t type;                /* SHT_* */
	const uint8_t *data;          /* NULL for NOBITS */
	uint64_t flags;               /* SHF_* */
};

struct elf_symbol {
	const char *name;  /* owned by the elf */
	uint64_t vaddr, size;
	uint8_t bind, type; /* STB_*, STT_* */
};

/* Returns 0 and an object for elf_close(), or -errno: -ENOEXEC if it is not an ELF file, or has another
 * byte order. */
int elf_open(const char *path, struct elf **ret);
int elf_open_fd(int fd, struct elf **ret); /* the caller keeps fd */
/* Opens an image in memory, such as the vDSO. data must outlive the object. */
int elf_open_memory(const void *data, size_t size, struct elf **ret);
/* Opens "ARCHIVE!/MEMBER", a file that is stored in a zip archive. Returns -EMEDIUMTYPE if it is compressed
 * there. */
int elf_open_member(const char *path, struct elf **ret);
/* Returns the start of the file in the archive that elf_open_member() opened; else 0. */
uint64_t elf_start(const struct elf *e);
void elf_close(struct elf *e);
/* Sets the file's path, by which a separate debug file next to it is found. elf_open() has set it already. */
void elf_has_path(struct elf *e, const char *path);
/* Frees the memory of the file's pages. Pages that are needed again are read again. */
void elf_release_pages(const struct elf *e);
/* Called by readers of whole sections after each part of them. In a unit of strata agent, whose memory is limited
 * (base/allowance.h), it frees the pages after every few MiB. */
void elf_passed(const struct elf *e, size_t bytes);
/* Finds bytes in a section. Returns NULL if it does not have them. */
const void *elf_find(const struct elf *e, const struct elf_section *s, const void *bytes, size_t n);
/* Also frees the symbols, which are read again when needed. Results of elf_symbols() and elf_symbol_at()
 * become invalid; names stay valid. */
void elf_release(struct elf *e);
/* Returns the path that elf_has_path() set, or NULL. */
const char *elf_path(const struct elf *e);
/* Which file was opened, for elf_open() and elf_open_fd(); else zeroed. */
struct elf_identity {
	uint64_t device, inode, size, changed; /* changed: ctime, in ns */
};
const struct elf_identity *elf_identity(const struct elf *e);
static inline void elf_closep(struct elf **e) { elf_close(*e); }

bool elf_is_32(const struct elf *e);        /* whether the class is ELFCLASS32 */
uint16_t elf_machine(const struct elf *e); /* EM_X86_64, EM_AARCH64, EM_386 */
bool elf_is_dynamic(const struct elf *e);  /* whether the type is ET_DYN */
bool elf_is_core(const struct elf *e);
uint64_t elf_entry(const struct elf *e);   /* vaddr */
/* Returns the whole file, mapped read-only. */
const uint8_t *elf_data(const struct elf *e, size_t *ret_size);

size_t elf_segments(const struct elf *e, const struct elf_segment **ret);
/* Finds a section by name. Returns false if there is none. */
bool elf_section(const struct elf *e, const char *name, struct elf_section *ret);
/* Returns the i-th section with code; without section headers, the i-th segment. Returns false after the last. */
bool elf_code(const struct elf *e, size_t i, struct elf_section *ret);
/* Finds the program header of a type (PT_GNU_EH_FRAME, PT_INTERP..): vaddr, offset, size. */
bool elf_phdr(const struct elf *e, uint32_t type, struct elf_section *ret);
/* Finds the thread-local variables' segment (PT_TLS): its size in memory and its alignment. */
bool elf_tls(const struct elf *e, uint64_t *ret_size, uint64_t *ret_align);
/* Returns the file's bytes at a vaddr, or NULL if there are fewer than size. */
const uint8_t *elf_at(const struct elf *e, uint64_t vaddr, size_t size);
bool elf_vaddr_to_offset(const struct elf *e, uint64_t vaddr, uint64_t *ret_offset);
bool elf_offset_to_vaddr(const struct elf *e, uint64_t offset, uint64_t *ret_vaddr);

/* Reads the bytes of the build id's note. Returns their number (at most 64), or 0 if there is no note. */
size_t elf_build_id(const struct elf *e, uint8_t ret[64]);

/* Returns the separate debug file, which e owns, or NULL if there is none. */
struct elf *elf_debug(struct elf *e);

/* Reads the function and object symbols of .symtab, .dynsym, and of the separate debug file that
 * /usr/lib/debug (under root) has for the build id. Only defined symbols are read; section, file and
 * mapping symbols are left out. They are sorted by vaddr; aliases are ordered global, weak, local, then by
 * name. The array is owned by the elf and read once. */
size_t elf_symbols(struct elf *e, const struct elf_symbol **ret);
/* Returns the function whose code contains vaddr, or NULL if there is none. A function of size 0 reaches to
 * the next symbol. */
const struct elf_symbol *elf_symbol_at(struct elf *e, uint64_t vaddr);
/* Does the same for n sorted addresses in one pass, without keeping the symbols of a file whose symbols
 * were not read before. A result without a name means that no function contains the address. */
void elf_symbols_at(struct elf *e, const uint64_t *vaddrs, size_t n, struct elf_symbol *ret);
/* Finds the first definition of that name. Searches .dynsym and .symtab without sorting all symbols. */
bool elf_symbol_named(struct elf *e, const char *name, struct elf_symbol *ret);
/* Finds at most max symbols whose names begin with one of n prefixes. Returns their number. A symbol may be
 * found twice. */
size_t elf_symbols_starting(struct elf *e, const char *const *prefixes, size_t n,
	struct elf_symbol *ret, size_t max);

/* Returns the entries DT_NEEDED and DT_RUNPATH/RPATH in order. The list ends with NULL and is owned by e. */
const char *const *elf_needed(struct elf *e);
const char *const *elf_runpath(struct elf *e);
/* Returns the text of PT_INTERP, or NULL. */
const char *elf_interp(const struct elf *e);
