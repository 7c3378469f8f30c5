// SPDX-License-Identifier: Apache-2.0
/* chains.c - known functions and lines of a file's code. See chains.h. */
#include "chains.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "cache.h"
#include "target/elf.h"
#include "unwinders/idmap.h"

#define KIND    "inlines"
#define VERSION 1 /* of these structs and of the code that makes them */

enum {
	PARTS_MAX = 1 << 21, LEVELS_MAX = 1 << 20, RANGES_MAX = 1 << 19, /* of a file in the cache */
	TEXT_MAX = 32 << 20,
	RANGE_PARTS_MAX = 1 << 17,
};

/* The file: this head, ranges by address, parts, levels, text. Texts are offsets; 0: none. */
struct kept_head {
	uint64_t version, has_parts; /* has_parts: 0, or the hash of the path */
	struct elf_identity source;
	uint32_t ranges, parts, levels, text; /* numbers; text: a multiple of 8 bytes */
};

struct kept_range {
	uint64_t start, end, entry;
	uint32_t first, n, name; /* n 0: the debug information has nothing */
	uint32_t pad;
};

struct kept_part { /* ends where the next one begins */
	uint32_t at; /* from the start of the range */
	uint32_t level, file, line, column;
};

struct kept_level {
	uint32_t outer; /* a lower number; 0: the function of the range */
	uint32_t name, file, line, column;
	uint32_t pad;
};

struct chains {
	VEC(struct kept_range) ranges;
	VEC(struct kept_part) parts;
	VEC(struct kept_level) levels;
	VEC(char) text;
	struct idmap texts; /* hash -> offset */
	bool texts_read, is_new;
};

struct chains *chains_new(void)
{
	struct chains *c = calloc(1, sizeof(*c));

	if (!c)
		out_of_memory();
	vec_push(&c->text, '\0');
	return c;
}

void chains_free(struct chains *c)
{
	if (!c)
		return;
	vec_done(&c->ranges);
	vec_done(&c->parts);
	vec_done(&c->levels);
	vec_done(&c->text);
	idmap_done(&c->texts);
	free(c);
}

/* ---- texts -------------------------------------------------------------------------- */

static uint64_t hash_text(const char *s)
{
	uint64_t h = 0xcbf29ce484222325ULL;

	while (*s)
		h = (h ^ (uint8_t)*s++) * 0x100000001b3ULL;
	return h | 1;
}

/* The texts of an earlier run are only listed when the first one is added. */
static void read_texts(struct chains *c)
{
	for (size_t at = 1; !c->texts_read && at < c->text.len; at += strlen(c->text.data + at) + 1)
		idmap_set(&c->texts, hash_text(c->text.data + at), at);
	c->texts_read = true;
}

static uint32_t keep_text(struct chains *c, const char *text)
{
	uint64_t hash, *known;
	uint32_t at = (uint32_t)c->text.len;

	if (!text || !*text)
		return 0;
	read_texts(c);
	hash = hash_text(text);
	known = idmap_find(&c->texts, hash);
	if (known && !strcmp(c->text.data + *known, text))
		return (uint32_t)*known;
	if (at + strlen(text) >= TEXT_MAX)
		return 0;
	for (const char *s = text; *s; s++)
		vec_push(&c->text, *s);
	vec_push(&c->text, '\0');
	idmap_set(&c->texts, hash, at);
	return at;
}

static const char *text_at(const struct chains *c, uint32_t at)
{
	return at ? c->text.data + at : NULL;
}

/* ---- find --------------------------------------------------------------------------- */

