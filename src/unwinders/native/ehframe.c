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

#define GAP_MAX    16   /* padding between functions keeps the rule before it */
#define ENTRY_SIZE 96   /* bytes of _start if it has no FDE; the longest seen: 80, arm64, large code */
#define SCAN_MAX   (8u << 20) /* bytes of code searched for trampolines */
#define TRAMPOLINES_MAX 16
#define FUNCTIONS_MAX   4096

struct piece {
	uint64_t start;
	uint64_t rule;        /* a synthetic piece's rule, or one instead of the FDE's */
	uint32_t fde, size;   /* fde: offset in the section; size: of a synthetic piece */
};

struct frames {
	struct fde_section in;
	uint16_t machine;
	uint64_t end;               /* end of the last piece that made rows */
	uint64_t budget;            /* bytes of programs that may be run: hostile ones overlap */
	struct { struct piece *data; size_t len, cap; } pieces;
};

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

	while (offset + 4 <= f->in.section.size && f->pieces.len < FDE_TABLE_MAX &&
		fde_entry_at(&f->in, offset, &body, &id, &id_at)) {
		if (!fde_is_cie(&f->in, id) && fde_at(&f->in, offset, &fde))
			vec_push(&f->pieces, (struct piece){fde.start, 0, offset, 0});
		offset = body.end - f->in.section.data;
	}
}

static bool read_header(struct frames *f, const struct elf_section *hdr)
{
	struct fde_table t;

	if (!fde_find_table(&f->in, hdr, &t))
		return false;
	for (uint64_t i = 0; i < t.n; i++) {
		uint64_t at = read_encoded(&t.pairs, t.encoding, hdr->vaddr);
		uint64_t fde = read_encoded(&t.pairs, t.encoding, hdr->vaddr);

		if (t.pairs.bad || fde < t.start || fde - t.start >= f->in.section.size)
			return false;
		vec_push(&f->pieces, (struct piece){at, 0, fde - t.start, 0});
	}
	return t.n > 0;
}

static bool find_section(struct frames *f, const char *name)
{
	struct elf_section s;

	if (!elf_section(f->in.elf, name, &s) || !s.data || !s.size)
		return false;
	f->in.section = s;
	if (f->in.section.size > UINT32_MAX)
		f->in.section.size = UINT32_MAX;
	f->in.debug_frame = name[1] == 'd';
	return true;
}

static void read_pieces(struct frames *f)
{
	struct elf_section hdr;

	if (elf_phdr(f->in.elf, PT_GNU_EH_FRAME, &hdr) && hdr.data && read_header(f, &hdr)) {
		sort_pieces(f);
		return;
	}
	f->pieces.len = 0;
	/* Without section headers, scan from the header's address to the end of its segment. */
	if (find_section(f, ".eh_frame") || f->in.section.data)
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
	return fde_at(&f->in, p->fde, &fde) && vaddr >= fde.start && vaddr < fde.end ? p : NULL;
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
		if (!elf_section(f->in.elf, names[i], &s) || !s.data || !s.vaddr)
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

	if (f->machine != EM_X86_64 || !elf_section(f->in.elf, name, &s) || !s.data || s.size < 9)
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
	uint64_t entry = elf_entry(f->in.elf), size = ENTRY_SIZE;
	struct piece *p = piece_at(f, entry);
	size_t next = piece_above(f, entry);

	if (!elf_at(f->in.elf, entry, 1))
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
	size_t n = f->machine == EM_AARCH64 ? elf_symbols(f->in.elf, &s) : 0, added = 0;

	for (size_t i = 0; i < n && added < FUNCTIONS_MAX; i++) {
		size_t before = f->pieces.len;

		if (s[i].type == STT_FUNC && s[i].size < SCAN_MAX && elf_at(f->in.elf, s[i].vaddr, 1))
			add_missing(f, s[i].vaddr, s[i].size, RULE(RULE_FP, 0, 0, 0, s[i].size));
		added += f->pieces.len - before;
	}
}

/* Searches only small files, such as a libc, because that is cheap. In other files the walk itself checks the
 * bytes at a pc without rule. */
static void add_trampolines(struct frames *f)
{
	const struct elf_segment *s;
	size_t n = elf_segments(f->in.elf, &s);

	for (size_t i = 0; i < n; i++) {
		const uint8_t *code = s[i].exec && s[i].filesz <= SCAN_MAX ?
			elf_at(f->in.elf, s[i].vaddr, s[i].filesz) : NULL;

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
	const struct cie *c = p->size ? NULL : fde_at(&f->in, p->fde, &fde);

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
		elf_passed(f->in.elf, cost);
		fde_rows(c, &fde, fde.end, &(struct cfi_want){f->machine, rbx}, rows);
	}
	f->end = fde.end;
}

static void add_pieces(struct frames *f, bool rbx, struct eh_rows *rows)
{
	/* An FDE has at least 16 bytes, and a CIE's program runs for each. */
	f->budget = (1 << 20) + f->in.section.size * 16;
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
	f->in.elf = e;
	read_pieces(f);
	for (size_t i = 0; i < f->pieces.len; i++)
		if (fde_at(&f->in, f->pieces.data[i].fde, &fde) && fde.start == f->pieces.data[i].start &&
			fde.start < fde.end)
			vec_push(&ranges, (struct eh_range){fde.start, fde.end});
	vec_done(&f->pieces);
	free(f);
	*ret = ranges;
	return 0;
}

int ehframe_read(struct elf *e, struct eh_rows *ret)
{
	struct frames *f = calloc(1, sizeof(*f));
	struct eh_rows rows = {};

	if (!f)
		return -ENOMEM;
	f->in.elf = e;
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
