// SPDX-License-Identifier: Apache-2.0
/* check.h - functions for the .check functions of builtins. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/diag.h"

struct check;
struct expr;
struct probe;
struct provider;
struct script;
struct type;

struct arena *check_arena(struct check *c);
struct script *check_script(struct check *c);
struct probe *check_probe(struct check *c); /* returns the probe being checked */
const struct request *check_request(struct check *c);

/* Reports an error, but only in the last round: .check may call it in every round. Returns type_bad. */
const struct type *check_fail(struct check *c, struct span at, enum diag_tag tag,
	const char *fmt, ...) __attribute__((format(printf, 4, 5)));
void check_warn(struct check *c, struct span at, enum diag_tag tag, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
void check_note(struct check *c, struct span at, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
void check_hint(struct check *c, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* Returns whether a run of the probe, at a place of this provider, stands for N events: config thin. */
bool thin_event(const struct probe *p, const struct provider *provider);

/* Returns the i-th argument, or NULL. */
struct expr *call_arg(const struct expr *call, unsigned i);
/* Returns whether it is a constant integer once folded. */
bool expr_is_const(const struct expr *n, int64_t *ret_value);

/* Compares the arguments with the conversions of the format, in number and kind, for printf() and similar
 * functions. Returns false after an error. */
bool check_format(struct check *c, struct expr *fmt, struct expr *first_arg);

/* Returns whether this is the last round, in which types do not grow any more. */
bool check_is_last(const struct check *c);
/* Requests another round, since an expression was replaced by another one. */
void check_again(struct check *c);
/* Replaces a call by the constant that is its value. */
void check_becomes_bool(struct expr *n, bool value);
void check_becomes_int(struct expr *n, uint64_t value);
void check_becomes_string(struct expr *n, const char *text);

/* ---- machine.c: facts about the machine ---- */
/* Finds a kernel symbol of code or data. Returns false if kallsyms does not have it, or is hidden. */
bool check_kernel_address(struct check *c, const char *name, uint64_t *ret);
/* Returns the offset of a member of this kernel's struct task_struct, or -ENOENT. */
int check_task_offset(struct check *c, const char *member);
/* Returns 0 on success, -ENOTTY if the directory is not a cgroup, another -errno on other failures. */
int check_cgroup_id(struct check *c, const char *path, uint64_t *ret);
/* See target_cgroup_find(). */
int check_cgroup_place(struct check *c, const char *path, uint64_t *ret_id, int *ret_level);
/* Returns the module whose BTF has the function, or "vmlinux", or NULL if there is none. */
const char *check_kernel_function_module(struct check *c, const char *name);
/* A symbol of a program or library, and the byte at a file offset; both as addresses in the file. */
struct file_symbol {
	uint64_t vaddr, size, place;
	bool moves; /* the kernel chooses the address of the mapping */
};
bool check_file_symbol(struct check *c, const char *path, const char *name, uint64_t offset,
	struct file_symbol *ret);

/* Returns whether the script may use a feature that bpftrace calls unstable. The setting (enum unstable)
 * may forbid it. */
bool check_unstable(struct check *c, struct span at, const char *what, uint64_t setting);
/* Replaces a call of getopt() by the option's value, a literal. */
const struct type *check_option(struct check *c, struct expr *call);

/* Used where a string is wanted: a $1 that was given as a number becomes its text. Returns whether n is a
 * string literal now. */
bool expr_param_as_string(struct check *c, struct expr *n);
