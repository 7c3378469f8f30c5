// SPDX-License-Identifier: Apache-2.0
/* luajit.c - LuaJIT's interpreter in a file.
 *
 * The VM is one function in assembler without a symbol (src/vm_x64.dasc): the only large one whose CFA is always
 * sp + 80. Offsets that differ between versions are in its code, relative to the dispatch table, whose distance from
 * global_State the VM adds when it is entered. */
#include "lua.h"

#include <elf.h>
#include <errno.h>
#include <string.h>

#include "base/owner.h"
#include "target/elf.h"
#include "unwinders/native/ehframe.h"

enum {
	VM_MIN = 8192, VM_MAX = 65536, /* bytes of the VM: 14,331 in 2.1.0-beta3, 16,609 in 2.1.1761786044 */
	CFRAME_SIZE = 80, /* src/lj_frame.h */
	GLOBAL_MAX = 4096, /* at least the size of global_State and jit_State up to trace */
};

static int32_t word_at(const uint8_t *p)
{
	int32_t word;

	memcpy(&word, p, sizeof(word));
	return word;
}

/* DISPATCH is r14; the VM sets it by add r14, imm32. */
static int64_t find_distance(const uint8_t *code, size_t size)
{
	static const uint8_t add[] = { 0x49, 0x81, 0xc6 };
	const uint8_t *p = memmem(code, size - 4, add, sizeof(add));

	return p ? word_at(p + 3) : 0;
}

/* BC_JLOOP enters a trace:
 *     mov rcx, [r14 + trace]; mov rax, [rcx + 8*rax]; mov rax, [rax + mcode]; mov rbp, [rsp + 16]; mov [r14 + jit_base], rdx
 * In GCtrace, startpc is 16 before mcode. */
static void find_offsets(const uint8_t *code, size_t size, struct lua_proc *ret)
{
	static const uint8_t load[] = { 0x48, 0x8b, 0x04, 0xc1, 0x48, 0x8b, 0x40 }, store[] = { 0x49, 0x89, 0x96 };
	const uint8_t *p = size > 64 ? memmem(code + 16, size - 64, load, sizeof(load)) : NULL;
	int64_t distance = size > 64 ? find_distance(code, size) : 0, trace, base;

	if (!p || p[-7] != 0x49 || p[-6] != 0x8b || p[-5] != 0x8e || memcmp(p + 13, store, sizeof(store)) != 0)
		return;
	trace = distance + word_at(p - 4);
	base = distance + word_at(p + 16);
	if (p[7] < 16 || base <= 0 || base > GLOBAL_MAX || trace <= base || trace > GLOBAL_MAX)
		return;
	ret->jit_base = (uint32_t)base;
	ret->traces = (uint32_t)trace;
	ret->startpc = p[7] - 16;
	ret->kind = LUA_JIT;
}

/* Returns whether the rule is valid for all code of the range. */
static bool is_vm(const struct eh_rows *rows, const struct eh_range *r)
{
	bool covered = false;

	for (size_t i = 0; i + 1 < rows->len && rows->data[i].vaddr < r->end; i++) {
		if (rows->data[i + 1].vaddr <= r->start)
			continue;
		covered = (rows->data[i].rule & 0xff) == RULE_CFA && RULE_OFFSET(rows->data[i].rule) == CFRAME_SIZE &&
			  rows->data[i].vaddr <= r->start && rows->data[i + 1].vaddr >= r->end;
		break;
	}
	return covered;
}

int luajit_open(struct elf *e, struct lua_proc *ret, struct eh_range *loop)
{
	struct eh_ranges ranges = {};
	struct eh_rows rows = {};
	const uint8_t *code;
	int err;

	*loop = (struct eh_range){};
	*ret = (struct lua_proc){};
	if (elf_machine(e) != EM_X86_64)
		return 0;
	err = ehframe_ranges(e, &ranges);
	if (!err)
		err = ehframe_read(e, &rows);
	for (size_t i = 0; !err && i < ranges.len; i++) {
		const struct eh_range *r = &ranges.data[i];

		if (r->end - r->start >= VM_MIN && r->end - r->start <= VM_MAX && is_vm(&rows, r))
			*loop = *r;
	}
	eh_rows_done(&rows);
	eh_ranges_done(&ranges);
	code = loop->end ? elf_at(e, loop->start, loop->end - loop->start) : NULL;
	if (code) /* not with 32-bit pointers */
		find_offsets(code, loop->end - loop->start, ret);
	return err;
}
