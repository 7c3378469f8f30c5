// SPDX-License-Identifier: Apache-2.0
/* show_value.c - a value of any type as text. */
#include "show.h"

#include <inttypes.h>
#include <string.h>

#include "base/str.h"
#include "model/provider.h"
#include "model/type.h"

enum {
	TEXT_MAX = 1 << 20, /* maximum bytes of one value: a type may have unions in unions without end */
	DEPTH_MAX = 64,
};

/* The value that is being written. */
struct shown {
	const struct show *show;
	struct str *out;
	size_t end; /* maximum size of out: the rest is omitted */
	unsigned depth;
};

static void add_value(struct shown *w, const struct type *t, const uint8_t *data);

static void add_safe(struct str *out, const char *text)
{
	str_add_safe(out, text, strlen(text));
}

/* ---- numbers ------------------------------------------------------------ */

int64_t show_int(const struct type *t, const uint8_t *data)
{
	uint32_t size = t->kind == TYPE_INT || t->kind == TYPE_BOOL ? t->size : 8, u32;
	uint16_t u16;
	int64_t i64 = 0;

	switch (size) {
	case 1:
		return t->is_signed ? (int8_t)*data : *data;
	case 2:
		memcpy(&u16, data, 2);
		return t->is_signed ? (int16_t)u16 : u16;
	case 4:
		memcpy(&u32, data, 4);
		return t->is_signed ? (int64_t)(int32_t)u32 : (int64_t)u32;
	case 8:
		memcpy(&i64, data, 8);
		return i64;
	default:
		memcpy(&i64, data, size < 8 ? size : 8);
		return i64;
	}
}

const char *show_enumerator(const struct type *t, uint64_t v)
{
	const struct enumeration *e = enumeration_of(t);

	for (unsigned i = 0; e && i < e->n; i++)
		if (e->list[i].value == v)
			return e->list[i].name;
	return NULL;
}

static void add_int(struct shown *w, const struct type *t, const uint8_t *data)
{
	int64_t v = show_int(t, data);
	const char *name = show_enumerator(t, (uint64_t)v);

	if (name)
		add_safe(w->out, name);
	else if (t->is_signed)
		str_add_int(w->out, v);
	else
		str_add_uint(w->out, (uint64_t)v);
}

static void add_word(struct shown *w, const struct type *t, const uint8_t *data)
{
	if (t->kind == TYPE_BOOL)
		str_add(w->out, *data ? "true" : "false");
	else
		str_addf(w->out, "0x%" PRIx64, show_int(t, data));
}

/* ---- bytes -------------------------------------------------------------- */

/* Returns whether a script contains this very text, which its author may print. */
static bool is_own(const struct show *s, const char *text, uint32_t size)
{
	size_t n = strnlen(text, size);

	for (size_t i = 0; i < s->nimages; i++)
		for (unsigned k = 0; s->images[i] && k < s->images[i]->ntexts; k++)
			if (!strncmp(s->images[i]->texts[k], text, n) && !s->images[i]->texts[k][n])
				return true;
	return false;
}

void show_text(const struct show *s, const char *text, size_t n, struct str *out)
{
	switch (s->text) {
	case SHOW_NAMES:
		str_add_safe(out, text, n);
		break;
	case SHOW_LINES:
		str_add_lines(out, text, n);
		break;
	case SHOW_BYTES:
		str_addn(out, text, n);
		break;
	}
}

uint32_t show_buffer(const struct type *t, const uint8_t *data, const uint8_t **ret)
{
	uint32_t n;

	memcpy(&n, data, sizeof(n));
	*ret = data + sizeof(n);
	return n < t->size - sizeof(n) ? n : t->size - (uint32_t)sizeof(n);
}

static void add_buffer(struct shown *w, const struct type *t, const uint8_t *data)
{
	const uint8_t *p;
	uint32_t n = show_buffer(t, data, &p);

	for (uint32_t i = 0; i < n; i++)
		if (p[i] >= ' ' && p[i] <= '~')
			str_addc(w->out, (char)p[i]);
		else
			str_addf(w->out, "\\x%02x", p[i]);
}

/* ---- places ------------------------------------------------------------- */

void show_place_name(const struct show *s, bool func, uint64_t i, struct str *out)
{
	const struct image *img = i >> 32 < s->nimages ? s->images[i >> 32] : NULL;
	const struct place *p;

	if (!img || (uint32_t)i >= img->nplaces) {
		str_add(out, "?");
		return;
	}
	p = img->places[(uint32_t)i].place;
	add_safe(out, func ? p->func : p->name);
}

/* ---- types with parts --------------------------------------------------- */

static void add_tuple(struct shown *w, const struct type *t, const uint8_t *data)
{
	show_tuple_begin(t, w->out);
	for (unsigned i = 0; i < t->tuple.n; i++) {
		show_tuple_member(t, i, w->out);
		add_value(w, t->tuple.members[i], data + t->tuple.offsets[i]);
	}
	show_tuple_end(t, w->out);
}

void show_tuple_begin(const struct type *t, struct str *out)
{
	str_add(out, t->tuple.names ? "{" : "(");
}

void show_tuple_member(const struct type *t, unsigned i, struct str *out)
{
	if (t->tuple.names)
		str_addf(out, "%s .%s = ", i ? "," : "", t->tuple.names[i]);
	else if (i)
		str_add(out, ", ");
}

