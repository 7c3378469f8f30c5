/* SPDX-License-Identifier: Apache-2.0 */
/* shapes.S - functions without call frame information, by the shapes that assembler has. Each spins rdi times. */
	.text
#define FUNCTION(name) .globl name; .type name, @function; .p2align 4; name:
#define END(name) .size name, . - name
#define SPIN mov %rdi, %rcx; 9: dec %rcx; jnz 9b
FUNCTION(shape_leaf)
	SPIN
	ret
END(shape_leaf)
FUNCTION(shape_pushes)
	push %rbx
	push %r12
	push %rbp
	mov %rdi, %rbp
	SPIN
	mov %rbp, %rdi
	call shape_leaf
	pop %rbp
	pop %r12
	pop %rbx
	ret
END(shape_pushes)
FUNCTION(shape_sub)
	sub $0x128, %rsp
	mov %rdi, 8(%rsp)
	SPIN
	mov 8(%rsp), %rdi
	call shape_leaf
	add $0x128, %rsp
	ret
END(shape_sub)
FUNCTION(shape_tail)
	push %rbx
	SPIN
	pop %rbx
	jmp shape_leaf
END(shape_tail)
FUNCTION(shape_loop)
	push %rbx
	push %r13
	sub $8, %rsp
	mov $3, %ebx
	mov %rdi, %r13
1:	mov %r13, %rdi
	call shape_leaf
	test %r13, %r13
	je 2f
	dec %ebx
	jnz 1b
2:	add $8, %rsp
	pop %r13
	pop %rbx
	ret
END(shape_loop)
FUNCTION(shape_table)
	push %rbx
	sub $0x20, %rsp
	mov %rdi, 8(%rsp)
	mov $2, %ebx
1:	lea 7f(%rip), %rdx
	movslq (%rdx, %rbx, 4), %rax
	add %rdx, %rax
	mov 8(%rsp), %rdi
	jmp *%rax
	.p2align 4
2:	SPIN
	jmp 5f
	.p2align 4
3:	mov %rdi, %rdx
	SPIN
	jmp 5f
	.p2align 4
4:	call shape_leaf
	.p2align 4
5:	dec %ebx
	jns 1b
	add $0x20, %rsp
	pop %rbx
	ret
END(shape_table)
	.section .rodata
	.p2align 2
7:	.long 2b - 7b, 3b - 7b, 4b - 7b
	.text
FUNCTION(shape_align)
	mov %rsp, %rax
	sub $0x80, %rsp
	and $-64, %rsp
	mov %rax, 0x60(%rsp)
	mov %rdi, 0x40(%rsp)
	SPIN
	mov 0x40(%rsp), %rdi
	call shape_leaf
	mov 0x60(%rsp), %rsp
	ret
END(shape_align)
FUNCTION(shape_align_fp)
	push %rbp
	mov %rsp, %rbp
	and $-64, %rsp
	sub $0x80, %rsp
	mov %rdi, 0x40(%rsp)
	SPIN
	mov 0x40(%rsp), %rdi
	call shape_leaf
	leave
	ret
END(shape_align_fp)
	.section .note.GNU-stack, "", @progbits
