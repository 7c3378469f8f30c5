// SPDX-License-Identifier: Apache-2.0
/* show.c - integers, strings, tuples, and printf's format. */
#include "show.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "base/str.h"
#include "model/provider.h"
#include "model/type.h"

int64_t show_int(const struct type *t, const uint8_t *data)
{
	union {
		int8_t i8;
		int16_t i16;
		int32_t i32;
		int64_t i64;
		uint8_t u8;
		uint16_t u16;
		uint32_t u32;
	} v = {};
	uint32_t size = t->kind == TYPE_INT || t->kind == TYPE_BOOL ? t->size : 8;

	memcpy(&v, data, size);
	switch (size) {
	case 1:
		return t->is_signed ? v.i8 : v.u8;
	case 2:
		return t->is_signed ? v.i16 : v.u16;
	case 4:
		return t->is_signed ? (int64_t)v.i32 : (int64_t)v.u32;
	default:
		return v.i64;
	}
}

void show_text(const uint8_t *data, uint32_t size, struct str *out)
{
	str_add_safe(out, (const char *)data, strnlen((const char *)data, size));
}

/* i: image_place_id() */
static void show_place(const struct show *s, const struct type *t, uint64_t i, struct str *out)
{
	const struct image *img = i >> 32 < s->nimages ? s->images[i >> 32] : NULL;
	const struct place *p;

	if (!img || (uint32_t)i >= img->nplaces) {
		str_add(out, "?");
		return;
	}
	p = img->places[(uint32_t)i].place;
	str_add(out, t->place.func ? p->func : p->name);
}

static void show_tuple(const struct show *s, const struct type *t, const uint8_t *data,
	struct str *out)
{
	str_addc(out, '(');
	for (unsigned i = 0; i < t->tuple.n; i++) {
		if (i)
			str_add(out, ", ");
		show_value(s, t->tuple.members[i], data + t->tuple.offsets[i], out);
	}
	str_addc(out, ')');
}

void show_value(const struct show *s, const struct type *t, const uint8_t *data,
	struct str *out)
{
	switch (t->kind) {
	case TYPE_INT:
		if (t->is_signed)
			str_addf(out, "%" PRId64, show_int(t, data));
		else
			str_addf(out, "%" PRIu64, (uint64_t)show_int(t, data));
		break;
	case TYPE_BOOL:
		str_add(out, *data ? "true" : "false");
		break;
	case TYPE_POINTER:
		str_addf(out, "0x%" PRIx64, show_int(t, data));
		break;
	case TYPE_STRING:
		show_text(data, t->size, out);
		break;
	case TYPE_TUPLE:
		show_tuple(s, t, data, out);
		break;
	case TYPE_STACK:
		show_stack(s, t, show_int(t, data), out);
		break;
	case TYPE_KSYM:
		show_ksym(s, show_int(t, data), out);
		break;
	case TYPE_USYM:
		show_usym(s, data, out);
		break;
	case TYPE_PLACE:
		show_place(s, t, show_int(t, data), out);
		break;
	case TYPE_BUFFER:
	case TYPE_ARRAY:
	case TYPE_STRUCT:
	case TYPE_BAD:
	case TYPE_NONE:
	case TYPE_ARGS:
	case TYPE_AGG:
		break;
	}
}

/* ---- printf ------------------------------------------------------------- */

/* The size that a length modifier stands for; without one that of int, as in C. */
static uint32_t length_size(const char *p, const char *end)
{
	if (p == end || !strchr("hljztL", *p))
		return sizeof(int);
	if (*p != 'h')
		return sizeof(long);
	return p + 1 < end && p[1] == 'h' ? sizeof(char) : sizeof(short);
}

/* %[flags][width][.precision][length]letter */
struct conversion {
	char spec[32]; /* as the C library has it, without length and letter */
	uint32_t size; /* bytes that the length means */
	char letter;   /* 0: the format ends before it */
};

/* p: behind the %. Gives its end. */
static const char *read_conversion(const char *p, const char *end, struct conversion *ret)
{
	size_t n = 0;

	ret->spec[n++] = '%';
	for (; p < end && (strchr("-+ #0.", *p) || isdigit((unsigned char)*p)); p++)
		if (n < 24)
			ret->spec[n++] = *p;
	ret->size = length_size(p, end);
	while (p < end && strchr("hljztL", *p))
		p++;
	ret->spec[n] = 0;
	ret->letter = p < end ? *p++ : 0;
	return p;
}

static void format_text(struct conversion *c, const struct str *text, struct str *out)
{
	strcat(c->spec, "s");
	str_addf(out, c->spec, str_text(text));
}

/* The lowest size bytes of v, with their sign or without. */
static int64_t narrowed(int64_t v, uint32_t size, bool is_signed)
{
	unsigned off = 64 - 8 * size;

	v = (int64_t)((uint64_t)v << off);
	return is_signed ? v >> off : (int64_t)((uint64_t)v >> off);
}

static void format_char(struct conversion *c, int64_t v, struct str *out)
{
	struct str text = {};

	str_add_safe(&text, (char[]){(char)v}, 1);
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

static void format_int(struct conversion *c, int64_t v, struct str *out)
{
	const char with[] = {'l', 'l', c->letter, 0};

	strcat(c->spec, with);
	str_addf(out, c->spec,
		(long long)narrowed(v, c->size, c->letter == 'd' || c->letter == 'i'));
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

static void format_one(const struct show *s, struct conversion *c, const struct type *t,
	const uint8_t *data, struct str *out)
{
	int64_t v = is_number(t) ? show_int(t, data) : 0;

	if (c->letter == 's' || !is_number(t))
		format_value(s, c, t, data, out);
	else if (c->letter == 'p')
		format_hex(c, v, out);
	else if (c->letter == 'c')
		format_char(c, v, out);
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
			format_one(s, &c, r->args[arg].type, record + r->args[arg].offset, out);
			arg++;
		}
	}
}