/* Returns the number of ranges that begin at or below vaddr. */
static size_t ranges_below(const struct chains *c, uint64_t vaddr)
{
	size_t lo = 0, hi = c->ranges.len;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (c->ranges.data[mid].start <= vaddr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static const struct kept_part *part_at(const struct chains *c, const struct kept_range *r, uint64_t offset)
{
	size_t lo = r->first, hi = (size_t)r->first + r->n;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (c->parts.data[mid].at <= offset)
			lo = mid + 1;
		else
			hi = mid;
	}
	return &c->parts.data[lo - 1]; /* the first part begins at the range's start */
}

static void make_chain(const struct chains *c, const struct kept_range *r, const struct kept_part *p,
	struct inline_chain *ret)
{
	ret->n = 1;
	ret->start = r->entry;
	ret->at[0] = (struct inline_function){NULL, text_at(c, p->file), p->line, p->column};
	for (uint32_t i = p->level; i && ret->n < INLINES_MAX; i = c->levels.data[i - 1].outer) {
		const struct kept_level *l = &c->levels.data[i - 1];

		ret->at[ret->n - 1].name = text_at(c, l->name);
		ret->at[ret->n++] = (struct inline_function){NULL, text_at(c, l->file), l->line, l->column};
	}
	ret->at[ret->n - 1].name = text_at(c, r->name);
}

bool chains_find(const struct chains *c, uint64_t vaddr, struct inline_chain *ret)
{
	size_t below = ranges_below(c, vaddr);
	const struct kept_range *r = below ? &c->ranges.data[below - 1] : NULL;

	if (!r || vaddr >= r->end)
		return false;
	ret->n = 0;
	if (r->n)
		make_chain(c, r, part_at(c, r, vaddr - r->start), ret);
	return true;
}

/* ---- add ---------------------------------------------------------------------------- */

bool chains_begin(struct chains *c, uint64_t start, uint64_t end, uint64_t entry, const char *name, size_t parts)
{
	size_t at = ranges_below(c, start);
	struct kept_range r = {start, end, entry, (uint32_t)c->parts.len, (uint32_t)parts, keep_text(c, name), 0};

	if (start >= end || end - start > UINT32_MAX || parts > RANGE_PARTS_MAX || c->ranges.len >= RANGES_MAX ||
		parts > PARTS_MAX - c->parts.len || c->levels.len >= LEVELS_MAX || c->text.len > TEXT_MAX / 2 ||
		(name && *name && !r.name))
		return false;
	if ((at && start < c->ranges.data[at - 1].end) || (at < c->ranges.len && end > c->ranges.data[at].start))
		return false;
	vec_push(&c->ranges, r);
	memmove(c->ranges.data + at + 1, c->ranges.data + at, (c->ranges.len - 1 - at) * sizeof(r));
	c->ranges.data[at] = r;
	c->is_new = true;
	return true;
}

uint32_t chains_level(struct chains *c, const struct inline_function *at, uint32_t outer)
{
	struct kept_level l = {outer, keep_text(c, at->name), keep_text(c, at->file), at->line, at->column, 0};

	vec_push(&c->levels, l);
	return (uint32_t)c->levels.len;
}

void chains_part(struct chains *c, uint64_t start, uint32_t level, const struct inline_function *at)
{
	vec_push(&c->parts, (struct kept_part){(uint32_t)start, level, keep_text(c, at->file), at->line, at->column});
}

void chains_add(struct chains *c, uint64_t vaddr, const struct inline_chain *chain)
{
	uint32_t level = 0;
	size_t n = chain ? chain->n : 0;

	if (!chains_begin(c, vaddr, vaddr + 1, n ? chain->start : 0, n ? chain->at[n - 1].name : NULL, n ? 1 : 0))
		return;
	for (size_t i = n; i-- > 1;) { /* the place of a call is that of the next outer function */
		struct inline_function at = chain->at[i];

		at.name = chain->at[i - 1].name;
		level = chains_level(c, &at, level);
	}
	if (n)
		chains_part(c, 0, level, &chain->at[0]);
}

/* ---- the file in the cache ---------------------------------------------------------- */

static bool range_valid(const struct chains *c, size_t i)
{
	const struct kept_range *r = &c->ranges.data[i];
	const struct kept_part *p = c->parts.data + r->first;

	if (r->start >= r->end || r->end - r->start > UINT32_MAX || (i && r->start < r[-1].end) ||
		r->first > c->parts.len || r->n > c->parts.len - r->first || r->name >= c->text.len)
		return false;
	for (uint32_t k = 0; k < r->n; k++)
		if ((k ? p[k].at <= p[k - 1].at : p[k].at) || p[k].at >= r->end - r->start ||
			p[k].level > c->levels.len || p[k].file >= c->text.len)
			return false;
	return true;
}

static bool all_valid(const struct chains *c)
{
	if (!c->text.len || c->text.data[0] || c->text.data[c->text.len - 1])
		return false;
	for (size_t i = 0; i < c->levels.len; i++) {
		const struct kept_level *l = &c->levels.data[i];

		if (l->outer > i || l->name >= c->text.len || l->file >= c->text.len)
			return false;
	}
	for (size_t i = 0; i < c->ranges.len; i++)
		if (!range_valid(c, i))
			return false;
	return true;
}

static void *copy_in(const char **from, size_t size)
{
	void *data = malloc(size + 1);

	if (!data)
		out_of_memory();
	memcpy(data, *from, size);
	*from += size;
	return data;
}

/* Copies n elements from p to an empty vector, and moves p. */
#define COPY_IN(v, p, n)                                                     \
	do {                                                                 \
		(v).data = copy_in(&(p), (size_t)(n) * sizeof(*(v).data));   \
		(v).len = (v).cap = (n);                                     \
	} while (0)

static uint64_t size_of(const struct kept_head *h)
{
	return sizeof(*h) + (uint64_t)h->ranges * sizeof(struct kept_range) +
		(uint64_t)h->parts * sizeof(struct kept_part) + (uint64_t)h->levels * sizeof(struct kept_level) +
		h->text + (h->parts % 2 ? 4 : 0);
}

static bool read_kept(struct chains *c, const struct cached_data *d, const struct elf_identity *source,
	const char *path)
{
	const char *p = d->data;
	struct kept_head h;

	if (d->size < sizeof(h))
		return false;
	memcpy(&h, p, sizeof(h));
	if (h.version != VERSION || memcmp(&h.source, source, sizeof(*source)) || size_of(&h) != d->size ||
		(h.has_parts && (!path || h.has_parts != hash_text(path))))
		return false;
	p += sizeof(h);
	vec_done(&c->text);
	COPY_IN(c->ranges, p, h.ranges);
	COPY_IN(c->levels, p, h.levels);
	COPY_IN(c->text, p, h.text);
	COPY_IN(c->parts, p, h.parts);
	return all_valid(c);
}

int chains_load(struct chains *c, int dir, const struct cache_key *key, const struct elf_identity *source,
	const char *path)
{
	struct cached_data d;
	int err = cache_load_data(dir, key, KIND, &d);

	if (err)
		return err;
	if (!read_kept(c, &d, source, path)) {
		vec_done(&c->ranges);
		vec_done(&c->levels);
		vec_done(&c->parts);
		vec_done(&c->text);
		vec_push(&c->text, '\0');
		err = -EINVAL;
	}
	cached_data_done(&d);
	return err;
}

static char *copy_out(char *to, const void *data, size_t size)
{
	if (size)
		memcpy(to, data, size);
	return to + size;
}

int64_t chains_store(struct chains *c, int dir, const struct cache_key *key, const struct elf_identity *source,
	const char *path, bool has_parts)
{
	struct kept_head h = {VERSION, has_parts && path ? hash_text(path) : 0, *source, (uint32_t)c->ranges.len,
		(uint32_t)c->parts.len, (uint32_t)c->levels.len, (uint32_t)((c->text.len + 7) & ~7ul)};
	uint64_t size = size_of(&h);
	char *data, *p;
	int err;

	if (!c->is_new || (has_parts && !path))
		return 0;
	data = calloc(1, size);
	if (!data)
		return -ENOMEM;
	p = copy_out(data, &h, sizeof(h));
	p = copy_out(p, c->ranges.data, c->ranges.len * sizeof(*c->ranges.data));
	p = copy_out(p, c->levels.data, c->levels.len * sizeof(*c->levels.data));
	copy_out(p, c->text.data, c->text.len);
	copy_out(p + h.text, c->parts.data, c->parts.len * sizeof(*c->parts.data));
	err = cache_store_note(dir, key, KIND, data, size);
	free(data);
	c->is_new = false;
	return err ? err : (int64_t)size;
}
