// SPDX-License-Identifier: Apache-2.0
/* json_value.c - a value of any type as JSON. */
#include "json_value.h"

#include <inttypes.h>
#include <string.h>

#include "base/str.h"
#include "model/image.h"
#include "model/type.h"
#include "values/entries.h"
#include "values/frames.h"
#include "values/show.h"

enum {
	TEXT_MAX = 1 << 20, /* maximum bytes of one value: a type may have unions in unions without end */
	DEPTH_MAX = 64,
};
#define EXACT_BITS 53 /* bits of a double */

/* The value that is being written. */
struct writer {
	const struct json_values *as;
	struct str *out;
	size_t end; /* maximum size of out: the rest is omitted */
	unsigned depth;
	bool in_key; /* text of a key, not JSON */
};

static void add(struct writer *w, const struct type *t, const uint8_t *data);

/* ---- numbers ------------------------------------------------------------ */

/* A number that a double cannot hold becomes a string, as in bpftrace: 2^53 + 1 does, 2^60 does not. */
static bool is_exact(uint64_t magnitude)
{
	return !magnitude || !(magnitude >> __builtin_ctzll(magnitude) >> EXACT_BITS);
}

static void add_number(struct str *out, bool is_signed, uint64_t v)
{
	bool negative = is_signed && (int64_t)v < 0;
	const char *quote = is_exact(negative ? -v : v) ? "" : "\"";

	str_add(out, quote);
	if (is_signed)
		str_add_int(out, (int64_t)v);
	else
		str_add_uint(out, v);
	str_add(out, quote);
}

static void add_divided(struct writer *w, bool is_signed, uint64_t v)
{
	int64_t div = w->as->div;

	if (div > 1)
		v = is_signed ? (uint64_t)((int64_t)v / div) : v / (uint64_t)div;
	add_number(w->out, is_signed, v);
}

static void add_int(struct writer *w, const struct type *t, const uint8_t *data)
{
	uint64_t v = (uint64_t)show_int(t, data);
	const struct map_entry *e = w->as->entry;

	if (w->depth == 1 && e && data == e->value)
		add_divided(w, t->is_signed, v);
	else
		add_number(w->out, t->kind == TYPE_INT && t->is_signed, v);
}

/* ---- aggregations ------------------------------------------------------- */

static void add_bucket(struct writer *w, const struct type *t, uint32_t i, uint64_t n)
{
	struct bucket b;

	show_bucket(t, i, &b);
	str_addc(w->out, '{');
	if (!b.no_low) {
		str_add(w->out, "\"min\": ");
		add_number(w->out, b.is_signed, b.low);
		str_add(w->out, ", ");
	}
	if (!b.no_high) {
		str_add(w->out, "\"max\": ");
		add_number(w->out, b.is_signed, b.high);
		str_add(w->out, ", ");
	}
	str_add(w->out, "\"count\": ");
	add_divided(w, false, n);
	str_addc(w->out, '}');
}

static void add_hist(struct writer *w, const struct type *t, const uint64_t *buckets)
{
	uint32_t first, last;

	str_addc(w->out, '[');
	if (show_buckets(t, buckets, &first, &last))
		for (uint32_t i = first; i <= last; i++) {
			str_add(w->out, i > first ? "," : "");
			add_bucket(w, t, i, buckets[i]);
		}
	str_addc(w->out, ']');
}

static void add_average(struct writer *w, const struct type *t, const uint64_t *v)
{
	uint64_t average = !v[0] ? 0 : t->is_signed ? (uint64_t)((int64_t)v[1] / (int64_t)v[0]) : v[1] / v[0];

	if (t->agg.kind == AGG_AVG) {
		add_divided(w, t->is_signed, average);
		return;
	}
	str_add(w->out, "{\"count\": ");
	add_number(w->out, false, v[0]);
	str_add(w->out, ", \"average\": ");
	add_divided(w, t->is_signed, average);
	str_add(w->out, ", \"total\": ");
	add_number(w->out, t->is_signed, v[1]);
	str_addc(w->out, '}');
}

