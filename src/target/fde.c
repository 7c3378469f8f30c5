// SPDX-License-Identifier: Apache-2.0
/* fde.c - reads CIEs and FDEs: the entries of .eh_frame and .debug_frame, and the search table of .eh_frame_hdr. */
#include "fde.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/owner.h"

#define PAIRS 0x3b /* DW_EH_PE_datarel | DW_EH_PE_sdata4, as all linkers write the search table */

/* ---- bytes ------------------------------------------------------------- */

uint64_t read_uint(struct reader *r, size_t size)
{
	uint64_t v = 0;

	if ((size_t)(r->end - r->p) < size) {
		r->bad = true;
		r->p = r->end;
		return 0;
	}
	memcpy(&v, r->p, size);
	r->p += size;
	r->vaddr += size;
	return v;
}

uint64_t read_uleb(struct reader *r)
{
	uint64_t v = 0;

	for (unsigned shift = 0;; shift += 7) {
		uint8_t b = read_uint(r, 1);

		if (shift < 64)
			v |= (uint64_t)(b & 0x7f) << shift;
		if (!(b & 0x80))
			return v;
	}
}

int64_t read_sleb(struct reader *r)
{
	uint64_t v = 0;
	unsigned shift = 0;
	uint8_t b;

	do {
		b = read_uint(r, 1);
		if (shift < 64)
			v |= (uint64_t)(b & 0x7f) << shift;
		shift += 7;
	} while (b & 0x80);
	if (shift < 64 && (b & 0x40))
		v |= ~0ull << shift;
	return v;
}

void read_skip(struct reader *r, uint64_t n)
{
	if ((uint64_t)(r->end - r->p) < n) {
		r->bad = true;
		n = r->end - r->p;
	}
	r->p += n;
	r->vaddr += n;
}

struct reader read_block(struct reader *r, uint64_t n)
{
	struct reader b = *r;

	read_skip(r, n);
	b.end = r->p;
	return b;
}

static uint64_t read_format(struct reader *r, uint8_t format)
{
	switch (format) {
	case 0x00: case 0x04: case 0x0c: return read_uint(r, 8);
	case 0x01: return read_uleb(r);
	case 0x02: return read_uint(r, 2);
	case 0x03: return read_uint(r, 4);
	case 0x09: return read_sleb(r);
	case 0x0a: return (int16_t)read_uint(r, 2);
	case 0x0b: return (int32_t)read_uint(r, 4);
	}
	r->bad = true;
	return 0;
}

uint64_t read_encoded(struct reader *r, uint8_t encoding, uint64_t data)
{
	uint64_t here = r->vaddr, v;

	if (encoding == 0xff)
		return 0;
	v = read_format(r, encoding & 0x0f);
	switch (encoding & 0x70) {
	case 0x00: return v;
	case 0x10: return v + here;
	case 0x30: return v + data;
	}
	r->bad = true; /* textrel, funcrel, aligned: never written by compilers */
	return 0;
}

/* ---- CIE and FDE ------------------------------------------------------- */

/* "zPLR": each letter has data in the augmentation. The length skips unknown letters. */
static void parse_augmentation(struct cie *c, struct reader *r, const char *letters)
{
	struct reader aug;

	if (letters[0] != 'z')
		return;
	aug = read_block(r, read_uleb(r));
	c->augmented = true;
	for (const char *s = letters + 1; *s && !aug.bad; s++) {
		if (*s == 'R')
			c->pointers = read_uint(&aug, 1);
		else if (*s == 'L')
			read_uint(&aug, 1);
		else if (*s == 'P')
			read_encoded(&aug, read_uint(&aug, 1) & 0x0f, 0);
		else if (*s == 'S')
			c->signal = true;
		else if (*s != 'B' && *s != 'G')
			break;
	}
}

static bool parse_cie(struct reader r, uint64_t at, struct cie *ret)
{
	struct cie c = {.at = at};
	uint8_t version = read_uint(&r, 1);
	const char *letters = (const char *)r.p;
	const uint8_t *nul = memchr(r.p, 0, r.end - r.p);

	if ((version != 1 && version != 3 && version != 4) || !nul)
		return false;
	read_skip(&r, nul + 1 - r.p);
	if (!strcmp(letters, "eh"))
		read_skip(&r, 8);
	else if (letters[0] && letters[0] != 'z')
		return false;
	if (version == 4)
		read_skip(&r, 2); /* sizes of addresses and segments */
	c.code_align = read_uleb(&r);
	c.data_align = read_sleb(&r);
	c.ra = version == 1 ? read_uint(&r, 1) : read_uleb(&r);
	parse_augmentation(&c, &r, letters);
	c.program = r;
	*ret = c;
	return !r.bad;
}

static bool parse_fde(struct reader r, const struct cie *c, uint64_t data, struct fde *ret)
{
	uint64_t start = read_encoded(&r, c->pointers, data), size;

	size = read_encoded(&r, c->pointers & 0x0f, 0);
	if (c->augmented)
		read_skip(&r, read_uleb(&r));
	if (r.bad || !size || start + size < start)
		return false;
	*ret = (struct fde){start, start + size, r};
	return true;
}

/* ---- entries ----------------------------------------------------------- */

