// SPDX-License-Identifier: Apache-2.0
/* show_hist.c - histograms: a line a bucket, from the first that counted to the
 * last, bars relative to the largest. Buckets: bpf/record.h. */
#include <inttypes.h>
#include <string.h>

#include "base/str.h"
#include "bpf/record.h"
#include "parser/type.h"
#include "show.h"

enum { BAR = 52, INTERVAL = 16 };

/* 1024 -> 1K, as far as it divides. */
static void add_scaled(struct str *out, uint64_t v)
{
	static const char suffix[] = "\0KMGTPE";
	int i = 0;

	while (i < 6 && v && !(v & 1023)) {
		v >>= 10;
		i++;
	}
	str_addf(out, "%" PRIu64, v);
	if (i)
		str_addc(out, suffix[i]);
}

/* Where bucket i (from 1) begins; see HIST_BUCKETS. */
static uint64_t hist_low(uint32_t i, uint32_t bits)
{
	uint32_t power, sub;

	i -= 1;
	if (i < 1u << bits)
		return i;
	power = (i >> bits) - 1;
	sub = i & ((1u << bits) - 1);
	return (((uint64_t)1 << bits) + sub) << power;
}

static void hist_interval(uint32_t i, uint32_t bits, struct str *out)
{
	uint64_t low, high;

	if (!i) {
		str_add(out, "(..., 0)");
		return;
	}
	low = hist_low(i, bits);
	high = hist_low(i + 1, bits);
	if (high == low + 1) {
		str_addf(out, "[%" PRIu64 "]", low);
		return;
	}
	str_addc(out, '[');
	add_scaled(out, low);
	str_add(out, ", ");
	add_scaled(out, high);
	str_addc(out, ')');
}

static void add_signed(struct str *out, int64_t v)
{
	if (v < 0)
		str_addf(out, "%" PRId64, v);
	else
		add_scaled(out, v);
}

static void lhist_interval(const struct type *t, uint32_t i, struct str *out)
{
	int64_t low = t->agg.min + (int64_t)(i - 1) * t->agg.step;

	if (!i) {
		str_add(out, "(..., ");
		add_signed(out, t->agg.min);
		str_addc(out, ')');
	} else if (i == t->agg.buckets - 1) {
		str_addc(out, '[');
		add_signed(out, t->agg.max);
		str_add(out, ", ...)");
	} else {
		int64_t high = low + t->agg.step;

		str_addc(out, '[');
		add_signed(out, low);
		str_add(out, ", ");
		add_signed(out, high < t->agg.max ? high : t->agg.max);
		str_addc(out, ')');
	}
}

static void add_line(const struct str *interval, uint64_t n, uint64_t max, uint64_t div,
	struct str *out)
{
	int bar = max ? (int)(n * (double)BAR / max) : 0;
	char text[BAR + 1];

	memset(text, '@', bar);
	memset(text + bar, ' ', BAR - bar);
	text[BAR] = 0;
	str_addf(out, "%-16s%8" PRIu64 " |%s|\n", str_text(interval), n / div, text);
}

void show_hist(const struct type *t, const uint64_t *buckets, uint64_t div, struct str *out)
{
	uint32_t first = UINT32_MAX, last = 0;
	uint64_t max = 0;

	for (uint32_t i = 0; i < t->agg.buckets; i++) {
		if (!buckets[i])
			continue;
		if (first == UINT32_MAX)
			first = i;
		last = i;
		if (buckets[i] > max)
			max = buckets[i];
	}
	for (uint32_t i = first; i != UINT32_MAX && i <= last; i++) {
		struct str interval = {};

		if (t->agg.kind == AGG_HIST)
			hist_interval(i, t->agg.bits, &interval);
		else
			lhist_interval(t, i, &interval);
		add_line(&interval, buckets[i], max, div ? div : 1, out);
		str_done(&interval);
	}
}
