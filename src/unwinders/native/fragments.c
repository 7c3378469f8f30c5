// SPDX-License-Identifier: Apache-2.0
/* fragments.c - finds the pieces into which compilers cut a function.
 *
 * A symbol gives only a function's main part. GCC moves blocks that were seldom run in training to a cold
 * part, elsewhere and with an FDE of its own; BOLT and clang's function splitter do the same. Nearly all of
 * an interpreter's loop may be in such a part.
 *
 * The parts of one function jump into each other's middle, and functions do not: a tail call goes to a
 * function's start, and nothing jumps back from there. So the targets of the known parts' jumps are looked up
 * among the FDEs: an FDE that is entered in its middle, or jumps back, is a part. Jump tables need not be
 * followed, because direct jumps lead to the same parts. If jumps do not suffice, names and then sizes are used. */
#include "fragments.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/owner.h"
#include "base/vec.h"
#include "ehframe.h"
#include "target/code.h"
#include "target/elf.h"

#define PART_MAX   (1u << 20) /* bytes of one part; CPython's are below 100,000 */
#define BYTES_MAX  (4u << 20) /* bytes decoded per file: some 200 ms for a hostile one */
#define DISPATCHES 100        /* an interpreter with computed gotos has 150 and more */
#define SMALL_MAIN 8192       /* main part of a loop that is elsewhere: 362 to 1,184 bytes seen */
#define LARGE_COLD 32768      /* the other part of such a loop: 56,543 to 84,423 bytes seen */
#define SYMBOLS    16

struct jumps { /* targets of jumps that leave a range, ascending */
	uint64_t *data;
	size_t len, cap;
};

struct search {
	struct elf *elf;
	struct code *code; /* NULL: no disassembler for this machine */
	struct eh_ranges fdes;
	struct fragments *ret;
	uint64_t budget;   /* bytes that may still be decoded */
	bool plt;          /* the place of the PLT is known */
	struct fragment plts[4];
};

/* ---- known parts ---- */

static const struct fragment *part_of(const struct search *s, uint64_t vaddr)
{
	for (unsigned i = 0; i < s->ret->n; i++)
		if (vaddr >= s->ret->fragment[i].start && vaddr < s->ret->fragment[i].end)
			return &s->ret->fragment[i];
	return NULL;
}

static bool add_part(struct search *s, uint64_t start, uint64_t end)
{
	if (start >= end || end - start > PART_MAX || s->ret->n == TABLE_RANGES ||
		part_of(s, start) || !elf_at(s->elf, start, end - start))
		return false;
	s->ret->fragment[s->ret->n++] = (struct fragment){start, end};
	return true;
}

