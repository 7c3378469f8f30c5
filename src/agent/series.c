// SPDX-License-Identifier: Apache-2.0
/* series.c - reads metrics with json-c, and prints them. The attributes of a point are labels; a histogram has a series
 * for each of its buckets. */
#include "series.h"

#include <ctype.h>
#include <inttypes.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/owner.h"
#include "base/str.h"
#include "base/vec.h"

enum { SERIES_MAX = 4096 /* of a metric */, METRICS_MAX = 256, LINE_MAX_BYTES = 64 << 20 };
/* Processes of a unit that may print at once: one that is current, one that starts, and those that end. */
enum { RUNS_MAX = 6 };

/* A LEVEL is a sum that may fall, such as that of signed numbers. */
enum kind { COUNTER, GAUGE, HISTOGRAM, LEVEL, KINDS };

/* A bucket of a histogram has its labels and its bound: those of one histogram stand together. */
struct one {
	char *labels;   /* a="x",b="y" */
	double bound;   /* HISTOGRAM: the bucket's upper bound; HUGE_VAL: the last one */
	int64_t before; /* the sum of processes that have ended */
	struct {
		uint32_t process; /* 0: none */
		int64_t value;
	} runs[RUNS_MAX];
};

struct metric {
	char *name;    /* whole: strata_UNIT_MAP */
	enum kind kind;
	void *tree;    /* of struct one */
	size_t n;
	uint32_t process; /* the latest process */
	uint64_t at;      /* CLOCK_MONOTONIC ns of its last message */
};

struct series {
	char *unit;
	VEC(struct metric *) metrics;
	uint64_t dropped;
	const struct json *json;
	struct json_tokener *tokener;
};

/* ---- the store ----------------------------------------------------------- */

struct series *series_new(const char *unit)
{
	struct series *s = calloc(1, sizeof(*s));

	if (!s)
		out_of_memory();
	s->unit = strdup(unit);
	s->json = json_open();
	s->tokener = s->json ? s->json->tokener_new() : NULL;
	return s;
}

static void free_one(void *p)
{
	struct one *o = p;

	free(o->labels);
	free(o);
}

static void clear(struct metric *m)
{
	tdestroy(m->tree, free_one);
	m->tree = NULL;
	m->n = 0;
}

void series_free(struct series *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->metrics.len; i++) {
		clear(s->metrics.data[i]);
		free(s->metrics.data[i]->name);
		free(s->metrics.data[i]);
	}
	vec_done(&s->metrics);
	if (s->tokener)
		s->json->tokener_free(s->tokener);
	free(s->unit);
	free(s);
}

static int by_labels(const void *a, const void *b)
{
	const struct one *x = a, *y = b;
	int r = strcmp(x->labels, y->labels);

	return r ? r : (x->bound > y->bound) - (x->bound < y->bound);
}

/* The slot of the process: if there is none, the value of the oldest one is final. */
static void set(struct one *o, uint32_t process, int64_t value)
{
	size_t at = 0, oldest = 0;

	for (; at < RUNS_MAX && o->runs[at].process != process; at++)
		if (o->runs[at].process < o->runs[oldest].process)
			oldest = at;
	if (at == RUNS_MAX) {
		at = oldest;
		o->before += o->runs[at].value;
		o->runs[at].process = process;
	}
	o->runs[at].value = value;
}

/* The last bucket of a histogram has the values of those that have no place. Returns false if this one has none. */
static bool put(struct series *s, struct metric *m, uint32_t process, const char *labels, double bound, int64_t value)
{
	struct one wanted = {.labels = (char *)labels, .bound = bound}, **found = tfind(&wanted, &m->tree, by_labels),
		*o;

	if (found) {
		set(*found, process, value);
		return true;
	}
	if (m->n >= (bound < __builtin_huge_val() ? SERIES_MAX : 2 * SERIES_MAX)) {
		s->dropped++;
		return false;
	}
	o = calloc(1, sizeof(*o));
	if (!o)
		out_of_memory();
	o->labels = strdup(labels);
	o->bound = bound;
	set(o, process, value);
	if (!tsearch(o, &m->tree, by_labels))
		out_of_memory();
	m->n++;
	return true;
}

/* A name has letters, digits and _. */
static void add_name(struct str *out, const char *text)
{
	for (; *text; text++)
		str_addc(out, isalnum((unsigned char)*text) && *text > 0 ? *text : '_');
}

/* A newer script may give a map another kind: then the values of the old one are gone. */
static struct metric *of_kind(struct metric *m, enum kind kind, uint32_t process)
{
	if (m->kind == kind)
		return m;
	if (process <= m->process)
		return NULL;
	clear(m);
	m->kind = kind;
	return m;
}

static struct metric *metric_named(struct series *s, const char *name, enum kind kind, uint32_t process)
{
	struct str whole = {};
	struct metric *m;

