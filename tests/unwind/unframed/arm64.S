/* SPDX-License-Identifier: Apache-2.0 */
/* arm64.S - functions without call frame information, by the shapes that assembler has. Each dies if x0 is not 0, else it
 * calls arm_leaf, which dies. TABLES: with call frame information, to compare. */
#ifdef TABLES
#define CFI(...) .cfi_##__VA_ARGS__
#else
#define CFI(...)
#endif
#define FUNCTION(name) .globl name; .type name, %function; .p2align 4; name: CFI(startproc)
#define END(name) CFI(endproc); .size name, . - name
#define FRAME(size) CFI(def_cfa_offset size); CFI(offset 29, -size); CFI(offset 30, -size + 8)
#define NO_FRAME CFI(restore 29); CFI(restore 30); CFI(def_cfa_offset 0)
	.text
FUNCTION(arm_leaf)
	mov x1, #3
1:	subs x1, x1, #1
	b.ne 1b
	udf #1
END(arm_leaf)
FUNCTION(arm_pushes)
	stp x29, x30, [sp, #-48]!
	FRAME(48)
	stp x19, x20, [sp, #16]
	stp d8, d9, [sp, #32]
	mov x29, xzr
	cbnz x0, 9f
	bl arm_leaf
	ldp d8, d9, [sp, #32]
	ldp x19, x20, [sp, #16]
	ldp x29, x30, [sp], #48
	NO_FRAME
	ret
	CFI(def_cfa_offset 48); CFI(offset 29, -48); CFI(offset 30, -40)
9:	udf #1
END(arm_pushes)
FUNCTION(arm_sub)
	sub sp, sp, #4096
	CFI(def_cfa_offset 4096)
	sub sp, sp, #64
	CFI(def_cfa_offset 4160)
	str x30, [sp, #4096]
	CFI(offset 30, -64)
	cbnz x0, 9f
	bl arm_leaf
	ldr x30, [sp, #4096]
	CFI(restore 30)
	add sp, sp, #64
	CFI(def_cfa_offset 4096)
	add sp, sp, #1, lsl #12
	CFI(def_cfa_offset 0)
	ret
	CFI(def_cfa_offset 4160); CFI(offset 30, -64)
9:	udf #1
END(arm_sub)
FUNCTION(arm_single)
	str x30, [sp, #-16]!
	CFI(def_cfa_offset 16); CFI(offset 30, -16)
	cbnz x0, 9f
	bl arm_leaf
	ldr x30, [sp], #16
	CFI(restore 30); CFI(def_cfa_offset 0)
	ret
	CFI(def_cfa_offset 16); CFI(offset 30, -16)
9:	udf #1
END(arm_single)
FUNCTION(arm_tail)
	stp x29, x30, [sp, #-16]!
	FRAME(16)
	cbnz x0, 9f
	ldp x29, x30, [sp], #16
	NO_FRAME
	b arm_leaf
	FRAME(16)
9:	udf #1
END(arm_tail)
FUNCTION(arm_loop)
	stp x29, x30, [sp, #-32]!
	FRAME(32)
	mov x29, sp
	stp x19, x20, [sp, #16]
	mov x20, x0
	mov x19, #3
1:	cbnz x20, 9f
	mov x0, x20
	bl arm_leaf
	subs x19, x19, #1
	b.ne 1b
	ldp x19, x20, [sp, #16]
	ldp x29, x30, [sp], #32
	NO_FRAME
	ret
	FRAME(32)
9:	udf #1
END(arm_loop)
FUNCTION(arm_align)
	stp x29, x30, [sp, #-32]!
	FRAME(32)
	mov x29, sp
	str x19, [sp, #16]
	sub x9, sp, #96
	and sp, x9, #-64
	CFI(def_cfa 29, 32)
	str x0, [sp, #40]
	cbnz x0, 9f
	bl arm_leaf
	mov sp, x29
	CFI(def_cfa 31, 32)
	ldr x19, [sp, #16]
	ldp x29, x30, [sp], #32
	NO_FRAME
	ret
	FRAME(32); CFI(def_cfa 29, 32)
9:	udf #1
END(arm_align)
FUNCTION(arm_signed)
	.inst 0xd503233f /* paciasp */
	CFI(negate_ra_state)
	stp x29, x30, [sp, #-16]!
	FRAME(16)
	cbnz x0, 9f
	bl arm_leaf
	ldp x29, x30, [sp], #16
	NO_FRAME
	.inst 0xd50323bf /* autiasp */
	CFI(negate_ra_state)
	ret
	FRAME(16); CFI(negate_ra_state)
9:	udf #1
END(arm_signed)
FUNCTION(arm_table)
	stp x29, x30, [sp, #-16]!
	FRAME(16)
	mov x29, sp
	adr x1, 7f
	cmp x0, #0
	cset x2, ne
	ldr w2, [x1, x2, lsl #2]
	add x1, x1, w2, sxtw
	br x1
	.p2align 4
2:	bl arm_leaf
	b 4f
	.p2align 4
3:	udf #1
4:	ldp x29, x30, [sp], #16
	NO_FRAME
	ret
END(arm_table)
	.section .rodata
	.p2align 2
7:	.long 2b - 7b, 3b - 7b
	.section .note.GNU-stack, "", %progbits
