// SPDX-License-Identifier: Apache-2.0
/* otlp_metrics.c - maps as metrics: count() and sum() are cumulative sums, numbers, min() and max() are gauges, hist()
 * and lhist() are histograms, avg() and stats() are two sums, NAME_sum and NAME_count, tseries() is a gauge with a
 * point for each interval. A part of the key is an attribute. */
#include <inttypes.h>
#include <string.h>

#include "base/clock.h"
#include "base/str.h"
#include "bpf/lib/record.h"
#include "key_parts.h"
#include "otlp.h"
#include "unit.h"
#include "values/entries.h"
#include "values/show.h"
#include "model/image.h"
#include "model/type.h"

struct writer {
	const struct show *show;
	const struct map_content *content;
	struct str *out;
	uint64_t begun, now;
};

/* ---- attributes --------------------------------------------------------- */

static void add_part(struct writer *w, const struct map_entry *e, const struct type *t, uint32_t at, const char *label)
{
	bool is_number = t->kind == TYPE_INT && !t->integer.names && (t->is_signed || t->size < 8);
	struct str text = {};

	show_value(w->show, t, e->key + at, &text);
	otlp_attribute(otlp_key(label), is_number, is_number ? show_int(t, e->key + at) : 0, str_text(&text), w->out);
	str_done(&text);
}

/* Keys of attributes differ: a name that came before gets a number. */
static void make_label(const struct image_map *m, unsigned at, unsigned n, struct str *out)
{
	struct str before = {};

	key_part_name(m->key_text, at, n, out);
	for (unsigned i = 0; i < at; i++) {
		str_clear(&before);
		key_part_name(m->key_text, i, n, &before);
		if (!strcmp(otlp_key(str_text(&before)), otlp_key(str_text(out))) || !strcmp(str_text(out), "key")) {
			str_addf(out, "%u", at + 1);
			break;
		}
	}
	str_done(&before);
}

static void add_attributes(struct writer *w, const struct map_entry *e)
{
	const struct image_map *m = w->content->map;
	const struct type *t = m->key;
	bool split = t && t->kind == TYPE_TUPLE;
	unsigned n = split ? t->tuple.n : t != NULL;

	str_add(w->out, "\"attributes\": [");
	if (!e->key) { /* see totals.h; specification v1.60.0, metrics/sdk.md, "Overflow attribute" */
		str_add(w->out, "{\"key\": \"otel.metric.overflow\", \"value\": {\"boolValue\": true}}]");
		return;
	}
	for (unsigned i = 0; i < n; i++) {
		struct str name = {};

		str_add(w->out, i ? ", " : "");
		make_label(m, i, n, &name);
		add_part(w, e, split ? t->tuple.members[i] : t, split ? t->tuple.offsets[i] : 0, str_text(&name));
		str_done(&name);
	}
	str_addc(w->out, ']');
}

/* ---- points ------------------------------------------------------------- */

static int64_t divided(const struct writer *w, int64_t v)
{
	return w->content->div > 1 ? v / w->content->div : v;
}

static void begin_point(struct writer *w, const struct map_entry *e, bool first)
{
	str_add(w->out, first ? "{" : ", {");
	add_attributes(w, e);
	str_addf(w->out, ", \"startTimeUnixNano\": \"%" PRIu64 "\", ", w->begun);
}

static void add_number(struct writer *w, const struct map_entry *e, bool first, int64_t v)
{
	begin_point(w, e, first);
	str_addf(w->out, "\"timeUnixNano\": \"%" PRIu64 "\", \"asInt\": \"%" PRId64 "\"}", w->now, divided(w, v));
}

/* Buckets of OTLP include their upper bounds, as strata's do. The counts begin below the first bound, and end above the
 * last one. */
static void add_histogram(struct writer *w, const struct map_entry *e, bool first)
{
	const struct type *t = w->content->map->value;
	const uint64_t *counts = (const uint64_t *)e->value;
	uint32_t from = 0, to = 0, below;
	struct str bounds = {}, list = {};
	struct bucket b = {};
	uint64_t sum = 0;

	show_buckets(t, counts, &from, &to);
	below = from ? from - 1 : 0;
	for (uint32_t i = below; i <= to; i++) {
		uint64_t n = (uint64_t)divided(w, (int64_t)counts[i]);

		show_bucket(t, i, &b);
		str_addf(&list, "%s\"%" PRIu64 "\"", i > below ? ", " : "", n);
		sum += n;
		if (!b.no_high)
			str_addf(&bounds, b.is_signed ? "%s%" PRId64 : "%s%" PRIu64, i > below ? ", " : "", b.high);
	}
	begin_point(w, e, first);
	str_addf(w->out, "\"timeUnixNano\": \"%" PRIu64 "\", \"count\": \"%" PRIu64 "\", ", w->now, sum);
	str_addf(w->out, "\"bucketCounts\": [%s%s], \"explicitBounds\": [%s]}", str_text(&list),
		b.no_high ? "" : ", \"0\"", str_text(&bounds));
	str_done(&bounds);
	str_done(&list);
}

