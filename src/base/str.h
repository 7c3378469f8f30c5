// SPDX-License-Identifier: Apache-2.0
/* str.h - a string that grows. Start with `struct str s = {}`. It is NUL terminated after the first
 * addition. Running out of memory ends the program. */
#pragma once
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

struct str {
	char *data; /* NULL while empty; owned */
	size_t len; /* without the NUL */
	size_t cap;
};

void str_done(struct str *s);
void str_clear(struct str *s);
/* Makes room for more bytes and a NUL. */
void str_reserve(struct str *s, size_t more);

static inline void str_addn(struct str *s, const char *text, size_t n)
{
	if (s->cap - s->len <= n)
		str_reserve(s, n);
	if (n)
		memcpy(s->data + s->len, text, n);
	s->len += n;
	s->data[s->len] = '\0';
}

static inline void str_addc(struct str *s, char c)
{
	str_addn(s, &c, 1);
}

static inline void str_add(struct str *s, const char *text)
{
	str_addn(s, text, strlen(text));
}

/* Adds a Unicode character as UTF-8; an invalid one becomes U+FFFD. */
void str_add_char(struct str *s, uint32_t c);
void str_addf(struct str *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void str_addvf(struct str *s, const char *fmt, va_list ap)
	__attribute__((format(printf, 2, 0), nonnull(2)));

/* Add a number in decimal, as %ld and %lu do, in a tenth of the time. */
void str_add_int(struct str *s, int64_t v);
void str_add_uint(struct str *s, uint64_t v);

/* Returns whether the text is well-formed UTF-8 without C1 controls (U+0080..9f). */
bool str_is_utf8(const char *text, size_t n);

/* Adds a name that comes from outside (a file, function, thread..), for any output. Control characters and
 * invalid UTF-8 become \xNN, so that the name stays on one line and cannot control a terminal. A safe text
 * is not changed. */
void str_add_safe(struct str *s, const char *text, size_t n);
/* Adds text that a script prints to a terminal: newlines and tabs are kept. */
void str_add_lines(struct str *s, const char *text, size_t n);
/* Writes a name in the form of str_add_safe(). */
void str_put_safe(const char *text, FILE *out);

/* Adds the text as a quoted JSON string, which is valid JSON for any bytes. Invalid UTF-8 becomes \\xNN, as
 * in the text of str_add_safe(); control characters become \uNNNN. */
void str_add_json(struct str *s, const char *text, size_t n);

/* Returns the text, or "" if there is none. s keeps ownership. */
const char *str_text(const struct str *s);

/* Matches a pattern in which '*' stands for any text, as in attach points. */
bool glob_match(const char *pattern, const char *text);
