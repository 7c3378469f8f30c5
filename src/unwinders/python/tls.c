// SPDX-License-Identifier: Apache-2.0
/* tls.c - finds a thread's state by the code of small exported functions.
 *
 * In a stripped file its variable has no symbol, but functions that only return it have one. The file's
 * compilation decides how they read it:
 *
 *     in a program           mov %fs:-24,%rax;  or  mov $-24,%rax;  mov %fs:(%rax),%rax
 *     loaded at start        mov slot(%rip),%rax;  mov %fs:(%rax),%rax
 *     in any library         lea pair(%rip),%rdi;  call __tls_get_addr;  mov 8(%rax),%rax
 *     by a descriptor        lea desc(%rip),%rax;  call *(%rax);  mov %fs:(%rax),%rax
 *
 * arm64 has the same four ways, with the thread pointer in tpidr_el0; there a function may call another one that reads
 * the variable. The dynamic linker fills in slots,
 * pairs and descriptors, so their addresses are returned. */
#include <elf.h>
#include <string.h>

#include "base/owner.h"
#include "python.h"
#include "target/code.h"
#include "target/elf.h"

#define INSNS_MAX 32
#define BYTES_MAX 160
#define REGS      32
#define RSP       4
#define RBP       5

enum value_kind { VALUE_UNKNOWN, VALUE_ADDRESS, VALUE_LOADED, VALUE_THREAD, VALUE_CALLED, VALUE_NUMBER };

/* The value of a register: an address in the file, a number, the word at one, the thread pointer plus `at`, or the
 * result of a call for a variable's address or offset. */
struct value {
	enum value_kind kind;
	uint64_t at;
	uint32_t tls; /* CALLED: enum python_tls_kind */
};

struct decode {
	struct value reg[REGS];
	struct value asked; /* the last address that was computed: an argument of the call */
	struct python_tls found;
};

static bool is(const struct code_insn *i, const char *mnemonic)
{
	return !strcmp(i->mnemonic, mnemonic);
}

static struct value *reg_of(struct decode *d, const struct code_operand *o)
{
	static struct value none;

	none.kind = VALUE_UNKNOWN;
	return o->kind == CODE_REG && o->reg < REGS ? &d->reg[o->reg] : &none;
}

static struct value value_of(const struct decode *d, unsigned reg)
{
	return reg < REGS ? d->reg[reg] : (struct value){};
}

/* Notes a variable's address: thread pointer + values of base and index + disp. */
static void find(struct decode *d, struct value base, struct value index, int64_t disp)
{
	struct value v = index.kind == VALUE_LOADED || index.kind == VALUE_CALLED ? index : base;

	if (v.kind == VALUE_LOADED)
		d->found = (struct python_tls){ v.at, (int32_t)disp, PYTHON_TLS_SLOT };
	else if (v.kind == VALUE_CALLED)
		d->found = (struct python_tls){ v.at, (int32_t)disp, v.tls };
	else
		d->found = (struct python_tls){ (uint64_t)disp, 0, PYTHON_TLS_OFFSET };
}

/* ---- a load ---- */

static void load_x86(struct decode *d, const struct code_operand *m, struct value *to)
{
	struct value base = value_of(d, m->reg);

	if (m->thread && m->reg == CODE_REG_NONE && m->index == CODE_REG_NONE) {
		if (m->value) /* %fs:0 is the thread pointer itself */
			find(d, (struct value){}, (struct value){}, m->value);
		*to = (struct value){ VALUE_THREAD };
	} else if (m->thread) {
		find(d, base, value_of(d, m->index), m->value + (base.kind == VALUE_NUMBER ? (int64_t)base.at : 0));
	} else if (m->reg == CODE_REG_PC) {
		*to = (struct value){ VALUE_LOADED, (uint64_t)m->value };
	} else if (base.kind == VALUE_THREAD || base.kind == VALUE_CALLED) {
		find(d, base, value_of(d, m->index), (int64_t)(base.kind == VALUE_THREAD ? base.at : 0) + m->value);
	} else {
		*to = (struct value){};
	}
}

static void load_arm(struct decode *d, const struct code_operand *m, struct value *to)
{
	struct value base = value_of(d, m->reg), index = value_of(d, m->index);

	if (base.kind == VALUE_ADDRESS) {
		*to = (struct value){ VALUE_LOADED, base.at + (uint64_t)m->value };
		d->asked = *to;
	} else if (base.kind == VALUE_THREAD) {
		find(d, base, index, (int64_t)base.at + m->value);
	} else if (base.kind == VALUE_CALLED) {
		find(d, base, (struct value){}, m->value);
	} else {
		*to = (struct value){};
	}
}

/* ---- one instruction ---- */

static void call(struct decode *d, bool indirect)
{
	struct value got = { VALUE_CALLED, d->asked.at, indirect ? PYTHON_TLS_DESC : PYTHON_TLS_PAIR };

	if (!indirect) /* a descriptor's function changes one register */
		memset(d->reg, 0, sizeof(d->reg));
	if (d->asked.kind != VALUE_UNKNOWN)
		d->reg[0] = got;
}

