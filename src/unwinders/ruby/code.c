// SPDX-License-Identifier: Apache-2.0
/* code.c - Ruby's code objects (iseqs) by id: label, file and lines.
 *
 * A line belongs to an entry of insns_info. Which entry a position has is the number of set bits up to it, in a table
 * that counts them in advance (ruby/iseq.c, struct succ_index_table, v3.1.2). The table is read once and unpacked.
 * All data comes from a process's memory: sizes are checked, strings are cut. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/owner.h"
#include "base/str.h"
#include "ruby.h"
#include "unwinders/idmap.h"
#include "unwinders/unwinders.h"

enum {
	CODES_MAX = 1 << 20,
	POSITIONS_MAX = 1 << 16, /* words of instructions whose lines are kept */
	ENTRIES_MAX = 1 << 16,
	IMMEDIATE = 54,          /* positions whose number is in the first words, 7 bits each */
	IMMEDIATE_WORDS = 6,
	BLOCK = 512,             /* positions of a block */
};

struct succ_block {
	uint32_t rank, pad;
	uint64_t ranks; /* 9 bits each, from the second word on */
	uint64_t bits[8];
};

struct ruby_code {
	char *name, *file;
	uint32_t first_line, n;
	uint32_t *lines; /* by position; NULL: unknown */
};

struct ruby_codes {
	struct idmap by_id; /* struct ruby_code * */
};

struct reader {
	const struct ruby_layout *at;
	ruby_read_fn read;
	void *arg;
};

static bool read_at(const struct reader *r, uint64_t addr, void *buf, size_t size)
{
	return addr && !r->read(r->arg, addr, buf, size);
}

/* ---- lines ---- */

/* Returns the number of the entry, from 1 on. */
static uint32_t rank(const uint64_t *immediate, const struct succ_block *blocks, uint32_t at)
{
	const struct succ_block *b;
	uint32_t word, before;

	if (at < IMMEDIATE)
		return (uint32_t)(immediate[at / 9] >> (at % 9 * 7)) & 0x7f;
	at -= IMMEDIATE;
	b = &blocks[at / BLOCK];
	word = at % BLOCK / 64;
	before = word ? (uint32_t)(b->ranks >> ((word - 1) * 9)) & 0x1ff : 0;
	return b->rank + before + (uint32_t)__builtin_popcountll(b->bits[word] << (63 - at % 64));
}

static void fill_lines(struct ruby_code *c, const uint8_t *entries, uint32_t nentries, unsigned entry_size,
	const uint64_t *table)
{
	for (uint32_t i = 0; i < c->n; i++) {
		uint32_t k = nentries == 1 ? 1 : rank(table, (const void *)(table + IMMEDIATE_WORDS), i);

		if (k && k <= nentries)
			memcpy(&c->lines[i], entries + (k - 1) * entry_size, 4);
	}
}

/* Reads the lines of an iseq of c->n words. */
static void read_lines(const struct reader *r, uint64_t iseq, struct ruby_code *c)
{
	_cleanup_(freep) uint8_t *entries = NULL;
	_cleanup_(freep) uint64_t *table = NULL;
	uint64_t body, at, index = 0;
	size_t size = 8 * IMMEDIATE_WORDS;
	uint32_t n;

	if (!c->n || !read_at(r, iseq + 16, &body, 8) || !read_at(r, body + r->at->insns, &at, 8) ||
		!read_at(r, body + r->at->insns_size, &n, 4) || !read_at(r, body + r->at->insns_index, &index, 8) ||
		!n || n > ENTRIES_MAX)
		return;
	if (c->n > IMMEDIATE)
		size += (c->n - IMMEDIATE + BLOCK - 1) / BLOCK * sizeof(struct succ_block);
	entries = malloc((size_t)n * r->at->entry_size);
	table = calloc(1, size);
	c->lines = calloc(c->n, sizeof(*c->lines));
	if (!entries || !table || !c->lines || !read_at(r, at, entries, (size_t)n * r->at->entry_size))
		return;
	if (n == 1 || read_at(r, index, table, size))
		fill_lines(c, entries, n, r->at->entry_size, table);
}

