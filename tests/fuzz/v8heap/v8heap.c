// SPDX-License-Identifier: Apache-2.0
/* v8heap.c - names frames from captured objects of real V8s (make.py), unchanged and mutated: objects
 * are exchanged, lengths and types are false, memory is missing or changes while it is read. An
 * unchanged capture must give the names that V8 gave. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "heapfile.h"
#include "unwinders/unwinders.h"
#include "unwinders/v8/sourcemap.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed);
size_t LLVMFuzzerCustomCrossOver(const uint8_t *a, size_t asize, const uint8_t *b, size_t bsize,
	uint8_t *out, size_t max, unsigned seed);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max) __attribute__((weak));

#define READS_MAX   2000000 /* to name one frame */
#define PLACES_MAX  64      /* functions in one frame, as in src/unwinders/v8/code.c */
#define TEXT_MAX    (4 * 4096) /* of a script's name, in bytes */
#define MAPPED_MAX  (16 << 20) /* a text from a source map can be that long */

static void wrong(const char *what, const char *text)
{
	fprintf(stderr, "v8heap: %s: %s\n", what, text);
	abort();
}

/* ---- what must hold of every name ---- */

static void check_text(const char *text, size_t max)
{
	struct str safe = {};

	if (strnlen(text, max) == max)
		wrong("a name without an end", "");
	str_add_safe(&safe, text, strlen(text));
	for (const char *p = str_text(&safe); *p; p++)
		if ((unsigned char)*p < ' ' || *p == 0x7f)
			wrong("it reaches the terminal", str_text(&safe));
	str_done(&safe);
}

static void check_name(const struct frame_name *name, bool maps)
{
	size_t max = maps ? MAPPED_MAX : TEXT_MAX;
	unsigned n = 0;

	for (; name; name = name->caller) {
		if (!name->name || name->lang != FRAME_LANG_JS || n++ >= PLACES_MAX)
			wrong("it is no name", name->name ? name->name : "");
		check_text(name->name, max);
		if (name->file)
			check_text(name->file, max);
		if (!name->file && name->line)
			wrong("a line of no file", name->name);
	}
}

/* ---- a capture ---- */

static void check_told(const struct heapfile *f, const struct frame_name *name)
{
	struct str found = {};

	heapfile_told(name, &found);
	if (f->head.told && (found.len != f->head.told ||
				    memcmp(found.data, f->data + f->head.told_at, found.len)))
		wrong("named otherwise", str_text(&found));
	str_done(&found);
}

static int open_none(void *arg, int pid, const char *path)
{
	return -ENOENT;
}

static void name_frame(struct heapfile *f)
{
	struct v8_codes *c = v8_codes_new();
	struct v8_layout layout;
	struct v8_heap heap = { &layout, heapfile_read, f };
	struct v8_record r;
	struct frame_name name;

	heapfile_layout(f, &layout);
	heapfile_record(f, &r);
	if (f->head.maps)
		v8_codes_use_source_maps(c, &(struct sourcemap_files){ open_none, NULL });
	/* Once more: now its script and its code are known. */
	for (uint64_t id = 1; id < 4; id += 2) {
		r.frame = FRAME_JS(id, f->head.frame & 0xfffff);
		f->reads = 0;
		v8_codes_record(c, &r, &heap);
		if (f->reads > READS_MAX)
			wrong("it reads without an end", "");
		if (!v8_codes_name(c, r.frame, &name))
			wrong("a record that names no frame", "");
		check_name(&name, f->head.maps);
		check_told(f, &name);
	}
	v8_codes_free(c);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct heapfile f;
	uint8_t *copy = malloc(size ? size : 1); /* data must not be changed */

	if (!copy)
		return 0;
	memcpy(copy, data, size);
	if (heapfile_open(&f, copy, size))
		name_frame(&f);
	free(copy);
	return 0;
}

/* ---- changes ---- */

/* Mutations are in place and keep the file's structure: values become other meaningful values. */
struct mutation {
	struct heapfile f;
	uint64_t state;
};

