// SPDX-License-Identifier: Apache-2.0
/* show_hist.c - histograms: one line per bucket, from the first with a count to the last, with bars relative
 * to the largest. Buckets: bpf/lib/record.h. */
#include <inttypes.h>
#include <string.h>

#include "base/str.h"
#include "bpf/lib/record.h"
#include "model/type.h"
#include "show.h"

enum { BAR = 52, INTERVAL = 16 };

/* Returns the lowest value of bucket i (from 1); see HIST_BUCKETS. After the last bucket: 0. */
static uint64_t hist_low(uint32_t i, uint32_t bits)
{
	uint32_t n = i - 1, power;

	if (n < 1u << bits)
		return n;
	power = (n >> bits) - 1;
	return power + bits < 64 ? (((uint64_t)1 << bits) + (n & ((1u << bits) - 1))) << power : 0;
}

/* Appends that value, scaled by a divisor of all parts of its power of two: 1K, but 1024 next to 1008. */
static void add_low(uint32_t i, uint32_t bits, struct str *out)
{
	static const char suffix[] = "\0KMGTPE";
	uint32_t n = i - 1, power, part;

	if (n < 1u << bits) {
		str_addf(out, "%" PRIu32, n);
		return;
	}
	power = (n >> bits) - 1;
	part = n & ((1u << bits) - 1);
	str_addf(out, "%" PRIu64, (((uint64_t)1 << bits) + part) << power % 10);
	if (power >= 10)
		str_addc(out, suffix[power / 10]);
}

static void hist_interval(uint32_t i, uint32_t bits, struct str *out)
{
	str_add(out, i ? "[" : "(..., 0)");
	if (!i)
		return;
	add_low(i, bits, out);
	if (i > 2u << bits) { /* more than one value */
		str_add(out, ", ");
		add_low(i + 1, bits, out);
		str_addc(out, ')');
	} else {
		str_addc(out, ']');
	}
}

/* Appends 1K for 1024, if all of the histogram's intervals allow it. */
static void add_edge(const struct type *t, int64_t v, struct str *out)
{
	if (v == 0 || t->agg.step % 1024 || v % 1024)
		str_addf(out, "%" PRId64, v);
	else if (v % (1024 * 1024))
		str_addf(out, "%" PRId64 "K", v / 1024);
	else
		str_addf(out, "%" PRId64 "M", v / (1024 * 1024));
}

static void lhist_interval(const struct type *t, uint32_t i, struct str *out)
{
	int64_t low = t->agg.min + (int64_t)(i - 1) * t->agg.step;
	int64_t high = low + t->agg.step;

	if (!i) {
		str_add(out, "(..., ");
		add_edge(t, t->agg.min, out);
		str_addc(out, ')');
	} else if (i == t->agg.buckets - 1) {
		str_addc(out, '[');
		add_edge(t, t->agg.max, out);
		str_add(out, ", ...)");
	} else {
		str_addc(out, '[');
		add_edge(t, low, out);
		if (t->agg.step > 1) {
			str_add(out, ", ");
			add_edge(t, high < t->agg.max ? high : t->agg.max, out);
		}
		str_addc(out, t->agg.step > 1 ? ')' : ']');
	}
}

void show_bucket(const struct type *t, uint32_t i, struct bucket *ret)
{
	uint32_t bits = t->agg.bits;

	if (t->agg.kind == AGG_HIST) {
		*ret = (struct bucket){
			.low = i ? hist_low(i, bits) : 0,
			.high = i ? hist_low(i + 1, bits) - 1 : (uint64_t)-1,
			.no_low = !i,
			.is_signed = !i,
		};
	} else {
		int64_t low = t->agg.min + (int64_t)(i - 1) * t->agg.step, high = low + t->agg.step;

		*ret = (struct bucket){
			.low = i == t->agg.buckets - 1 ? t->agg.max : low,
			.high = (i ? high < t->agg.max ? high : t->agg.max : t->agg.min) - 1,
			.no_low = !i,
			.no_high = i == t->agg.buckets - 1,
			.is_signed = true,
		};
	}
}

bool show_buckets(const struct type *t, const uint64_t *buckets, uint32_t *ret_first, uint32_t *ret_last)
{
	*ret_first = UINT32_MAX;
	for (uint32_t i = 0; i < t->agg.buckets; i++) {
		if (!buckets[i])
			continue;
		if (*ret_first == UINT32_MAX)
			*ret_first = i;
		*ret_last = i;
	}
	return *ret_first != UINT32_MAX;
}

void show_hist_line(const struct str *interval, uint64_t n, uint64_t max, struct str *out)
{
	int bar = max ? (int)(n * (double)BAR / max) : 0;
	char text[BAR + 1];

	memset(text, '@', bar);
	memset(text + bar, ' ', BAR - bar);
	text[BAR] = 0;
	str_addf(out, "%-16s%8" PRIu64 " |%s|\n", str_text(interval), n, text);
}

void show_hist(const struct type *t, const uint64_t *buckets, uint64_t div, struct str *out)
{
	uint32_t first, last;
	uint64_t max = 0;

	div = div ? div : 1;
	if (!show_buckets(t, buckets, &first, &last))
		return;
	for (uint32_t i = first; i <= last; i++)
		max = buckets[i] > max ? buckets[i] : max;
	for (uint32_t i = first; i <= last; i++) {
		struct str interval = {};

		if (t->agg.kind == AGG_HIST)
			hist_interval(i, t->agg.bits, &interval);
		else
			lhist_interval(t, i, &interval);
		show_hist_line(&interval, buckets[i] / div, max / div, out);
		str_done(&interval);
	}
}
