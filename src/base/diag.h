// SPDX-License-Identifier: Apache-2.0
/* diag.h - errors and warnings about a script: each has a position and a tag, often a second position and a
 * hint. They are collected and printed once, at the end. Reporting an error returns false, so that `return
 * diag(..)` reports and fails. */
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

struct diag;  /* one error or warning */
struct diags; /* the errors and warnings of one source */

struct diags *diags_new(struct arena *a, const struct source *src);

/* Reports an error. diags_failed() is true from then on. */
bool diag(struct diags *d, struct span at, enum diag_tag tag, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
/* Reports a warning; the script still runs. */
void diag_warn(struct diags *d, struct span at, enum diag_tag tag, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
/* Adds a second position or a hint to the latest error or warning. */
void diag_note(struct diags *d, struct span at, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
void diag_hint(struct diags *d, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

bool diags_failed(const struct diags *d);
/* Returns whether there are no errors and no warnings. */
bool diags_none(const struct diags *d);
/* Returns whether later errors and warnings are dropped. */
bool diags_full(const struct diags *d);
/* Prints in the order of the source, without duplicates. colour: with ANSI escapes. */
void diags_print(const struct diags *d, FILE *out, bool colour);

const char *diag_tag_name(enum diag_tag tag);

/* Returns the most similar name, for "did you mean". Returns NULL if no name is similar. */
const char *nearest(const char *written, const char *const *names, size_t n);
