// SPDX-License-Identifier: Apache-2.0
/* literal.c - reads the values of numbers and strings:
 *
 *     12  1_000  0x1f  017  5e3  10u 10ull  1ns 1us 1ms 1s 1m 1h 1d */
#include "parse.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "base/arena.h"
#include "base/number.h"

struct expr *literal_int(struct parse *p, struct span at, const char *text, size_t len)
{
	struct expr *n = ast_expr(p, at, EXPR_INT);
	uint64_t value = 0;
	int r;

	r = number_literal(text, len, &value);
	if (r == -EINVAL) {
		diag(p->diags, at, DIAG_LITERAL, "'%.*s' is not a number", (int)len, text);
		diag_hint(p->diags, "numbers are written 12, 1_000, 0x1f, 017, 5e3, 10ms");
	} else if (r) {
		diag(p->diags, at, DIAG_LITERAL, "%.*s does not fit in 64 bits", (int)len, text);
	}
	if (r)
		value = 0;
	n->integer.value = value;
	n->integer.is_unsigned = value > INT64_MAX;
	return n;
}

/* ---- strings ---- */

static int digit(char c)
{
	return c >= '0' && c <= '9'	    ? c - '0'
	       : isxdigit((unsigned char)c) ? (c | 32) - 'a' + 10
					    : 99;
}

/* Reads up to max digits of the base at *at. Returns false if there are none. */
static bool read_code(const char **at, int base, int max, char *ret)
{
	int value = 0, n = 0;

	for (; n < max && digit(**at) < base; n++, ++*at)
		value = value * base + digit(**at);
	*ret = (char)value;
	return n > 0;
}

/* Reads the character after a backslash. Returns false if there is no such escape. */
static bool read_escape(const char **at, char *ret)
{
	static const char from[] = "ntrabfv\"\\'", to[] = "\n\t\r\a\b\f\v\"\\'";
	char c = **at;
	const char *found;

	if (c == 'x') {
		++*at;
		return read_code(at, 16, 2, ret);
	}
	if (c >= '0' && c <= '7')
		return read_code(at, 8, 3, ret);
	found = c ? strchr(from, c) : NULL;
	++*at;
	*ret = found ? to[found - from] : c;
	return found;
}

struct expr *literal_string(struct parse *p, struct span at, const char *text, size_t len)
{
	struct expr *n = ast_expr(p, at, EXPR_STRING);
	const char *c = text + 1, *end = text + len - 1;
	char *out = arena_alloc(p->arena, len);
	uint32_t size = 0;

	while (c < end) {
		struct span escape = {at.start + (uint32_t)(c - text), 0};

		if (*c != '\\') {
			out[size++] = *c++;
			continue;
		}
		c++;
		if (!read_escape(&c, &out[size++])) {
			escape.end = at.start + (uint32_t)(c - text);
			diag(p->diags, escape, DIAG_LITERAL,
				"unknown escape in a string");
			diag_hint(p->diags, "the escapes are \\n \\t \\r \\\" \\\\ \\033 \\x1b;"
					    " a backslash itself is \\\\");
		}
	}
	n->string.text = out;
	n->string.len = size;
	return n;
}
