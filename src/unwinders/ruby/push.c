// SPDX-License-Identifier: Apache-2.0
/* push.c - the code of CRuby 2.7 that makes a control frame.
 *
 * vm_push_frame() (ruby/vm_insnhelper.c at v2.7.4), which the compiler inlines everywhere, stores the frame's address
 * to ec->cfp, and only then writes the frame:
 *
 *     lea -56(caller), cfp    not if a frame was removed just before
 *     mov cfp, 16(ec)         the frame is the newest one
 *     ..                      no call; a loop and branches for the local variables
 *     mov sp, 8(cfp)          the last stores are of sp, ep and bp, in any order, by cfp or by caller
 *     mov ep, 32(cfp)
 *     mov sp, 48(cfp)
 *
 * Until the last of these stores the frame has the words of an earlier call. This file finds the instructions after the
 * store to ec->cfp, up to the last one. */
#include "ruby.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "base/owner.h"
#include "target/code.h"
#include "target/elf.h"
#include "unwinders/native/ehframe.h"

enum {
	FRAME_SIZE = 56, /* of a control frame */
	EC_FRAME = 16,
	REGS = 16,
	INSNS_MAX = 96, /* of one push: up to 26 in Debian's */
	BRANCHES_MAX = 8,
	DECODED_MAX = 1 << 20, /* instructions */
	RANGES_MAX = 4096, /* instructions of all pushes: 852 in Debian's */
};

/* Stores to the new frame, by its own address, and by that of its caller's frame, which follows it. */
enum {
	STORED_SP = 1, STORED_EP = 2, STORED_BP = 4, STORED_LAST = 7,
	STORED_PC = 8, STORED_ISEQ = 16, STORED_ALL = 31,
	BY_CALLER = 5, /* bits to the left */
};

struct range {
	uint64_t start, end;
};

struct path {
	uint64_t at;
	uint16_t stored[REGS]; /* by the base register */
};

struct pushes {
	struct elf *elf;
	struct code *code;
	bool is_below[REGS]; /* the function puts the address below another frame into the register */
	struct range insn[INSNS_MAX]; /* of one push */
	size_t ninsns;
	struct path path[BRANCHES_MAX];
	size_t npaths;
	struct range range[RANGES_MAX];
	size_t nranges;
	uint32_t left; /* instructions that may still be decoded */
};

static bool decode(struct pushes *p, uint64_t at, struct code_insn *ret)
{
	const uint8_t *bytes = elf_at(p->elf, at, CODE_LONGEST);

	return bytes && p->left && p->left-- && code_decode(p->code, bytes, CODE_LONGEST, at, ret);
}

static bool is_word(const struct code_operand *o, enum code_operand_kind kind)
{
	return o->kind == kind && o->reg < REGS && o->size == 8;
}

/* Returns whether it stores a word to memory without an index. */
static bool is_store(const struct code_insn *i)
{
	const struct code_operand *to = &i->operand[0];

	return i->noperands == 2 && strcmp(i->mnemonic, "mov") == 0 && is_word(to, CODE_MEM) &&
	       to->index == CODE_REG_NONE && !to->thread;
}

/* ---- one push ---- */

static unsigned member(int64_t at)
{
	switch (at) {
	case 0:
		return STORED_PC;
	case 8:
		return STORED_SP;
	case 16:
		return STORED_ISEQ;
	case 32:
		return STORED_EP;
	case 48:
		return STORED_BP;
	}
	return 0;
}

static bool has_last(unsigned stored)
{
	return (stored & STORED_LAST) == STORED_LAST;
}

/* Returns whether the instruction is a push's last store. */
static bool ends(struct path *path, const struct code_insn *i)
{
	const struct code_operand *to = &i->operand[0];
	uint16_t *stored = to->reg < REGS ? &path->stored[to->reg] : NULL;

	if (is_store(i)) {
		unsigned words = member(to->value) | member(to->value + FRAME_SIZE) << BY_CALLER;

		if (i->operand[1].kind == CODE_IMM) /* pc and iseq of a function in C are 0; others are computed */
			words &= STORED_PC | STORED_ISEQ | (STORED_PC | STORED_ISEQ) << BY_CALLER;
		*stored |= (uint16_t)words;
		return has_last(*stored) || has_last(*stored >> BY_CALLER);
	}
	if (i->noperands && to->kind == CODE_REG && stored && strcmp(i->mnemonic, "cmp") != 0 &&
		strcmp(i->mnemonic, "test") != 0)
		*stored = 0; /* it has another value now */
	return false;
}

static bool was_met(const struct pushes *p, uint64_t at)
{
	for (size_t i = 0; i < p->ninsns; i++)
		if (p->insn[i].start == at)
			return true;
	return false;
}

/* Follows a path to its end, or to an instruction that another path has met. frame: the register with the new frame's
 * address. Sets *found if the path has the last store. Returns false if it is not a push. */