	str_add(&whole, "strata_");
	add_name(&whole, s->unit);
	str_addc(&whole, '_');
	add_name(&whole, name);
	if (kind == COUNTER)
		str_add(&whole, "_total");
	for (size_t i = 0; i < s->metrics.len; i++)
		if (!strcmp(s->metrics.data[i]->name, whole.data)) {
			str_done(&whole);
			return of_kind(s->metrics.data[i], kind, process);
		}
	m = s->metrics.len < METRICS_MAX ? calloc(1, sizeof(*m)) : NULL;
	if (!m) {
		str_done(&whole);
		return NULL;
	}
	m->name = whole.data;
	m->kind = kind;
	vec_push(&s->metrics, m);
	return m;
}

/* ---- OTLP ---------------------------------------------------------------- */

/* Integers of 64 bits are strings. */
static int64_t number(struct series *s, struct json_object *o)
{
	const char *text = o ? json_text(o) : NULL;

	return text ? strtoll(text, NULL, 10) : o ? s->json->integer(o) : 0;
}

static void add_value(struct series *s, struct json_object *value, struct str *out)
{
	struct json_object *v = json_member(value, "stringValue", json_type_string);
	const char *text = v ? json_text(v) : NULL;

	if (!text && (v = json_member(value, "intValue", json_type_string)))
		text = json_text(v);
	if (!text && (v = json_member(value, "boolValue", json_type_boolean)))
		text = s->json->boolean(v) ? "true" : "false";
	for (; text && *text; text++)
		if (*text == '\n')
			str_add(out, "\\n");
		else
			str_addf(out, *text == '"' || *text == '\\' ? "\\%c" : "%c", *text);
}

/* Returns the text after a="x", or NULL at the end. */
static const char *next_label(const char *at)
{
	for (at = strchr(at, '"') + 1; *at != '"'; at++)
		at += *at == '\\';
	return at[1] ? at + 2 : NULL;
}

static bool has_label(const struct str *labels, const char *name)
{
	size_t n = strlen(name);

	for (const char *at = labels->len ? labels->data : NULL; at; at = next_label(at))
		if (!strncmp(at, name, n) && at[n] == '=')
			return true;
	return false;
}

/* A name does not begin with a digit. Prometheus keeps names that begin with __, and le of histograms. It refuses a
 * page where a point has a name twice: then the later one gets a number. */
static void make_label(const struct str *labels, const char *text, struct str *out)
{
	struct str name = {};

	if (!strncmp(text, "__", 2) || !strcmp(text, "le"))
		str_add(&name, "key_");
	else if (!isalpha((unsigned char)*text))
		str_addc(&name, '_');
	add_name(&name, text);
	str_add(out, str_text(&name));
	for (unsigned i = 2; has_label(labels, str_text(out)); i++) {
		str_clear(out);
		str_addf(out, "%s_%u", str_text(&name), i);
	}
	str_done(&name);
}

/* Appends a="x",b="y". */
static void add_labels(struct series *s, struct json_object *point, struct str *out)
{
	struct json_object *list = json_member(point, "attributes", json_type_array);

	for (size_t i = 0; list && i < s->json->length(list); i++) {
		struct json_object *a = s->json->at(list, i), *key = json_member(a, "key", json_type_string);
		struct json_object *value = json_member(a, "value", json_type_object);
		const char *name = key ? json_text(key) : NULL;
		struct str label = {};

		if (!name || !value)
			continue;
		make_label(out, name, &label);
		str_addf(out, "%s%s=\"", out->len ? "," : "", str_text(&label));
		str_done(&label);
		add_value(s, value, out);
		str_addc(out, '"');
	}
}

static void take_buckets(struct series *s, struct metric *m, uint32_t process, struct json_object *point,
	const char *labels)
{
	struct json_object *bounds = json_member(point, "explicitBounds", json_type_array);
	struct json_object *counts = json_member(point, "bucketCounts", json_type_array);
	size_t n = bounds ? s->json->length(bounds) : 0;
	int64_t rest = 0;

	for (size_t i = 0; counts && i < s->json->length(counts) && i <= n; i++) {
		int64_t count = number(s, s->json->at(counts, i));

		if (i == n || !put(s, m, process, labels, (double)s->json->integer(s->json->at(bounds, i)), count))
			rest += count;
	}
	if (rest)
		put(s, m, process, labels, __builtin_huge_val(), rest);
}

static void take_points(struct series *s, struct metric *m, uint32_t process, struct json_object *data)
{
	struct json_object *points = json_member(data, "dataPoints", json_type_array);

	if (m->kind == GAUGE && process < m->process)
		return;
	if (m->kind == GAUGE)
		clear(m); /* values that are not there any more have no series */
	m->process = process > m->process ? process : m->process;
	m->at = clock_ns(CLOCK_MONOTONIC);
	for (size_t i = 0; points && i < s->json->length(points); i++) {
		struct json_object *point = s->json->at(points, i);
		struct str labels = {};

		add_labels(s, point, &labels);
		if (m->kind == HISTOGRAM)
			take_buckets(s, m, process, point, str_text(&labels));
		else
			put(s, m, process, str_text(&labels), 0,
				number(s, json_member(point, "asInt", json_type_string)));
		str_done(&labels);
	}
}

