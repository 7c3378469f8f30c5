// SPDX-License-Identifier: Apache-2.0
/* gc.c - the places of the garbage collector's mode and of the number of its collections, from the code of two exported
 * functions. Each loads the pointer to the VM, the pointer to the heap in it, and a member of the heap:
 *
 *     mov ruby_current_vm_ptr, %rax; mov 0x450(%rax), %rax; movzbl 0x10(%rax), %eax; shr $5, %al; and $1, %eax; ret
 *
 * ruby/gc.c, rb_during_gc() and rb_gc_count(), at v2.7.4 to v3.3.8; v3.4.11: also gc/default/default.c. */
#include "ruby.h"

#include <elf.h>
#include <string.h>

#include "target/code.h"
#include "target/elf.h"

enum {
	INSNS_MAX = 40,
	REG_SP = 4, REG_FP = 5, ARM_REG_FP = 29, ARM_REG_SP = 31,
	DURING_BIT = 5, /* the flag in the byte whose low bits are the mode */
	HEAP_MAX = 1 << 16, MEMBER_MAX = 1 << 15,
};

struct loads { /* of a function, the last ones */
	uint64_t last, second;
	uint64_t place;   /* an address in the code; 0: none */
	bool is_place;    /* it is that of the pointer to the VM; else of a word with that address */
	bool has_bit;     /* DURING_BIT is a number in the code */
	unsigned n;
};

static bool is_stack(bool is_arm, uint8_t reg)
{
	return is_arm ? reg == ARM_REG_FP || reg == ARM_REG_SP : reg == REG_SP || reg == REG_FP;
}

static void look_at_operand(struct loads *l, bool is_arm, const struct code_insn *i, const struct code_operand *o)
{
	if (o->kind == CODE_IMM)
		l->has_bit |= o->value == DURING_BIT || o->value == 1 << DURING_BIT;
	if (o->kind != CODE_MEM || o->thread)
		return;
	if (o->reg == CODE_REG_PC) {
		l->place = i->vaddr + i->size + (uint64_t)o->value;
		l->is_place = !strcmp(i->mnemonic, "lea");
	} else if (is_arm && l->place && !l->is_place && !l->n) {
		l->place += (uint64_t)o->value;
		l->n++;
	} else if (o->index == CODE_REG_NONE && !is_stack(is_arm, o->reg)) {
		l->second = l->last;
		l->last = (uint64_t)o->value;
		l->n++;
	}
}

/* adrp has set the page, add makes an address of it. */
static void look_at_arm(struct loads *l, const struct code_insn *i)
{
	if (!strcmp(i->mnemonic, "adrp") && i->noperands == 2)
		l->place = (uint64_t)i->operand[1].value;
	if (strcmp(i->mnemonic, "add") != 0 || i->noperands != 3 || i->operand[2].kind != CODE_IMM || l->is_place)
		return;
	l->place += (uint64_t)i->operand[2].value;
	l->is_place = true;
}

/* Returns whether the function was decoded up to its return. */
static bool read_loads(struct elf *e, struct code *c, const char *function, struct loads *ret)
{
	bool is_arm = elf_machine(e) == EM_AARCH64;
	struct elf_symbol sym;
	struct code_insn i;
	uint64_t vaddr;

	*ret = (struct loads){};
	if (!elf_symbol_named(e, function, &sym))
		return false;
	vaddr = sym.vaddr;
	for (unsigned k = 0; k < INSNS_MAX; k++) {
		const uint8_t *p = elf_at(e, vaddr, CODE_LONGEST);

		if (!p || !code_decode(c, p, CODE_LONGEST, vaddr, &i))
			return false;
		if (is_arm)
			look_at_arm(ret, &i);
		for (unsigned o = 0; o < i.noperands && i.flow == CODE_NEXT; o++)
			look_at_operand(ret, is_arm, &i, &i.operand[o]);
		if (i.flow == CODE_RETURN)
			return true;
		vaddr = i.flow == CODE_JUMP ? i.target : vaddr + i.size;
	}
	return false;
}

/* Returns the address that the dynamic linker writes to a word, in a file that is loaded at 0, or 0. */
static uint64_t relocated(const struct elf *e, uint64_t vaddr)
{
	struct elf_section s;
	Elf64_Rela r;

	if (!elf_section(e, ".rela.dyn", &s) || !s.data)
		return 0;
	for (uint64_t i = 0; i + sizeof(r) <= s.size; i += sizeof(r)) {
		memcpy(&r, s.data + i, sizeof(r));
		if (r.r_offset == vaddr && !ELF64_R_SYM(r.r_info))
			return (uint64_t)r.r_addend;
	}
	return 0;
}

/* Returns the address of the pointer to the VM, or 0. */
static uint64_t find_vm(struct elf *e, const struct loads *l)
{
	struct elf_symbol sym;

	if (elf_symbol_named(e, "ruby_current_vm_ptr", &sym))
		return sym.vaddr;
	return l->is_place ? l->place : relocated(e, l->place);
}

void ruby_find_gc(struct elf *e, struct ruby_proc *ret)
{
	struct loads during, count;
	struct code *c;
	bool found;

	if (code_open(elf_machine(e), true, &c))
		return;
	found = read_loads(e, c, "rb_during_gc", &during) && during.n >= 2 && during.has_bit &&
		read_loads(e, c, "rb_gc_count", &count) && count.n;
	code_close(c);
	if (!found || during.second & 7 || during.second >= HEAP_MAX || during.last >= MEMBER_MAX || count.last & 7 ||
		count.last >= MEMBER_MAX || count.last < 8 * (RUBY_COUNTS - 1))
		return;
	ret->vm = find_vm(e, &during);
	ret->heap = (uint32_t)during.second;
	ret->gc_flags = (uint16_t)during.last;
	ret->gc_counts = (uint16_t)(count.last - 8 * (RUBY_COUNTS - 1));
}