static uint64_t next(struct mutation *m)
{
	m->state ^= m->state << 13;
	m->state ^= m->state >> 7;
	m->state ^= m->state << 17;
	return m->state;
}

static size_t below(struct mutation *m, size_t n)
{
	return n ? next(m) % n : 0;
}

/* size bytes of some range, aligned as in the process; NULL: no range has so many. */
static uint8_t *some_bytes(struct mutation *m, size_t size, uint64_t *ret_addr)
{
	const struct heapfile_range *r = &m->f.range[below(m, m->f.head.nranges)];
	uint64_t first;
	size_t at;

	if (!m->f.head.nranges)
		return NULL;
	first = -r->addr & (size - 1);
	if (r->size < first + size)
		return NULL;
	at = first + size * below(m, (r->size - first) / size);
	*ret_addr = r->addr + at;
	return m->f.data + r->at + at;
}

/* A word of some range, preferably a pointer to an object; an object that may be at an address. */
static uint64_t some_word(struct mutation *m)
{
	uint64_t word = 0, addr;
	uint8_t *p;

	for (int i = 0; i < 16; i++) {
		p = some_bytes(m, 8, &addr);
		if (!p)
			continue;
		memcpy(&word, p, sizeof(word));
		if ((word & 3) == 1)
			return word;
	}
	return word;
}

static uint64_t some_object(struct mutation *m)
{
	const struct heapfile_range *r = &m->f.range[below(m, m->f.head.nranges)];

	return m->f.head.nranges && below(m, 4) ? r->addr + 8 * below(m, r->size / 8) + 1 : some_word(m);
}

static uint64_t wild_number(struct mutation *m, uint64_t old)
{
	static const uint64_t wild[] = { 0, 1, 2, 3, 15, 16, 63, 64, 74, 75, 127, 128, 255, 256, 4095, 4096,
		65535, 0x10000000, 0x3fffffff, 0x40000000, 0x7fffffff, 0x80000000, 0xffffffff };

	switch (below(m, 5)) {
	case 0:
		return old + 1;
	case 1:
		return old - 1;
	case 2:
		return old ^ 1ull << below(m, 32);
	case 3:
		return below(m, 200);
	default:
		return wild[below(m, sizeof(wild) / sizeof(*wild))];
	}
}

static void change_pointer(struct mutation *m)
{
	uint64_t addr, word = below(m, 2) ? some_word(m) : some_object(m);
	uint8_t *p = some_bytes(m, 8, &addr);

	if (p && !below(m, 8))
		word = (addr & ~7ull) - 8 * below(m, 6) + 1; /* itself, or one near it */
	if (p)
		memcpy(p, &word, sizeof(word));
}

static void change_number(struct mutation *m)
{
	uint64_t addr;
	uint32_t word;
	uint8_t *p = some_bytes(m, 4, &addr);

	if (!p)
		return;
	memcpy(&word, p, sizeof(word));
	word = (uint32_t)wild_number(m, word);
	memcpy(p, &word, sizeof(word));
}

static void change_smi(struct mutation *m)
{
	uint64_t addr, word;
	uint8_t *p = some_bytes(m, 8, &addr);

	if (!p)
		return;
	memcpy(&word, p, sizeof(word));
	word = wild_number(m, word >> 32) << 32;
	memcpy(p, &word, sizeof(word));
}

/* Changes the instance type of a map: to a string of some shape, or to a type of the layout. */
static void change_type(struct mutation *m)
{
	uint64_t addr;
	uint8_t *p = some_bytes(m, 2, &addr);
	uint16_t type = (uint16_t)below(m, 48);

	if (below(m, 2))
		type = (uint16_t)m->f.head.layout[below(m, HEAPFILE_LAYOUT_N)];
	for (int i = 0; i < 64 && p && (addr & 7) != 4; i++)
		p = some_bytes(m, 2, &addr);
	if (p)
		memcpy(p, &type, sizeof(type));
}

static void change_byte(struct mutation *m)
{
	uint64_t addr;
	uint8_t *p = some_bytes(m, 1, &addr);

	if (p)
		*p = (uint8_t)(below(m, 3) ? wild_number(m, *p) : *p ^ 0x80);
}

