// SPDX-License-Identifier: Apache-2.0
/* x86_fast.c - decodes the most frequent instructions of x86_64, by the opcode maps of Intel's manual (SDM
 * volume 2, appendix A). capstone takes twenty times as long, mostly to write text. */
#include <string.h>

#include "code.h"

enum form {
	NOT_FAST,
	ALONE,
	MODRM,       /* two operands: registers, or a register and memory */
	MODRM_BYTES, /* two operands of one byte each; 4 and 5 are ah and ch */
	MEMORY,      /* a register and memory */
	GROUP,       /* one operand; ModRM.reg is part of the opcode */
	GROUP_0,     /* like GROUP, but ModRM.reg is 0 */
};

struct opcode {
	uint8_t form;
	uint8_t imm; /* bytes after the operands */
};

enum { REX_B = 1, REX_R = 4, REX_W = 8 };

static struct opcode opcode_of(uint8_t op, uint8_t rex)
{
	if (op < 0x40) /* add, or, adc, sbb, and, sub, xor, cmp */
		return (op & 4) ? (struct opcode){ (op & 6) == 4 ? ALONE : NOT_FAST, op & 1 ? 4 : 1 } :
			(struct opcode){ op & 1 ? MODRM : MODRM_BYTES };
	switch (op) {
	/* Compilers do not write movsxd without REX.W, and decoders disagree on it: capstone 5.0.7 does not
	 * know it. */
	case 0x63: return (struct opcode){ rex & REX_W ? MODRM : NOT_FAST };
	case 0x85: case 0x87: case 0x89: case 0x8b: return (struct opcode){ MODRM };
	case 0x8d: return (struct opcode){ MEMORY };
	case 0x84: case 0x86: case 0x88: case 0x8a: return (struct opcode){ MODRM_BYTES };
	case 0x69: return (struct opcode){ MODRM, 4 };
	case 0x6b: return (struct opcode){ MODRM, 1 };
	case 0x80: case 0x83: case 0xc0: case 0xc1: return (struct opcode){ GROUP, 1 };
	case 0xc6: return (struct opcode){ GROUP_0, 1 };
	case 0x81: return (struct opcode){ GROUP, 4 };
	case 0xc7: return (struct opcode){ GROUP_0, 4 };
	case 0xd1: case 0xd3: return (struct opcode){ GROUP };
	case 0x90: case 0xc3: case 0xcc: return (struct opcode){ ALONE };
	case 0xa8: case 0xeb: return (struct opcode){ ALONE, 1 };
	case 0xa9: case 0xe8: case 0xe9: return (struct opcode){ ALONE, 4 };
	default: break;
	}
	if (op >= 0x70 && op < 0x80)
		return (struct opcode){ ALONE, 1 };
	if (op >= 0xb8 && op < 0xc0 && (rex & REX_B || (op != 0xbc && op != 0xbd)))
		return (struct opcode){ ALONE, rex & REX_W ? 8 : 4 };
	return (struct opcode){ NOT_FAST };
}

/* Looks up the second byte of an opcode of two bytes, whose first byte is 0f. */
static struct opcode opcode_0f(uint8_t op)
{
	if (op >= 0x80 && op < 0x90)
		return (struct opcode){ ALONE, 4 };
	if ((op >= 0x40 && op < 0x50) || op == 0xaf || (op & 0xf6) == 0xb6) /* cmov.., imul, movzx, movsx */
		return (struct opcode){ MODRM };
	if (op >= 0x90 && op < 0xa0) /* set.. */
		return (struct opcode){ GROUP };
	if (op == 0x1f) /* nop */
		return (struct opcode){ GROUP_0 };
	if (op == 0x10 || op == 0x11 || op == 0x28 || op == 0x29 || (op >= 0x54 && op < 0x60)) /* SSE, SSE2 */
		return (struct opcode){ MODRM };
	return (struct opcode){ NOT_FAST };
}

/* Returns the size of ModRM, SIB and displacement, or 0 if they exceed the end. */
static size_t modrm_size(const uint8_t *p, const uint8_t *end)
{
	unsigned mod, rm;
	size_t n = 1;

	if (p == end)
		return 0;
	mod = *p >> 6;
	rm = *p & 7;
	if (mod != 3 && rm == 4) {
		if (end - p < 2)
			return 0;
		n = 2;
		if (!mod && (p[1] & 7) == 5)
			n += 4;
	}
	if (!mod && rm == 5)
		n += 4;
	return n + (mod == 1 ? 1 : mod == 2 ? 4 : 0);
}

static bool is_stack(unsigned reg, bool extended)
{
	return !extended && (reg == 4 || reg == 5);
}

/* Returns whether no operand is rsp or rbp. */
static bool fits(uint8_t modrm, uint8_t rex, uint8_t form)
{
	unsigned reg = modrm >> 3 & 7;

	if (modrm >> 6 == 3 && (form == MEMORY || is_stack(modrm & 7, rex & REX_B)))
		return false;
	if (form == GROUP_0)
		return !reg;
	return form == GROUP || !is_stack(reg, rex & REX_R);
}

static enum code_flow flow_of(bool two, uint8_t op)
{
	if (two ? op >= 0x80 && op < 0x90 : op >= 0x70 && op < 0x80)
		return CODE_BRANCH;
	if (two)
		return CODE_NEXT;
	switch (op) {
	case 0xe8: return CODE_CALL;
	case 0xe9: case 0xeb: return CODE_JUMP;
	case 0xc3: return CODE_RETURN;
	case 0xcc: return CODE_STOP;
	default: return CODE_NEXT;
	}
}

static bool is_mov(bool two, uint8_t op, uint8_t rex)
{
	return !two && ((op >= 0x88 && op <= 0x8b) || op == 0xc6 || op == 0xc7 ||
		(op >= 0xb8 && !(rex & REX_W) && op < 0xc0));
}

bool code_x86_fast(const uint8_t *bytes, size_t size, struct code_fast *ret)
{
	const uint8_t *p = bytes, *end = bytes + size;
	uint8_t rex = 0, prefix = 0, op;
	struct opcode o;
	bool two;

	if (p < end && (*p == 0x66 || *p == 0xf2 || *p == 0xf3))
		prefix = *p++;
	if (p < end && (*p & 0xf0) == 0x40)
		rex = *p++;
	two = p < end && *p == 0x0f;
	p += two;
	if (p >= end)
		return false;
	op = *p++;
	o = two ? opcode_0f(op) : opcode_of(op, rex);
	if (o.form == NOT_FAST || (prefix && (o.form == ALONE || o.imm > 1 || (!two && prefix != 0x66))))
		return false;
	if (o.form != ALONE) {
		size_t n = modrm_size(p, end);

		if (!n || !fits(*p, rex, o.form))
			return false;
		p += n;
	}
	if ((size_t)(p - bytes) + o.imm > size)
		return false;
	*ret = (struct code_fast){
		.size = (uint8_t)(p - bytes + o.imm),
		.flow = flow_of(two, op),
		.mov = is_mov(two, op, rex),
	};
	if (ret->flow == CODE_BRANCH || ret->flow == CODE_JUMP || ret->flow == CODE_CALL) {
		int32_t by = 0;

		memcpy(&by, p, o.imm);
		ret->jump = ret->size + (o.imm == 1 ? (int8_t)by : by);
	}
	return true;
}