/* Appends the intervals that have a value. */
static void add_tseries(struct writer *w, const struct type *t, const uint8_t *data)
{
	struct tseries_point p = {};

	str_addc(w->out, '[');
	for (bool first = true; tseries_next(t, data, w->as->last, p.interval, &p); first = false) {
		str_add(w->out, first ? "{\"interval_start\":\"" : ",{\"interval_start\":\"");
		show_time("%Y-%m-%d %H:%M:%S.%k", p.ns, w->out);
		str_add(w->out, "\",\"value\":");
		add_number(w->out, t->is_signed, p.value);
		str_addc(w->out, '}');
	}
	str_addc(w->out, ']');
}

static void add_agg(struct writer *w, const struct type *t, const uint8_t *data)
{
	const uint64_t *v = (const uint64_t *)data;

	switch (t->agg.kind) {
	case AGG_COUNT:
		add_divided(w, false, v[0]);
		break;
	case AGG_SUM:
	case AGG_MIN:
	case AGG_MAX:
		add_divided(w, t->is_signed, v[0]);
		break;
	case AGG_AVG:
	case AGG_STATS:
		add_average(w, t, v);
		break;
	case AGG_HIST:
	case AGG_LHIST:
		add_hist(w, t, v);
		break;
	case AGG_TSERIES:
		add_tseries(w, t, data);
	}
}

/* ---- stacks ------------------------------------------------------------- */

const char *json_frame_kind(enum frame_lang lang)
{
	static const char *const names[FRAME_LANGS] = {
		[FRAME_LANG_NATIVE] = "native",
#define L(id, stem, builtin, kind, name) [FRAME_LANG_##id] = #stem,
#include "bpf/languages.def"
#undef L
	};

	return lang == FRAME_LANG_KERNEL ? "kernel" : lang < FRAME_LANGS ? names[lang] : "native";
}

static void add_named(struct str *out, const char *name, const char *text)
{
	if (!text)
		return;
	str_addf(out, ", \"%s\": ", name);
	str_add_json(out, text, strlen(text));
}

static void add_frame(struct writer *w, const struct shown_frame *f)
{
	const struct frame_name *n = &f->name;

	str_addf(w->out, "{\"kind\": \"%s\"", json_frame_kind(n->lang));
	add_named(w->out, "function", n->name);
	add_named(w->out, "file", n->file);
	if (n->line)
		str_addf(w->out, ", \"line\": %u", n->line);
	else if (n->begins)
		str_addf(w->out, ", \"begins\": %u", n->begins);
	if (f->last_line > n->line)
		str_addf(w->out, ", \"last_line\": %u", f->last_line);
	if (n->line && n->column && !f->inexact)
		str_addf(w->out, ", \"column\": %u", n->column);
	add_named(w->out, "module", n->module);
	if (!f->inexact && !n->caller && (n->lang == FRAME_LANG_NATIVE || n->lang == FRAME_LANG_KERNEL ||
				   LANGS_NATIVE >> n->lang & 1)) {
		str_addf(w->out, ", \"%s\": ", n->name ? "offset" : "address");
		add_number(w->out, false, n->name ? n->offset : n->vaddr);
	}
	if (n->caller)
		str_add(w->out, ", \"inlined\": true");
	str_addc(w->out, '}');
}

static void add_frames(struct writer *w, const struct type *t, const struct frame_list *l)
{
	const char *end = show_end(t, l);

	str_add(w->out, "{\"frames\": [");
	for (size_t i = 0; i < l->len; i++) {
		str_add(w->out, i ? ", " : "");
		add_frame(w, &l->data[i]);
	}
	str_addc(w->out, ']');
	add_named(w->out, "end", end);
	str_addc(w->out, '}');
}

/* In a key, lines are not indented. */
static void add_lines(struct str *out, const char *text)
{
	while (*text) {
		size_t n = strcspn(text, "\n");
		size_t indent = strspn(text, " ") < n ? strspn(text, " ") : n;

		str_addn(out, text + indent, n - indent);
		text += n;
		if (*text)
			str_addc(out, *text++);
	}
}

