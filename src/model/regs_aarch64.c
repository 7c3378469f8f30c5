// SPDX-License-Identifier: Apache-2.0
/* regs_aarch64.c - AAPCS64 with arm64's struct user_pt_regs. */
#include "regs.h"

#include <stdlib.h>
#include <string.h>

enum { REG_ARGS = 8, GO_REG_ARGS = 16 }; /* x0..x7, x0..x15 */

int regs_arg(unsigned i)
{
	return i < REG_ARGS ? (int)i * 8 : -1;
}

int regs_go_arg(unsigned i)
{
	return i < GO_REG_ARGS ? (int)i * 8 : -1;
}

unsigned regs_go_args(void)
{
	return GO_REG_ARGS;
}

int regs_return(void)
{
	return 0; /* x0 */
}

int regs_sp(void)
{
	return 31 * 8;
}

int regs_pc(void)
{
	return 32 * 8;
}

/* The order is x0..x30, sp, pc. */
int regs_dwarf(unsigned number)
{
	return number <= 32 ? (int)number * 8 : -1;
}

unsigned regs_stack_args(void)
{
	return 0;
}

unsigned regs_args(void)
{
	return REG_ARGS;
}

unsigned regs_go_stack_args(void)
{
	return 8;
}

/* Reads "r0" to "r30", or "x0" to "x30". */
static int numbered(const char *name)
{
	char *end;
	long n;

	if ((name[0] != 'r' && name[0] != 'x') || name[1] < '0' || name[1] > '9')
		return -1;
	n = strtol(name + 1, &end, 10);
	return *end || n > 30 ? -1 : (int)n * 8;
}

int regs_named(const char *name)
{
	if (!strcmp(name, "sp"))
		return regs_sp();
	if (!strcmp(name, "pc") || !strcmp(name, "ip"))
		return regs_ip();
	if (!strcmp(name, "pstate"))
		return 33 * 8;
	return numbered(name);
}

int regs_ip(void)
{
	return 32 * 8;
}

int regs_mode(void)
{
	return 33 * 8; /* pstate */
}

/* PSR_MODE_MASK, PSR_MODE_EL0t (uapi/asm/ptrace.h). */
uint64_t regs_mode_mask(void)
{
	return 0xf;
}

uint64_t regs_mode_user(void)
{
	return 0;
}
