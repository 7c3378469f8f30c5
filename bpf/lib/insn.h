/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* insn.h - recognises instructions of arm64 code by a word, and calls in x86_64 code: for both sides. Arm
 * Architecture Reference Manual, C4.1 (A64 encodings); Intel SDM, volume 2, CALL. */
#pragma once
#include "types.h"

#define A64_IS_BL(op)      ((op) >> 26 == 0x25)
#define A64_IS_B(op)       ((op) >> 26 == 5)
#define A64_IS_BLR(op)     (((op) & 0xfffffc1f) == 0xd63f0000)
#define A64_IS_BLRA(op)    (((op) & 0xfefff800) == 0xd63f0800)    /* blraa, blrab, blraaz, blrabz */
#define A64_IS_RET(op)     ((op) == 0xd65f03c0)                   /* by x30 */
#define A64_IS_B_COND(op)  (((op) & 0xff000010) == 0x54000000)
#define A64_IS_CB_TB(op)   (((op) & 0x7c000000) == 0x34000000)    /* cbz, cbnz, tbz, tbnz */
#define A64_IS_BR_RET(op)  (((op) & 0xff9ffc1f) == 0xd61f0000)    /* br, ret */
#define A64_IS_ENTRY(op)   ((op) == 0xd503233f || (op) == 0xd503245f) /* paciasp, bti c: a function begins */
#define A64_IS_BRK(op)     (((op) & 0xffe0001f) == 0xd4200000)
#define A64_MOV_FP_SP      0x910003fdU                            /* add x29, sp, #.. */
#define A64_MOV_FP_MASK    0xff8003ffU                            /* mask that leaves out the number */
#define A64_IS_POP_FP_LR(op) (((op) & 0xfec07fff) == 0xa8c07bfd)  /* ldp x29, x30, [sp..], #.. */

/* Bytes from bl to its target. */
#define A64_BL_DISTANCE(op) ((__s64)((__s32)((__u32)(op) << 6) >> 4))

/* The 8 bytes before a return address, the first byte in the lowest bits: call rel32; call r/m of 2, 3,
 * 4, 6 or 7 bytes (ff /2). */
#define X86_IS_CALL(before)                                                              \
	((((before) >> 24) & 0xff) == 0xe8 || X86_CALL_RM(before, 48) ||                 \
		X86_CALL_RM(before, 40) || X86_CALL_RM(before, 32) ||                    \
		X86_CALL_RM(before, 16) || X86_CALL_RM(before, 8))
#define X86_CALL_RM(before, shift) ((((before) >> (shift)) & 0x38ff) == 0x10ff)
