// SPDX-License-Identifier: Apache-2.0
/* advice.h - hints below an answer: options that show less or more of the same stacks. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

struct frame_list;
struct map_content;
struct show;

/* Facts about the printed stacks. The texts are those of the frames' names. */
struct advice {
	size_t stacks;        /* number of entries with stacks */
	const char *own;      /* source or ELF file of the program's own code; NULL: none was found */
	size_t idle;          /* number of idle entries that were left out */
	size_t startup;       /* number of stacks of the C library's start that were left out */
	size_t idle_threads;  /* number of rows of a table that were left out */
	bool all_idle;        /* a map has only idle entries, which are printed */
	const char *language; /* language of that file; NULL: native */
	char *begins;         /* what ":~12" in a stack means; owned; NULL: no stack had it */
};

/* Looks at the stacks of a map's keys. */
void advice_map(struct advice *a, const struct show *s, const struct map_content *c);
/* Counts the idle entries of a map. */
void advice_idle(struct advice *a, const struct map_content *c);
/* Logs how many waits were left out because they are idle. */
void advice_show_idle(const struct advice *a);
/* Logs what ":~12" in a stack means, if one had it. */
void advice_begins(const struct advice *a);
/* Logs a hint if a person gets many stacks, most of whose frames belong to libraries. */
void advice_own_code(const struct advice *a);