/* ---- the label ---- */

/* Returns the length of the part of a label that is before the method: "block in ", "block (2 levels) in ", "rescue in
 * ", "ensure in ", or several. */
static size_t prefix_size(const char *label)
{
	static const char *const before[] = { "block in ", "rescue in ", "ensure in " };
	size_t at = 0, found = 1;
	int size;

	while (found) {
		found = 0;
		for (size_t i = 0; i < ARRAY_SIZE(before); i++)
			if (!strncmp(label + at, before[i], strlen(before[i])))
				found = strlen(before[i]);
		size = 0;
		if (!found && sscanf(label + at, "block (%*9u levels) in %n", &size) == 0 && size > 0)
			found = (size_t)size;
		at += found;
	}
	return at;
}

/* Returns the label, to be free()d, as caller_locations has it from 3.4 on, with the class. NULL: no memory. */
static char *label_of(const struct ruby_code_record *r)
{
	_cleanup_(freep) char *name = strndup((const char *)r->name, r->name_size);
	_cleanup_(freep) char *class = strndup((const char *)r->class, r->class_size);
	size_t prefix = name && r->class_size && !(r->addr & 1) ? prefix_size(name) : 0;
	char block[48] = "", *label = NULL;

	if (!name || !class)
		return NULL;
	if (r->kind & RUBY_BLOCK && r->levels > 1)
		snprintf(block, sizeof(block), "block (%u levels) in ", r->levels);
	else if (r->kind & RUBY_BLOCK)
		strcpy(block, "block in ");
	if (asprintf(&label, "%s%.*s%s%s%s", block, (int)prefix, name, class,
		!r->class_size ? "" : r->kind & RUBY_SINGLETON ? "." : "#", name + prefix) < 0)
		return NULL;
	return label;
}

/* ---- the store ---- */

struct ruby_codes *ruby_codes_new(void)
{
	return calloc(1, sizeof(struct ruby_codes));
}

static void code_free(struct ruby_code *c)
{
	free(c->name);
	free(c->file);
	free(c->lines);
	free(c);
}

void ruby_codes_free(struct ruby_codes *c)
{
	if (!c)
		return;
	for (size_t i = 0; i < c->by_id.cap; i++)
		if (c->by_id.slot[i].key)
			code_free((void *)(uintptr_t)c->by_id.slot[i].value);
	idmap_done(&c->by_id);
	free(c);
}

void ruby_codes_record(struct ruby_codes *c, const struct ruby_code_record *r, size_t size,
	const struct ruby_layout *at, ruby_read_fn read, void *arg)
{
	size_t head = offsetof(struct ruby_code_record, file);
	struct reader reader = { at, read, arg };
	struct ruby_code *code;

	if (size < head || (r->flags & RUBY_UNREADABLE) || r->name_size > RUBY_NAME_MAX ||
		r->class_size > RUBY_NAME_MAX || r->file_size > size - head || !r->code ||
		idmap_pointer(&c->by_id, r->code) || c->by_id.n >= CODES_MAX)
		return;
	code = calloc(1, sizeof(*code));
	if (!code)
		return;
	code->name = label_of(r);
	code->file = r->file_size ? strndup((const char *)r->file, r->file_size) : NULL;
	code->first_line = r->first_line;
	code->n = r->size < POSITIONS_MAX ? r->size : POSITIONS_MAX;
	if (read && !(r->addr & 1))
		read_lines(&reader, r->addr, code);
	idmap_set(&c->by_id, r->code, (uintptr_t)code);
}

bool ruby_codes_name(const struct ruby_codes *c, uint64_t frame, struct frame_name *ret)
{
	uint64_t id = frame >> 20 & ((1ULL << RUBY_CODE_BITS) - 1), at = frame & 0xfffff;
	const struct ruby_code *code = idmap_pointer(&c->by_id, id);

	*ret = (struct frame_name){ .lang = FRAME_LANG_RUBY };
	if (!code)
		return false;
	ret->name = code->name;
	ret->file = code->file;
	ret->line = code->lines && at < code->n ? code->lines[at] : 0;
	ret->begins = ret->line ? 0 : code->first_line;
	return true;
}
