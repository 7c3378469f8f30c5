// SPDX-License-Identifier: Apache-2.0
/* code.c - decodes instructions with capstone; only this file uses it. The library is loaded at the first
 * use, which is rare (once per interpreter and machine): loading it takes longer than compiling a script. */
#include "code.h"

#include <capstone/capstone.h>
#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/library.h"

/* Structures differ between major versions, so the library must have the version of the header. */
#define SONAME_OF(major) "libcapstone.so." #major
#define SONAME(major)    SONAME_OF(major)

struct code {
	void *library;
	csh handle;
	cs_insn *insn;
	bool arm, operands;
	bool (*disasm)(csh, const uint8_t **, size_t *, uint64_t *, cs_insn *);
	void (*free)(cs_insn *, size_t);
	cs_err (*close)(csh *);
};

/* ---- the library ---- */

static void *symbol(void *library, const char *name, bool *missing)
{
	void *p = library_symbol(library, name);

	*missing |= !p;
	return p;
}

static int open_handle(struct code *c)
{
	bool missing = false;
	cs_err (*open)(cs_arch, cs_mode, csh *) = symbol(c->library, "cs_open", &missing);
	cs_err (*option)(csh, cs_opt_type, size_t) = symbol(c->library, "cs_option", &missing);
	cs_insn *(*alloc)(csh) = symbol(c->library, "cs_malloc", &missing);

	c->disasm = symbol(c->library, "cs_disasm_iter", &missing);
	c->free = symbol(c->library, "cs_free", &missing);
	c->close = symbol(c->library, "cs_close", &missing);
	if (missing || (c->arm ? open(CS_ARCH_ARM64, CS_MODE_ARM, &c->handle) :
				 open(CS_ARCH_X86, CS_MODE_64, &c->handle)) != CS_ERR_OK)
		return -ENOTSUP;
	if (c->operands)
		option(c->handle, CS_OPT_DETAIL, CS_OPT_ON);
	c->insn = alloc(c->handle);
	return c->insn ? 0 : -ENOMEM;
}

int code_open(uint16_t machine, bool operands, struct code **ret)
{
	struct code *c;
	int err;

	if (machine != EM_X86_64 && machine != EM_AARCH64)
		return -ENOTSUP;
	c = calloc(1, sizeof(*c));
	if (!c)
		return -ENOMEM;
	c->arm = machine == EM_AARCH64;
	c->operands = operands;
	c->library = library_open(SONAME(CS_API_MAJOR));
	err = c->library ? open_handle(c) : -ENOTSUP;
	if (err) {
		code_close(c);
		return err;
	}
	*ret = c;
	return 0;
}

void code_close(struct code *c)
{
	if (!c)
		return;
	if (c->insn)
		c->free(c->insn, 1);
	if (c->handle)
		c->close(&c->handle);
	if (c->library)
		library_close(c->library);
	free(c);
}

size_t code_skip(const struct code *c)
{
	return c->arm ? 4 : 1;
}

/* ---- control flow ---- */

static bool is_conditional(unsigned id)
{
	switch (id) {
	case X86_INS_JAE: case X86_INS_JA: case X86_INS_JBE: case X86_INS_JB: case X86_INS_JE:
	case X86_INS_JGE: case X86_INS_JG: case X86_INS_JLE: case X86_INS_JL: case X86_INS_JNE:
	case X86_INS_JNO: case X86_INS_JNP: case X86_INS_JNS: case X86_INS_JO: case X86_INS_JP:
	case X86_INS_JS: case X86_INS_JCXZ: case X86_INS_JECXZ: case X86_INS_JRCXZ:
	case X86_INS_LOOP: case X86_INS_LOOPE: case X86_INS_LOOPNE:
		return true;
	default:
		return false;
	}
}

/* Reads an operand that is an address. It is read from the text, which capstone makes even without decoding
 * operands. On arm64 it is the last operand, and begins with #. */
