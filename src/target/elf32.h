/* SPDX-License-Identifier: Apache-2.0 */
/* elf32.h - reads the structs of 32-bit ELF files as those of 64-bit files. */
#pragma once
#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Each function reads a struct of either class. p has elf_SIZE(is_32) bytes. */
static inline size_t elf_shdr_size(bool is_32) { return is_32 ? sizeof(Elf32_Shdr) : sizeof(Elf64_Shdr); }
static inline size_t elf_phdr_size(bool is_32) { return is_32 ? sizeof(Elf32_Phdr) : sizeof(Elf64_Phdr); }
static inline size_t elf_sym_size(bool is_32) { return is_32 ? sizeof(Elf32_Sym) : sizeof(Elf64_Sym); }
static inline size_t elf_dyn_size(bool is_32) { return is_32 ? sizeof(Elf32_Dyn) : sizeof(Elf64_Dyn); }

static inline void elf_shdr_read(bool is_32, const uint8_t *p, Elf64_Shdr *ret)
{
	Elf32_Shdr s;

	if (!is_32) {
		memcpy(ret, p, sizeof(*ret));
		return;
	}
	memcpy(&s, p, sizeof(s));
	*ret = (Elf64_Shdr){s.sh_name, s.sh_type, s.sh_flags, s.sh_addr, s.sh_offset, s.sh_size, s.sh_link, s.sh_info,
		s.sh_addralign, s.sh_entsize};
}

static inline void elf_phdr_read(bool is_32, const uint8_t *p, Elf64_Phdr *ret)
{
	Elf32_Phdr s;

	if (!is_32) {
		memcpy(ret, p, sizeof(*ret));
		return;
	}
	memcpy(&s, p, sizeof(s));
	*ret = (Elf64_Phdr){s.p_type, s.p_flags, s.p_offset, s.p_vaddr, s.p_paddr, s.p_filesz, s.p_memsz, s.p_align};
}

static inline void elf_sym_read(bool is_32, const uint8_t *p, Elf64_Sym *ret)
{
	Elf32_Sym s;

	if (!is_32) {
		memcpy(ret, p, sizeof(*ret));
		return;
	}
	memcpy(&s, p, sizeof(s));
	*ret = (Elf64_Sym){s.st_name, s.st_info, s.st_other, s.st_shndx, s.st_value, s.st_size};
}

static inline void elf_dyn_read(bool is_32, const uint8_t *p, Elf64_Dyn *ret)
{
	Elf32_Dyn s;

	if (!is_32) {
		memcpy(ret, p, sizeof(*ret));
		return;
	}
	memcpy(&s, p, sizeof(s));
	*ret = (Elf64_Dyn){s.d_tag, {s.d_un.d_val}};
}

/* e_ident is the same in both classes. size is the size of the file. Returns false if the file is too
 * short. */
static inline bool elf_head_read(const void *data, size_t size, Elf64_Ehdr *ret)
{
	Elf32_Ehdr s;

	if (size < sizeof(s))
		return false;
	memcpy(&s, data, sizeof(s));
	if (s.e_ident[EI_CLASS] != ELFCLASS32) {
		if (size >= sizeof(*ret))
			memcpy(ret, data, sizeof(*ret));
		return size >= sizeof(*ret);
	}
	*ret = (Elf64_Ehdr){{0}, s.e_type, s.e_machine, s.e_version, s.e_entry, s.e_phoff, s.e_shoff, s.e_flags,
		s.e_ehsize, s.e_phentsize, s.e_phnum, s.e_shentsize, s.e_shnum, s.e_shstrndx};
	memcpy(ret->e_ident, s.e_ident, sizeof(ret->e_ident));
	return true;
}
