// SPDX-License-Identifier: Apache-2.0
/* show_tseries.c - a time series, plotted like bpftrace's: one line per interval, a star for its value.
 *
 *              9                                                  21
 * hh:mm:ss.ms  |___________________________________________________|
 * 19:29:45.900 *                                                   | 9
 * 19:29:46.200 |                                                   | -
 * 19:29:46.500 |                                                   * 21
 *              v___________________________________________________v
 *              9                                                  21
 */
#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "base/str.h"
#include "bpf/lib/record.h"
#include "model/type.h"
#include "show.h"

enum { WIDTH = 52, NUMBER = 24, SECOND = 1000000000, MS = 1000000, US = 1000 };

struct plot {
	const struct type *type;
	const struct agg_tseries *list;
	uint64_t first, last;   /* intervals */
	uint64_t low, high;     /* ends of the axis */
	bool has_values;
	int digits;             /* decimal digits of a second, in labels */
};

static uint64_t value_of(const struct type *t, const struct agg_tseries *b)
{
	if (t->agg.series != SERIES_AVG || !b->n)
		return b->value;
	return t->is_signed ? (uint64_t)((int64_t)b->value / (int64_t)b->n) : b->value / b->n;
}

static void number_text(const struct plot *p, uint64_t v, char text[NUMBER])
{
	if (!p->has_values)
		snprintf(text, NUMBER, "null");
	else if (p->type->is_signed)
		snprintf(text, NUMBER, "%" PRId64, (int64_t)v);
	else
		snprintf(text, NUMBER, "%" PRIu64, v);
}

static bool less(const struct plot *p, uint64_t a, uint64_t b)
{
	return p->type->is_signed ? (int64_t)a < (int64_t)b : a < b;
}

/* Returns NULL if the interval has no value. */
static const struct agg_tseries *find(const struct plot *p, uint64_t interval)
{
	const struct agg_tseries *b = &p->list[(interval - 1) % p->type->agg.buckets];

	return b->interval == interval ? b : NULL;
}

/* ---- range of the plot -------------------------------------------------- */

static void find_range(struct plot *p)
{
	uint64_t n = p->type->agg.buckets, from = p->last > n ? p->last - n + 1 : 1;

	p->first = p->last;
	for (uint64_t i = p->last; i >= from; i--) {
		const struct agg_tseries *b = find(p, i);
		uint64_t v = b ? value_of(p->type, b) : 0;

		if (!b)
			continue;
		p->first = i;
		if (!p->has_values || less(p, v, p->low))
			p->low = v;
		if (!p->has_values || less(p, p->high, v))
			p->high = v;
		p->has_values = true;
	}
	if (p->low != p->high)
		return;
	/* a single value is in the middle, unless the axis ends there */
	p->low -= p->low != (p->type->is_signed ? (uint64_t)INT64_MIN : 0);
	p->high += p->high != (p->type->is_signed ? (uint64_t)INT64_MAX : UINT64_MAX);
}

static int digits_of(const struct plot *p)
{
	if (p->first == p->last || p->type->agg.step < US)
		return 9;
	return p->type->agg.step >= SECOND ? 0 : p->type->agg.step >= MS ? 3 : 6;
}

/* ---- lines -------------------------------------------------------------- */

static int label_width(const struct plot *p)
{
	return (int)strlen("hh:mm:ss") + (p->digits ? 1 + p->digits : 0);
}

static void add_axis(const struct plot *p, struct str *out)
{
	char low[NUMBER], high[NUMBER];

	number_text(p, p->low, low);
	number_text(p, p->high, high);
	str_addf(out, "%*s%s%*s\n", label_width(p) + 1, "", low, WIDTH + 1 - (int)strlen(low), high);
}

static void add_rule(const struct plot *p, const char *label, char end, struct str *out)
{
	char line[WIDTH + 2];

	memset(line, '_', WIDTH + 1);
	line[0] = line[WIDTH] = end;
	line[WIDTH + 1] = 0;
	str_addf(out, "%-*s %s\n", label_width(p), label, line);
}

static void add_label(const struct plot *p, uint64_t interval, struct str *out)
{
	static const uint64_t unit[] = {[0] = 1, [3] = MS, [6] = US, [9] = 1};
	uint64_t ns = (interval - 1) * (uint64_t)p->type->agg.step;
	time_t seconds = (time_t)(ns / SECOND);
	struct tm tm = {};

	localtime_r(&seconds, &tm);
	str_addf(out, "%02d:%02d:%02d", tm.tm_hour, tm.tm_min, tm.tm_sec);
	if (p->digits)
		str_addf(out, ".%0*" PRIu64, p->digits, ns % SECOND / unit[p->digits]);
}

static void add_interval(const struct plot *p, uint64_t interval, struct str *out)
{
	const struct agg_tseries *b = find(p, interval);
	uint64_t v = b ? value_of(p->type, b) : 0;
	char line[WIDTH + 2], text[NUMBER] = "-";

	memset(line, ' ', WIDTH + 1);
	line[0] = line[WIDTH] = '|';
	line[WIDTH + 1] = 0;
	if (b) {
		line[(unsigned)((unsigned __int128)(v - p->low) * WIDTH / (p->high - p->low))] = '*';
		number_text(p, v, text);
	}
	add_label(p, interval, out);
	str_addf(out, " %s %s\n", line, text);
}

bool tseries_next(const struct type *t, const uint8_t *value, uint64_t last, uint64_t after,
	struct tseries_point *ret)
{
	const struct plot p = {.type = t, .list = (const struct agg_tseries *)value};
	uint64_t n = t->agg.buckets, from = last > n ? last - n + 1 : 1;

	for (uint64_t i = after >= from ? after + 1 : from; i <= last; i++) {
		const struct agg_tseries *b = find(&p, i);

		if (!b)
			continue;
		*ret = (struct tseries_point){i, (i - 1) * (uint64_t)t->agg.step, value_of(t, b)};
		return true;
	}
	return false;
}

void show_tseries(const struct type *t, const uint8_t *value, uint64_t last, struct str *out)
{
	struct plot p = {.type = t, .list = (const struct agg_tseries *)value, .last = last};
	static const char *const units[] = {
		[0] = "hh:mm:ss", [3] = "hh:mm:ss.ms", [6] = "hh:mm:ss.us", [9] = "hh:mm:ss.ns",
	};

	if (!last) {
		str_add(out, "<no data>\n");
		return;
	}
	find_range(&p);
	p.digits = digits_of(&p);
	add_axis(&p, out);
	add_rule(&p, units[p.digits], '|', out);
	for (uint64_t i = p.first; i <= p.last; i++)
		add_interval(&p, i, out);
	add_rule(&p, "", 'v', out);
	add_axis(&p, out);
}
