// SPDX-License-Identifier: Apache-2.0
/* python_load.c - where in a file CPython's eval loop is.
 *
 * A function's symbol says where its main part is. GCC moves blocks that were seldom
 * run in training elsewhere (a "cold" part with an FDE of its own, and a symbol only
 * when not stripped); with 3.14 in Debian that is nearly the whole loop. Such a part
 * is known by the jumps between it and the rest: they go to the middle of it, and from
 * it back into the middle of the rest. A tail call goes to a function's start.
 *
 * Jumps are looked for byte by byte, not by decoding: a chance match would have to
 * point, several times, into the middle of one and the same other function. */
#include <elf.h>
#include <errno.h>
#include <string.h>

#include "python.h"
#include "target/elf.h"

#define EVAL         "_PyEval_EvalFrameDefault"
#define JUMPS_MIN    2         /* each way, to be believed */
#define RANGE_MAX    (1 << 20)
#define CANDIDATES   64

struct range {
	uint64_t start, end;
};

struct part { /* a function that is jumped into */
	struct range at;
	unsigned jumps;
};

struct search {
	struct elf *e;
	struct range found[TABLE_RANGES];
	unsigned nfound;
	struct part parts[CANDIDATES];
	unsigned nparts;
	const uint8_t *hdr; /* .eh_frame_hdr's table: pairs of s32 from hdr_vaddr */
	uint64_t hdr_vaddr;
	size_t nfdes;
};

static int32_t get32(const uint8_t *p)
{
	int32_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

/* ---- functions by .eh_frame_hdr ---- */

/* Only the form that every linker writes: 4-byte offsets from the section. */
static bool open_fdes(struct search *s)
{
	struct elf_section hdr;

	if (!elf_phdr(s->e, PT_GNU_EH_FRAME, &hdr) || hdr.size < 12)
		return false;
	s->hdr = elf_at(s->e, hdr.vaddr, hdr.size);
	if (!s->hdr || s->hdr[0] != 1 || s->hdr[2] != 0x03 || s->hdr[3] != 0x3b)
		return false;
	s->nfdes = (uint32_t)get32(s->hdr + 8);
	if (s->nfdes > (hdr.size - 12) / 8)
		s->nfdes = (hdr.size - 12) / 8;
	s->hdr_vaddr = hdr.vaddr;
	s->hdr += 12;
	return s->nfdes > 0;
}

static uint64_t fde_start(const struct search *s, size_t i)
{
	return s->hdr_vaddr + (uint64_t)(int64_t)get32(s->hdr + 8 * i);
}

/* The function that an FDE covers. Its length is read from the FDE when that has the
 * usual form, else it reaches to the next one. */
static struct range fde_range(const struct search *s, size_t i)
{
	uint64_t fde = s->hdr_vaddr + (uint64_t)(int64_t)get32(s->hdr + 8 * i + 4);
	const uint8_t *p = elf_at(s->e, fde, 16);
	struct range r = { fde_start(s, i), i + 1 < s->nfdes ? fde_start(s, i + 1) : 0 };

	if (p && fde + 8 + (uint64_t)(int64_t)get32(p + 8) == r.start)
		r.end = r.start + (uint32_t)get32(p + 12);
	return r;
}

static bool fde_at(const struct search *s, uint64_t vaddr, struct range *ret)
{
	size_t lo = 0, hi = s->nfdes;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (fde_start(s, mid) <= vaddr)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (!lo)
		return false;
	*ret = fde_range(s, lo - 1);
	return vaddr < ret->end;
}

/* ---- jumps ---- */

static bool found_has(const struct search *s, uint64_t vaddr)
{
	for (unsigned i = 0; i < s->nfound; i++)
		if (vaddr >= s->found[i].start && vaddr < s->found[i].end)
			return true;
	return false;
}

/* x86_64: jmp rel32, jcc rel32. The target, or 0. */
static uint64_t jump_at(const uint8_t *p, const uint8_t *end, uint64_t vaddr)
{
	if (end - p >= 5 && p[0] == 0xe9)
		return vaddr + 5 + (uint64_t)(int64_t)get32(p + 1);
	if (end - p >= 6 && p[0] == 0x0f && (p[1] & 0xf0) == 0x80)
		return vaddr + 6 + (uint64_t)(int64_t)get32(p + 2);
	return 0;
}

static void count_jump(struct search *s, uint64_t target)
{
	struct range f;
	unsigned i;

	if (found_has(s, target) || !fde_at(s, target, &f) || target == f.start ||
		found_has(s, f.start) || f.end - f.start > RANGE_MAX)
		return;
	for (i = 0; i < s->nparts; i++)
		if (s->parts[i].at.start == f.start)
			break;
	if (i == CANDIDATES)
		return;
	if (i == s->nparts)
		s->parts[s->nparts++] = (struct part){ .at = f };
	s->parts[i].jumps++;
}

static void count_jumps_from(struct search *s, struct range r)
{
	const uint8_t *code = elf_at(s->e, r.start, r.end - r.start);

	for (uint64_t i = 0; code && i < r.end - r.start; i++) {
		uint64_t target = jump_at(code + i, code + (r.end - r.start), r.start + i);

		if (target)
			count_jump(s, target);
	}
}

/* How often r jumps into the middle of what is known. */
static unsigned count_jumps_back(struct search *s, struct range r)
{
	const uint8_t *code = elf_at(s->e, r.start, r.end - r.start);
	unsigned n = 0;

	for (uint64_t i = 0; code && i < r.end - r.start; i++) {
		uint64_t target = jump_at(code + i, code + (r.end - r.start), r.start + i);

		n += target && found_has(s, target) && target != s->found[0].start;
	}
	return n;
}

static void add_range(struct search *s, struct range r)
{
	if (s->nfound < TABLE_RANGES && r.start < r.end && r.end - r.start <= RANGE_MAX &&
		!found_has(s, r.start))
		s->found[s->nfound++] = r;
}

static void find_cold_parts(struct search *s)
{
	struct elf_symbol sym;

	if (elf_symbol_named(s->e, EVAL ".cold", &sym))
		add_range(s, (struct range){ sym.vaddr, sym.vaddr + sym.size });
	if (elf_machine(s->e) != EM_X86_64 || !open_fdes(s))
		return;
	for (unsigned done = 0; done < s->nfound; done++) {
		s->nparts = 0;
		count_jumps_from(s, s->found[done]);
		for (unsigned i = 0; i < s->nparts; i++)
			if (s->parts[i].jumps >= JUMPS_MIN &&
				count_jumps_back(s, s->parts[i].at) >= JUMPS_MIN)
				add_range(s, s->parts[i].at);
	}
}

static int python_load(struct elf *e, struct table_header *hdr)
{
	struct search s = { .e = e };
	struct elf_symbol sym;

	if (!elf_symbol_named(e, EVAL, &sym) || !sym.size || !python_version(e))
		return -ENOENT;
	add_range(&s, (struct range){ sym.vaddr, sym.vaddr + sym.size });
	find_cold_parts(&s);
	hdr->nranges = 0;
	for (unsigned i = 0; i < s.nfound; i++) {
		if (s.found[i].start < hdr->base || s.found[i].end - hdr->base > UINT32_MAX)
			continue;
		hdr->range[hdr->nranges].start = (uint32_t)(s.found[i].start - hdr->base);
		hdr->range[hdr->nranges++].end = (uint32_t)(s.found[i].end - hdr->base);
	}
	hdr->flags |= hdr->nranges ? TABLE_PYTHON : 0;
	return 0;
}

const struct unwinder unwinder_python = {
	.name = "python",
	.version = 1,
	.load = python_load,
};
