// SPDX-License-Identifier: Apache-2.0
/* unframed.c - assembler without unwind tables. The frame pointer's register has another value: the address of zeros,
 * or 0 below a function that keeps frame pointers. A function keeps its return address elsewhere. Or the register has
 * the value of the caller, at the beginning of the function that runs when a library ends (__do_global_dtors_aux). The
 * program prints the address of that place. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

void points_to_zeros(void), is_zero(void), odd(void), begins(void);

#ifdef __x86_64__
__asm__(".text\n"
	".type points_to_zeros, @function\n"
	"points_to_zeros:\n"
	"	push %rbp\n"
	"	push $0\n"
	"	push $0\n"
	"	mov %rsp, %rbp\n"
	"	sub $8, %rsp\n"
	"	call getppid@plt\n"
	"	nop\n"
	"	add $24, %rsp\n"
	"	pop %rbp\n"
	"	ret\n"
	".size points_to_zeros, . - points_to_zeros\n"
	".type framed, @function\n"
	"framed:\n"
	"	push %rbp\n"
	"	mov %rsp, %rbp\n"
	"	call getppid@plt\n"
	"	nop\n"
	"	pop %rbp\n"
	"	ret\n"
	".size framed, . - framed\n"
	".type is_zero, @function\n"
	"is_zero:\n"
	"	push %rbp\n"
	"	xor %ebp, %ebp\n"
	"	sub $8, %rsp\n"
	"	call framed\n"
	"	nop\n"
	"	add $8, %rsp\n"
	"	pop %rbp\n"
	"	ret\n"
	".size is_zero, . - is_zero\n"
	".type odd, @function\n"
	"odd:\n"
	"	pop kept(%rip)\n"
	"	call getppid@plt\n"
	"	nop\n"
	"	push kept(%rip)\n"
	"	ret\n"
	".size odd, . - odd\n"
	".local kept\n"
	".comm kept, 8\n"
	".globl begins\n"
	".type begins, @function\n"
	"begins:\n"
	"	endbr64\n"
	"	cmpb $0, begun(%rip)\n"
	"	jne 1f\n"
	"	nop\n"
	"1:	ret\n"
	".size begins, . - begins\n"
	".local begun\n"
	".comm begun, 1\n");
#else
void points_to_zeros(void) {}
void is_zero(void) {}
void odd(void) {}
void begins(void) {}
#endif

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";
	void (*call)(void) = !strcmp(how, "zeros") ? points_to_zeros : !strcmp(how, "odd") ? odd : is_zero;

	printf("%p\n", (void *)begins);
	fflush(stdout);
	for (;;) {
		call();
		begins();
		usleep(10000);
	}
}
