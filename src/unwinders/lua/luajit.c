// SPDX-License-Identifier: Apache-2.0
/* luajit.c - LuaJIT's interpreter in a file.
 *
 * The VM is one function in assembler without a symbol (luajit/src/vm_x64.dasc of v2.1): the only large one whose CFA
 * is always sp + 80. Offsets that differ between versions are in its code, relative to the dispatch table, whose
 * distance from global_State the VM adds when it is entered. */
#include "lua.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/owner.h"
#include "target/code.h"
#include "target/elf.h"
#include "unwinders/native/cfi.h"
#include "unwinders/native/ehframe.h"

enum {
	VM_MIN = 8192, VM_MAX = 65536, /* bytes of the VM: 14,331 in 2.1.0-beta3, 16,609 in 2.1.1761786044 */
	CFRAME_SIZE = 80, /* luajit/src/lj_frame.h */
	PUSH_RBP = 0x55, POP_RBP = 0x5d,
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
 *     mov rcx, [r14 + trace]; mov rax, [rcx + 8*rax]; mov rax, [rax + mcode]; mov rbp, [rsp + 16];
 *     mov [r14 + jit_base], rdx
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
	if (!lua_text(e, "LuaJIT 2.1."))
		return -ENOENT;
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

/* ---- rules of the VM ---- */

struct step {
	uint8_t at;     /* bytes from the first instruction */
	uint8_t offset; /* of the CFA from sp */
	bool has_fp;    /* rbp is saved, at CFA - 16 */
};

/* saveregs and restoreregs of luajit/src/vm_x64.dasc, 2.1.1761786044:
 *     push rbp; push rbx; push r15; push r14; sub rsp, 40
 *     add rsp, 40; pop r14; pop r15; pop rbx; pop rbp; ret */
static const uint8_t save[] = { 0x55, 0x53, 0x41, 0x57, 0x41, 0x56, 0x48, 0x83, 0xec, 0x28 };
static const uint8_t restore[] = { 0x48, 0x83, 0xc4, 0x28, 0x41, 0x5e, 0x41, 0x5f, 0x5b, 0x5d, 0xc3 };
static const struct step saving[] = { { 0, 8, false }, { 1, 16, true }, { 2, 24, true }, { 4, 32, true },
	{ 6, 40, true }, { 10, CFRAME_SIZE, true } };
static const struct step restoring[] = { { 4, 40, true }, { 6, 32, true }, { 8, 24, true }, { 9, 16, true },
	{ 10, 8, false }, { 11, CFRAME_SIZE, true } };

/* BC_JLOOP enters a trace: sub rsp, 16; mov [rsp + 16], r12; mov [rsp + 8], r13; jmp rax */
static const uint8_t enter[] = { 0x48, 0x83, 0xec, 0x10, 0x4c, 0x89, 0x64, 0x24, 0x10, 0x4c, 0x89, 0x6c, 0x24,
	0x08, 0xff, 0xe0 };
static const struct step entering[] = { { 4, CFRAME_SIZE + 16, true }, { sizeof(enter), CFRAME_SIZE, true } };

static void add_steps(struct eh_rows *rows, uint64_t vaddr, const struct step *steps, size_t n)
{
	for (size_t i = 0; i < n; i++)
		eh_row_add(rows, vaddr + steps[i].at,
			RULE(RULE_CFA, RULE_REG_SP, 0, steps[i].has_fp ? -2 : 0, steps[i].offset));
}

/* Returns the end of the function at `at`: behind a return that no branch leads past. */
static size_t leaf_end(struct code *c, const uint8_t *code, size_t size, size_t at)
{
	uint64_t furthest = 0;
	struct code_insn i;

	while (at < size && code_decode(c, code + at, size - at, at, &i)) {
		at += i.size;
		if (i.flow == CODE_BRANCH && i.target > furthest && i.target < size)
			furthest = i.target;
		if ((i.flow == CODE_RETURN || i.flow == CODE_JUMP) && at > furthest)
			return at;
	}
	return 0;
}

/* Sets inside[] for the code of the function [at, end) in which the return address is at sp. One that calls C, such as
 * fff_gcstep, keeps its return address in the VM's frame meanwhile: it begins with pop rbp, and ends with push rbp;
 * ret. */
static void mark_leaf(const uint8_t *code, size_t at, size_t end, uint8_t *inside)
{
	bool pops = end > at + 2 && code[at] == POP_RBP && code[end - 2] == PUSH_RBP;

	for (size_t k = at; k < end; k++)
		inside[k] = !pops || k == at || k == end - 1;
}

/* Functions without a frame that the VM calls within itself, such as lj_vm_floor(). Sets inside[] for their code. */
static int find_leaves(const uint8_t *code, size_t size, uint8_t *inside)
{
	_cleanup_(code_closep) struct code *c = NULL;
	struct code_insn i;
	size_t end;
	int err = code_open(EM_X86_64, false, &c);

	for (size_t at = 0; !err && at < size; at += i.size) {
		if (!code_decode(c, code + at, size - at, at, &i)) {
			i.size = (uint8_t)code_skip(c);
			continue;
		}
		if (i.flow != CODE_CALL || i.target >= size || inside[i.target] || code[i.target] == save[0])
			continue;
		end = leaf_end(c, code, size, i.target);
		mark_leaf(code, i.target, end, inside);
	}
	return err;
}

static void make_rules(const uint8_t *code, size_t size, uint64_t start, const uint8_t *leaf, struct eh_rows *rows)
{
	for (size_t i = 0; i + sizeof(restore) <= size; i++) {
		if (i && leaf[i] != leaf[i - 1])
			eh_row_add(rows, start + i,
				RULE(RULE_CFA, RULE_REG_SP, 0, leaf[i] ? 0 : -2, leaf[i] ? 8 : CFRAME_SIZE));
		if (!memcmp(code + i, save, sizeof(save)))
			add_steps(rows, start + i, saving, ARRAY_SIZE(saving));
		else if (!memcmp(code + i, restore, sizeof(restore)))
			add_steps(rows, start + i, restoring, ARRAY_SIZE(restoring));
		else if (i + sizeof(enter) <= size && !memcmp(code + i, enter, sizeof(enter)))
			add_steps(rows, start + i, entering, ARRAY_SIZE(entering));
	}
}

int luajit_rules(struct elf *e, struct eh_rows *rows)
{
	struct eh_rows with = {};
	struct eh_range loop;
	struct lua_proc proc;
	_cleanup_(freep) uint8_t *leaf = NULL;
	const uint8_t *code;
	size_t size;

	if (luajit_open(e, &proc, &loop) || proc.kind != LUA_JIT)
		return -ENOENT;
	size = loop.end - loop.start;
	code = elf_at(e, loop.start, size);
	leaf = calloc(1, size);
	if (!leaf || find_leaves(code, size, leaf))
		return -ENOMEM;
	eh_row_add(&with, loop.start, RULE(RULE_CFA, RULE_REG_SP, 0, -2, CFRAME_SIZE));
	make_rules(code, size, loop.start, leaf, &with);
	eh_row_add(&with, loop.end, 0);
	eh_rows_replace(rows, &with);
	eh_rows_done(&with);
	return 0;
}
