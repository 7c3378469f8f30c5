// SPDX-License-Identifier: Apache-2.0
/* uprobe_insn.c - finds the start of an instruction by decoding its function from the beginning. */
#include <elf.h>
#include <string.h>

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

/* Returns whether the kernel emulates the instruction (Linux 6.18, arch/x86/kernel/uprobes.c: push_setup_xol_ops(),
 * branch_setup_xol_ops()) and no compiler lets another function jump to it: a push, a nop, a jump. */
static bool is_emulated(const uint8_t *code)
{
	return (code[0] & 0xf8) == 0x50 || (code[0] == 0x41 && (code[1] & 0xf8) == 0x50) || code[0] == 0x90 ||
		code[0] == 0xe9 || code[0] == 0xeb;
}

/* Returns whether any bytes of the function are a relative jump to its byte `to`. Bytes that only look like a jump
 * count too: then the probe stays at the start. */
static bool jumps_to(const uint8_t *code, size_t n, size_t to)
{
	for (size_t i = 0; i + 2 <= n; i++) {
		int32_t far;

		if ((code[i] == 0xeb || (code[i] & 0xf0) == 0x70 || (code[i] & 0xfc) == 0xe0) &&
			(int64_t)i + 2 + (int8_t)code[i + 1] == (int64_t)to)
			return true;
		if (i + 5 > n || (code[i] != 0xe8 && code[i] != 0xe9 && (code[i] & 0xf0) != 0x80))
			continue;
		memcpy(&far, code + i + 1, sizeof(far));
		if ((int64_t)i + 5 + far == (int64_t)to)
			return true;
	}
	return false;
}

unsigned uprobe_skip(struct elf *e, uint64_t vaddr)
{
	static const uint8_t endbr64[] = {0xf3, 0x0f, 0x1e, 0xfa};
	enum { LONGEST = 64 << 10 }; /* a longer function keeps its probe at the start */
	const struct elf_symbol *s = elf_symbol_at(e, vaddr + sizeof(endbr64));
	const uint8_t *code;

	if (elf_machine(e) != EM_X86_64 || !s || s->vaddr != vaddr || s->size < sizeof(endbr64) + 2 ||
		s->size > LONGEST)
		return 0;
	code = elf_at(e, vaddr, s->size);
	if (!code || memcmp(code, endbr64, sizeof(endbr64)) || !is_emulated(code + sizeof(endbr64)) ||
		jumps_to(code, s->size, sizeof(endbr64)))
		return 0;
	return sizeof(endbr64);
}
