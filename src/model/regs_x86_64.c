// SPDX-License-Identifier: Apache-2.0
/* regs_x86_64.c - System V AMD64 calling convention with x86's struct pt_regs. */
#include "regs.h"

#include <string.h>

#include "base/owner.h"

/* The order is rdi rsi rdx rcx r8 r9. */
static const int args[] = {112, 104, 96, 88, 72, 64};

int regs_arg(unsigned i)
{
	return i < ARRAY_SIZE(args) ? args[i] : -1;
}

/* The order is rax rbx rcx rdi rsi r8 r9 r10 r11. */
static const int go_args[] = {80, 40, 88, 112, 104, 72, 64, 56, 48};

int regs_go_arg(unsigned i)
{
	return i < ARRAY_SIZE(go_args) ? go_args[i] : -1;
}

unsigned regs_go_args(void)
{
	return ARRAY_SIZE(go_args);
}

int regs_return(void)
{
	return 80; /* rax */
}

int regs_sp(void)
{
	return 152;
}

int regs_pc(void)
{
	return 128;
}

/* The order is rax rdx rcx rbx rsi rdi rbp rsp r8..r15 rip. */
static const int dwarf[] = {80, 96, 88, 40, 104, 112, 32, 152, 72, 64, 56, 48, 24, 16, 8, 0, 128};

int regs_dwarf(unsigned number)
{
	return number < ARRAY_SIZE(dwarf) ? dwarf[number] : -1;
}

unsigned regs_stack_args(void)
{
	return 8; /* above the return address */
}

unsigned regs_args(void)
{
	return ARRAY_SIZE(args);
}

unsigned regs_go_stack_args(void)
{
	return 8;
}

/* bpftrace's names of the members of struct pt_regs, in their order. */
static const char *const names[] = {
	"r15", "r14", "r13", "r12", "bp", "bx", "r11", "r10", "r9", "r8", "ax", "cx", "dx", "si", "di",
	"orig_rax", "ip", "cs", "flags", "sp", "ss",
};

int regs_named(const char *name)
{
	for (unsigned i = 0; i < ARRAY_SIZE(names); i++)
		if (!strcmp(names[i], name))
			return (int)i * 8;
	return strcmp(name, "pc") ? -1 : regs_ip();
}

int regs_ip(void)
{
	return 128;
}

int regs_mode(void)
{
	return 136; /* cs */
}

/* The mode is the requested privilege level. */
uint64_t regs_mode_mask(void)
{
	return 3;
}

uint64_t regs_mode_user(void)
{
	return 3;
}