static void get_frames(struct writer *w, const struct type *t, const uint8_t *data, struct frame_list *ret)
{
	const struct map_entry *e = w->as->entry;

	if (e && data >= e->key && data < e->key + w->as->map->key_size)
		frames_of_entry(w->as->show, t, e, (uint32_t)(data - e->key), ret);
	else
		frames_get(w->as->show, t, (uint64_t)show_int(t, data), ret);
}

static void add_stack(struct writer *w, const struct type *t, const uint8_t *data)
{
	struct frame_list l;
	struct str text = {};

	get_frames(w, t, data, &l);
	if (w->as->frames && !w->in_key) {
		add_frames(w, t, &l);
	} else {
		show_frames(w->as->show, t, &l, &text);
		if (w->in_key)
			add_lines(w->out, str_text(&text));
		else
			str_add_json(w->out, str_text(&text), text.len);
	}
	str_done(&text);
	frames_done(&l);
}

/* ---- types with parts --------------------------------------------------- */

static bool is_full(const struct writer *w)
{
	return w->out->len >= w->end;
}

/* Appends the prefix of a member of an object; in a key's text it is ".name=". */
static void add_name(struct writer *w, bool any, const char *name)
{
	if (w->in_key) {
		str_addf(w->out, "%s.%s=", any ? "," : "", name);
		return;
	}
	str_add(w->out, any ? ", " : "");
	str_add_json(w->out, name, strlen(name));
	str_add(w->out, ": ");
}

/* Members of an unnamed member are written among its holder's. */
static bool add_members(struct writer *w, const struct type *t, const uint8_t *data, bool any)
{
	const struct composite *c = composite_of(t);

	for (unsigned i = 0; i < c->n && !is_full(w) && w->depth < DEPTH_MAX; i++) {
		const struct member *m = &c->members[i];
		uint8_t room[8];
		const uint8_t *at = show_member(t, m, data, room);

		if (!at)
			continue;
		if (!*m->name && m->type->kind == TYPE_STRUCT) {
			w->depth++;
			any = add_members(w, m->type, at, any);
			w->depth--;
			continue;
		}
		add_name(w, any, m->name);
		any = true;
		add(w, m->type, at);
	}
	return any;
}

static void add_record(struct writer *w, const struct type *t, const uint8_t *data)
{
	for (unsigned i = 0; i < t->tuple.n; i++) {
		add_name(w, i, t->tuple.names[i]);
		add(w, t->tuple.members[i], data + t->tuple.offsets[i]);
	}
}

static void add_object(struct writer *w, const struct type *t, const uint8_t *data)
{
	str_addc(w->out, '{');
	if (t->kind == TYPE_STRUCT)
		add_members(w, t, data, false);
	else
		add_record(w, t, data);
	str_addc(w->out, '}');
}

/* A key of several parts has no parentheses around them. */
static void add_tuple(struct writer *w, const struct type *t, const uint8_t *data)
{
	bool bare = w->in_key && w->depth == 1;

	str_add(w->out, bare ? "" : w->in_key ? "(" : "[");
	for (unsigned i = 0; i < t->tuple.n; i++) {
		str_add(w->out, i ? "," : "");
		add(w, t->tuple.members[i], data + t->tuple.offsets[i]);
	}
	str_add(w->out, bare ? "" : w->in_key ? ")" : "]");
}

static void add_array(struct writer *w, const struct type *t, const uint8_t *data)
{
	str_addc(w->out, '[');
	for (uint32_t i = 0; i < t->array.n && !is_full(w); i++) {
		str_add(w->out, i ? "," : "");
		add(w, t->array.of, data + (size_t)i * t->array.of->size);
	}
	str_addc(w->out, ']');
}