static void take_metric(struct series *s, uint32_t process, struct json_object *o)
{
	static const char *const members[] = {[COUNTER] = "sum", [GAUGE] = "gauge", [HISTOGRAM] = "histogram"};
	struct json_object *name = json_member(o, "name", json_type_string), *data, *rises;
	struct metric *m;

	for (int kind = 0; name && kind < (int)ARRAY_SIZE(members); kind++) {
		data = json_member(o, members[kind], json_type_object);
		if (!data)
			continue;
		rises = json_member(data, "isMonotonic", json_type_boolean);
		m = metric_named(s, json_text(name), kind == COUNTER && !rises ? LEVEL : kind, process);
		if (m)
			take_points(s, m, process, data);
		else
			s->dropped++;
	}
}

/* Calls take_metric() for each metric of {"NAME": [{"NEXT": [..]}]}. */
static void walk(struct series *s, uint32_t process, struct json_object *o, const char *const *names)
{
	struct json_object *list = *names ? json_member(o, *names, json_type_array) : NULL;

	if (!*names)
		take_metric(s, process, o);
	for (size_t i = 0; list && i < s->json->length(list); i++)
		walk(s, process, s->json->at(list, i), names + 1);
}

bool series_take(struct series *s, uint32_t process, const char *line, size_t n)
{
	static const char *const names[] = {"resourceMetrics", "scopeMetrics", "metrics", NULL};
	struct json_object *o;

	if (!s->tokener || n > LINE_MAX_BYTES)
		return false;
	s->json->tokener_reset(s->tokener);
	o = s->json->parse(s->tokener, line, (int)n);
	if (!o)
		return false;
	walk(s, process, o, names);
	s->json->put(o);
	return true;
}

/* ---- Prometheus ----------------------------------------------------------- */

struct printing {
	const struct metric *metric;
	struct str *out;
	const char *labels; /* HISTOGRAM: of the one that is being printed */
	int64_t sum;        /* of its buckets so far */
};

static int64_t value_of(const struct one *o)
{
	int64_t sum = o->before;

	for (size_t i = 0; i < RUNS_MAX; i++)
		sum += o->runs[i].value;
	return sum;
}

static void end_histogram(struct printing *p)
{
	const char *comma = p->labels && *p->labels ? "," : "";

	if (!p->labels)
		return;
	str_addf(p->out, "%s_bucket{%s%sle=\"+Inf\"} %" PRId64 "\n", p->metric->name, p->labels, comma, p->sum);
	str_addf(p->out, "%s_count", p->metric->name);
	if (*p->labels)
		str_addf(p->out, "{%s}", p->labels);
	str_addf(p->out, " %" PRId64 "\n", p->sum);
}

static void print_bucket(struct printing *p, const struct one *o)
{
	if (p->labels && strcmp(p->labels, o->labels) != 0)
		end_histogram(p);
	if (!p->labels || strcmp(p->labels, o->labels) != 0)
		p->sum = 0;
	p->labels = o->labels;
	p->sum += value_of(o);
	if (o->bound < __builtin_huge_val())
		str_addf(p->out, "%s_bucket{%s%sle=\"%.17g\"} %" PRId64 "\n", p->metric->name, o->labels,
			*o->labels ? "," : "", o->bound, p->sum);
}

static void print_one(const void *node, VISIT which, void *arg)
{
	const struct one *o = *(struct one *const *)node;
	struct printing *p = arg;

	if (which != postorder && which != leaf) /* so that each is visited once, in order */
		return;
	if (p->metric->kind == HISTOGRAM) {
		print_bucket(p, o);
		return;
	}
	str_add(p->out, p->metric->name);
	if (*o->labels)
		str_addf(p->out, "{%s}", o->labels);
	str_addf(p->out, " %" PRId64 "\n", value_of(o));
}

void series_print(const struct series *s, struct str *out)
{
	static const char *const kinds[KINDS] = {
		[COUNTER] = "counter", [GAUGE] = "gauge", [HISTOGRAM] = "histogram", [LEVEL] = "gauge",
	};

	for (size_t i = 0; i < s->metrics.len; i++) {
		const struct metric *m = s->metrics.data[i];
		struct printing p = {.metric = m, .out = out};

		if (!m->n)
			continue;
		str_addf(out, "# HELP %s A map of the unit %s.\n# TYPE %s %s\n", m->name, s->unit, m->name,
			kinds[m->kind]);
		twalk_r(m->tree, print_one, &p);
		if (m->kind == HISTOGRAM)
			end_histogram(&p);
	}
}

void series_expire(struct series *s, uint64_t before)
{
	for (size_t i = 0; i < s->metrics.len; i++)
		if (s->metrics.data[i]->kind == GAUGE && s->metrics.data[i]->at < before)
			clear(s->metrics.data[i]);
}

size_t series_count(const struct series *s)
{
	size_t n = 0;

	for (size_t i = 0; i < s->metrics.len; i++)
		n += s->metrics.data[i]->n;
	return n;
}

uint64_t series_dropped(const struct series *s)
{
	return s->dropped;
}
