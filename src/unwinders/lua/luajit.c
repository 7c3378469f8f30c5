// SPDX-License-Identifier: Apache-2.0
/* luajit.c - LuaJIT's interpreter in a file.
 *
 * The VM is one function in assembler without a symbol (src/vm_x64.dasc): the only large one whose CFA is always
 * sp + 80. Its code has the offset of jit_base in global_State: a trace's exit clears g->jit_base, relative to the
 * dispatch table, whose distance from g the VM adds when it is entered. */
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
	GLOBAL_MAX = 4096, /* at least the size of global_State */
};

/* Returns the offset of jit_base, or 0. DISPATCH is r14: add r14, imm32; mov qword [r14 + disp32], 0. */
static uint32_t find_jit_base(const uint8_t *code, size_t size)
{
	static const uint8_t add[] = { 0x49, 0x81, 0xc6 }, clear[] = { 0x49, 0xc7, 0x86 };
	int32_t distance = 0, at = 0, zero;

	for (size_t i = 0; i + 11 <= size; i++) {
		if (!distance && !memcmp(code + i, add, 3))
			memcpy(&distance, code + i + 3, 4);
		if (memcmp(code + i, clear, 3) != 0)
			continue;
		memcpy(&at, code + i + 3, 4);
		memcpy(&zero, code + i + 7, 4);
		if (!zero && at < 0)
			break;
		at = 0;
	}
	if (distance <= 0 || distance > 65536 || at >= 0 || at < -65536 || distance + at <= 0 || distance + at > GLOBAL_MAX)
		return 0;
	return (uint32_t)(distance + at);
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
	if (code)
		ret->jit_base = find_jit_base(code, loop->end - loop->start);
	if (ret->jit_base) /* not with 32-bit pointers */
		ret->kind = LUA_JIT;
	return err;
}
