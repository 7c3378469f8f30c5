// SPDX-License-Identifier: Apache-2.0
#include "number.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

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

/* Reads at least one digit of the base, with '_' allowed between digits. */
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
	const char *from = ++r->at;
	unsigned zeros = 0;

	for (; r->at < r->end && isdigit((unsigned char)*r->at); r->at++)
		zeros = zeros < 100 ? zeros * 10 + (unsigned)digit(*r->at) : 100;
	for (; zeros; zeros--)
		times(r, 10, 0);
	return r->at > from;
}

int number_read(const char *text, size_t len, uint64_t *ret, size_t *ret_len)
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
	*ret = r.value;
	*ret_len = (size_t)(r.at - text);
	return !ok ? -EINVAL : r.overflow ? -ERANGE : 0;
}

bool number_is(const char *text, uint64_t *ret)
{
	size_t len = strlen(text), n;

	return !number_read(text, len, ret, &n) && n == len;
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

/* is_decimal: only decimal numbers may have a unit of time. */
static bool read_suffix(const char *text, size_t len, bool is_decimal, uint64_t *ret_factor)
{
	for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
		if (strlen(suffixes[i].text) != len || strncasecmp(suffixes[i].text, text, len))
			continue;
		*ret_factor = suffixes[i].factor;
		return *ret_factor == 1 || (is_decimal && !strncmp(suffixes[i].text, text, len));
	}
	return false;
}

int number_literal(const char *text, size_t len, uint64_t *ret)
{
	bool is_decimal = len < 2 || *text != '0' || !(isdigit((unsigned char)text[1]) || (text[1] | 32) == 'x');
	uint64_t factor;
	size_t n;
	int r = number_read(text, len, ret, &n);

	if (r == -EINVAL || !read_suffix(text + n, len - n, is_decimal, &factor))
		return -EINVAL;
	return r || __builtin_mul_overflow(*ret, factor, ret) ? -ERANGE : 0;
}
