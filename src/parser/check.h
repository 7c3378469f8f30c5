// SPDX-License-Identifier: Apache-2.0
/* check.h - for the .check functions of builtins. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/diag.h"

struct check;
struct expr;
struct probe;
struct script;
struct type;

struct arena *check_arena(struct check *c);
struct script *check_script(struct check *c);
struct probe *check_probe(struct check *c); /* the probe being checked */
const struct request *check_request(struct check *c);

/* An error, reported in the last round only: .check may call it in every round. Gives type_bad. */
const struct type *check_fail(struct check *c, struct span at, enum diag_tag tag,
	const char *fmt, ...) __attribute__((format(printf, 4, 5)));
void check_warn(struct check *c, struct span at, enum diag_tag tag, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
void check_note(struct check *c, struct span at, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
void check_hint(struct check *c, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* The i-th argument, or NULL. */
struct expr *call_arg(const struct expr *call, unsigned i);
/* Is it a constant integer, once folded? */
bool expr_is_const(const struct expr *n, int64_t *ret_value);

/* Do the arguments agree with the conversions of the format, in number and kind? False after an
 * error. For printf() and the like. */
bool check_format(struct check *c, struct expr *fmt, struct expr *first_arg);

/* Is it the last round? What grows until then is known now. */
bool check_is_last(const struct check *c);
/* Another round is wanted: an expression has become another one. */
void check_again(struct check *c);
/* A call becomes the constant that it is. */
void check_becomes_bool(struct expr *n, bool value);
void check_becomes_int(struct expr *n, uint64_t value);
void check_becomes_string(struct expr *n, const char *text);

/* ---- machine.c: asked of the machine ---- */
/* A symbol of the kernel's, data too; false: kallsyms has it not, or is hidden. */
bool check_kernel_address(struct check *c, const char *name, uint64_t *ret);
/* 0 or -errno; -ENOTTY: it is no cgroup. */
int check_cgroup_id(struct check *c, const char *path, uint64_t *ret);
/* The module whose BTF has the function, or "vmlinux"; NULL: none has. */
const char *check_kernel_function_module(struct check *c, const char *name);
/* A symbol of a program or library, and the byte at a file offset, as addresses that the file gives. */
struct file_symbol {
	uint64_t vaddr, size, place;
	bool moves; /* the kernel chooses where the file is mapped */
};
bool check_file_symbol(struct check *c, const char *path, const char *name, uint64_t offset,
	struct file_symbol *ret);

/* What bpftrace calls unstable, which the setting may forbid (enum unstable): may it be used? */
bool check_unstable(struct check *c, struct span at, const char *what, uint64_t setting);
/* getopt(): replaces the call by the option's value, a literal. */
const struct type *check_option(struct check *c, struct expr *call);

/* Where a string is wanted: $1 that was given as a number becomes its text. True: n is a string
 * literal now. */
bool expr_param_as_string(struct check *c, struct expr *n);
