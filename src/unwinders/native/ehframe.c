// SPDX-License-Identifier: Apache-2.0
/* ehframe.c - turns a file's unwind sections into rules by address.
 *
 * First a list of pieces is made, sorted by address: the FDEs (in the order of .eh_frame_hdr, which saves
 * sorting), and synthetic pieces for code that linkers and libcs leave without FDEs. Then each piece makes
 * its rows, up to the start of the next piece. */
#include "ehframe.h"

#include <elf.h>
#include <errno.h>
#include <string.h>

#include "base/owner.h"
#include "base/vec.h"
#include "cfi.h"
#include "target/elf.h"

#define CIES       64   /* cached at a time */
#define GAP_MAX    16   /* padding between functions keeps the rule before it */
#define ENTRY_SIZE 96   /* bytes of _start if it has no FDE; the longest seen: 80, arm64, large code */
#define SCAN_MAX   (8u << 20) /* bytes of code searched for trampolines */
#define PIECES_MAX (1u << 24)
#define PAIRS      0x3b /* DW_EH_PE_datarel | DW_EH_PE_sdata4: all linkers write the search table like this */
#define TRAMPOLINES_MAX 16
#define FUNCTIONS_MAX   4096

struct piece {
	uint64_t start;
	uint64_t rule;        /* a synthetic piece's rule, or one instead of the FDE's */
	uint32_t fde, size;   /* fde: offset in the section; size: of a synthetic piece */
};

struct frames {
	struct elf *elf;
	uint16_t machine;
	bool debug_frame;
	struct elf_section section; /* from here to the end of the readable bytes */
	uint64_t data;              /* base of datarel pointers */
	uint64_t end;               /* end of the last piece that made rows */
	uint64_t budget;            /* bytes of programs that may be run: hostile ones overlap */
	struct cie cies[CIES];
	struct { struct piece *data; size_t len, cap; } pieces;
};

/* ---- entries ----------------------------------------------------------- */

static struct reader section_reader(const struct frames *f, uint64_t offset)
{
	if (offset > f->section.size)
		offset = f->section.size;
	return (struct reader){f->section.data + offset, f->section.data + f->section.size,
		f->section.vaddr + offset, false};
}

/* Reads the entry at an offset: its body, after the length, and its id, with the id's own offset.
 * Returns false at the end. */
