// SPDX-License-Identifier: Apache-2.0
/* source.h - a source of types, which is a row in types.c. */
#pragma once
#include "types.h"

struct btf_types;

struct type_source {
	void *state; /* argument for the functions; NULL if the source is empty */
	const struct type *(*find)(void *state, enum type_tag tag, const char *name);
	bool (*constant)(void *state, const char *name, struct constant *ret); /* may be NULL */
	const char *(*macro)(void *state, const char *name); /* may be NULL */
	/* Calls f for each name of the tag, in any order. */
	void (*names)(void *state, enum type_tag tag, void (*f)(void *arg, const char *name), void *arg);
	void (*close)(void *state);
	/* NULL except for imported programs in C. */
	const struct c_function *(*function)(void *state, const char *name);
	bool (*compile)(void *state, struct c_object *ret); /* size is 0 if no function is called */
};

/* Each function fills in its own source. A source that cannot be opened has no state. */
void btf_source(struct arena *a, struct target *t, struct types *ts, struct type_source *ret);

/* The traced programs, which are asked before the kernel. */
struct programs;
struct programs *programs_source(struct arena *a, struct type_source *ret);
struct programs *types_programs(struct types *ts);

/* Adds a source that is asked before all earlier ones. */
void types_add_source(struct types *ts, const struct type_source *s);
/* Notes a header of the C part that does not exist and is skipped. */
void types_miss_header(struct types *ts, const char *name);
/* Notes that a C part depends on the machine: see types_c_is_bound(). */
void types_bind_c(struct types *ts);
struct arena *types_arena(struct types *ts);
struct target *types_target(struct types *ts);
/* Returns the type of that name in BTF, even if other sources have it, too, or NULL. */
const struct type *types_find_kernel(struct types *ts, enum type_tag tag, const char *name);
/* Returns the state of the kernel's source (see btf.h), or NULL if there is no BTF. */
struct btf_types *types_kernel(struct types *ts);
