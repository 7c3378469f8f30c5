// SPDX-License-Identifier: Apache-2.0
/* uprobe_insn.c - finds the start of an instruction by decoding its function from the beginning. */
#include <elf.h>

#include "base/owner.h"
#include "target/code.h"
#include "target/elf.h"
#include "target/fde.h"
#include "target/pclntab.h"
#include "uprobe.h"

/* Finds the start of an address's function: by its symbol, or in a stripped file by its call frame information. */
static bool find_start(struct elf *e, struct pclntab *go, uint64_t vaddr, uint64_t *ret)
{
	const struct elf_symbol *s = elf_symbol_at(e, vaddr);
	struct pcln_function f;

	if (s)
		*ret = s->vaddr;
	else if (go && pclntab_find(go, vaddr, &f))
		*ret = f.start;
	else
		return fde_find_function(e, vaddr, ret) == 1;
	return true;
}

bool uprobe_instruction(struct elf *e, struct pclntab *go, uint64_t vaddr, uint64_t *ret)
{
	_cleanup_(code_closep) struct code *code = NULL;
	struct code_insn insn;
	const uint8_t *bytes;
	uint64_t start;

	*ret = elf_machine(e) == EM_AARCH64 ? vaddr & ~3ull : vaddr;
	if (elf_machine(e) == EM_AARCH64)
		return true;
	if (!find_start(e, go, vaddr, &start))
		return false;
	bytes = elf_at(e, start, vaddr - start + 1);
	if (start == vaddr)
		return true;
	if (!bytes || code_open(elf_machine(e), false, &code))
		return false;
	for (uint64_t at = start; at <= vaddr; at += insn.size) {
		size_t left = CODE_LONGEST;

		while (left > 1 && !elf_at(e, at, left))
			left--;
		*ret = at;
		if (!code_decode(code, bytes + (at - start), left, at, &insn))
			return false;
	}
	return true;
}
