// SPDX-License-Identifier: Apache-2.0
/* tls.c - see tls.h.
 *
 * The dynamic linker fills in words for a variable: an offset from the thread pointer, a pair, or a descriptor. The
 * relocation of such a word names the variable. In a file that defines the variable for itself alone, the
 * relocation has no name, only the module or an addend. Sources: ELF Handling For Thread-Local Storage (Drepper,
 * 2013), the ABI of x86-64 (System V psABI 1.0, section 4.4) and of AArch64 (ELF for the Arm 64-bit Architecture
 * 2024Q3, section 5.7.11). */
#include "tls.h"

#include <elf.h>
#include <stdint.h>
#include <string.h>

#include "base/owner.h"
#include "target/elf.h"

#ifndef DF_1_PIE
#define DF_1_PIE 0x08000000
#endif

/* The variable in the file: its symbol, if the file defines it. */
struct variable {
	const char *name;
	bool is_defined;
	uint64_t offset; /* in the block of the file's variables */
};

static enum tls_kind kind_of(uint16_t machine, uint32_t type)
{
	bool arm = machine == EM_AARCH64;

	if (type == (arm ? R_AARCH64_TLS_TPREL : R_X86_64_TPOFF64))
		return TLS_SLOT;
	if (type == (arm ? R_AARCH64_TLS_DTPMOD : R_X86_64_DTPMOD64))
		return TLS_PAIR;
	if (type == (arm ? R_AARCH64_TLSDESC : R_X86_64_TLSDESC))
		return TLS_DESC;
	return TLS_NONE;
}

/* Returns the name of a dynamic symbol, or NULL. */
static const char *symbol_name(const struct elf_section *symbols, const struct elf_section *names, uint64_t i)
{
	Elf64_Sym s;

	if (!names->size || names->data[names->size - 1] || i >= symbols->size / sizeof(s))
		return NULL;
	memcpy(&s, symbols->data + i * sizeof(s), sizeof(s));
	return s.st_name < names->size ? (const char *)names->data + s.st_name : NULL;
}

struct finder {
	struct elf *elf;
	struct elf_section symbols, names;
	struct variable v;
};

/* Returns whether the relocation is the variable's; if so, its place. */
static bool takes(const struct finder *f, const Elf64_Rela *r, struct tls_place *ret)
{
	enum tls_kind kind = kind_of(elf_machine(f->elf), (uint32_t)ELF64_R_TYPE(r->r_info));
	uint64_t symbol = ELF64_R_SYM(r->r_info);
	const char *name = symbol ? symbol_name(&f->symbols, &f->names, symbol) : NULL;

	if (kind == TLS_NONE || (symbol && (!name || strcmp(name, f->v.name) != 0)) || (!symbol && !f->v.is_defined))
		return false;
	*ret = (struct tls_place){.at = r->r_offset, .kind = kind};
	if (symbol)
		return true;
	/* Without a name, the word is for another variable of this file, or for the module. */
	ret->add = (int32_t)(f->v.offset - (uint64_t)r->r_addend);
	if (kind == TLS_PAIR) {
		ret->kind = TLS_MODULE;
		ret->add = (int32_t)f->v.offset;
	}
	return true;
}

static bool by_relocations(const struct finder *f, bool named, struct tls_place *ret)
{
	static const char *const sections[] = {".rela.dyn", ".rela.plt"};
	Elf64_Rela r;

	for (size_t k = 0; k < ARRAY_SIZE(sections); k++) {
		struct elf_section s;

		if (!elf_section(f->elf, sections[k], &s) || !s.data)
			continue;
		for (uint64_t i = 0; i + sizeof(r) <= s.size; i += sizeof(r)) {
			memcpy(&r, s.data + i, sizeof(r));
			if (named == !!ELF64_R_SYM(r.r_info) && takes(f, &r, ret))
				return true;
		}
	}
	return false;
}

/* A program's own variables lie at a fixed offset from the thread pointer. */
static bool is_program(const struct elf *e)
{
	struct elf_section dynamic;
	Elf64_Dyn d;

	if (!elf_is_dynamic(e) || elf_interp(e))
		return true;
	if (!elf_section(e, ".dynamic", &dynamic) || !dynamic.data)
		return false;
	for (uint64_t i = 0; i + sizeof(d) <= dynamic.size; i += sizeof(d)) {
		memcpy(&d, dynamic.data + i, sizeof(d));
		if (d.d_tag == DT_FLAGS_1)
			return d.d_un.d_val & DF_1_PIE;
	}
	return false;
}

static uint64_t round_up(uint64_t n, uint64_t align)
{
	return align ? (n + align - 1) / align * align : n;
}

/* On x86-64 the block ends at the thread pointer; on AArch64 it begins 16 bytes above it, aligned. */
static bool by_segment(const struct finder *f, struct tls_place *ret)
{
	Elf64_Phdr tls;

	if (!f->v.is_defined || !is_program(f->elf) || !elf_tls(f->elf, &tls.p_memsz, &tls.p_align))
		return false;
	if (tls.p_memsz > INT32_MAX || tls.p_align > INT32_MAX || f->v.offset > tls.p_memsz)
		return false;
	*ret = (struct tls_place){.kind = TLS_OFFSET};
	ret->at = elf_machine(f->elf) == EM_AARCH64 ? round_up(16, tls.p_align) + f->v.offset :
		f->v.offset - round_up(tls.p_memsz, tls.p_align);
	return true;
}

bool tls_find(struct elf *e, const char *name, struct tls_place *ret)
{
	struct finder f = {.elf = e, .v.name = name};
	struct elf_symbol s;

	f.v.is_defined = elf_symbol_named(e, name, &s) && s.type == STT_TLS;
	f.v.offset = f.v.is_defined ? s.vaddr : 0;
	if (!elf_section(e, ".dynsym", &f.symbols) || !f.symbols.data || !elf_section(e, ".dynstr", &f.names) ||
		!f.names.data)
		f.symbols.size = f.names.size = 0;
	return by_relocations(&f, true, ret) || by_segment(&f, ret) || by_relocations(&f, false, ret);
}

void tls_move(struct tls_place *p, uint64_t bias)
{
	if (p->kind != TLS_OFFSET && p->kind != TLS_NONE)
		p->at += bias;
}