static bool add_series(struct writer *w, const struct map_entry *e, bool first)
{
	const struct type *t = w->content->map->value;
	struct tseries_point p = {};

	for (; tseries_next(t, e->value, w->content->last, p.interval, &p); first = false) {
		begin_point(w, e, first);
		str_addf(w->out, "\"timeUnixNano\": \"%" PRIu64 "\", \"asInt\": \"%" PRId64 "\"}", p.ns,
			(int64_t)p.value);
	}
	return first;
}

/* ---- a map ---------------------------------------------------------------- */

/* Units by UCUM. */
static const char *unit_text(const char *name)
{
	switch (unit_of(name)) {
	case UNIT_NS:
		return "ns";
	case UNIT_US:
		return "us";
	case UNIT_MS:
		return "ms";
	case UNIT_S:
		return "s";
	case UNIT_BYTES:
		return "By";
	case UNIT_NONE:
		break;
	}
	return "1";
}

static void begin_metric(struct writer *w, const char *end, const char *kind, const char *unit)
{
	const char *name = w->content->map->name;
	struct str whole = {};

	str_addf(&whole, "%s%s", *name ? name : "value", end);
	str_add(w->out, "{\"name\": ");
	str_add_json(w->out, str_text(&whole), whole.len);
	str_addf(w->out, ", \"unit\": \"%s\", \"%s\": {\"dataPoints\": [", unit, kind);
	str_done(&whole);
}

static void end_metric(struct writer *w, bool sum, bool monotonic)
{
	str_add(w->out, sum ? "], \"aggregationTemporality\": 2" : "]");
	if (monotonic)
		str_add(w->out, ", \"isMonotonic\": true");
	str_add(w->out, "}}");
}

static void add_sums(struct writer *w, const char *end, unsigned word, const char *unit, bool monotonic)
{
	begin_metric(w, end, "sum", unit);
	for (size_t i = w->content->first; i < w->content->n; i++) {
		const struct map_entry *e = &w->content->list[i];

		add_number(w, e, i == w->content->first, (int64_t)((const uint64_t *)e->value)[word]);
	}
	end_metric(w, true, monotonic);
}

static void add_gauge(struct writer *w)
{
	const struct type *t = w->content->map->value;
	bool first = true;

	begin_metric(w, "", "gauge", unit_text(w->content->map->name));
	for (size_t i = w->content->first; i < w->content->n; i++) {
		const struct map_entry *e = &w->content->list[i];

		if (t->kind == TYPE_AGG && t->agg.kind == AGG_TSERIES) {
			first = add_series(w, e, first);
			continue;
		}
		add_number(w, e, first, t->kind == TYPE_INT ? show_int(t, e->value) : *(const int64_t *)e->value);
		first = false;
	}
	end_metric(w, false, false);
}

static void add_histograms(struct writer *w)
{
	begin_metric(w, "", "histogram", unit_text(w->content->map->name));
	for (size_t i = w->content->first; i < w->content->n; i++)
		add_histogram(w, &w->content->list[i], i == w->content->first);
	end_metric(w, true, false);
}

bool otlp_metrics(const struct show *s, const struct map_content *c, uint64_t begun, struct str *out)
{
	struct writer w = {.show = s, .content = c, .out = out, .begun = begun, .now = clock_ns(CLOCK_REALTIME)};
	const struct type *t = c->map->value;
	const char *unit = unit_text(c->map->name);

	if (t->kind == TYPE_INT) {
		add_gauge(&w);
		return true;
	}
	if (t->kind != TYPE_AGG)
		return false;
	switch (t->agg.kind) {
	case AGG_COUNT:
		add_sums(&w, "", 0, unit, true);
		break;
	case AGG_SUM:
		add_sums(&w, "", 0, unit, !t->is_signed);
		break;
	case AGG_AVG:
	case AGG_STATS:
		add_sums(&w, "_count", 0, "1", true);
		str_add(out, ", ");
		add_sums(&w, "_sum", 1, unit, !t->is_signed);
		break;
	case AGG_HIST:
	case AGG_LHIST:
		add_histograms(&w);
		break;
	case AGG_MIN:
	case AGG_MAX:
	case AGG_TSERIES:
		add_gauge(&w);
		break;
	}
	return true;
}
