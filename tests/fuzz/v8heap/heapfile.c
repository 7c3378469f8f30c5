// SPDX-License-Identifier: Apache-2.0
/* heapfile.c - a file of the memory that naming one frame of node reads: see heapfile.h. */
#include "heapfile.h"

#include <errno.h>
#include <string.h>

#include "base/str.h"
#include "unwinders/unwinders.h"

bool heapfile_open(struct heapfile *f, uint8_t *data, size_t size)
{
	struct heapfile_head *h = &f->head;
	size_t n;

	f->data = data;
	f->size = size;
	f->reads = 0;
	if (size < sizeof(*h) || size > HEAPFILE_MAX)
		return false;
	memcpy(h, data, sizeof(*h));
	if (memcmp(h->magic, HEAPFILE_MAGIC, sizeof(h->magic)))
		return false;
	n = (size - sizeof(*h)) / sizeof(*f->range);
	if (h->nranges > n || h->nranges > HEAPFILE_RANGES || h->told_at > size || h->told > size - h->told_at ||
		h->sizes_at > size || h->sizes > size - h->sizes_at)
		return false;
	memcpy(f->range, data + sizeof(*h), h->nranges * sizeof(*f->range));
	for (size_t i = 0; i < h->nranges; i++)
		if (f->range[i].at > size || f->range[i].size > size - f->range[i].at)
			f->range[i].size = 0;
	return true;
}

/* The last range that begins at or before addr. A mutated file may have ranges in any order. */
static const struct heapfile_range *range_of(const struct heapfile *f, uint64_t addr)
{
	size_t lo = 0, hi = f->head.nranges;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (f->range[mid].addr <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo ? &f->range[lo - 1] : NULL;
}

/* Applies the bytes of a change that lie within what was read. */
static void change(const struct heapfile_change *c, uint64_t addr, uint8_t *buf, size_t size)
{
	for (size_t i = 0; i < sizeof(c->value); i++)
		if (c->addr + i - addr < size)
			buf[c->addr + i - addr] = (uint8_t)(c->value >> 8 * i);
}

int heapfile_read(void *file, uint64_t addr, void *buf, size_t size)
{
	struct heapfile *f = file;

	f->reads++;
	for (size_t done = 0, n; done < size; done += n) {
		const struct heapfile_range *r = range_of(f, addr + done);
		uint64_t from = r ? addr + done - r->addr : 0;

		if (!r || from >= r->size)
			return -EFAULT;
		n = size - done < r->size - from ? size - done : r->size - from;
		memcpy((uint8_t *)buf + done, f->data + r->at + from, n);
	}
	for (size_t i = 0; i < HEAPFILE_CHANGES; i++)
		if (f->head.change[i].on && f->reads > f->head.change[i].after)
			change(&f->head.change[i], addr, buf, size);
	return 0;
}

/* ---- layout and record ---- */

void heapfile_layout(const struct heapfile *f, struct v8_layout *ret)
{
	const int16_t *p = f->head.layout;

	*ret = (struct v8_layout){};
#define GET(member) ret->member = (__typeof__(ret->member))*p++;
	HEAPFILE_LAYOUT(GET)
#undef GET
	ret->version = (uint16_t)ret->version;
	ret->bytecodes = (uint16_t)ret->bytecodes;
	if (f->head.sizes && f->head.sizes == 3 * ret->bytecodes)
		ret->bytecode_sizes = f->data + f->head.sizes_at;
}

void heapfile_set_layout(struct heapfile_head *h, const struct v8_layout *l)
{
	int16_t *p = h->layout;

#define SET(member) *p++ = (int16_t)l->member;
	HEAPFILE_LAYOUT(SET)
#undef SET
}

#define HEAPFILE_RECORD(F) F(frame) F(shared) F(bytecode) F(pc) F(flags) F(unique) F(compiled) F(name) F(file)

void heapfile_record(const struct heapfile *f, struct v8_record *ret)
{
	*ret = (struct v8_record){ .head.pid = 1 };
#define GET(member) ret->member = f->head.member;
	HEAPFILE_RECORD(GET)
#undef GET
}

void heapfile_set_record(struct heapfile_head *h, const struct v8_record *r)
{
#define SET(member) h->member = r->member;
	HEAPFILE_RECORD(SET)
#undef SET
}

void heapfile_told(const struct frame_name *name, struct str *out)
{
	for (; name; name = name->caller)
		str_addf(out, "%s\t%s\t%u\t%u\n", name->name ? name->name : "", name->file ? name->file : "",
			name->line ? name->line : name->begins, name->column);
}