/* libFuzzer's own mutation, which uses values from the comparisons that it saw. */
static void change_range(struct mutation *m)
{
	const struct heapfile_range *r = &m->f.range[below(m, m->f.head.nranges)];
	size_t n = r->size < 64 ? r->size : 64, at = below(m, r->size - n + 1);

	if (m->f.head.nranges && n)
		LLVMFuzzerMutate(m->f.data + r->at + at, n, n);
}

static void cut_range(struct mutation *m)
{
	struct heapfile_range *r = &m->f.range[below(m, m->f.head.nranges)];

	if (m->f.head.nranges)
		r->size = (uint32_t)below(m, r->size + 1);
}

static void change_record(struct mutation *m)
{
	struct heapfile_head *h = &m->f.head;

	switch (below(m, 7)) {
	case 0:
		h->shared = some_object(m);
		break;
	case 1:
		h->bytecode = some_object(m);
		break;
	case 2:
		h->pc = below(m, 2) ? h->pc + below(m, 256) - 128 : below(m, 3) ? some_object(m) : 0;
		break;
	case 3:
		h->compiled = !h->compiled;
		break;
	case 4:
		LLVMFuzzerMutate((uint8_t *)&h->name, sizeof(h->name), sizeof(h->name));
		break;
	case 5:
		h->maps = !h->maps;
		break;
	case 6:
		h->frame = h->frame ^ (1ull << below(m, 20));
		break;
	}
}

static void change_layout(struct mutation *m)
{
	int16_t *p = &m->f.head.layout[below(m, HEAPFILE_LAYOUT_N)];

	*p = (int16_t)(below(m, 2) ? (uint64_t)*p + 8 * below(m, 5) - 16 : wild_number(m, (uint16_t)*p));
}

static void change_later(struct mutation *m)
{
	struct heapfile_change *c = &m->f.head.change[below(m, HEAPFILE_CHANGES)];

	c->value = below(m, 2) ? some_object(m) : wild_number(m, 0) << 32;
	c->after = (uint32_t)below(m, 200);
	c->on = some_bytes(m, 8, &c->addr) && below(m, 4);
}

/* V8's account does not hold for a mutated capture: remove it. */
static size_t put_back(struct mutation *m)
{
	struct heapfile_head *h = &m->f.head;

	if (h->told_at + h->told == m->f.size)
		m->f.size -= h->told;
	h->told = h->told_at = 0;
	memcpy(m->f.data + sizeof(*h), m->f.range, h->nranges * sizeof(*m->f.range));
	memcpy(m->f.data, h, sizeof(*h));
	return m->f.size;
}

typedef void mutate(struct mutation *m);

static size_t mutate_capture(struct mutation *m)
{
	static mutate *const all[] = { change_pointer, change_pointer, change_pointer, change_number,
		change_number, change_smi, change_smi, change_type, change_byte, change_byte, change_range,
		change_range, cut_range, change_record, change_layout, change_later };

	for (size_t n = 1 + below(m, 4); n--;)
		all[below(m, sizeof(all) / sizeof(*all))](m);
	return put_back(m);
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed)
{
	static struct mutation m;

	m.state = seed * 0x9e3779b97f4a7c15ull + 1;
	if (size > max || !heapfile_open(&m.f, data, size))
		return LLVMFuzzerMutate(data, size, max);
	return mutate_capture(&m);
}

/* The memory of one with the layout of the other: another version, or a file with false data. */
size_t LLVMFuzzerCustomCrossOver(const uint8_t *a, size_t asize, const uint8_t *b, size_t bsize,
	uint8_t *out, size_t max, unsigned seed)
{
	static struct mutation m;
	struct heapfile_head other;

	if (asize > max || bsize < sizeof(other))
		return 0;
	memcpy(out, a, asize);
	if (!heapfile_open(&m.f, out, asize))
		return 0;
	memcpy(&other, b, sizeof(other));
	memcpy(m.f.head.layout, other.layout, sizeof(other.layout));
	return put_back(&m);
}
