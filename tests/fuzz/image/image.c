// SPDX-License-Identifier: Apache-2.0
/* image.c - reads any bytes as an image, without its checksum. An image that is read can be printed, its records
 * unpacked, and written: the written bytes are read as the same image. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/str.h"
#include "imagefile/imagefile.h"
#include "model/image.h"
#include "model/provider.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct provider rows[] = {{.name = "begin"}, {.name = "end"}, {.name = "kprobe"}, {.name = "tracepoint"},
	{.name = "uprobe"}, {.name = "interval"}};
static const struct provider *const known[] = {&rows[0], &rows[1], &rows[2], &rows[3], &rows[4], &rows[5], NULL};

static void print(const struct image *img)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	image_dump(img, out);
	fclose(out);
	free(text);
}

static void unpack(const struct image *img, const uint8_t *data, size_t size)
{
	for (unsigned i = 0; i < img->nrecords; i++) {
		const struct image_record *r = &img->records[i];
		uint8_t *to = r->size < 1 << 20 ? malloc(r->size + 1) : NULL;

		if (to)
			image_record_unpack(r, data, size, to);
		free(to);
	}
}

static void read_positions(const struct image *img)
{
	for (unsigned i = 0; i < img->nprogs; i++) {
		struct span at = source_outermost(img->source, img->progs[i].span);
		unsigned line, col;

		source_position(img->source, at.start, &line, &col);
	}
}

static void write_again(struct arena *a, const struct imagefile *f)
{
	struct str one = {}, two = {};
	struct imagefile g;

	if (!imagefile_write(f, "fuzz", &one) || imagefile_read(a, known, "fuzz", one.data, one.len, &g))
		abort();
	if (!imagefile_write(&g, "fuzz", &two) || one.len != two.len || memcmp(one.data, two.data, one.len))
		abort();
	str_done(&one);
	str_done(&two);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena *a = arena_new();
	struct imagefile f;

	if (!imagefile_read_body(a, known, data, size, &f)) {
		print(f.image);
		unpack(f.image, data, size);
		read_positions(f.image);
		write_again(a, &f);
	}
	arena_free(a);
	return 0;
}
