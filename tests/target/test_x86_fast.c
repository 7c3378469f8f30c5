// SPDX-License-Identifier: Apache-2.0
/* test_x86_fast.c - compares code_x86_fast() with code_decode() on a program's code, and on random
 * bytes: both must agree. */
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "target/code.h"
#include "target/elf.h"

enum { RSP = 4, RBP = 5 };

#define TEXT_MAX (4u << 20)

static unsigned fast, all, wrong;

static bool has_stack_register(const struct code_insn *i)
{
	for (unsigned k = 0; k < i->noperands; k++)
		if (i->operand[k].kind == CODE_REG && (i->operand[k].reg == RSP || i->operand[k].reg == RBP))
			return true;
	return false;
}

static bool agree(const struct code_fast *p, const struct code_insn *i)
{
	bool jumps = i->flow == CODE_JUMP || i->flow == CODE_BRANCH || i->flow == CODE_CALL;

	return p->size == i->size && p->flow == i->flow && p->mov == !strcmp(i->mnemonic, "mov") &&
		(!jumps || i->vaddr + (uint64_t)p->jump == i->target) && !has_stack_register(i) &&
		strncmp(i->mnemonic, "push", 4) != 0 && strncmp(i->mnemonic, "pop", 3) != 0;
}

/* The size of the instruction at that position. */
static size_t compare(struct code *c, const uint8_t *bytes, size_t size, uint64_t vaddr)
{
	struct code_fast p;
	struct code_insn i;
	bool known = code_decode(c, bytes, size, vaddr, &i);

	all++;
	if (!code_x86_fast(bytes, size, &p))
		return known ? i.size : 1;
	fast++;
	if (known && agree(&p, &i))
		return i.size;
	if (wrong++ < 10) {
		fprintf(stderr, "%s %u bytes, fast %u, flow %d %d:", known ? i.mnemonic : "(bad)", known ? i.size : 0,
			p.size, known ? (int)i.flow : -1, (int)p.flow);
		for (size_t k = 0; k < 15 && k < size; k++)
			fprintf(stderr, " %02x", bytes[k]);
		fprintf(stderr, "\n");
	}
	return known ? i.size : 1;
}

static void compare_text(struct code *c, struct elf *e)
{
	struct elf_section s;
	const uint8_t *bytes;

	if (!elf_section(e, ".text", &s) || !(bytes = elf_at(e, s.vaddr, s.size))) {
		wrong++;
		return;
	}
	for (size_t at = 0; at < s.size && at < TEXT_MAX;)
		at += compare(c, bytes + at, s.size - at, s.vaddr + at);
}

/* A truncated instruction is not decoded. */
static void cut(const uint8_t *bytes, size_t size)
{
	struct code_fast p, q;

	if (!code_x86_fast(bytes, size, &p))
		return;
	for (size_t n = 0; n < p.size; n++)
		wrong += code_x86_fast(bytes, n, &q);
}

static void compare_any(struct code *c)
{
	uint8_t bytes[16];

	srand(1);
	for (int i = 0; i < 300000; i++) {
		for (size_t k = 0; k < sizeof(bytes); k++)
			bytes[k] = (uint8_t)(rand() >> 8);
		compare(c, bytes, sizeof(bytes), 0x100000000);
		cut(bytes, sizeof(bytes));
	}
}

/* The fast decoder leaves these to capstone, whose versions differ. */
static void movsxd(void)
{
	static const uint8_t wide[] = { 0x48, 0x63, 0xc2 }, narrow[] = { 0x63, 0xc2 };
	struct code_fast p;

	wrong += !code_x86_fast(wide, sizeof(wide), &p) || p.size != sizeof(wide);
	wrong += code_x86_fast(narrow, sizeof(narrow), &p);
}

int main(int argc, char **argv)
{
	struct code *c = NULL;
	struct elf *e = NULL;

	if (argc != 2 || code_open(EM_X86_64, true, &c) || elf_open(argv[1], &e))
		return 1;
	compare_text(c, e);
	printf("%u of %u instructions are decoded without capstone, %u differ from capstone\n", fast, all, wrong);
	if (fast < all / 2)
		wrong++;
	compare_any(c);
	movsxd();
	elf_close(e);
	code_close(c);
	return wrong > 0;
}
