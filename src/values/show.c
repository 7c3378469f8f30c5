// SPDX-License-Identifier: Apache-2.0
/* show.c - printf's format and its arguments. */
#include "show.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "base/str.h"
#include "model/type.h"

/* Returns the size for a length modifier, or without one the size of int, as in C. */
static uint32_t length_size(const char *p, const char *end)
{
	if (p == end || !strchr("hljztL", *p))
		return sizeof(int);
	if (*p != 'h')
		return sizeof(long);
	return p + 1 < end && p[1] == 'h' ? sizeof(char) : sizeof(short);
}

enum { BYTES_X = 1, BYTES_H, GFP }; /* letters of %rx, %rh, %gr */

/* %[flags][width][.precision][length]letter */
struct conversion {
	char spec[32]; /* for the C library, without length and letter */
	uint32_t size; /* bytes, by the length modifier */
	char letter;   /* 0: the format ends before it */
};

/* p: after the %. Returns the end of the conversion. */
static const char *read_conversion(const char *p, const char *end, struct conversion *ret)
{
	size_t n = 0;

	ret->spec[n++] = '%';
	for (; p < end && (strchr("-+ #0.*", *p) || isdigit((unsigned char)*p)); p++)
		if (n < 24 && *p != '*') /* it takes no argument, and has no effect */
			ret->spec[n++] = *p;
	ret->size = length_size(p, end);
	while (p < end && strchr("hljztL", *p))
		p++;
	ret->spec[n] = 0;
	ret->letter = p < end ? *p++ : 0;
	if (ret->letter == 'r' && p < end && (*p == 'x' || *p == 'h')) /* %r, %rx, %rh: a buffer's bytes */
		ret->letter = *p++ == 'x' ? BYTES_X : BYTES_H;
	if (ret->letter == 'g') {
		ret->letter = GFP;
		p += p < end;
	}
	return p;
}

static void format_text(struct conversion *c, const struct str *text, struct str *out)
{
	strcat(c->spec, "s");
	str_addf(out, c->spec, str_text(text));
}

/* Extends the lowest size bytes of v, with or without their sign. */
static int64_t narrowed(int64_t v, uint32_t size, bool is_signed)
{
	unsigned off = 64 - 8 * size;

	v = (int64_t)((uint64_t)v << off);
	return is_signed ? v >> off : (int64_t)((uint64_t)v >> off);
}

/* own: the script's own text. A NUL has no width. */
static void format_char(const struct show *s, struct conversion *c, int64_t v, bool own, struct str *out)
{
	struct str text = {};

	if (own)
		str_addc(&text, (char)v);
	else
		show_text(s, (char[]){(char)v}, 1, &text);
	if (text.len == 1 && !*str_text(&text))
		str_addc(out, 0);
	else
		format_text(c, &text, out);
	str_done(&text);
}

static void format_hex(struct conversion *c, int64_t v, struct str *out)
{
	struct str text = {};

	str_addf(&text, "%#" PRIx64, v);
	format_text(c, &text, out);
	str_done(&text);
}

static void format_gfp(struct conversion *c, int64_t v, struct str *out)
{
	struct str text = {};

	show_gfp((uint64_t)v, &text);
	format_text(c, &text, out);
	str_done(&text);
}

static void format_int(struct conversion *c, int64_t v, struct str *out)
{
	const char with[] = {'l', 'l', c->letter, 0};

	strcat(c->spec, with);
	str_addf(out, c->spec,
		(long long)narrowed(v, c->size, c->letter == 'd' || c->letter == 'i'));
}

/* Appends "\\x61\\x62" or "61 62". */
static void format_bytes(struct conversion *c, const struct type *t, const uint8_t *data, struct str *out)
{
	struct str text = {};
	const uint8_t *p;
	uint32_t n = show_buffer(t, data, &p);

	for (uint32_t i = 0; i < n; i++)
		str_addf(&text, c->letter == BYTES_X ? "\\x%02x" : i ? " %02x" : "%02x", p[i]);
	format_text(c, &text, out);
	str_done(&text);
}

static void format_value(const struct show *s, struct conversion *c, const struct type *t,
	const uint8_t *data, struct str *out)
{
	struct str text = {};

	show_value(s, t, data, &text);
	if (c->spec[1])
		format_text(c, &text, out);
	else
		str_addn(out, str_text(&text), text.len);
	str_done(&text);
}

static bool is_number(const struct type *t)
{
	return t->kind == TYPE_INT || t->kind == TYPE_BOOL || t->kind == TYPE_POINTER ||
		t->kind == TYPE_KSYM;
}

static void format_one(const struct show *s, struct conversion *c, const struct image_arg *arg,
	const uint8_t *data, struct str *out)
{
	const struct type *t = arg->type;
	int64_t v = is_number(t) ? show_int(t, data) : 0;

	if (t->kind == TYPE_BUFFER && (c->letter == BYTES_X || c->letter == BYTES_H))
		format_bytes(c, t, data, out);
	else if (c->letter == 's' || !is_number(t))
		format_value(s, c, t, data, out);
	else if (c->letter == GFP)
		format_gfp(c, v, out);
	else if (c->letter == 'p')
		format_hex(c, v, out);
	else if (c->letter == 'c')
		format_char(s, c, v, arg->is_literal, out);
	else
		format_int(c, v, out);
}

void show_format(const struct show *s, const struct image_record *r, const uint8_t *record,
	struct str *out)
{
	const char *p = r->text, *end = p + r->text_len;
	unsigned arg = 0;

	while (p < end) {
		struct conversion c;

		if (*p != '%') {
			str_addc(out, *p++);
			continue;
		}
		p = read_conversion(p + 1, end, &c);
		if (c.letter == '%') {
			str_addc(out, '%');
		} else if (arg < r->nargs) {
			format_one(s, &c, &r->args[arg], record + r->args[arg].offset, out);
			arg++;
		}
	}
}