void show_tuple_end(const struct type *t, struct str *out)
{
	str_add(out, !t->tuple.names ? ")" : t->tuple.n ? " }" : "}");
}

static void add_array(struct shown *w, const struct type *t, const uint8_t *data)
{
	str_addc(w->out, '[');
	for (uint32_t i = 0; i < t->array.n; i++) {
		str_add(w->out, i ? "," : "");
		if (w->out->len >= w->end) {
			str_add(w->out, "..");
			break;
		}
		add_value(w, t->array.of, data + (size_t)i * t->array.of->size);
	}
	str_addc(w->out, ']');
}

const uint8_t *show_member(const struct type *t, const struct member *m, const uint8_t *data, uint8_t room[8])
{
	uint64_t v = 0;

	if ((uint64_t)m->offset + m->type->size > t->size || m->bit_offset + m->bit_size > 64)
		return NULL;
	data += m->offset;
	if (!m->bit_size)
		return data;
	memcpy(&v, data, m->type->size <= 8 ? m->type->size : 8);
	v = v << (64 - m->bit_offset - m->bit_size);
	v = m->type->is_signed ? (uint64_t)((int64_t)v >> (64 - m->bit_size)) : v >> (64 - m->bit_size);
	memcpy(room, &v, 8);
	return room;
}

/* Members of an unnamed member are written among its holder's. */
static bool add_members(struct shown *w, const struct type *t, const uint8_t *data, bool any)
{
	const struct composite *c = composite_of(t);

	for (unsigned i = 0; i < c->n; i++) {
		const struct member *m = &c->members[i];
		uint8_t room[8];
		const uint8_t *at = show_member(t, m, data, room);

		if (!at)
			continue;
		if (w->out->len >= w->end || w->depth >= DEPTH_MAX) {
			str_add(w->out, any ? ", .." : " ..");
			return true;
		}
		if (!*m->name && m->type->kind == TYPE_STRUCT) {
			w->depth++;
			any = add_members(w, m->type, at, any);
			w->depth--;
			continue;
		}
		str_add(w->out, any ? ", ." : " .");
		add_safe(w->out, m->name);
		str_add(w->out, " = ");
		any = true;
		add_value(w, m->type, at);
	}
	return any;
}

static void add_struct(struct shown *w, const struct type *t, const uint8_t *data)
{
	str_addc(w->out, '{');
	str_add(w->out, add_members(w, t, data, false) ? " }" : "}");
}

/* ---- all types ---------------------------------------------------------- */

static void add_bytes(struct shown *w, const struct type *t, const uint8_t *data)
{
	const char *text = (const char *)data;

	if (t->kind != TYPE_STRING)
		add_buffer(w, t, data);
	else if (w->show->text != SHOW_NAMES && is_own(w->show, text, t->size))
		str_addn(w->out, text, strnlen(text, t->size));
	else
		show_text(w->show, text, strnlen(text, t->size), w->out);
}

static void add_parts(struct shown *w, const struct type *t, const uint8_t *data)
{
	if (t->kind == TYPE_ARRAY)
		add_array(w, t, data);
	else if (t->kind == TYPE_STRUCT)
		add_struct(w, t, data);
	else
		add_tuple(w, t, data);
}

static void add_id(struct shown *w, const struct type *t, uint64_t id)
{
	if (t->kind == TYPE_FRAME)
		show_frame(w->show, t, id, w->out);
	else
		show_stack(w->show, t, id, w->out);
}

static void add_kind(struct shown *w, const struct type *t, const uint8_t *data)
{
	switch (t->kind) {
	case TYPE_INT:
		add_int(w, t, data);
		break;
	case TYPE_BOOL:
	case TYPE_POINTER:
		add_word(w, t, data);
		break;
	case TYPE_STRING:
	case TYPE_BUFFER:
		add_bytes(w, t, data);
		break;
	case TYPE_ARRAY:
	case TYPE_STRUCT:
	case TYPE_TUPLE:
		add_parts(w, t, data);
		break;
	case TYPE_STACK:
	case TYPE_FRAME:
		add_id(w, t, show_int(t, data));
		break;
	case TYPE_KSYM:
		show_ksym(w->show, show_int(t, data), w->out);
		break;
	case TYPE_USYM:
		show_usym(w->show, data, w->out);
		break;
	case TYPE_INET:
		show_inet(data, w->out);
		break;
	case TYPE_SHOWN:
		show_shown(w->show, t, show_int(t, data), w->out);
		break;
	case TYPE_PLACE:
		show_place_name(w->show, t->place.func, show_int(t, data), w->out);
		break;
	case TYPE_BAD:
	case TYPE_NONE:
	case TYPE_ARGS:
	case TYPE_AGG:
		break;
	}
}

static void add_value(struct shown *w, const struct type *t, const uint8_t *data)
{
	if (w->depth >= DEPTH_MAX) {
		str_add(w->out, "..");
		return;
	}
	w->depth++;
	add_kind(w, t, data);
	w->depth--;
}

void show_value(const struct show *s, const struct type *t, const uint8_t *data, struct str *out)
{
	struct shown w = {.show = s, .out = out, .end = out->len + TEXT_MAX};

	add_value(&w, t, data);
}
