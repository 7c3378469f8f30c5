// SPDX-License-Identifier: Apache-2.0
/* table.c - turns rows into pages: one pass numbers the rules, another cuts pages.
 *
 *     header | rules | pages | rows
 *
 * A page covers 1 KiB of code. Its first row repeats the rule that is valid at the page's start, so a
 * lookup never leaves its page. */
#include "table.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/invariant.h"
#include "base/vec.h"
#include "ehframe.h"
#include "target/elf.h"
#include "unframed.h"
#include "unwinders/lang.h"

#define PAGE_SIZE (1ull << TABLE_PAGE_SHIFT)
#define SPAN_MAX  (2ull << 30) /* maximum size of a file's code: 2 Mi pages */
#define OTHER_MAX (12u << 20)
#define FDE_PER_ENTRY 5        /* an entry of .eh_frame_hdr has 8 bytes; an FDE with its part of a CIE, about 40 */
#define BUCKETS   (1u << 17)   /* > 2 * RULES_MAX */

/* Rules by number; buckets hold the number + 1. */
struct rules {
	VEC(uint64_t) list;
	uint32_t *buckets;
	uint64_t last;
	uint16_t last_index;
};

static uint16_t rule_index(struct rules *r, uint64_t rule)
{
	uint32_t at = (rule * 0x9e3779b97f4a7c15ull) >> 47;

	if (!rule)
		return RULE_NONE;
	for (;; at = (at + 1) % BUCKETS) {
		uint32_t found = r->buckets[at];

		if (found && r->list.data[found - 1] == rule)
			return found - 1;
		if (found)
			continue;
		if (r->list.len == RULES_MAX)
			return RULE_NONE;
		vec_push(&r->list, rule);
		r->buckets[at] = r->list.len;
		return r->list.len - 1;
	}
}

struct pages {
	uint64_t base;
	VEC(uint32_t) first; /* row of each page */
	VEC(uint32_t) rows;
};

static void start_pages(struct pages *p, uint64_t upto, uint16_t rule)
{
	while (p->first.len <= upto) {
		vec_push(&p->first, p->rows.len);
		vec_push(&p->rows, rule);
	}
}

static void cut_pages(const struct eh_rows *rows, struct rules *rules, struct pages *p)
{
	uint16_t rule = RULE_NONE;

	for (size_t i = 0; i < rows->len; i++) {
		uint64_t rel = rows->data[i].vaddr - p->base;
		uint32_t low = rel & (PAGE_SIZE - 1);

		if (rel >= SPAN_MAX)
			break;
		start_pages(p, rel >> TABLE_PAGE_SHIFT, rule);
		rule = rule_index(rules, rows->data[i].rule);
		if (low)
			vec_push(&p->rows, low << 16 | rule);
		else
			p->rows.data[p->rows.len - 1] = rule;
	}
	vec_push(&p->first, p->rows.len);
}

static int write_table(struct elf *e, const struct rules *rules, const struct pages *p,
	struct table *ret)
{
	struct table_header h = {.magic = TABLE_MAGIC, .version = TABLE_VERSION, .base = p->base,
		.nrules = rules->list.len, .npages = p->first.len - 1, .nrows = p->rows.len};
	size_t size;
	uint32_t *out;

	h.rules = sizeof(h) / 4;
	h.pages = h.rules + h.nrules * 2;
	h.rows = h.pages + h.npages + 1;
	size = ((size_t)h.rows + h.nrows + 1) / 2 * 8;
	out = calloc(1, size);
	if (!out)
		return -ENOMEM;
	for (unsigned i = 1; i < FRAME_LANGS; i++)
		langs[i]->table(e, &h);
	if (h.nranges > TABLE_RANGES)
		h.nranges = TABLE_RANGES;
	memcpy(out, &h, sizeof(h));
	if (h.nrules)
		memcpy(out + h.rules, rules->list.data, h.nrules * 8);
	memcpy(out + h.pages, p->first.data, (h.npages + 1) * 4);
	if (h.nrows)
		memcpy(out + h.rows, p->rows.data, h.nrows * 4);
	*ret = (struct table){out, size, NULL, 0};
	INVARIANT(table_valid(out, size));
	return 0;
}

