// SPDX-License-Identifier: Apache-2.0
/* literal.c - the text of a number or string -> its value.
 *
 *     12  1_000  0x1f  017  5e3  10u 10ull  1ns 1us 1ms 1s 1m 1h 1d
 */
#include "parse.h"

#include <ctype.h>
#include <string.h>

#include "base/arena.h"

enum reading { READ_OK, READ_BAD, READ_TOO_LARGE };

struct reader {
	const char *at, *end;
	uint64_t value;
	bool overflow;
};

static void times(struct reader *r, uint64_t factor, uint64_t plus)
{
	r->overflow |= __builtin_mul_overflow(r->value, factor, &r->value);
	r->overflow |= __builtin_add_overflow(r->value, plus, &r->value);
}

static int digit(char c)
{
	return c >= '0' && c <= '9'	    ? c - '0'
	       : isxdigit((unsigned char)c) ? (c | 32) - 'a' + 10
					    : 99;
}

/* Digits of the base, '_' between them; at least one. */
static bool read_digits(struct reader *r, int base)
{
	const char *from = r->at;

	for (; r->at < r->end; r->at++) {
		if (*r->at == '_' && r->at > from)
			continue;
		if (digit(*r->at) >= base)
			break;
		times(r, (uint64_t)base, (uint64_t)digit(*r->at));
	}
	return r->at > from;
}

static bool read_exponent(struct reader *r)
{
	unsigned zeros = 0;

	for (r->at++; r->at < r->end && isdigit((unsigned char)*r->at); r->at++)
		zeros = zeros < 100 ? zeros * 10 + (unsigned)digit(*r->at) : 100;
	for (; zeros; zeros--)
		times(r, 10, 0);
	return r->at[-1] != 'e';
}

static const struct {
	const char *text;
	uint64_t factor;
} suffixes[] = {
	{"", 1},
	{"d", 86400000000000},
	{"h", 3600000000000},
	{"l", 1},
	{"ll", 1},
	{"m", 60000000000},
	{"ms", 1000000},
	{"ns", 1},
	{"s", 1000000000},
	{"u", 1},
	{"ul", 1},
	{"ull", 1},
	{"us", 1000},
};

static bool read_suffix(struct reader *r, bool plain)
{
	size_t len = (size_t)(r->end - r->at);

	for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
		if (strlen(suffixes[i].text) != len ||
			strncasecmp(suffixes[i].text, r->at, len))
			continue;
		if (suffixes[i].factor > 1 &&
			(!plain || strncmp(suffixes[i].text, r->at, len)))
			return false;
		times(r, suffixes[i].factor, 0);
		return true;
	}
	return false;
}

static enum reading read_int(const char *text, size_t len, uint64_t *ret)
{
	struct reader r = {.at = text, .end = text + len};
	int base = 10;
	bool ok;

	if (len > 1 && text[0] == '0' && (text[1] | 32) == 'x') {
		base = 16;
		r.at += 2;
	} else if (len > 1 && text[0] == '0' && isdigit((unsigned char)text[1])) {
		base = 8;
	}
	ok = read_digits(&r, base);
	if (ok && base == 10 && r.at < r.end && *r.at == 'e')
		ok = read_exponent(&r);
	if (!ok || !read_suffix(&r, base == 10))
		return READ_BAD;
	*ret = r.value;
	return r.overflow ? READ_TOO_LARGE : READ_OK;
}

struct expr *literal_int(struct parse *p, struct span at, const char *text, size_t len)
{
	struct expr *n = ast_expr(p, at, EXPR_INT);
	uint64_t value = 0;

	switch (read_int(text, len, &value)) {
	case READ_OK:
		break;
	case READ_BAD:
		diag(p->diags, at, DIAG_LITERAL, "'%.*s' is not a number", (int)len,
			text);
		diag_hint(
			p->diags, "numbers are written 12, 1_000, 0x1f, 017, 5e3, 10ms");
		break;
	case READ_TOO_LARGE:
		diag(p->diags, at, DIAG_LITERAL, "%.*s does not fit in 64 bits", (int)len,
			text);
		value = 0;
		break;
	}
	n->integer.value = value;
	n->integer.is_unsigned = value > INT64_MAX;
	return n;
}

/* ---- strings ---- */

/* Up to max digits of the base at *at; false when there is none. */
static bool read_code(const char **at, int base, int max, char *ret)
{
	int value = 0, n = 0;

	for (; n < max && digit(**at) < base; n++, ++*at)
		value = value * base + digit(**at);
	*ret = (char)value;
	return n > 0;
}

/* The character after a backslash; false when there is no such escape. */
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
