// SPDX-License-Identifier: Apache-2.0
/* str.h - a string that grows. Start from `struct str s = {}`; always NUL
 * terminated once something was added; running out of memory ends the program. */
#pragma once
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct str {
	char *data; /* NULL while empty; owned */
	size_t len; /* without the NUL */
	size_t cap;
};

void str_done(struct str *s);
void str_clear(struct str *s);
void str_add(struct str *s, const char *text);
void str_addn(struct str *s, const char *text, size_t n);
void str_addc(struct str *s, char c);
/* A Unicode character as UTF-8; an invalid one becomes U+FFFD. */
void str_add_char(struct str *s, uint32_t c);
void str_addf(struct str *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void str_addvf(struct str *s, const char *fmt, va_list ap)
	__attribute__((format(printf, 2, 0), nonnull(2)));

/* A name that comes from outside (a file, a function, a thread..), for every output: control characters and invalid
 * UTF-8 become \xNN, so that it is one line, and no terminal obeys it. A safe text is not changed. */
void str_add_safe(struct str *s, const char *text, size_t n);
/* Text that a script prints, for a terminal: newlines and tabs are kept. */
void str_add_lines(struct str *s, const char *text, size_t n);
/* Writes a name by str_add_safe(). */
void str_put_safe(const char *text, FILE *out);

/* The text as a JSON string with its quotes: valid JSON whatever the bytes are. What is no valid UTF-8
 * becomes \\xNN, as in str_add_safe()'s text; control characters are \uNNNN. */
void str_add_json(struct str *s, const char *text, size_t n);

/* The text, "" when empty; owned by s. */
const char *str_text(const struct str *s);

/* '*' matches any text, as in attach points; the rest is literal. */
bool glob_match(const char *pattern, const char *text);
