// SPDX-License-Identifier: Apache-2.0
/* uprobe_ifunc.c - the implementations of an IFUNC.
 *
 * glibc's symbol of memcpy() is a resolver's (STT_GNU_IFUNC): the dynamic linker calls it once in each
 * process, and it returns the address of the implementation for this CPU. Programs call the implementation,
 * so a probe belongs there. A resolver contains the addresses of all implementations: x86_64 has each in a
 * lea, arm64 in an adrp and an add. */
#include <elf.h>
#include <string.h>

#include "base/arena.h"
#include "base/owner.h"
#include "target/code.h"
#include "target/elf.h"
#include "uprobe.h"

enum { RESOLVER_MAX = 4096, IMPLEMENTATIONS_MAX = 64 };

struct resolver {
	const struct elf *elf;
	uint64_t start, end;
	uint64_t page[32]; /* arm64: the result of adrp for each register */
	uint32_t known;    /* bits of the registers in page[] that are set */
	uint64_t *found;
	size_t n;
};

static bool is_code(const struct resolver *r, uint64_t vaddr)
{
	const struct elf_segment *s;
	size_t n = elf_segments(r->elf, &s);

	for (size_t i = 0; i < n; i++)
		if (s[i].exec && vaddr >= s[i].vaddr && vaddr - s[i].vaddr < s[i].filesz)
			return true;
	return false;
}

static void add(struct resolver *r, uint64_t vaddr)
{
	if (!is_code(r, vaddr) || (vaddr >= r->start && vaddr < r->end) || r->n == IMPLEMENTATIONS_MAX)
		return;
	for (size_t i = 0; i < r->n; i++)
		if (r->found[i] == vaddr)
			return;
	r->found[r->n++] = vaddr;
}

static void look_x86(struct resolver *r, const struct code_insn *i)
{
	if (!strcmp(i->mnemonic, "lea") && i->noperands == 2 && i->operand[1].kind == CODE_MEM &&
		i->operand[1].reg == CODE_REG_PC && i->operand[1].index == CODE_REG_NONE)
		add(r, i->vaddr + i->size + (uint64_t)i->operand[1].value);
}

/* Reads adrp x0, PAGE; add x0, x0, OFFSET; or adr x0, ADDRESS. */
static void look_arm64(struct resolver *r, const struct code_insn *i)
{
	const struct code_operand *o = i->operand;

	if (i->noperands < 2 || o[0].kind != CODE_REG || o[0].reg >= 32)
		return;
	if (!strcmp(i->mnemonic, "adrp") && o[1].kind == CODE_IMM) {
		r->page[o[0].reg] = (uint64_t)o[1].value;
		r->known |= 1u << o[0].reg;
	} else if (!strcmp(i->mnemonic, "adr") && o[1].kind == CODE_IMM)
		add(r, (uint64_t)o[1].value);
	else if (!strcmp(i->mnemonic, "add") && i->noperands >= 3 && o[1].kind == CODE_REG && o[1].reg < 32 &&
		o[2].kind == CODE_IMM && r->known >> o[1].reg & 1)
		add(r, r->page[o[1].reg] + (uint64_t)o[2].value);
}

/* Returns false if the resolver calls unknown code: it may return an address of another file, such as glibc's
 * for time() (in the vDSO). */
static bool look(struct resolver *r, struct code *code, const uint8_t *bytes)
{
	struct code_insn i;

	for (uint64_t at = r->start; at < r->end; at += i.size) {
		if (!code_decode(code, bytes + (at - r->start), r->end - at, at, &i)) {
			i.size = code_skip(code);
			continue;
		}
		if (i.flow == CODE_CALL_INDIRECT)
			return false;
		if (elf_machine(r->elf) == EM_AARCH64)
			look_arm64(r, &i);
		else
			look_x86(r, &i);
	}
	return true;
}

size_t uprobe_implementations(struct arena *a, const struct elf *e, const struct elf_symbol *s, const uint64_t **ret)
{
	_cleanup_(code_closep) struct code *code = NULL;
	const uint8_t *bytes = s->size <= RESOLVER_MAX ? elf_at(e, s->vaddr, s->size) : NULL;
	struct resolver r = {.elf = e, .start = s->vaddr, .end = s->vaddr + s->size};

	if (!bytes || code_open(elf_machine(e), true, &code))
		return 0;
	*ret = r.found = arena_new_array(a, uint64_t, IMPLEMENTATIONS_MAX);
	return look(&r, code, bytes) ? r.n : 0;
}