static void add_buffer(struct writer *w, const struct type *t, const uint8_t *data)
{
	const uint8_t *p;
	uint32_t n = show_buffer(t, data, &p);

	str_addc(w->out, '[');
	for (uint32_t i = 0; i < n; i++)
		str_addf(w->out, "%s%u", i ? "," : "", p[i]);
	str_addc(w->out, ']');
}

static void add_parts(struct writer *w, const struct type *t, const uint8_t *data)
{
	if (t->kind == TYPE_ARRAY)
		add_array(w, t, data);
	else if (t->kind == TYPE_BUFFER)
		add_buffer(w, t, data);
	else if (t->kind == TYPE_TUPLE && !t->tuple.names)
		add_tuple(w, t, data);
	else
		add_object(w, t, data);
}

/* ---- all types ---------------------------------------------------------- */

/* the same text as -f text */
static void add_shown(struct writer *w, const struct type *t, const uint8_t *data)
{
	struct str text = {};

	show_value(w->as->show, t, data, &text);
	if (w->in_key)
		str_add(w->out, str_text(&text));
	else
		str_add_json(w->out, str_text(&text), text.len);
	str_done(&text);
}

static void add_string(struct writer *w, const struct type *t, const uint8_t *data)
{
	size_t n = strnlen((const char *)data, t->size);

	if (w->in_key)
		str_addn(w->out, (const char *)data, n);
	else
		str_add_json(w->out, (const char *)data, n);
}

static void add_scalar(struct writer *w, const struct type *t, const uint8_t *data)
{
	if (w->in_key)
		add_shown(w, t, data);
	else if (t->kind == TYPE_BOOL)
		str_add(w->out, *data ? "true" : "false");
	else
		add_int(w, t, data);
}

/* has_frame() is true or false, or a text with the reason why that is not known. */
static void add_frame_part(struct writer *w, const struct type *t, const uint8_t *data)
{
	struct str text = {};

	show_frame(w->as->show, t, (uint64_t)show_int(t, data), &text);
	if (!w->in_key && type_is_has_frame(t) && *str_text(&text) != '[')
		str_add(w->out, str_text(&text));
	else
		add_shown(w, t, data);
	str_done(&text);
}

static void add_kind(struct writer *w, const struct type *t, const uint8_t *data)
{
	switch (t->kind) {
	case TYPE_INT:
	case TYPE_BOOL:
	case TYPE_POINTER:
		add_scalar(w, t, data);
		break;
	case TYPE_STRING:
		add_string(w, t, data);
		break;
	case TYPE_BUFFER:
		if (w->in_key) {
			add_shown(w, t, data);
			break;
		}
		/* fallthrough */
	case TYPE_ARRAY:
	case TYPE_STRUCT:
	case TYPE_TUPLE:
		add_parts(w, t, data);
		break;
	case TYPE_STACK:
		add_stack(w, t, data);
		break;
	case TYPE_AGG:
		add_agg(w, t, data);
		break;
	case TYPE_FRAME:
		add_frame_part(w, t, data);
		break;
	case TYPE_KSYM:
	case TYPE_USYM:
	case TYPE_INET:
	case TYPE_SHOWN:
	case TYPE_PLACE:
	case TYPE_BAD:
	case TYPE_NONE:
	case TYPE_ARGS:
		add_shown(w, t, data);
		break;
	}
}

static void add(struct writer *w, const struct type *t, const uint8_t *data)
{
	if (w->depth >= DEPTH_MAX) {
		str_add(w->out, w->in_key ? ".." : "null");
		return;
	}
	w->depth++;
	add_kind(w, t, data);
	w->depth--;
}

void json_value(const struct json_values *as, const struct type *t, const uint8_t *data, struct str *out)
{
	struct writer w = {.as = as, .out = out, .end = out->len + TEXT_MAX};

	add(&w, t, data);
}

void json_key(const struct json_values *as, const struct type *t, const uint8_t *data, struct str *out)
{
	struct str text = {};
	struct writer w = {.as = as, .out = &text, .end = TEXT_MAX, .in_key = true};

	add(&w, t, data);
	str_add_json(out, str_text(&text), text.len);
	str_done(&text);
}
