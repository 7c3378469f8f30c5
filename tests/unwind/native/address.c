// SPDX-License-Identifier: Apache-2.0
/* address.c - a stack with an address in anonymous memory and an address that is not mapped, both of 47 bits.
 * The program prints these addresses, then calls getppid() until it is killed. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define ANONYMOUS 0x7ac0de000000ULL
#define UNMAPPED  0x7bad12345678ULL

/* A function with a frame pointer that calls its first argument. */
#ifdef __aarch64__
static const uint32_t code[] = {
	0xa9bf7bfd, /* stp x29, x30, [sp, #-16]! */
	0x910003fd, /* mov x29, sp */
	0xd63f0000, /* blr x0 */
	0xa8c17bfd, /* ldp x29, x30, [sp], #16 */
	0xd65f03c0, /* ret */
};
#define RETURNS_AT 12
#else
static const uint8_t code[] = {
	0x55,             /* push %rbp */
	0x48, 0x89, 0xe5, /* mov %rsp, %rbp */
	0xff, 0xd7,       /* call *%rdi */
	0x5d,             /* pop %rbp */
	0xc3,             /* ret */
};
#define RETURNS_AT 6
#endif

__attribute__((noinline)) static void call_on(void)
{
	for (;;)
		getppid();
}

/* Its return address is not in a mapping. */
__attribute__((noinline)) static void returns_nowhere(void *to)
{
	((volatile uint64_t *)__builtin_frame_address(0))[1] = UNMAPPED;
	((void (*)(void (*)(void)))to)(call_on);
	__asm__ volatile("");
}

int main(void)
{
	void *p = mmap((void *)ANONYMOUS, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);

	if (p == MAP_FAILED)
		return 1;
	memcpy(p, code, sizeof(code));
	__builtin___clear_cache(p, (char *)p + sizeof(code));
	printf("%#llx %#llx\n", ANONYMOUS + RETURNS_AT - 1, UNMAPPED - 1);
	fflush(stdout);
	returns_nowhere(p);
}