static bool entry_at(const struct frames *f, uint64_t offset, struct reader *ret_body,
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

static bool is_cie(const struct frames *f, uint64_t id)
{
	return f->debug_frame ? id == UINT64_MAX : id == 0;
}

static const struct cie *cie_at(struct frames *f, uint64_t offset)
{
	struct cie *c = &f->cies[(offset ^ offset >> 6) % CIES];
	struct reader body;
	uint64_t id, id_at;

	if (c->program.p && c->at == offset)
		return c;
	if (!entry_at(f, offset, &body, &id, &id_at) || !is_cie(f, id) || body.p == body.end ||
		!cie_parse(body, offset, c)) {
		c->program.p = NULL;
		return NULL;
	}
	return c;
}

static const struct cie *fde_at(struct frames *f, uint64_t offset, struct fde *ret)
{
	const struct cie *c;
	struct reader body;
	uint64_t id, id_at;

	if (!entry_at(f, offset, &body, &id, &id_at) || is_cie(f, id))
		return NULL;
	if (!f->debug_frame && id > id_at)
		return NULL;
	c = cie_at(f, f->debug_frame ? id : id_at - id);
	return c && fde_parse(body, c, f->data, ret) ? c : NULL;
}

/* ---- the list of pieces ------------------------------------------------ */

static int piece_cmp(const void *va, const void *vb)
{
	const struct piece *a = va, *b = vb;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return a->fde < b->fde ? -1 : a->fde > b->fde;
}

static void sort_pieces(struct frames *f)
{
	struct piece *p = f->pieces.data;

	for (size_t i = 1; i < f->pieces.len; i++)
		if (p[i].start < p[i - 1].start) {
			qsort(p, f->pieces.len, sizeof(*p), piece_cmp);
			return;
		}
}

/* Reads all entries in order. A zero length ends the section, but linkers leave single ones between the
 * inputs they merge, so those are skipped. */
static void scan_section(struct frames *f)
{
	uint64_t offset = 0, id, id_at;
	struct reader body;
	struct fde fde;

	while (offset + 4 <= f->section.size && f->pieces.len < PIECES_MAX &&
		entry_at(f, offset, &body, &id, &id_at)) {
		if (!is_cie(f, id) && fde_at(f, offset, &fde))
			vec_push(&f->pieces, (struct piece){fde.start, 0, offset, 0});
		offset = body.end - f->section.data;
	}
}

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

/* The binary search table: pairs of function and FDE. */
struct search_table {
	struct reader pairs;
	uint8_t encoding;
	uint64_t n, start; /* start: vaddr of the section's first byte */
};

/* Returns false if the table is not usable. */
static bool find_table(struct frames *f, const struct elf_section *hdr, struct search_table *ret)
{
	struct reader r = {hdr->data, hdr->data + hdr->size, hdr->vaddr, false};
	uint8_t version = read_uint(&r, 1), frame = read_uint(&r, 1), count = read_uint(&r, 1);
	uint8_t table = read_uint(&r, 1);
	uint64_t start = read_encoded(&r, frame, hdr->vaddr), n = read_encoded(&r, count, hdr->vaddr);

	if (r.bad || version != 1 || frame == 0xff || !segment_from(f->elf, start, &f->section))
		return false;
	f->data = hdr->vaddr;
	*ret = (struct search_table){r, table, n, start};
	return count != 0xff && table != 0xff && n <= PIECES_MAX;
}

static bool read_header(struct frames *f, const struct elf_section *hdr)
{
	struct search_table t;

	if (!find_table(f, hdr, &t))
		return false;
	for (uint64_t i = 0; i < t.n; i++) {
		uint64_t at = read_encoded(&t.pairs, t.encoding, hdr->vaddr);
		uint64_t fde = read_encoded(&t.pairs, t.encoding, hdr->vaddr);

		if (t.pairs.bad || fde < t.start || fde - t.start >= f->section.size)
			return false;
		vec_push(&f->pieces, (struct piece){at, 0, fde - t.start, 0});
	}
	return t.n > 0;
}

static bool find_section(struct frames *f, const char *name)
{
	struct elf_section s;

	if (!elf_section(f->elf, name, &s) || !s.data || !s.size)
		return false;
	f->section = s;
	if (f->section.size > UINT32_MAX)
		f->section.size = UINT32_MAX;
	f->debug_frame = name[1] == 'd';
	return true;
}

static void read_pieces(struct frames *f)
{
	struct elf_section hdr;

	if (elf_phdr(f->elf, PT_GNU_EH_FRAME, &hdr) && hdr.data && read_header(f, &hdr)) {
		sort_pieces(f);
		return;
	}
	f->pieces.len = 0;
	/* Without section headers, scan from the header's address to the end of its segment. */
	if (find_section(f, ".eh_frame") || f->section.data)
		scan_section(f);
	if (!f->pieces.len && find_section(f, ".debug_frame"))
		scan_section(f);
	sort_pieces(f);
}

/* ---- code without FDEs ------------------------------------------------ */

/* Returns the index of the first piece that starts above vaddr. */
static size_t piece_above(const struct frames *f, uint64_t vaddr)
{
	size_t lo = 0, hi = f->pieces.len;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (f->pieces.data[mid].start <= vaddr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* Returns the piece that covers vaddr, or NULL. */
static struct piece *piece_at(struct frames *f, uint64_t vaddr)
{
	size_t i = piece_above(f, vaddr);
	struct piece *p = i ? &f->pieces.data[i - 1] : NULL;
	struct fde fde;

	if (!p)
		return NULL;
	if (p->size)
		return vaddr - p->start < p->size ? p : NULL;
	return fde_at(f, p->fde, &fde) && vaddr >= fde.start && vaddr < fde.end ? p : NULL;
}

static void insert_piece(struct frames *f, uint64_t start, uint64_t size, uint64_t rule)
{
	size_t i = piece_above(f, start);

	vec_push(&f->pieces, (struct piece){});
	memmove(&f->pieces.data[i + 1], &f->pieces.data[i],
		(f->pieces.len - 1 - i) * sizeof(struct piece));
	f->pieces.data[i] = (struct piece){start, rule, 0, size < UINT32_MAX ? size : UINT32_MAX};
}

static void add_missing(struct frames *f, uint64_t start, uint64_t size, uint64_t rule)
{
	if (size && !piece_at(f, start))
		insert_piece(f, start, size, rule);
}

/* lld writes no CFI for the PLT, and no linker writes it for all of the PLT. Entry 0 pushes for the resolver; an
 * entry of .plt pushes its index before it jumps there, after an endbr64 with IBT. On arm64 only entry 0 pushes. */
static void add_plt_x86(struct frames *f, const struct elf_section *s)
{
	static const uint8_t endbr[] = {0xf3, 0x0f, 0x1e, 0xfa};
	bool ibt = s->size >= 20 && !memcmp(s->data + 16, endbr, 4);

	if (strcmp(s->name, ".plt") != 0) {
		add_missing(f, s->vaddr, s->size, RULE(RULE_CFA, RULE_REG_SP, 0, 0, 8));
		return;
	}
	if (s->size < 16 || piece_at(f, s->vaddr))
		return;
	insert_piece(f, s->vaddr, 6, RULE(RULE_CFA, RULE_REG_SP, 0, 0, 16));
	insert_piece(f, s->vaddr + 6, 10, RULE(RULE_CFA, RULE_REG_SP, 0, 0, 24));
	add_missing(f, s->vaddr + 16, s->size - 16, RULE(RULE_PLT, RULE_REG_SP, 0, 0, ibt ? 9 : 11));
}

static void add_plt_arm(struct frames *f, const struct elf_section *s)
{
	static const uint8_t push[] = {0xf0, 0x7b, 0xbf, 0xa9}; /* stp x16, x30, [sp, #-16]! */
	const uint8_t *p = memmem(s->data, s->size < 8 ? s->size : 8, push, sizeof(push));
	uint64_t before = p ? p + 4 - s->data : 0;

	if (before && s->size > 32 && !piece_at(f, s->vaddr)) {
		insert_piece(f, s->vaddr, before, RULE(RULE_CFA, RULE_REG_SP, RULE_RA_REG, 0, 0));
		insert_piece(f, s->vaddr + before, 32 - before,
			RULE(RULE_CFA, RULE_REG_SP, RULE_RA_REG, 0, 16));
		add_missing(f, s->vaddr + 32, s->size - 32, RULE(RULE_CFA, RULE_REG_SP, RULE_RA_REG, 0, 0));
	} else {
		add_missing(f, s->vaddr, s->size, RULE(RULE_CFA, RULE_REG_SP, RULE_RA_REG, 0, 0));
	}
}

static void add_plts(struct frames *f)
{
	static const char *const names[] = {".plt", ".plt.got", ".plt.sec", ".iplt"};
	struct elf_section s;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (!elf_section(f->elf, names[i], &s) || !s.data || !s.vaddr)
			continue;
		if (f->machine == EM_X86_64)
			add_plt_x86(f, &s);
		else
			add_plt_arm(f, &s);
	}
}

/* crti.o's _init and _fini have no CFI: the first instruction moves sp by a word, and the
 * last but one moves it back. */
static void add_init(struct frames *f, const char *name)
{
	static const uint8_t endbr[] = {0xf3, 0x0f, 0x1e, 0xfa}, sub[] = {0x48, 0x83, 0xec, 0x08},
		add_ret[] = {0x48, 0x83, 0xc4, 0x08, 0xc3};
	struct elf_section s;
	uint64_t before;

	if (f->machine != EM_X86_64 || !elf_section(f->elf, name, &s) || !s.data || s.size < 9)
		return;
	before = memcmp(s.data, endbr, 4) ? 4 : 8;
	if (s.size < before + 5 || memcmp(s.data + before - 4, sub, 4) != 0 ||
		memcmp(s.data + s.size - 5, add_ret, 5) != 0)
		return;
	add_missing(f, s.vaddr, before, RULE(RULE_CFA, RULE_REG_SP, 0, 0, 8));
	add_missing(f, s.vaddr + before, s.size - 1 - before, RULE(RULE_CFA, RULE_REG_SP, 0, 0, 16));
	add_missing(f, s.vaddr + s.size - 1, 1, RULE(RULE_CFA, RULE_REG_SP, 0, 0, 8));
}

/* The entry point has no caller. Its own CFI says so, or is wrong or missing. */
static void add_entry(struct frames *f)
{
	uint64_t entry = elf_entry(f->elf), size = ENTRY_SIZE;
	struct piece *p = piece_at(f, entry);
	size_t next = piece_above(f, entry);

	if (!elf_at(f->elf, entry, 1))
		return;
	if (p) {
		if (p->start == entry)
			p->rule = RULE(RULE_END, 0, 0, 0, 0);
		return;
	}
	if (next < f->pieces.len && f->pieces.data[next].start - entry < size)
		size = f->pieces.data[next].start - entry;
	insert_piece(f, entry, size, RULE(RULE_END, 0, 0, 0, 0));
}

/* Adds the trampoline to which a handler returns, from the byte before it on, because the lookup address is
 * the return address less one. */
static void add_trampolines_in(struct frames *f, const uint8_t *code, uint64_t vaddr, size_t size)
{
	static const uint8_t x86[] = {0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05};
	static const uint8_t arm[] = {0x68, 0x11, 0x80, 0xd2, 0x01, 0, 0, 0xd4};
	const uint8_t *want = f->machine == EM_X86_64 ? x86 : arm, *p = code;
	size_t n = f->machine == EM_X86_64 ? sizeof(x86) : sizeof(arm);

	for (int i = 0; i < TRAMPOLINES_MAX && (p = memmem(p, code + size - p, want, n)); i++) {
		if (p > code)
			add_missing(f, vaddr + (p - code) - 1, n + 1, RULE(RULE_SIGNAL, 0, 0, 0, 0));
		p += n;
	}
}

/* arm64: adds functions that have only symbols, such as the vDSO's. Their bounds give the position of an
 * interrupted pc in its function. */
static void add_functions(struct frames *f)
{
	const struct elf_symbol *s;
	size_t n = f->machine == EM_AARCH64 ? elf_symbols(f->elf, &s) : 0, added = 0;

	for (size_t i = 0; i < n && added < FUNCTIONS_MAX; i++) {
		size_t before = f->pieces.len;

		if (s[i].type == STT_FUNC && s[i].size < SCAN_MAX && elf_at(f->elf, s[i].vaddr, 1))
			add_missing(f, s[i].vaddr, s[i].size, RULE(RULE_FP, 0, 0, 0, s[i].size));
		added += f->pieces.len - before;
	}
}

/* Searches only small files, such as a libc, because that is cheap. In other files the walk itself checks the
 * bytes at a pc without rule. */
static void add_trampolines(struct frames *f)
{
	const struct elf_segment *s;
	size_t n = elf_segments(f->elf, &s);

	for (size_t i = 0; i < n; i++) {
		const uint8_t *code = s[i].exec && s[i].filesz <= SCAN_MAX ?
			elf_at(f->elf, s[i].vaddr, s[i].filesz) : NULL;

		if (code && s[i].filesz)
			add_trampolines_in(f, code, s[i].vaddr, s[i].filesz);
	}
}

/* ---- rows -------------------------------------------------------------- */

static void add_piece(struct frames *f, size_t i, bool rbx, struct eh_rows *rows)
{
	const struct piece *p = &f->pieces.data[i];
	uint64_t next = i + 1 < f->pieces.len ? p[1].start : UINT64_MAX;
	struct fde fde = {p->start, p->start + p->size, {}};
	const struct cie *c = p->size ? NULL : fde_at(f, p->fde, &fde);

	/* Rows ascend whatever the file says: a hostile header may name an FDE that starts elsewhere. */
	if ((!p->size && !c) || fde.start != p->start)
		return;
	if (fde.end > next)
		fde.end = next;
	if (fde.end <= fde.start)
		return;
	if (fde.start - f->end > GAP_MAX)
		eh_row_add(rows, f->end, 0);
	if (p->rule) {
		eh_row_add(rows, fde.start, p->rule);
	} else {
		uint64_t cost = fde.program.end - fde.program.p + (c->program.end - c->program.p) + 16;

		if (cost > f->budget)
			return;
		f->budget -= cost;
		fde_rows(c, &fde, fde.end, &(struct cfi_want){f->machine, rbx}, rows);
	}
	f->end = fde.end;
}

static void add_pieces(struct frames *f, bool rbx, struct eh_rows *rows)
{
	/* An FDE has at least 16 bytes, and a CIE's program runs for each. */
	f->budget = (1 << 20) + f->section.size * 16;
	f->end = 0;
	for (size_t i = 0; i < f->pieces.len; i++)
		add_piece(f, i, rbx, rows);
	eh_row_add(rows, f->end, 0);
}

/* Only few, small files count a CFA from rbx. */
static bool needs_rbx(const struct frames *f, const struct eh_rows *rows)
{
	for (size_t i = 0; f->machine == EM_X86_64 && i < rows->len; i++)
		if ((rows->data[i].rule & 0xff) == (RULE_CFA | RULE_REG_RBX << 4))
			return true;
	return false;
}

int ehframe_ranges(struct elf *e, struct eh_ranges *ret)
{
	struct frames *f = calloc(1, sizeof(*f));
	struct eh_ranges ranges = {};
	struct fde fde;

	if (!f)
		return -ENOMEM;
	f->elf = e;
	read_pieces(f);
	for (size_t i = 0; i < f->pieces.len; i++)
		if (fde_at(f, f->pieces.data[i].fde, &fde) && fde.start == f->pieces.data[i].start &&
			fde.start < fde.end)
			vec_push(&ranges, (struct eh_range){fde.start, fde.end});
	vec_done(&f->pieces);
	free(f);
	*ret = ranges;
	return 0;
}

/* Returns the offset of the FDE of the last pair that begins at or below vaddr; pairs have 8 bytes. */
static uint64_t search(const struct search_table *t, uint64_t base, uint64_t vaddr)
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

int ehframe_function(struct elf *e, uint64_t vaddr, uint64_t *ret_start)
{
	_cleanup_(freep) struct frames *f = calloc(1, sizeof(*f));
	struct elf_section hdr;
	struct search_table t;
	struct fde fde;

	if (elf_is_32(e))
		return -ENOTSUP;
	if (!f)
		return -ENOMEM;
	f->elf = e;
	if (!elf_phdr(e, PT_GNU_EH_FRAME, &hdr) || !hdr.data || !find_table(f, &hdr, &t) || !t.n ||
		t.encoding != PAIRS || t.n > (uint64_t)(t.pairs.end - t.pairs.p) / 8)
		return -ENOTSUP;
	if (!fde_at(f, search(&t, hdr.vaddr, vaddr), &fde) || vaddr < fde.start || vaddr >= fde.end)
		return 0;
	*ret_start = fde.start;
	return 1;
}

int ehframe_read(struct elf *e, struct eh_rows *ret)
{
	struct frames *f = calloc(1, sizeof(*f));
	struct eh_rows rows = {};

	if (!f)
		return -ENOMEM;
	f->elf = e;
	f->machine = elf_machine(e);
	if (f->machine == EM_X86_64 || f->machine == EM_AARCH64) {
		read_pieces(f);
		add_plts(f);
		add_init(f, ".init");
		add_init(f, ".fini");
		add_entry(f);
		add_trampolines(f);
		add_functions(f);
	}
	add_pieces(f, false, &rows);
	if (needs_rbx(f, &rows)) {
		rows.len = 0;
		add_pieces(f, true, &rows);
	}
	vec_done(&f->pieces);
	free(f);
	*ret = rows;
	return 0;
}

void eh_rows_replace(struct eh_rows *rows, const struct eh_rows *with)
{
	uint64_t start = with->data[0].vaddr, end = with->data[with->len - 1].vaddr, after = 0;
	struct eh_rows out = {};
	size_t i;

	for (i = 0; i < rows->len && rows->data[i].vaddr < start; i++)
		eh_row_add(&out, rows->data[i].vaddr, rows->data[i].rule);
	for (size_t k = 0; k < with->len; k++)
		eh_row_add(&out, with->data[k].vaddr, with->data[k].rule);
	for (; i < rows->len && rows->data[i].vaddr <= end; i++)
		after = rows->data[i].rule;
	eh_row_add(&out, end, after);
	for (; i < rows->len; i++)
		eh_row_add(&out, rows->data[i].vaddr, rows->data[i].rule);
	eh_rows_done(rows);
	*rows = out;
}

void eh_rows_fill(struct eh_rows *rows, uint64_t start, uint64_t end, uint64_t rule)
{
	struct eh_rows out = {};
	uint64_t now = 0;
	size_t i;

	for (i = 0; i < rows->len && rows->data[i].vaddr < start; i++) {
		now = rows->data[i].rule;
		eh_row_add(&out, rows->data[i].vaddr, now);
	}
	eh_row_add(&out, start, now ? now : rule);
	for (; i < rows->len && rows->data[i].vaddr < end; i++) {
		now = rows->data[i].rule;
		eh_row_add(&out, rows->data[i].vaddr, now ? now : rule);
	}
	eh_row_add(&out, end, now);
	for (; i < rows->len; i++)
		eh_row_add(&out, rows->data[i].vaddr, rows->data[i].rule);
	eh_rows_done(rows);
	*rows = out;
}