static const struct eh_range *fde_of(const struct search *s, uint64_t vaddr)
{
	size_t lo = 0, hi = s->fdes.len;

	while (lo < hi) { /* find the first that starts above vaddr */
		size_t mid = (lo + hi) / 2;

		if (s->fdes.data[mid].start <= vaddr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo && vaddr < s->fdes.data[lo - 1].end ? &s->fdes.data[lo - 1] : NULL;
}

/* A symbol may end before its function does (padding of hand-written code), or have no size. */
static bool add_main(struct search *s, const char *name)
{
	const struct eh_range *fde;
	struct elf_symbol sym;
	uint64_t end;

	if (!elf_symbol_named(s->elf, name, &sym))
		return false;
	fde = fde_of(s, sym.vaddr);
	end = sym.vaddr + sym.size;
	if (fde && fde->start == sym.vaddr && fde->end > end)
		end = fde->end;
	return add_part(s, sym.vaddr, end);
}

/* ---- by jumps ---- */

static int jump_cmp(const void *va, const void *vb)
{
	const uint64_t *a = va, *b = vb;

	return *a < *b ? -1 : *a > *b;
}

/* Reads the direct jumps that leave r. Returns the number of indirect jumps in r. */
static unsigned read_jumps(struct search *s, struct fragment r, struct jumps *ret)
{
	const uint8_t *code = elf_at(s->elf, r.start, r.end - r.start);
	struct code_insn insn;
	unsigned indirect = 0;

	ret->len = 0;
	if (!code || r.end - r.start > s->budget)
		return 0;
	s->budget -= r.end - r.start;
	for (uint64_t at = r.start; at < r.end; at += insn.size) {
		if (!code_decode(s->code, code + (at - r.start), r.end - at, at, &insn)) {
			insn.size = code_skip(s->code);
			continue;
		}
		indirect += insn.flow == CODE_JUMP_INDIRECT;
		if ((insn.flow == CODE_JUMP || insn.flow == CODE_BRANCH) &&
			(insn.target < r.start || insn.target >= r.end))
			vec_push(ret, insn.target);
	}
	if (ret->len)
		qsort(ret->data, ret->len, sizeof(*ret->data), jump_cmp);
	return indirect;
}

/* Returns whether a function jumps into the middle of a known part. */
static bool jumps_back(struct search *s, struct fragment r)
{
	struct jumps jumps = {};
	bool back = false;

	read_jumps(s, r, &jumps);
	for (size_t i = 0; i < jumps.len && !back; i++) {
		const struct fragment *p = part_of(s, jumps.data[i]);

		back = p && jumps.data[i] != p->start;
	}
	vec_done(&jumps);
	return back;
}

/* The PLT has only one FDE: a tail call goes to its middle. */
static bool in_plt(const struct search *s, uint64_t vaddr)
{
	for (size_t i = 0; i < ARRAY_SIZE(s->plts); i++)
		if (vaddr >= s->plts[i].start && vaddr < s->plts[i].end)
			return true;
	return false;
}

static void find_plts(struct search *s)
{
	static const char *const names[] = {".plt", ".plt.sec", ".plt.got", ".iplt"};
	struct elf_section sec;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (elf_section(s->elf, names[i], &sec))
			s->plts[i] = (struct fragment){sec.vaddr, sec.vaddr + sec.size};
	s->plt = elf_section(s->elf, ".text", &sec);
}

/* Returns whether f is a part, by the known parts' jumps into it. first and last are the lowest and the highest
 * target. */
static bool believed(struct search *s, const struct eh_range *f, uint64_t first, uint64_t last)
{
	/* Targets ascend: if any is in the middle, the last one is. */
	bool middle = last != f->start && s->plt && !in_plt(s, first);

	return middle || jumps_back(s, (struct fragment){f->start, f->end});
}

static void follow_jumps(struct search *s)
{
	struct jumps jumps = {};

	for (unsigned done = 0; done < s->ret->n; done++) {
		s->ret->dispatches += read_jumps(s, s->ret->fragment[done], &jumps);
		for (size_t i = 0, next; i < jumps.len; i = next) {
			const struct eh_range *f = fde_of(s, jumps.data[i]);

			for (next = i + 1; f && next < jumps.len && jumps.data[next] < f->end;)
				next++;
			if (f && !part_of(s, f->start) &&
				believed(s, f, jumps.data[i], jumps.data[next - 1]) &&
				add_part(s, f->start, f->end))
				s->ret->found |= TABLE_BY_JUMPS;
		}
	}
	vec_done(&jumps);
}

/* ---- by names ---- */

/* Returns whether compilers append this suffix to the name of a function's piece or copy: see GCC's
 * clone_function_name(), clang's machine function splitter and BOLT. Numbers follow it. */
static bool names_a_part(const char *suffix)
{
	static const char *const all[] = {".__part", ".cold", ".localalias", ".lto_priv", ".part",
		".warm"};

	for (size_t i = 0; i < ARRAY_SIZE(all); i++)
		if (!strncmp(suffix, all[i], strlen(all[i])))
			return true;
	return false;
}

static void add_named(struct search *s, const char *name)
{
	struct elf_symbol sym[SYMBOLS];
	size_t n = elf_symbols_starting(s->elf, &name, 1, sym, SYMBOLS);

	for (size_t i = 0; i < n; i++) {
		const struct eh_range *f = fde_of(s, sym[i].vaddr);
		uint64_t end = sym[i].vaddr + sym[i].size;

		if (!names_a_part(sym[i].name + strlen(name)))
			continue;
		if (f && f->start == sym[i].vaddr)
			end = f->end;
		if (add_part(s, sym[i].vaddr, end))
			s->ret->found |= TABLE_BY_NAMES;
	}
}

/* ---- by size ---- */

static const struct eh_range *largest(const struct search *s)
{
	const struct eh_range *best = NULL;

	for (size_t i = 0; i < s->fdes.len; i++) {
		const struct eh_range *f = &s->fdes.data[i];

		if (f->end - f->start >= LARGE_COLD && f->end - f->start <= PART_MAX &&
			(!best || f->end - f->start > best->end - best->start))
			best = f;
	}
	return best;
}

/* If the main part of a loop is too small to be one, and jumps and names give no other part, the largest
 * function of the file is the loop. If instructions can be decoded, the main part must leave through a table,
 * and the largest function must have the dispatch jumps. */
static void add_largest(struct search *s)
{
	const struct eh_range *best = largest(s);
	struct jumps jumps = {};
	unsigned dispatches = 0;

	if (!best || s->ret->n != 1 || s->ret->fragment[0].end - s->ret->fragment[0].start > SMALL_MAIN)
		return;
	if (s->code) {
		dispatches = read_jumps(s, (struct fragment){best->start, best->end}, &jumps);
		vec_done(&jumps);
		if (!s->ret->dispatches || dispatches <= DISPATCHES)
			return;
	}
	if (add_part(s, best->start, best->end)) {
		s->ret->dispatches += dispatches;
		s->ret->found |= TABLE_BY_SIZE;
	}
}

/* ---- all of it ---- */

static int fragment_cmp(const void *va, const void *vb)
{
	const struct fragment *a = va, *b = vb;

	return a->start < b->start ? -1 : a->start > b->start;
}

/* Sorts the fragments and joins those that touch. */
static void merge(struct fragments *p)
{
	unsigned n = 0;

	qsort(p->fragment, p->n, sizeof(p->fragment[0]), fragment_cmp);
	for (unsigned i = 0; i < p->n; i++) {
		if (n && p->fragment[i].start <= p->fragment[n - 1].end) {
			if (p->fragment[n - 1].end < p->fragment[i].end)
				p->fragment[n - 1].end = p->fragment[i].end;
			continue;
		}
		p->fragment[n++] = p->fragment[i];
	}
	p->n = n;
}

int fragments_find_by(struct elf *e, const char *const *names, unsigned want, struct fragments *ret)
{
	struct search s = {.elf = e, .ret = ret, .budget = BYTES_MAX};
	int err;

	*ret = (struct fragments){};
	err = ehframe_ranges(e, &s.fdes);
	if (err)
		return err;
	for (size_t i = 0; names[i]; i++)
		add_main(&s, names[i]);
	if (ret->n && want & TABLE_BY_JUMPS && code_open(elf_machine(e), false, &s.code) == 0) {
		ret->decoded = true;
		find_plts(&s);
		follow_jumps(&s);
	}
	for (size_t i = 0; ret->n && names[i] && want & TABLE_BY_NAMES; i++)
		add_named(&s, names[i]);
	if (!ret->found && want & TABLE_BY_SIZE)
		add_largest(&s);
	merge(ret);
	code_close(s.code);
	eh_ranges_done(&s.fdes);
	return ret->n ? 0 : -ENOENT;
}

int fragments_find(struct elf *e, const char *const *names, struct fragments *ret)
{
	return fragments_find_by(e, names, TABLE_BY_JUMPS | TABLE_BY_NAMES | TABLE_BY_SIZE, ret);
}

int fragments_load(struct elf *e, const char *const *names, struct table_header *hdr)
{
	struct fragments p;
	int err = fragments_find(e, names, &p);

	if (err)
		return err;
	hdr->nranges = 0;
	for (unsigned i = 0; i < p.n; i++) {
		if (p.fragment[i].start < hdr->base || p.fragment[i].end - hdr->base > UINT32_MAX)
			continue;
		hdr->range[hdr->nranges].start = (uint32_t)(p.fragment[i].start - hdr->base);
		hdr->range[hdr->nranges++].end = (uint32_t)(p.fragment[i].end - hdr->base);
	}
	hdr->flags |= p.found | (p.dispatches > DISPATCHES ? TABLE_DISPATCHES : 0);
	return hdr->nranges ? 0 : -ENOENT;
}