static bool follow(struct pushes *p, struct path *path, uint8_t frame, bool *found)
{
	struct code_insn i = {};

	while (!was_met(p, path->at)) {
		if (p->ninsns == INSNS_MAX || !decode(p, path->at, &i))
			return false;
		p->insn[p->ninsns++] = (struct range){ path->at, path->at + i.size };
		if (ends(path, &i)) {
			unsigned stored = path->stored[i.operand[0].reg];

			*found = true;
			return p->is_below[frame] || (i.operand[0].reg == frame && (stored & STORED_ALL) == STORED_ALL);
		}
		if ((i.flow != CODE_NEXT && i.flow != CODE_JUMP && i.flow != CODE_BRANCH) ||
			(i.flow != CODE_NEXT && !i.target))
			return false;
		if (i.flow == CODE_BRANCH && p->npaths == BRANCHES_MAX)
			return false;
		if (i.flow == CODE_BRANCH) {
			p->path[p->npaths] = *path;
			p->path[p->npaths++].at = i.target;
		}
		path->at = i.flow == CODE_JUMP ? i.target : path->at + i.size;
	}
	return true;
}

/* Finds the instructions of the push that begins at `at`, after a store of the register frame. */
static void find_push(struct pushes *p, uint64_t at, uint8_t frame)
{
	bool found = false;

	p->ninsns = 0;
	p->npaths = 1;
	p->path[0] = (struct path){ .at = at };
	while (p->npaths) {
		struct path path = p->path[--p->npaths];

		if (!follow(p, &path, frame, &found))
			return;
	}
	for (size_t i = 0; found && i < p->ninsns && p->nranges < RANGES_MAX; i++)
		p->range[p->nranges++] = p->insn[i];
}

/* ---- a function ---- */

/* Notes the registers with an address that may be that of the frame below another one. */
static void look_for_frame(struct pushes *p, const struct code_insn *i)
{
	const struct code_operand *to = &i->operand[0], *from = &i->operand[1];

	if (i->noperands != 2 || !is_word(to, CODE_REG))
		return;
	if (strcmp(i->mnemonic, "lea") == 0)
		p->is_below[to->reg] |= from->kind == CODE_MEM && from->reg < REGS && from->index == CODE_REG_NONE &&
			from->value == -FRAME_SIZE;
	else if (from->kind == CODE_IMM)
		p->is_below[to->reg] |= (strcmp(i->mnemonic, "sub") == 0 && from->value == FRAME_SIZE) ||
			(strcmp(i->mnemonic, "add") == 0 && from->value == -FRAME_SIZE);
}

static void search(struct pushes *p, const struct eh_range *r, bool for_frames)
{
	struct code_insn i = {};

	for (uint64_t at = r->start; at < r->end && p->left; at += i.size) {
		if (!decode(p, at, &i))
			i.size = (uint8_t)code_skip(p->code);
		else if (for_frames)
			look_for_frame(p, &i);
		else if (is_store(&i) && i.operand[0].value == EC_FRAME && is_word(&i.operand[1], CODE_REG))
			find_push(p, at + i.size, i.operand[1].reg);
	}
}

/* Returns whether the function has stores of words like those of a push: decoding all functions is slow. */
static bool may_push(struct elf *e, const struct eh_range *r)
{
	const uint8_t *p = elf_at(e, r->start, r->end - r->start), *end = p ? p + (r->end - r->start) : NULL;
	unsigned stored = 0;
	bool becomes_newest = false;

	/* 0x48 to 0x4f: a prefix, 0x89: mov, 0x40 to 0x7f: registers; then the offset, after a byte 0x24 for r12 */
	for (; p && end - p >= 5; p++) {
		int8_t at = (int8_t)p[(p[2] & 7) == 4 ? 4 : 3];

		if (p[0] >> 3 != 0x48 >> 3 || p[1] != 0x89 || p[2] >> 6 != 1)
			continue;
		becomes_newest |= at == EC_FRAME;
		stored |= member(at) | member(at + FRAME_SIZE) << BY_CALLER;
	}
	return becomes_newest && (has_last(stored) || has_last(stored >> BY_CALLER));
}

/* ---- all ---- */

static int compare(const void *a, const void *b)
{
	const struct range *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

/* Merges instructions that follow each other. */
static void merge(struct pushes *p)
{
	size_t n = 0;

	qsort(p->range, p->nranges, sizeof(*p->range), compare);
	for (size_t i = 1; i < p->nranges; i++) {
		struct range *last = &p->range[n];

		if (p->range[i].start > last->end || p->range[i].end - last->start > RUBY_PUSH_SIZE)
			p->range[++n] = p->range[i];
		else if (p->range[i].end > last->end)
			last->end = p->range[i].end;
	}
	p->nranges = n + 1;
}

void ruby_find_pushes(struct elf *e, const struct eh_ranges *ranges, struct ruby_proc *ret)
{
	_cleanup_(freep) struct pushes *p = calloc(1, sizeof(*p));
	uint64_t base;

	if (!p || elf_machine(e) != EM_X86_64 || code_open(EM_X86_64, true, &p->code))
		return;
	p->elf = e;
	p->left = DECODED_MAX;
	for (size_t i = 0; i < ranges->len; i++) {
		if (!may_push(e, &ranges->data[i]))
			continue;
		memset(p->is_below, 0, sizeof(p->is_below));
		search(p, &ranges->data[i], true);
		search(p, &ranges->data[i], false);
	}
	code_close(p->code);
	if (!p->nranges)
		return;
	merge(p);
	base = p->range[0].start;
	memset(ret->push, 0xff, sizeof(ret->push));
	for (size_t i = 0; i < p->nranges && i < RUBY_PUSHES; i++) {
		if (p->range[i].start - base > RUBY_PUSH_SPAN)
			break;
		ret->push[i] = (uint32_t)((p->range[i].start - base) << RUBY_PUSH_BITS |
			(p->range[i].end - p->range[i].start));
	}
	ret->pushes = base;
}