static bool direct(const cs_insn *i, uint64_t *ret)
{
	const char *comma = strrchr(i->op_str, ','), *p = comma ? comma + 1 : i->op_str;
	char *end;

	p += strspn(p, " #");
	if (*p < '0' || *p > '9')
		return false;
	*ret = strtoull(p, &end, 0);
	return !*end;
}

static enum code_flow flow_x86(const cs_insn *i, uint64_t *target)
{
	switch (i->id) {
	case X86_INS_JMP:
		return direct(i, target) ? CODE_JUMP : CODE_JUMP_INDIRECT;
	case X86_INS_LJMP:
		return CODE_JUMP_INDIRECT;
	case X86_INS_CALL:
		return direct(i, target) ? CODE_CALL : CODE_CALL_INDIRECT;
	case X86_INS_LCALL:
		return CODE_CALL_INDIRECT;
	case X86_INS_RET: case X86_INS_RETF: case X86_INS_RETFQ: case X86_INS_IRETQ:
		return CODE_RETURN;
	case X86_INS_UD2: case X86_INS_HLT: case X86_INS_INT3:
		return CODE_STOP;
	default:
		return is_conditional(i->id) && direct(i, target) ? CODE_BRANCH : CODE_NEXT;
	}
}

/* Handles instructions with pointer authentication, for which capstone 4 has no numbers. */
static enum code_flow flow_arm_auth(const cs_insn *i)
{
	if (!strncmp(i->mnemonic, "reta", 4))
		return CODE_RETURN;
	if (!strncmp(i->mnemonic, "blra", 4))
		return CODE_CALL_INDIRECT;
	return strncmp(i->mnemonic, "bra", 3) ? CODE_NEXT : CODE_JUMP_INDIRECT;
}

static enum code_flow flow_arm(const cs_insn *i, uint64_t *target)
{
	switch (i->id) {
	case ARM64_INS_B:
		direct(i, target);
		return i->mnemonic[1] == '.' ? CODE_BRANCH : CODE_JUMP;
	case ARM64_INS_CBZ: case ARM64_INS_CBNZ: case ARM64_INS_TBZ: case ARM64_INS_TBNZ:
		direct(i, target);
		return CODE_BRANCH;
	case ARM64_INS_BL:
		direct(i, target);
		return CODE_CALL;
	case ARM64_INS_BLR:
		return CODE_CALL_INDIRECT;
	case ARM64_INS_BR:
		return CODE_JUMP_INDIRECT;
	case ARM64_INS_RET: case ARM64_INS_ERET:
		return CODE_RETURN;
	case ARM64_INS_BRK: case ARM64_INS_HLT:
		return CODE_STOP;
	default:
		return flow_arm_auth(i);
	}
}

/* ---- operands ---- */

static uint8_t number_x86(unsigned reg, uint8_t *size)
{
	static const uint16_t regs[][2] = { /* 64 and 32 bits */
		{X86_REG_RAX, X86_REG_EAX}, {X86_REG_RCX, X86_REG_ECX},
		{X86_REG_RDX, X86_REG_EDX}, {X86_REG_RBX, X86_REG_EBX},
		{X86_REG_RSP, X86_REG_ESP}, {X86_REG_RBP, X86_REG_EBP},
		{X86_REG_RSI, X86_REG_ESI}, {X86_REG_RDI, X86_REG_EDI},
		{X86_REG_R8, X86_REG_R8D}, {X86_REG_R9, X86_REG_R9D},
		{X86_REG_R10, X86_REG_R10D}, {X86_REG_R11, X86_REG_R11D},
		{X86_REG_R12, X86_REG_R12D}, {X86_REG_R13, X86_REG_R13D},
		{X86_REG_R14, X86_REG_R14D}, {X86_REG_R15, X86_REG_R15D},
	};

	for (unsigned i = 0; i < 32; i++) {
		if (regs[i / 2][i % 2] != reg)
			continue;
		*size = i % 2 ? 4 : 8;
		return i / 2;
	}
	return reg == X86_REG_RIP ? CODE_REG_PC : reg ? CODE_REG_OTHER : CODE_REG_NONE;
}

