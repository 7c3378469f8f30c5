// SPDX-License-Identifier: Apache-2.0
/* recording.c - reads any text as a recording, and draws it. A line "--" separates two recordings, which
 * are compared and added up. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "output/flame.h"
#include "output/functions.h"
#include "output/output.h"
#include "output/recording_merge.h"
#include "output/recording_read.h"
#include "output/recording_write.h"
#include "values/hidden.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct recording *read_part(const uint8_t *data, size_t size)
{
	FILE *f = size ? fmemopen((void *)data, size, "r") : NULL;
	struct recording *r = f ? recording_read(f, "-") : NULL;

	if (f)
		fclose(f);
	return r;
}

static void count(const struct picture *p, size_t i)
{
	struct recorded_map *m = p->recording->maps.data[i], *before = flame_before(p, m);
	struct functions *f = functions_new(p->recording, m);

	if (before)
		functions_add_before(f, p->before, before);
	functions_sort(f);
	for (size_t k = 0; k < functions_count(f); k++)
		if (functions_at(f, k)->self > functions_at(f, k)->total || functions_at(f, k)->total > m->total)
			abort();
	functions_free(f);
}

static void draw(const struct picture *p)
{
	uint64_t total = 0;
	struct flame f;
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	for (size_t i = 0; i < p->recording->maps.len; i++)
		if (__builtin_add_overflow(total, p->recording->maps.data[i]->total, &total))
			total = 0;
	if (total) {
		flame_of_all(p, &f);
		graph_draw(&f.drawn, "@", true, out);
		graph_write_data(&f.data, out);
		flame_done(&f);
	}
	fclose(out);
	free(text);
	for (size_t i = 0; i < p->recording->maps.len; i++)
		count(p, i);
}

static void add_up(struct recording *a, struct recording *b)
{
	struct recording *list[] = {a, b};
	const char *names[] = {"a", "b"};

	for (int by_host = 0; by_host < 2; by_host++) {
		struct picture p = {.recording = recording_merge(list, names, b ? 2 : 1, by_host)};

		if (p.recording)
			draw(&p);
		recording_free((struct recording *)p.recording);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *cut = memmem(data, size, "\n--\n", 4);
	const char *pattern = "*lib";
	struct libraries hidden = {.hidden = {.data = &pattern, .len = 1}};
	struct picture p;
	struct recording *a = read_part(data, cut ? (size_t)(cut - data) : size);
	struct recording *b = cut ? read_part(cut + 4, size - (size_t)(cut - data) - 4) : NULL;

	if (a)
		add_up(a, b);
	if (a && b)
		recording_pair(a, b);
	p = (struct picture){.recording = a, .before = b};
	if (a)
		draw(&p);
	if (a)
		recording_hide(a, &hidden);
	if (a)
		draw(&p);
	recording_free(a);
	recording_free(b);
	return 0;
}
