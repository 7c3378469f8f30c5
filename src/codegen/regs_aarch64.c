// SPDX-License-Identifier: Apache-2.0
/* regs_aarch64.c - AAPCS64 over arm64's struct user_pt_regs. */
#include "regs.h"

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

/* x0..x30, sp, pc */
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
