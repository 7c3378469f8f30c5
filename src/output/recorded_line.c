// SPDX-License-Identifier: Apache-2.0
/* recorded_line.c - JSON as text. The types are lost: an array of numbers is printed as an
 * array, any other as a tuple. */
#include "recorded_line.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/owner.h"
#include "base/str.h"
#include "values/show.h"

enum { DEPTH_MAX = 64 };

struct writer {
	const struct json *json;
	struct str *out;
	unsigned depth;
};

static void add_value(struct writer *w, struct json_object *o);

/* ---- values -------------------------------------------------------------- */

static void add_safe(struct writer *w, const char *text)
{
	str_add_safe(w->out, text ? text : "", text ? strlen(text) : 0);
}

static bool are_numbers(const struct writer *w, struct json_object *list)
{
	bool all = true;

	for (size_t i = 0; i < w->json->length(list); i++)
		all &= w->json->is_type(w->json->at(list, i), json_type_int) != 0;
	return all;
}

static void add_list(struct writer *w, struct json_object *list, const char *begin, const char *between,
	const char *end)
{
	str_add(w->out, begin);
	for (size_t i = 0; i < w->json->length(list); i++) {
		str_add(w->out, i ? between : "");
		add_value(w, w->json->at(list, i));
	}
	str_add(w->out, end);
}

static void add_object(struct writer *w, struct json_object *o)
{
	const struct lh_table *members = w->json->object(o);

	str_addc(w->out, '{');
	for (const struct lh_entry *e = members ? members->head : NULL; e; e = e->next) {
		str_add(w->out, e == members->head ? " ." : ", .");
		add_safe(w, e->k);
		str_add(w->out, " = ");
		add_value(w, (struct json_object *)e->v);
	}
	str_add(w->out, members && members->head ? " }" : "}");
}

static void add_value(struct writer *w, struct json_object *o)
{
	if (w->depth >= DEPTH_MAX) {
		str_add(w->out, "..");
		return;
	}
	w->depth++;
	if (w->json->is_type(o, json_type_array) && are_numbers(w, o))
		add_list(w, o, "[", ",", "]");
	else if (w->json->is_type(o, json_type_array))
		add_list(w, o, "(", ", ", ")");
	else if (w->json->is_type(o, json_type_object))
		add_object(w, o);
	else
		add_safe(w, w->json->string(o));
	w->depth--;
}

/* ---- histograms ---------------------------------------------------------- */

struct range {
	int64_t low, end; /* end: the value after the last */
	bool no_low, no_high;
	uint64_t n;
};

/* Numbers that a double cannot hold are strings. */
static bool get_number(const struct writer *w, struct json_object *o, const char *name, int64_t *ret)
{
	struct json_object *v;

	if (!w->json->is_type(o, json_type_object) || !w->json->get(o, name, &v))
		return false;
	*ret = w->json->is_type(v, json_type_string) ? (int64_t)strtoull(w->json->string(v), NULL, 10) :
		(int64_t)w->json->natural(v);
	if (w->json->is_type(v, json_type_int) && w->json->integer(v) < 0)
		*ret = w->json->integer(v);
	return true;
}

static struct range range_of(const struct writer *w, struct json_object *o)
{
	struct range r = {};
	int64_t n = 0;

	r.no_low = !get_number(w, o, "min", &r.low);
	r.no_high = !get_number(w, o, "max", &r.end);
	r.end = (int64_t)((uint64_t)r.end + 1);
	get_number(w, o, "count", &n);
	r.n = (uint64_t)n;
	return r;
}

/* 1024 -> 1K */
static void add_edge(struct str *out, uint64_t v, bool scales)
{
	unsigned power = 0;

	for (; scales && v && v % 1024 == 0 && power < 6; power++)
		v /= 1024;
	str_addf(out, "%" PRId64, (int64_t)v);
	if (power)
		str_addc(out, "KMGTPE"[power - 1]);
}

static void add_interval(struct str *out, const struct range *r, bool scales)
{
	str_add(out, r->no_low ? "(..." : "[");
	if (!r->no_low)
		add_edge(out, (uint64_t)r->low, scales);
	if (r->no_low || r->no_high || r->end != r->low + 1)
		str_add(out, ", ");
	if (r->no_high)
		str_add(out, "...");
	else if (!r->no_low && r->low && !r->end)
		str_add(out, "16E"); /* after the last of 64 bits */
	else if (r->no_low || r->end != r->low + 1)
		add_edge(out, (uint64_t)r->end, scales);
	str_addc(out, r->no_low || r->no_high || r->end != r->low + 1 ? ')' : ']');
}

