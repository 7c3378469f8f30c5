// SPDX-License-Identifier: Apache-2.0
/* dwarf_location.c - reads a parameter's location in DWARF when its function begins. Compilers change the
 * parameters of functions that only their own file calls. */
#include "dwarf_read.h"

enum { X86_RSP = 7, ARM_SP = 31 };

/* Converts DWARF's number of a register to the number of the integer argument in it; -1 if there is none. */
static int arg_register(const struct debuginfo *d, uint64_t reg)
{
	/* The order is rax rdx rcx rbx rsi rdi rbp rsp r8 r9. */
	static const int8_t x86[] = {-1, 2, 3, -1, 1, 0, -1, -1, 4, 5};

	if (d->machine == EM_AARCH64)
		return reg < 8 ? (int)reg : -1;
	return reg < sizeof(x86) ? x86[reg] : -1;
}

static bool is_stack_pointer(const struct debuginfo *d, uint64_t reg)
{
	return reg == (d->machine == EM_AARCH64 ? ARM_SP : X86_RSP);
}

static bool at_stack(int64_t offset, struct argument *ret)
{
	if (offset < 0 || offset > DIE_SIZE_MAX)
		return false;
	ret->where = ARG_STACK;
	ret->offset = (uint32_t)offset;
	return true;
}

/* The offset counts from the caller's stack pointer, before the return address was pushed. */
static bool at_cfa(const struct debuginfo *d, int64_t offset, struct argument *ret)
{
	if (offset < 0 || offset > DIE_SIZE_MAX)
		return false;
	return at_stack(offset + (d->machine == EM_AARCH64 ? 0 : 8), ret);
}

static bool in_register(const struct debuginfo *d, uint64_t number, struct argument *ret)
{
	int reg = arg_register(d, number);

	if (reg < 0)
		return false;
	ret->where = ARG_REGISTER;
	ret->reg = (unsigned)reg;
	return true;
}

static bool is_reg(const Dwarf_Op *op)
{
	return op->atom >= DW_OP_reg0 && op->atom <= DW_OP_reg31;
}

/* Handles memory at a register plus offset. */
static bool at_register(
	const struct debuginfo *d, uint64_t number, int64_t offset, struct argument *ret)
{
	if (is_stack_pointer(d, number))
		return at_stack(offset, ret);
	if (offset || !in_register(d, number, ret))
		return false;
	ret->where = ARG_POINTED;
	return true;
}

/* Returns whether the frame's base is the CFA, as in code of GCC. A frame pointer is not set yet. */
static bool base_is_cfa(const struct debuginfo *d, const Dwarf_Die *function, uint64_t entry)
{
	Dwarf_Attribute a;
	Dwarf_Op *ops;
	size_t n;

	return d->dw->attr_integrate((Dwarf_Die *)function, DW_AT_frame_base, &a) &&
	       d->dw->getlocation_addr(&a, entry, &ops, &n, 1) == 1 && n == 1 &&
	       ops[0].atom == DW_OP_call_frame_cfa;
}

static bool one_op(const struct debuginfo *d, const Dwarf_Die *function, uint64_t entry,
	const Dwarf_Op *op, struct argument *ret)
{
	if (is_reg(op))
		return in_register(d, op->atom - DW_OP_reg0, ret);
	if (op->atom == DW_OP_regx)
		return in_register(d, op->number, ret);
	if (op->atom >= DW_OP_breg0 && op->atom <= DW_OP_breg31)
		return at_register(d, op->atom - DW_OP_breg0, (int64_t)op->number, ret);
	if (op->atom == DW_OP_bregx)
		return at_register(d, op->number, (int64_t)op->number2, ret);
	if (op->atom == DW_OP_fbreg)
		return base_is_cfa(d, function, entry) && at_cfa(d, (int64_t)op->number, ret);
	return false;
}

/* Handles two registers of eight bytes, of which the second may be partly used. */
static bool two_pieces(const struct debuginfo *d, const Dwarf_Op *ops, size_t n, struct argument *ret)
{
	struct argument second = {};

	if (n != 4 || !is_reg(&ops[0]) || ops[1].atom != DW_OP_piece || ops[1].number != 8 ||
		!is_reg(&ops[2]) || ops[3].atom != DW_OP_piece || ops[3].number > 8 ||
		!in_register(d, ops[0].atom - DW_OP_reg0, ret) ||
		!in_register(d, ops[2].atom - DW_OP_reg0, &second))
		return false;
	ret->where = ARG_REGISTERS;
	ret->reg2 = second.reg;
	return true;
}

/* Only the DIE's own location counts: that of the DIE that it copies describes other code. */
enum location_kind die_location(const struct debuginfo *d, const Dwarf_Die *function,
	const Dwarf_Die *param, uint64_t entry, struct argument *ret)
{
	Dwarf_Attribute a;
	Dwarf_Word value;
	Dwarf_Op *ops;
	size_t n;

	if (d->dw->attr((Dwarf_Die *)param, DW_AT_const_value, &a)) {
		ret->offset = d->dw->formudata(&a, &value) ? 0 : (uint32_t)value;
		return LOCATION_CONST;
	}
	if (!d->dw->attr((Dwarf_Die *)param, DW_AT_location, &a))
		return LOCATION_NONE;
	if (d->dw->getlocation_addr(&a, entry, &ops, &n, 1) != 1 || !n)
		return LOCATION_UNKNOWN;
	if (n == 1 ? one_op(d, function, entry, ops, ret) : two_pieces(d, ops, n, ret))
		return LOCATION_KNOWN;
	return LOCATION_UNKNOWN;
}
