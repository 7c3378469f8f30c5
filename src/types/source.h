// SPDX-License-Identifier: Apache-2.0
/* source.h - a source of types: a row in types.c. */
#pragma once
#include "types.h"

struct btf_types;

struct type_source {
	void *state; /* passed to the functions; NULL: there is nothing, do not ask */
	const struct type *(*find)(void *state, enum type_tag tag, const char *name);
	bool (*constant)(void *state, const char *name, struct constant *ret); /* may be NULL */
	const char *(*macro)(void *state, const char *name); /* may be NULL */
	/* Every name of the tag, in any order. */
	void (*names)(void *state, enum type_tag tag, void (*f)(void *arg, const char *name), void *arg);
	void (*close)(void *state);
	/* Of imported programs in C, else NULL. */
	const struct c_function *(*function)(void *state, const char *name);
	bool (*compile)(void *state, struct c_object *ret); /* size is 0 where nothing is called */
};

/* Each fills its own; a source that cannot be opened has no state. */
void btf_source(struct arena *a, struct target *t, struct types *ts, struct type_source *ret);

/* The programs that are traced; asked before the kernel. */
struct programs;
struct programs *programs_source(struct arena *a, struct type_source *ret);
struct programs *types_programs(struct types *ts);

/* Asks before all sources that are there already. */
void types_add_source(struct types *ts, const struct type_source *s);
/* A header of the C part is not there, and is passed over. */
void types_miss_header(struct types *ts, const char *name);
struct arena *types_arena(struct types *ts);
struct target *types_target(struct types *ts);
/* The type of that name in BTF, whatever the other sources have; NULL. */
const struct type *types_find_kernel(struct types *ts, enum type_tag tag, const char *name);
/* The state of the kernel's source, of btf.h; NULL: there is no BTF. */
struct btf_types *types_kernel(struct types *ts);
