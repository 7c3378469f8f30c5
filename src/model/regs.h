// SPDX-License-Identifier: Apache-2.0
/* regs.h - the places of a function's arguments in struct pt_regs (uapi/asm/ptrace.h; the order has not
 * changed since BPF exists). Offsets are in bytes. */
#pragma once
#include <stdint.h>

/* Returns the offset of the register of argument i, or -1 if it is on the stack. */
int regs_arg(unsigned i);
int regs_return(void);
/* Returns the offset of the register with a DWARF number, see target/sdt.h; -1 if there is none. */
int regs_dwarf(unsigned number);
int regs_sp(void);
int regs_pc(void);
/* Returns the bytes from sp, at the function's first instruction, to the first argument on the stack. */
unsigned regs_stack_args(void);
/* Returns the number of arguments in registers. */
unsigned regs_args(void);

/* Returns the offset of a register by its name, or -1 if there is none. */
int regs_named(const char *name);
/* Returns the offset of the instruction pointer. */
int regs_ip(void);
/* Returns the offset of the register with the CPU's mode. In a program, its bits under the mask are
 * regs_mode_user(). */
int regs_mode(void);
uint64_t regs_mode_mask(void);
uint64_t regs_mode_user(void);

/* Returns the same for Go's ABIInternal (src/cmd/compile/abi-internal.md), from Go 1.17, on arm64 from 1.18
 * on. i counts integers and pointers: a string is two, a slice three. */
int regs_go_arg(unsigned i);
unsigned regs_go_args(void);
/* Returns the bytes from sp to the first argument on the stack, which is after the return address or the
 * word that is reserved for it. */
unsigned regs_go_stack_args(void);