/* Returns whether edges are written as 1K, for powers of two and multiples of 1,024. */
static bool edges_scale(const struct writer *w, struct json_object *list, size_t n)
{
	bool differ = false, whole = true, doubles = true;
	uint64_t width = 0;

	for (size_t i = 0; i < n; i++) {
		struct range r = range_of(w, w->json->at(list, i));
		uint64_t own = (uint64_t)r.end - (uint64_t)r.low;

		if (r.no_low || r.no_high)
			continue;
		differ |= width && own != width;
		whole &= own % 1024 == 0;
		doubles &= own == (uint64_t)r.low;
		width = own;
	}
	return differ || whole || doubles;
}

static void add_hist(struct writer *w, struct json_object *list)
{
	size_t n = w->json->is_type(list, json_type_array) ? w->json->length(list) : 0;
	bool scales = edges_scale(w, list, n);
	uint64_t most = 0;

	for (size_t i = 0; i < n; i++) {
		struct range r = range_of(w, w->json->at(list, i));

		most = r.n > most ? r.n : most;
	}
	for (size_t i = 0; i < n; i++) {
		struct range r = range_of(w, w->json->at(list, i));
		struct str interval = {};

		add_interval(&interval, &r, scales);
		show_hist_line(&interval, r.n, most, w->out);
		str_done(&interval);
	}
}

static void add_series(struct writer *w, struct json_object *list)
{
	size_t n = w->json->is_type(list, json_type_array) ? w->json->length(list) : 0;

	for (size_t i = 0; i < n; i++) {
		struct json_object *point = w->json->at(list, i), *value;

		add_safe(w, json_text(json_member(point, "interval_start", json_type_string)));
		str_addc(w->out, ' ');
		if (w->json->is_type(point, json_type_object) && w->json->get(point, "value", &value))
			add_value(w, value);
		str_addc(w->out, '\n');
	}
}

/* ---- maps ---------------------------------------------------------------- */

/* Appends "@name[key]: value"; key: a text, or its parts; NULL: the map has none. */
static void add_entry(struct writer *w, const char *type, const char *name, const char *text, struct json_object *key,
	struct json_object *value)
{
	bool draws = !strcmp(type, "hist") || !strcmp(type, "tseries");

	add_safe(w, name);
	str_add(w->out, text || key ? "[" : "");
	if (key && w->json->is_type(key, json_type_array))
		add_list(w, key, "", ", ", "");
	else if (key)
		add_value(w, key);
	else
		add_safe(w, text);
	str_add(w->out, text || key ? "]:" : ":");
	str_addc(w->out, draws ? '\n' : ' ');
	if (!strcmp(type, "hist"))
		add_hist(w, value);
	else if (draws)
		add_series(w, value);
	else
		add_value(w, value);
	str_addc(w->out, '\n');
}

static void add_entries(struct writer *w, const char *type, const char *name, struct json_object *entries)
{
	for (size_t i = 0; i < w->json->length(entries); i++) {
		struct json_object *e = w->json->at(entries, i), *key, *value;

		if (w->json->is_type(e, json_type_object) && w->json->get(e, "key", &key) &&
			w->json->get(e, "value", &value))
			add_entry(w, type, name, NULL, key, value);
	}
}

/* Returns whether the map has keys: stats() without keys is an object, too. */
static bool is_keyed(const struct writer *w, const char *type, struct json_object *content)
{
	struct json_object *n;

	return w->json->is_type(content, json_type_object) &&
		(strcmp(type, "stats") || !w->json->get(content, "average", &n) || !w->json->is_type(n, json_type_int));
}

static bool add_map(struct writer *w, const char *type, struct json_object *line)
{
	struct json_object *data = json_member(line, "data", json_type_object);
	struct json_object *entries = json_member(line, "entries", json_type_array), *content;
	const char *name = data ? json_first_name(data) : NULL;
	const struct lh_table *members;

	if (!name || !w->json->get(data, name, &content))
		return false;
	if (entries) {
		add_entries(w, type, name, entries);
		return true;
	}
	if (!is_keyed(w, type, content)) {
		add_entry(w, type, name, NULL, NULL, content);
		return true;
	}
	members = w->json->object(content);
	for (const struct lh_entry *e = members ? members->head : NULL; e; e = e->next)
		add_entry(w, type, name, e->k, NULL, (struct json_object *)e->v);
	return true;
}

bool recorded_line_text(const struct json *json, struct json_object *line, struct str *out)
{
	static const char *const maps[] = {"map", "hist", "stats", "tseries"};
	const char *type = json_text(json_member(line, "type", json_type_string));
	struct writer w = {.json = json, .out = out};
	struct json_object *data;

	if (type && (!strcmp(type, "value") || !strcmp(type, "thread")) && json->get(line, "data", &data)) {
		add_value(&w, data);
		str_addc(out, '\n');
		return true;
	}
	for (size_t i = 0; type && i < ARRAY_SIZE(maps); i++)
		if (!strcmp(type, maps[i]))
			return add_map(&w, type, line);
	return false;
}