/* Returns the start of the file's code. Tables without rows have it, too, because their ranges count from there. */
static uint64_t code_base(const struct elf *e)
{
	const struct elf_segment *s;
	size_t n = elf_segments(e, &s);
	uint64_t base = UINT64_MAX;

	for (size_t i = 0; i < n; i++)
		if (s[i].exec && s[i].vaddr < base)
			base = s[i].vaddr;
	return base == UINT64_MAX ? 0 : base & ~(PAGE_SIZE - 1);
}

/* Rows have twice the bytes of the call frame information, and are copied twice. Symbols, pages of the file and memory
 * for code without such information have 3 to 12 MB. Measured with LLVM, Z3, node, JVMs and C libraries. */
uint64_t table_needs(const struct elf *e)
{
	struct elf_section s = {}, hdr = {};
	size_t all;

	elf_data(e, &all);
	if (!elf_section(e, ".eh_frame", &s) && !elf_section(e, ".debug_frame", &s) &&
		elf_phdr(e, PT_GNU_EH_FRAME, &hdr))
		s.size = hdr.size * FDE_PER_ENTRY;
	return s.size * 7 + (all < OTHER_MAX / 3 ? all * 3 : OTHER_MAX);
}

int table_make(struct elf *e, struct table *ret)
{
	struct eh_rows rows;
	struct rules rules = {};
	struct pages pages = {.base = code_base(e)};
	int err = ehframe_read(e, &rows);
	bool complete;

	if (err < 0)
		return err;
	for (unsigned i = 1; i < FRAME_LANGS; i++)
		if (langs[i]->rules)
			langs[i]->rules(e, &rows);
	complete = unframed_rows(e, &rows, NULL);
	rules.buckets = calloc(BUCKETS, sizeof(*rules.buckets));
	if (rows.len && rows.data[0].vaddr < pages.base)
		pages.base = rows.data[0].vaddr & ~(PAGE_SIZE - 1);
	if (rules.buckets) {
		cut_pages(&rows, &rules, &pages);
		err = write_table(e, &rules, &pages, ret);
		ret->is_cut = !complete;
	} else {
		err = -ENOMEM;
	}
	eh_rows_done(&rows);
	vec_done(&rules.list);
	free(rules.buckets);
	vec_done(&pages.first);
	vec_done(&pages.rows);
	return err;
}

void table_done(struct table *t)
{
	if (t->map)
		munmap(t->map, t->map_size);
	else
		free((void *)t->data);
	*t = (struct table){};
}

/* ---- reading ----------------------------------------------------------- */

static bool part_fits(uint64_t at, uint64_t n, uint64_t words)
{
	return at >= sizeof(struct table_header) / 4 && at <= words && n <= words - at;
}

bool table_valid(const void *data, size_t size)
{
	const uint32_t *w = data;
	uint64_t words = size / 4;
	struct table_header h;

	if (size < sizeof(h) || size % 8)
		return false;
	memcpy(&h, data, sizeof(h));
	if (h.magic != TABLE_MAGIC || h.version != TABLE_VERSION || h.nranges > TABLE_RANGES ||
		h.nrules > RULES_MAX || h.rules % 2 || !part_fits(h.rules, h.nrules * 2ull, words) ||
		!part_fits(h.pages, h.npages + 1ull, words) || !part_fits(h.rows, h.nrows, words))
		return false;
	for (uint32_t i = 0; i < h.npages; i++)
		if (w[h.pages + i] >= w[h.pages + i + 1])
			return false;
	return w[h.pages] == 0 && w[h.pages + h.npages] == h.nrows;
}

uint64_t table_rule(const void *table, uint64_t vaddr)
{
	const struct table_header *h = table;
	const uint32_t *w = table, *rows = w + h->rows;
	uint64_t rel = vaddr - h->base, page = rel >> TABLE_PAGE_SHIFT, rule;
	uint32_t row, index;

	if (vaddr < h->base || page >= h->npages)
		return 0;
	for (row = w[h->pages + page + 1] - 1; row > w[h->pages + page]; row--)
		if (rows[row] >> 16 <= (rel & (PAGE_SIZE - 1)))
			break;
	index = rows[row] & 0xffff;
	if (index >= h->nrules)
		return 0;
	memcpy(&rule, w + h->rules + 2 * index, 8);
	return rule;
}
