// SPDX-License-Identifier: Apache-2.0
/* diag.h - what is wrong with the script: place, tag, often a second place and
 * a hint. Complaints are collected in order and printed once, so that the
 * checker can learn silently. Reporting returns false: failing is one line. */
#pragma once
#include <stdbool.h>
#include <stdio.h>

#include "source.h"

struct arena;

enum diag_tag {
#define D(tag, name, help) DIAG_##tag,
#include "diag.def"
#undef D
	DIAG_MAX
};

struct diag;  /* one complaint */
struct diags; /* all of one source */

struct diags *diags_new(struct arena *a, const struct source *src);

/* An error; the first of these makes diags_failed() true. */
bool diag(struct diags *d, struct span at, enum diag_tag tag, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
/* A warning: printed, but the script runs. */
void diag_warn(struct diags *d, struct span at, enum diag_tag tag, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
/* A second place, or a hint, for the complaint just made. */
void diag_note(struct diags *d, struct span at, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
void diag_hint(struct diags *d, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

bool diags_failed(const struct diags *d);
unsigned diags_count(const struct diags *d);
/* Prints in the order of the source, one mistake once. colour: ANSI escapes. */
void diags_print(const struct diags *d, FILE *out, bool colour);

const char *diag_tag_name(enum diag_tag tag);

/* The nearest of the names to what was written, or NULL: for "did you mean". */
const char *nearest(const char *written, const char *const *names, size_t n);
