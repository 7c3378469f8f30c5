// SPDX-License-Identifier: Apache-2.0
/* jumped.c - frames like those of HotSpot's interpreter: in anonymous memory, without tables, and with return
 * addresses without a call before them. The program prints these addresses, then calls getppid() until it is
 * killed. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* caller: a frame with the caller's sp below its record, and a return address at `back`; jumps to callee,
 * which calls the first argument. */
#ifdef __aarch64__
static const uint32_t code[] = {
	0xd10083ff, /* caller: sub sp, sp, #32 */
	0xa9017bfd, /* stp x29, x30, [sp, #16] */
	0x910043fd, /* add x29, sp, #16 */
	0x910043a9, /* add x9, x29, #16 */
	0xf90007e9, /* str x9, [sp, #8] */
	0x1000005e, /* adr x30, back */
	0x14000004, /* b callee */
	0xa9417bfd, /* back: ldp x29, x30, [sp, #16] */
	0x910083ff, /* add sp, sp, #32 */
	0xd65f03c0, /* ret */
	0xa9bf7bfd, /* callee: stp x29, x30, [sp, #-16]! */
	0x910003fd, /* mov x29, sp */
	0xd63f0000, /* blr x0 */
	0xa8c17bfd, /* ldp x29, x30, [sp], #16 */
	0xd65f03c0, /* ret */
};
#define BACK   28
#define CALLED 52
#else
static const uint8_t code[] = {
	0x55,                               /* caller: push %rbp */
	0x48, 0x89, 0xe5,                   /* mov %rsp, %rbp */
	0x48, 0x8d, 0x45, 0x10,             /* lea 16(%rbp), %rax */
	0x50, 0x50,                         /* push %rax; push %rax */
	0x48, 0x8d, 0x05, 0x03, 0, 0, 0,    /* lea back(%rip), %rax */
	0x50,                               /* push %rax */
	0xeb, 0x02,                         /* jmp callee */
	0xc9, 0xc3,                         /* back: leave; ret */
	0x55,                               /* callee: push %rbp */
	0x48, 0x89, 0xe5,                   /* mov %rsp, %rbp */
	0xff, 0xd7,                         /* call *%rdi */
	0x5d, 0xc3,                         /* pop %rbp; ret */
};
#define BACK   20
#define CALLED 28
#endif

__attribute__((noinline)) static void call_on(void)
{
	for (;;)
		getppid();
}

int main(void)
{
	char *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		return 1;
	memcpy(p, code, sizeof(code));
	__builtin___clear_cache(p, p + sizeof(code));
	printf("%p %p\n", (void *)(p + CALLED - 1), (void *)(p + BACK - 1));
	fflush(stdout);
	((void (*)(void (*)(void)))p)(call_on);
}
