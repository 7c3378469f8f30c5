// SPDX-License-Identifier: Apache-2.0
/* image.c - prints the image as text (-d image), and has the names that images share. */
#include "image.h"

#include <inttypes.h>
#include <string.h>

#include "base/arena.h"
#include "base/str.h"
#include "provider.h"
#include "type.h"

static void dump_progs(const struct image *img, FILE *out)
{
	for (unsigned i = 0; i < img->nprogs; i++) {
		const struct image_prog *p = &img->progs[i];

		fprintf(out, "program %s section %s, %u place%s\n", p->name, p->section,
			p->nplaces, p->nplaces == 1 ? "" : "s");
		for (uint32_t k = 0; k < p->nplaces; k++) {
			fprintf(out, "  %u ", p->first_place + k);
			str_put_safe(img->places[p->first_place + k].place->name, out);
			putc('\n', out);
		}
	}
}

static void dump_maps(struct arena *a, const struct image *img, FILE *out)
{
	for (unsigned i = 0; i < img->nmaps; i++) {
		const struct image_map *m = &img->maps[i];

		fprintf(out, "map @%s", m->name);
		if (m->key)
			fprintf(out, "[%s]", type_name(a, m->key));
		fprintf(out, ": %s%s\n", type_name(a, m->value),
			m->per_cpu ? ", per CPU" : "");
	}
}

static void dump_records(struct arena *a, const struct image *img, FILE *out)
{
	for (unsigned i = 0; i < img->nrecords; i++) {
		const struct image_record *r = &img->records[i];

		fprintf(out, "record %u %s, %u bytes\n", i, r->kind, r->size);
		for (unsigned k = 0; k < r->nargs; k++)
			fprintf(out, "  at %u %s\n", r->args[k].offset,
				type_name(a, r->args[k].type));
	}
}

const struct image_map *symbols_map(const struct symbols *s, const char *name)
{
	for (size_t i = 0; i < s->n; i++)
		for (unsigned k = 0; k < s->images[i]->nmaps; k++)
			if (!strcmp(s->images[i]->maps[k].name, name))
				return &s->images[i]->maps[k];
	return NULL;
}

void image_dump(const struct image *img, FILE *out)
{
	struct arena *a = arena_new();

	dump_progs(img, out);
	dump_maps(a, img, out);
	dump_records(a, img, out);
	fprintf(out, "scratch %u bytes%s%s%s", img->scratch_size,
		img->kernel_stacks ? ", kernel stacks" : "",
		img->user_stacks ? ", user stacks" : "",
		img->user_symbols ? ", user symbols" : "");
	for (unsigned i = 0; i < img->nnamed; i++)
		fprintf(out, "%s%" PRIu32, i ? ", " : ", processes ", img->named[i]);
	fputc('\n', out);
	arena_free(a);
}

bool image_record_unpack(const struct image_record *r, const uint8_t *sent, size_t n, uint8_t *to)
{
	uint32_t at = 0; /* offset in the whole record */

	for (unsigned i = 0; i <= r->ntexts; i++) {
		const struct image_text *t = &r->texts[i];
		uint32_t fixed = (i < r->ntexts ? t->offset : r->size) - at, len;

		if (n < fixed)
			return false;
		memcpy(to + at, sent, fixed);
		if (i == r->ntexts)
			return true;
		sent += fixed;
		n -= fixed;
		len = (uint32_t)strnlen((const char *)sent, n < t->size ? n : t->size);
		if (len == n || len == t->size)
			return false;
		memcpy(to + t->offset, sent, len + 1);
		sent += len + 1;
		n -= len + 1;
		at = t->offset + t->size;
	}
	return false;
}

bool image_record_prints(const struct image_record *r)
{
	static const char *const silent[] = {
		"apply", "clear", "drop", "errorf", "exit", "gate", "hold", "keep", "problem", "zero",
	};

	for (size_t k = 0; k < sizeof(silent) / sizeof(silent[0]); k++)
		if (!strcmp(silent[k], r->kind))
			return false;
	return true;
}

bool image_is_whole(const struct image *img)
{
	for (unsigned i = 0; i < img->nprogs; i++) {
		const struct image_prog *p = &img->progs[i];

		if (!p->name || !p->provider || p->first_place > img->nplaces ||
			p->nplaces > img->nplaces - p->first_place)
			return false;
	}
	for (unsigned i = 0; i < img->nrecords; i++) {
		const struct image_record *r = &img->records[i];

		if (!r->kind || (r->map && r->map >= img->nmaps))
			return false;
		for (unsigned k = 0; k < r->nargs; k++)
			if (!r->args[k].type || (uint64_t)r->args[k].offset + r->args[k].type->size > r->size)
				return false;
	}
	return true;
}