static void step_x86(struct decode *d, const struct code_insn *i)
{
	struct code_operand m = i->operand[1];
	struct value *to = reg_of(d, &i->operand[0]);

	if (i->noperands != 2 || i->operand[0].kind != CODE_REG)
		return;
	if (m.kind == CODE_MEM && m.reg == CODE_REG_PC)
		m.value += (int64_t)(i->vaddr + i->size);
	if (is(i, "lea") && m.kind == CODE_MEM && m.reg == CODE_REG_PC) {
		*to = (struct value){ VALUE_ADDRESS, (uint64_t)m.value };
		d->asked = *to;
	} else if (is(i, "mov") && m.kind == CODE_MEM) {
		load_x86(d, &m, to);
	} else if (is(i, "add") && m.kind == CODE_MEM && m.reg == CODE_REG_PC && to->kind == VALUE_THREAD) {
		*to = (struct value){ VALUE_CALLED, (uint64_t)m.value, PYTHON_TLS_SLOT };
	} else if (is(i, "add") && m.kind == CODE_IMM && to->kind == VALUE_THREAD) {
		to->at += (uint64_t)m.value;
	} else if (is(i, "mov") && m.kind == CODE_IMM) {
		*to = (struct value){ VALUE_NUMBER, (uint64_t)m.value };
	} else if (is(i, "mov") && m.kind == CODE_REG) {
		*to = *reg_of(d, &m);
	} else if (i->operand[0].reg != RSP && i->operand[0].reg != RBP) {
		*to = (struct value){};
	}
}

static void add_arm(struct decode *d, const struct code_insn *i, struct value *to)
{
	struct value a = *reg_of(d, &i->operand[1]), b = *reg_of(d, &i->operand[2]);

	if (i->operand[2].kind == CODE_IMM && (a.kind == VALUE_ADDRESS || a.kind == VALUE_THREAD))
		a.at += (uint64_t)i->operand[2].value;
	else if (a.kind == VALUE_THREAD && b.kind == VALUE_LOADED)
		a = (struct value){ VALUE_CALLED, b.at, PYTHON_TLS_SLOT };
	else if (a.kind == VALUE_THREAD && b.kind == VALUE_CALLED)
		a = b;
	else
		a.kind = VALUE_UNKNOWN;
	*to = a;
}

static void step_arm(struct decode *d, const struct code_insn *i)
{
	struct value *to = reg_of(d, &i->operand[0]);

	if (!i->noperands || i->operand[0].kind != CODE_REG)
		return;
	if (is(i, "mrs"))
		*to = (struct value){ VALUE_THREAD };
	else if (is(i, "adrp") && i->noperands == 2)
		*to = (struct value){ VALUE_ADDRESS, (uint64_t)i->operand[1].value };
	else if (is(i, "add") && i->noperands >= 3)
		add_arm(d, i, to);
	else if (is(i, "ldr") && i->operand[1].kind == CODE_MEM)
		load_arm(d, &i->operand[1], to);
	else if (!is(i, "str") && !is(i, "stp"))
		*to = (struct value){};
}

/* ---- a function ---- */

/* Reads the code of size bytes at vaddr. Returns the address of the function that it calls before it has computed an
 * address, or 0. */
static uint64_t read_function(struct elf *e, struct code *c, uint64_t vaddr, uint64_t size, struct decode *d)
{
	bool arm = elf_machine(e) == EM_AARCH64;
	const uint8_t *p;
	struct code_insn i;
	uint64_t at = 0;

	size = size < BYTES_MAX ? size : BYTES_MAX;
	p = elf_at(e, vaddr, size);
	for (unsigned n = 0; p && n < INSNS_MAX && d->found.kind == PYTHON_TLS_NONE; n++, at += i.size) {
		if (at >= size || !code_decode(c, p + at, size - at, vaddr + at, &i) ||
			i.flow == CODE_RETURN || i.flow == CODE_JUMP)
			break;
		if (arm && i.flow == CODE_CALL && d->asked.kind == VALUE_UNKNOWN)
			return i.target;
		if (i.flow == CODE_CALL || i.flow == CODE_CALL_INDIRECT)
			call(d, i.flow == CODE_CALL_INDIRECT);
		else if (arm)
			step_arm(d, &i);
		else
			step_x86(d, &i);
	}
	return 0;
}

bool python_tls(struct elf *e, const char *function, struct python_tls *ret)
{
	_cleanup_(code_closep) struct code *c = NULL;
	struct decode d = {};
	struct elf_symbol sym;
	uint64_t callee;

	if (!elf_symbol_named(e, function, &sym) || !sym.size || code_open(elf_machine(e), true, &c))
		return false;
	callee = read_function(e, c, sym.vaddr, sym.size, &d);
	if (callee) /* its size is not known; it ends with a return */
		read_function(e, c, callee, BYTES_MAX, &d);
	*ret = d.found;
	return ret->kind != PYTHON_TLS_NONE;
}

/* In 3.6 the key is a static int: the last word of 4 bytes that the function loads before it
 * calls the C library with it. */
bool python_tss_key(struct elf *e, const char *function, uint64_t *ret)
{
	_cleanup_(code_closep) struct code *c = NULL;
	struct code_insn i;
	struct elf_symbol sym;
	const uint8_t *p;
	uint64_t size, at = 0;

	*ret = 0;
	if (elf_machine(e) != EM_X86_64 || !elf_symbol_named(e, function, &sym) || !sym.size ||
		code_open(EM_X86_64, true, &c))
		return false;
	size = sym.size < BYTES_MAX ? sym.size : BYTES_MAX;
	p = elf_at(e, sym.vaddr, size);
	for (unsigned n = 0; p && n < INSNS_MAX && at < size; n++, at += i.size) {
		const struct code_operand *m = &i.operand[1];

		if (!code_decode(c, p + at, size - at, sym.vaddr + at, &i))
			break;
		if (is(&i, "mov") && i.noperands == 2 && m->kind == CODE_MEM &&
			m->reg == CODE_REG_PC && i.operand[0].kind == CODE_REG && i.operand[0].size == 4)
			*ret = i.vaddr + i.size + (uint64_t)m->value;
	}
	return *ret != 0;
}
