// SPDX-License-Identifier: Apache-2.0
/* regs.h - where a function's arguments are in struct pt_regs (uapi/asm/ptrace.h,
 * the order has not changed since BPF exists). Offsets in bytes. */
#pragma once
#include <stdint.h>

/* Offset of the register of argument i; -1: it lies on the stack. */
int regs_arg(unsigned i);
int regs_return(void);
/* Offset of the register of a number in DWARF, see target/sdt.h; -1: there is none. */
int regs_dwarf(unsigned number);
int regs_sp(void);
int regs_pc(void);
/* Bytes from sp, at the function's first instruction, to its first argument there. */
unsigned regs_stack_args(void);
/* Number of arguments in registers. */
unsigned regs_args(void);

/* Offset of a register by its name; -1: there is none of that name. */
int regs_named(const char *name);
/* Of the instruction pointer. */
int regs_ip(void);
/* Of the register that says in which mode the CPU was: its bits under the mask are regs_mode_user() in a
 * program. */
int regs_mode(void);
uint64_t regs_mode_mask(void);
uint64_t regs_mode_user(void);

/* The same of Go's ABIInternal (src/cmd/compile/abi-internal.md), from Go 1.17, on arm64
 * 1.18 on: integers and pointers; a string is two, a slice three. */
int regs_go_arg(unsigned i);
unsigned regs_go_args(void);
/* Bytes from sp to the first argument that lies on the stack: behind the return address, or
 * the word that is kept for it. */
unsigned regs_go_stack_args(void);
