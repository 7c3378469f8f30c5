// SPDX-License-Identifier: Apache-2.0
/* str.c - strings that grow by doubling, and patterns with *. */
#include "str.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"

void str_reserve(struct str *s, size_t more)
{
	size_t cap = s->cap ? s->cap : 64;

	while (cap - s->len <= more)
		cap *= 2;
	if (cap == s->cap)
		return;
	s->data = realloc(s->data, cap);
	if (!s->data)
		out_of_memory();
	s->cap = cap;
}

void str_done(struct str *s)
{
	free(s->data);
	*s = (struct str){};
}

void str_clear(struct str *s)
{
	s->len = 0;
	if (s->data)
		s->data[0] = '\0';
}

void str_add_char(struct str *s, uint32_t c)
{
	if (c < 0x80) {
		str_addc(s, (char)c);
		return;
	}
	if (c >= 0x110000 || (c >= 0xd800 && c < 0xe000))
		c = 0xfffd;
	if (c >= 0x10000) {
		str_addc(s, (char)(0xf0 | c >> 18));
		str_addc(s, (char)(0x80 | (c >> 12 & 63)));
	} else if (c >= 0x800) {
		str_addc(s, (char)(0xe0 | c >> 12));
	} else {
		str_addc(s, (char)(0xc0 | c >> 6));
		str_addc(s, (char)(0x80 | (c & 63)));
		return;
	}
	str_addc(s, (char)(0x80 | (c >> 6 & 63)));
	str_addc(s, (char)(0x80 | (c & 63)));
}

static void add_digits(struct str *s, uint64_t v, bool negative)
{
	char text[24], *p = text + sizeof(text);

	do {
		*--p = (char)('0' + v % 10);
		v /= 10;
	} while (v);
	if (negative)
		*--p = '-';
	str_addn(s, p, (size_t)(text + sizeof(text) - p));
}

void str_add_int(struct str *s, int64_t v)
{
	add_digits(s, v < 0 ? -(uint64_t)v : (uint64_t)v, v < 0);
}

void str_add_uint(struct str *s, uint64_t v)
{
	add_digits(s, v, false);
}

/* Formats twice only if the text does not fit at first. */
void str_addvf(struct str *s, const char *fmt, va_list ap)
{
	size_t room = s->cap - s->len;
	va_list again;
	int n;

	va_copy(again, ap);
	n = vsnprintf(s->data ? s->data + s->len : NULL, room, fmt, again);
	va_end(again);
	if (n >= 0 && (size_t)n >= room) {
		str_reserve(s, (size_t)n);
		vsnprintf(s->data + s->len, (size_t)n + 1, fmt, ap);
	}
	s->len += n > 0 ? (size_t)n : 0;
}

void str_addf(struct str *s, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	str_addvf(s, fmt, ap);
	va_end(ap);
}

const char *str_text(const struct str *s)
{
	return s->data ? s->data : "";
}

/* Returns the length of the well-formed UTF-8 sequence at p, or 0 if there is none. Overlong forms,
 * surrogates and C1 controls (U+0080..9f, which terminals obey) are not well-formed. */
static size_t utf8_len(const unsigned char *p, size_t n)
{
	static const uint32_t least[] = {0, 0, 0xa0, 0x800, 0x10000};
	size_t len = p[0] >= 0xf0 ? 4 : p[0] >= 0xe0 ? 3 : 2;
	uint32_t c = p[0] & (0x7f >> len);

	if (p[0] < 0xc2 || p[0] > 0xf4 || len > n)
		return 0;
	for (size_t i = 1; i < len; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (p[i] & 0x3f);
	}
	if (c < least[len] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
		return 0;
	return len;
}

bool str_is_utf8(const char *text, size_t n)
{
	const unsigned char *p = (const unsigned char *)text, *end = p + n;

	while (p < end) {
		size_t len = *p >= 0x80 ? utf8_len(p, (size_t)(end - p)) : 1;

		if (!len)
			return false;
		p += len;
	}
	return true;
}

/* Returns the length of the printable ASCII text at p, which stays as it is: eight bytes at a time. */
static size_t plain_len(const unsigned char *p, const unsigned char *end)
{
	const uint64_t ones = ~0ULL / 255;
	const unsigned char *from = p;
	uint64_t v;

	for (; end - p >= 8; p += 8) {
		memcpy(&v, p, 8);
		if ((v | (v + ones) | ((v - ones * ' ') & ~v)) & ones * 0x80) /* >= 0x80, 0x7f, < ' ' */
			break;
	}
	while (p < end && *p >= ' ' && *p < 0x7f)
		p++;
	return (size_t)(p - from);
}

static void add_safe(struct str *s, const char *text, size_t n, bool lines)
{
	const unsigned char *p = (const unsigned char *)text, *end = p + n;

	while (p < end) {
		size_t plain = plain_len(p, end), len;

		str_addn(s, (const char *)p, plain);
		p += plain;
		if (p == end)
			break;
		len = *p >= 0x80 ? utf8_len(p, (size_t)(end - p)) : 0;

		if (lines && (*p == '\n' || *p == '\t'))
			len = 1;
		if (len)
			str_addn(s, (const char *)p, len);
		else
			str_addf(s, "\\x%02x", *p);
		p += len ? len : 1;
	}
}

void str_add_safe(struct str *s, const char *text, size_t n)
{
	add_safe(s, text, n, false);
}

void str_add_lines(struct str *s, const char *text, size_t n)
{
	add_safe(s, text, n, true);
}

void str_put_safe(const char *text, FILE *out)
{
	struct str safe = {};

	str_add_safe(&safe, text, strlen(text));
	fwrite(str_text(&safe), 1, safe.len, out);
	str_done(&safe);
}

/* Returns the letter that escapes a control character after a backslash, or 0 if it has no letter. */
static char json_letter(unsigned char c)
{
	switch (c) {
	case '\n':
		return 'n';
	case '\t':
		return 't';
	case '\r':
		return 'r';
	case '\b':
		return 'b';
	case '\f':
		return 'f';
	case '"':
	case '\\':
		return (char)c;
	default:
		return 0;
	}
}

void str_add_json(struct str *s, const char *text, size_t n)
{
	const unsigned char *p = (const unsigned char *)text, *end = p + n;

	str_addc(s, '"');
	while (p < end) {
		size_t len = *p >= 0x80 ? utf8_len(p, (size_t)(end - p)) : 1;
		char letter = json_letter(*p);

		if (letter)
			str_addn(s, (const char[]){'\\', letter}, 2);
		else if (*p < 0x20 || *p == 0x7f)
			str_addf(s, "\\u%04x", *p);
		else if (len)
			str_addn(s, (const char *)p, len);
		else
			str_addf(s, "\\\\x%02x", *p);
		p += len ? len : 1;
	}
	str_addc(s, '"');
}

/* If the match fails after a star, that star takes one more character. Only the last star needs to be tried
 * again, so there is no recursion. */
bool glob_match(const char *pattern, const char *text)
{
	const char *star = NULL, *retry = NULL;

	while (*text) {
		if (*pattern == '*') {
			star = ++pattern;
			retry = text;
		} else if (*pattern == *text) {
			pattern++;
			text++;
		} else if (star) {
			pattern = star;
			text = ++retry;
		} else {
			return false;
		}
	}
	while (*pattern == '*')
		pattern++;
	return !*pattern;
}