static void operand_x86(const cs_x86_op *from, struct code_operand *to)
{
	to->size = from->size;
	switch ((unsigned)from->type) {
	case X86_OP_REG:
		to->kind = CODE_REG;
		to->reg = number_x86(from->reg, &to->size);
		break;
	case X86_OP_IMM:
		to->kind = CODE_IMM;
		to->value = from->imm;
		break;
	default: {
		uint8_t ignored;

		to->kind = CODE_MEM;
		to->reg = number_x86(from->mem.base, &ignored);
		to->index = number_x86(from->mem.index, &ignored);
		to->scale = from->mem.scale;
		to->thread = from->mem.segment == X86_REG_FS;
		to->value = from->mem.disp;
	}
	}
}

static uint8_t number_arm(unsigned reg, uint8_t *size)
{
	*size = reg >= ARM64_REG_W0 && reg <= ARM64_REG_W30 ? 4 : 8;
	if (reg >= ARM64_REG_X0 && reg <= ARM64_REG_X28)
		return reg - ARM64_REG_X0;
	if (reg >= ARM64_REG_W0 && reg <= ARM64_REG_W30)
		return reg - ARM64_REG_W0;
	switch (reg) {
	case ARM64_REG_X29: return 29;
	case ARM64_REG_X30: return 30;
	case ARM64_REG_SP: return 31;
	case ARM64_REG_INVALID: return CODE_REG_NONE;
	default: return CODE_REG_OTHER;
	}
}

static void operand_arm(const cs_arm64_op *from, struct code_operand *to)
{
	uint8_t ignored;

	switch ((unsigned)from->type) {
	case ARM64_OP_REG:
		to->kind = CODE_REG;
		to->reg = number_arm(from->reg, &to->size);
		break;
	case ARM64_OP_MEM:
		to->kind = CODE_MEM;
		to->reg = number_arm(from->mem.base, &ignored);
		to->index = number_arm(from->mem.index, &ignored);
		to->scale = from->shift.type == ARM64_SFT_LSL ? 1 << (from->shift.value & 7) : 1;
		to->value = from->mem.disp;
		break;
	case ARM64_OP_IMM: /* may have a shift: add x0, x0, #1, lsl #12 */
		to->kind = CODE_IMM;
		to->value = from->imm;
		if (from->shift.type == ARM64_SFT_LSL)
			to->value = (int64_t)((uint64_t)from->imm << (from->shift.value & 63));
		break;
	default: /* system registers, conditions */
		to->kind = CODE_REG;
		to->reg = CODE_REG_OTHER;
	}
}

static void read_operands(const struct code *c, struct code_insn *ret)
{
	const cs_detail *d = c->insn->detail;
	unsigned n = c->arm ? d->arm64.op_count : d->x86.op_count;

	for (unsigned i = 0; i < n && ret->noperands < 4; i++) {
		struct code_operand *o = &ret->operand[ret->noperands++];

		*o = (struct code_operand){.reg = CODE_REG_NONE, .index = CODE_REG_NONE};
		if (c->arm)
			operand_arm(&d->arm64.operands[i], o);
		else
			operand_x86(&d->x86.operands[i], o);
	}
}

bool code_decode(struct code *c, const uint8_t *bytes, size_t size, uint64_t vaddr,
	struct code_insn *ret)
{
	const uint8_t *p = bytes;
	uint64_t at = vaddr;

	if (!c->disasm(c->handle, &p, &size, &at, c->insn))
		return false;
	ret->vaddr = vaddr;
	ret->size = c->insn->size;
	ret->target = 0;
	ret->flow = c->arm ? flow_arm(c->insn, &ret->target) : flow_x86(c->insn, &ret->target);
	ret->mnemonic = c->insn->mnemonic;
	ret->noperands = 0;
	if (c->operands)
		read_operands(c, ret);
	return true;
}