static struct reader section_reader(const struct fde_section *f, uint64_t offset)
{
	if (offset > f->section.size)
		offset = f->section.size;
	return (struct reader){f->section.data + offset, f->section.data + f->section.size,
		f->section.vaddr + offset, false};
}

bool fde_entry_at(const struct fde_section *f, uint64_t offset, struct reader *ret_body,
	uint64_t *ret_id, uint64_t *ret_id_at)
{
	struct reader r = section_reader(f, offset);
	uint64_t len = read_uint(&r, 4);
	size_t wide = 4;

	if (len == 0xffffffff) {
		len = read_uint(&r, 8);
		wide = f->debug_frame ? 8 : 4;
	}
	if (r.bad || len > (uint64_t)(r.end - r.p))
		return false;
	r.end = r.p + len;
	*ret_id_at = r.p - f->section.data;
	*ret_id = len ? read_uint(&r, wide) : 0;
	if (f->debug_frame && wide == 4 && *ret_id == 0xffffffff)
		*ret_id = UINT64_MAX;
	*ret_body = r;
	return !r.bad;
}

bool fde_is_cie(const struct fde_section *f, uint64_t id)
{
	return f->debug_frame ? id == UINT64_MAX : id == 0;
}

static const struct cie *cie_at(struct fde_section *f, uint64_t offset)
{
	struct cie *c = &f->cies[(offset ^ offset >> 6) % FDE_CIES];
	struct reader body;
	uint64_t id, id_at;

	if (c->program.p && c->at == offset)
		return c;
	if (!fde_entry_at(f, offset, &body, &id, &id_at) || !fde_is_cie(f, id) || body.p == body.end ||
		!parse_cie(body, offset, c)) {
		c->program.p = NULL;
		return NULL;
	}
	return c;
}

const struct cie *fde_at(struct fde_section *f, uint64_t offset, struct fde *ret)
{
	const struct cie *c;
	struct reader body;
	uint64_t id, id_at;

	if (!fde_entry_at(f, offset, &body, &id, &id_at) || fde_is_cie(f, id))
		return NULL;
	if (!f->debug_frame && id > id_at)
		return NULL;
	c = cie_at(f, f->debug_frame ? id : id_at - id);
	return c && parse_fde(body, c, f->data, ret) ? c : NULL;
}

/* ---- the search table --------------------------------------------------- */

/* Finds the readable bytes from a vaddr on: to the end of its segment's bytes. */
static bool segment_from(const struct elf *e, uint64_t vaddr, struct elf_section *ret)
{
	const struct elf_segment *s;
	size_t n = elf_segments(e, &s);

	for (size_t i = 0; i < n; i++) {
		uint64_t size = s[i].vaddr + s[i].filesz - vaddr;

		if (vaddr < s[i].vaddr || vaddr - s[i].vaddr >= s[i].filesz)
			continue;
		*ret = (struct elf_section){"", vaddr, 0, size < UINT32_MAX ? size : UINT32_MAX, 0,
			elf_at(e, vaddr, size)};
		return ret->data;
	}
	return false;
}

bool fde_find_table(struct fde_section *f, const struct elf_section *hdr, struct fde_table *ret)
{
	struct reader r = {hdr->data, hdr->data + hdr->size, hdr->vaddr, false};
	uint8_t version = read_uint(&r, 1), frame = read_uint(&r, 1), count = read_uint(&r, 1);
	uint8_t table = read_uint(&r, 1);
	uint64_t start = read_encoded(&r, frame, hdr->vaddr), n = read_encoded(&r, count, hdr->vaddr);

	if (r.bad || version != 1 || frame == 0xff || !segment_from(f->elf, start, &f->section))
		return false;
	f->data = hdr->vaddr;
	*ret = (struct fde_table){r, table, n, start};
	return count != 0xff && table != 0xff && n <= FDE_TABLE_MAX;
}

/* Returns the offset of the FDE of the last pair that begins at or below vaddr; pairs have 8 bytes. */
static uint64_t search(const struct fde_table *t, uint64_t base, uint64_t vaddr)
{
	int32_t pair[2] = {};
	uint64_t lo = 0, hi = t->n;

	while (lo < hi) {
		uint64_t mid = (lo + hi) / 2;

		memcpy(pair, t->pairs.p + 8 * mid, 8);
		if (base + (int64_t)pair[0] <= vaddr)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo)
		memcpy(pair, t->pairs.p + 8 * (lo - 1), 8);
	return lo ? base + (int64_t)pair[1] - t->start : UINT64_MAX;
}

int fde_find_function(struct elf *e, uint64_t vaddr, uint64_t *ret_start)
{
	_cleanup_(freep) struct fde_section *f = calloc(1, sizeof(*f));
	struct elf_section hdr;
	struct fde_table t;
	struct fde fde;

	if (elf_is_32(e))
		return -ENOTSUP;
	if (!f)
		return -ENOMEM;
	f->elf = e;
	if (!elf_phdr(e, PT_GNU_EH_FRAME, &hdr) || !hdr.data || !fde_find_table(f, &hdr, &t) || !t.n ||
		t.encoding != PAIRS || t.n > (uint64_t)(t.pairs.end - t.pairs.p) / 8)
		return -ENOTSUP;
	if (!fde_at(f, search(&t, hdr.vaddr, vaddr), &fde) || vaddr < fde.start || vaddr >= fde.end)
		return 0;
	*ret_start = fde.start;
	return 1;
}
