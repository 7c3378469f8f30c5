// SPDX-License-Identifier: Apache-2.0
/* trim.c - leaves out of an object's functions the instructions that never run, because constants in .rodata decide
 * branches. The kernel would do this, too, but it moves all that follows for each piece: for 1,800 of 6,600
 * instructions this took a seventh of the verifier's time.
 *
 * Functions stay where they are and become shorter, so calls and .BTF.ext remain right. Functions that no program calls
 * are not functions for libbpf any more. Objects with line information or CO-RE relocations are left as they are.
 *
 * Instructions: RFC 9669; relocations: Linux Documentation/bpf/llvm_reloc.rst. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/owner.h"
#include "fold.h"
#include "object.h"
#include "unwinders/unwinders.h"

enum { INSN = sizeof(struct bpf_insn), LINES_AT = 20, RELOCATIONS_AT = 28 }; /* lengths in the header of .BTF.ext */

/* Code of one section. */
struct code {
	struct bpf_insn *insns;
	uint32_t n;
	Elf64_Rel *relocations;
	size_t nrelocations;
	uint32_t *relocation_at; /* by instruction: 1 + index, or 0 */
};

struct trim {
	struct object o;
	Elf64_Sym *symbols;
	size_t nsymbols;
	struct code *code; /* by section; n = 0: not code */
	unsigned rodata;
	struct constants constants;
	bool *is_called; /* by symbol */
	uint32_t *queue; /* symbols of functions that are called */
	size_t nqueue;
	struct registers *before; /* by instruction of the function that is looked at */
	uint8_t *flags;
	uint32_t *pending, *moved;
};

enum { IS_REACHED = 1, IS_PENDING = 2, JUMPS = 4, FALLS = 8, IS_TAIL = 16, IS_DROPPED = 32 };

static const Elf64_Rel *relocation_of(const struct code *c, uint32_t at)
{
	uint32_t i = c->relocation_at[at];

	return i ? &c->relocations[i - 1] : NULL;
}

static const Elf64_Sym *symbol_of(const struct trim *t, const Elf64_Rel *r)
{
	uint64_t i = r ? ELF64_R_SYM(r->r_info) : 0;

	return i && i < t->nsymbols ? &t->symbols[i] : NULL;
}

/* ---- which instructions run ---------------------------------------------- */

static bool is_wide(const struct bpf_insn *insn)
{
	return insn->code == (BPF_LD | BPF_IMM | BPF_DW);
}

static bool is_jump(const struct bpf_insn *insn)
{
	uint8_t class = BPF_CLASS(insn->code), op = BPF_OP(insn->code);

	return (class == BPF_JMP && op != BPF_CALL && op != BPF_EXIT) || class == BPF_JMP32;
}

static bool is_exit(const struct bpf_insn *insn)
{
	return insn->code == (BPF_JMP | BPF_EXIT);
}

static void step_wide(const struct trim *t, struct registers *r, const struct bpf_insn *insn,
	const Elf64_Rel *relocation)
{
	const Elf64_Sym *s = symbol_of(t, relocation);

	if (insn->dst_reg >= FOLD_REGS)
		return;
	r->known[insn->dst_reg] = KNOWN_NOTHING;
	if (s && s->st_shndx == t->rodata) {
		r->known[insn->dst_reg] = KNOWN_PLACE;
		r->number[insn->dst_reg] = s->st_value + (uint64_t)(int64_t)insn->imm;
	} else if (!relocation && !insn->src_reg) {
		r->known[insn->dst_reg] = KNOWN_NUMBER;
		r->number[insn->dst_reg] = (uint32_t)insn[0].imm | (uint64_t)(uint32_t)insn[1].imm << 32;
	}
}

static void reach(struct trim *t, uint32_t at, const struct registers *r, size_t *npending)
{
	bool changes = true;

	if (t->flags[at] & IS_REACHED)
		changes = fold_merge(&t->before[at], r);
	else
		t->before[at] = *r;
	t->flags[at] |= IS_REACHED;
	if (!changes || t->flags[at] & IS_PENDING)
		return;
	t->flags[at] |= IS_PENDING;
	t->pending[(*npending)++] = at;
}

/* Returns false if the code is not as a compiler makes it. */
static bool follow(struct trim *t, const struct code *c, uint32_t first, uint32_t n, uint32_t at, size_t *npending)
{
	const struct bpf_insn *insn = &c->insns[first + at];
	uint32_t next = at + 1 + is_wide(insn);
	int64_t target = (int64_t)at + 1 + insn->off;
	struct registers r = t->before[at];
	enum way way = WAY_NEXT;

	if (is_exit(insn))
		return true;
	if (is_wide(insn))
		step_wide(t, &r, insn, relocation_of(c, first + at));
	else if (!is_jump(insn))
		fold_step(&r, insn, &t->constants);
	else
		way = BPF_OP(insn->code) == BPF_JA ? WAY_JUMP : fold_way(&r, insn);
	if ((way != WAY_JUMP && next >= n) || (way != WAY_NEXT && (target < 0 || target >= n)) ||
		insn->code == (BPF_JMP32 | BPF_JA))
		return false;
	if (next == at + 2)
		t->flags[at + 1] |= IS_TAIL;
	if (way != WAY_JUMP) {
		t->flags[at] |= FALLS;
		reach(t, next, &r, npending);
	}
	if (way != WAY_NEXT) {
		t->flags[at] |= JUMPS;
		reach(t, (uint32_t)target, &r, npending);
	}
	return true;
}

static bool follow_all(struct trim *t, const struct code *c, uint32_t first, uint32_t n)
{
	const struct registers nothing = {};
	size_t npending = 0;
	uint32_t at;

	memset(t->flags, 0, n);
	reach(t, 0, &nothing, &npending);
	while (npending) {
		at = t->pending[--npending];
		t->flags[at] &= ~IS_PENDING;
		if (!follow(t, c, first, n, at, &npending))
			return false;
	}
	for (at = 0; at < n; at++) /* nothing jumps into a pair */
		if ((t->flags[at] & (IS_TAIL | IS_REACHED)) == (IS_TAIL | IS_REACHED))
			return false;
	return true;
}

/* ---- functions that are called -------------------------------------------- */

static void call(struct trim *t, size_t symbol)
{
	const Elf64_Sym *s = &t->symbols[symbol];

	if (ELF64_ST_TYPE(s->st_info) != STT_FUNC || s->st_shndx >= t->o.n || t->is_called[symbol])
		return;
	t->is_called[symbol] = true;
	t->queue[t->nqueue++] = (uint32_t)symbol;
}

static void call_at(struct trim *t, unsigned section, uint64_t at)
{
	for (size_t i = 0; i < t->nsymbols; i++)
		if (t->symbols[i].st_shndx == section && t->symbols[i].st_value == at)
			call(t, i);
}

static bool is_own_call(const struct bpf_insn *insn)
{
	return insn->code == (BPF_JMP | BPF_CALL) && insn->src_reg == BPF_PSEUDO_CALL;
}

static void call_from(struct trim *t, unsigned section, uint32_t at)
{
	const struct code *c = &t->code[section];
	const struct bpf_insn *insn = &c->insns[at];
	const Elf64_Rel *r = relocation_of(c, at);
	const Elf64_Sym *s = symbol_of(t, r);

	if (s && ELF64_ST_TYPE(s->st_info) == STT_FUNC)
		call(t, (size_t)(s - t->symbols));
	else if (s && ELF64_ST_TYPE(s->st_info) == STT_SECTION && s->st_shndx < t->o.n && t->code[s->st_shndx].n)
		call_at(t, s->st_shndx, is_wide(insn) ? (uint64_t)insn->imm : (uint64_t)(insn->imm + 1) * INSN);
	else if (!r && is_own_call(insn))
		call_at(t, section, ((uint64_t)at + 1 + (uint64_t)(int64_t)insn->imm) * INSN);
}

/* ---- the shorter function -------------------------------------------------- */

static bool is_kept(const struct trim *t, uint32_t at)
{
	return t->flags[at] & (IS_REACHED | IS_TAIL) && !(t->flags[at] & IS_DROPPED);
}

static uint32_t number(struct trim *t, uint32_t n)
{
	uint32_t kept = 0;

	for (uint32_t at = 0; at < n; at++) {
		t->moved[at] = kept;
		kept += is_kept(t, at);
	}
	return kept;
}

/* Conditional jumps that never jump, and jumps to the next instruction. */
static void drop_jumps(struct trim *t, const struct bpf_insn *insns, uint32_t n)
{
	for (uint32_t at = 0; at < n; at++)
		if (is_kept(t, at) && !(t->flags[at] & IS_TAIL) && is_jump(&insns[at]) && !(t->flags[at] & JUMPS))
			t->flags[at] |= IS_DROPPED;
	number(t, n);
	for (uint32_t at = 0; at < n; at++)
		if (is_kept(t, at) && !(t->flags[at] & IS_TAIL) && is_jump(&insns[at]) && !(t->flags[at] & FALLS) &&
			t->moved[at + 1 + insns[at].off] == t->moved[at] + 1)
			t->flags[at] |= IS_DROPPED;
}

static struct bpf_insn moved_insn(const struct trim *t, const struct code *c, uint32_t first, uint32_t at)
{
	struct bpf_insn insn = c->insns[first + at];
	bool is_tail = t->flags[at] & IS_TAIL;

	if (!is_tail && is_jump(&insn)) {
		if (!(t->flags[at] & FALLS)) /* it always jumps */
			insn = (struct bpf_insn){.code = BPF_JMP | BPF_JA, .off = insn.off};
		insn.off = (int16_t)((int)t->moved[at + 1 + insn.off] - (int)t->moved[at] - 1);
	}
	if (!is_tail && is_own_call(&insn) && !relocation_of(c, first + at))
		insn.imm += (int)(at - t->moved[at]);
	return insn;
}

static void shorten(struct trim *t, struct code *c, Elf64_Sym *s, uint32_t first, uint32_t n)
{
	uint32_t kept;

	drop_jumps(t, &c->insns[first], n);
	kept = number(t, n);
	for (uint32_t at = 0; at < n; at++) {
		uint32_t r = c->relocation_at[first + at];

		if (is_kept(t, at))
			c->insns[first + t->moved[at]] = moved_insn(t, c, first, at);
		if (r)
			c->relocations[r - 1].r_offset = is_kept(t, at) ? (first + t->moved[at]) * INSN : UINT64_MAX;
	}
	s->st_size = (uint64_t)kept * INSN;
}

/* Returns whether a function that is queued before has the same address. */
static bool is_alias(const struct trim *t, size_t at)
{
	const Elf64_Sym *s = &t->symbols[t->queue[at]];
	bool ret = false;

	for (size_t i = 0; i < at && !ret; i++) {
		const Elf64_Sym *other = &t->symbols[t->queue[i]];

		ret = other->st_shndx == s->st_shndx && other->st_value == s->st_value;
	}
	return ret;
}

static bool trim_function(struct trim *t, size_t symbol)
{
	Elf64_Sym *s = &t->symbols[symbol];
	struct code *c = &t->code[s->st_shndx];
	uint64_t first = s->st_value / INSN, n = s->st_size / INSN;

	if (!n || s->st_value % INSN || first >= c->n || n > c->n - first ||
		!follow_all(t, c, (uint32_t)first, (uint32_t)n))
		return false;
	for (uint32_t at = 0; at < n; at++)
		if (t->flags[at] & IS_REACHED)
			call_from(t, s->st_shndx, (uint32_t)first + at);
	shorten(t, c, s, (uint32_t)first, (uint32_t)n);
	return true;
}

/* ---- the object ------------------------------------------------------------ */

static void drop_function(struct trim *t, Elf64_Sym *s)
{
	const struct code *c = &t->code[s->st_shndx];

	s->st_info = ELF64_ST_INFO(STB_LOCAL, STT_NOTYPE);
	for (uint64_t at = s->st_value / INSN; at < c->n && (at + 1) * INSN <= s->st_value + s->st_size; at++)
		if (c->relocation_at[at])
			c->relocations[c->relocation_at[at] - 1].r_offset = UINT64_MAX;
}

static void drop_uncalled(struct trim *t)
{
	for (size_t i = 0; i < t->nsymbols; i++) {
		Elf64_Sym *s = &t->symbols[i];

		if (ELF64_ST_TYPE(s->st_info) == STT_FUNC && !t->is_called[i] && s->st_shndx != SHN_UNDEF &&
			s->st_shndx < t->o.n)
			drop_function(t, s);
	}
}

static void drop_relocations(struct trim *t, Elf64_Shdr *s)
{
	struct code *c = &t->code[s->sh_info];
	size_t kept = 0;

	for (size_t i = 0; i < c->nrelocations; i++)
		if (c->relocations[i].r_offset != UINT64_MAX)
			c->relocations[kept++] = c->relocations[i];
	s->sh_size = kept * sizeof(*c->relocations);
}

static bool index_relocations(struct trim *t, unsigned section)
{
	const Elf64_Shdr *s = &t->o.sections[section];
	struct code *c = s->sh_type == SHT_REL && s->sh_info < t->o.n ? &t->code[s->sh_info] : NULL;
	struct part p = object_part(&t->o, section);

	if (!c || !c->n)
		return true;
	if (c->relocations)
		return false;
	c->relocations = (Elf64_Rel *)p.at;
	c->nrelocations = p.size / sizeof(*c->relocations);
	for (size_t i = 0; i < c->nrelocations; i++) {
		uint64_t at = c->relocations[i].r_offset;

		if (at % INSN || at / INSN >= c->n)
			return false;
		c->relocation_at[at / INSN] = (uint32_t)i + 1;
	}
	return true;
}

static bool has_lines(const struct object *o)
{
	struct part ext = object_part(o, object_section(o, ".BTF.ext"));
	uint32_t lines, relocations;

	if (ext.size < RELOCATIONS_AT + sizeof(relocations))
		return true;
	memcpy(&lines, ext.at + LINES_AT, sizeof(lines));
	memcpy(&relocations, ext.at + RELOCATIONS_AT, sizeof(relocations));
	return lines || relocations;
}

/* Returns the number of instructions of the largest section, or 0 if memory is short or the object is unusual. */
static uint32_t find_code(struct trim *t)
{
	uint32_t most = 0;

	for (unsigned i = 1; i < t->o.n; i++) {
		struct part p = object_part(&t->o, i);
		struct code *c = &t->code[i];

		if (t->o.sections[i].sh_type == SHT_SYMTAB) {
			t->symbols = (Elf64_Sym *)p.at;
			t->nsymbols = p.size / sizeof(*t->symbols);
		}
		if (t->o.sections[i].sh_type != SHT_PROGBITS || !(t->o.sections[i].sh_flags & SHF_EXECINSTR) ||
			p.size / INSN > INT32_MAX)
			continue;
		c->relocation_at = calloc(p.size / INSN + 1, sizeof(*c->relocation_at));
		if (!c->relocation_at)
			return 0;
		c->insns = (struct bpf_insn *)p.at;
		c->n = (uint32_t)(p.size / INSN);
		most = c->n > most ? c->n : most;
	}
	for (unsigned i = 1; i < t->o.n; i++)
		if (!index_relocations(t, i))
			return 0;
	return t->nsymbols ? most : 0;
}

static bool get_memory(struct trim *t, uint32_t most)
{
	t->is_called = calloc(t->nsymbols, sizeof(*t->is_called));
	t->queue = calloc(t->nsymbols, sizeof(*t->queue));
	t->before = malloc(most * sizeof(*t->before));
	t->flags = malloc(most);
	t->pending = malloc(most * sizeof(*t->pending));
	t->moved = malloc(most * sizeof(*t->moved));
	return t->is_called && t->queue && t->before && t->flags && t->pending && t->moved;
}

static void free_memory(struct trim *t)
{
	for (unsigned i = 0; t->code && i < t->o.n; i++)
		free(t->code[i].relocation_at);
	free(t->code);
	free(t->is_called);
	free(t->queue);
	free(t->before);
	free(t->flags);
	free(t->pending);
	free(t->moved);
}

/* Programs are the functions outside of .text. */
static bool trim_all(struct trim *t)
{
	unsigned text = object_section(&t->o, ".text");

	for (size_t i = 1; i < t->nsymbols; i++) {
		unsigned section = t->symbols[i].st_shndx;

		if (section != text && section < t->o.n && t->code[section].n)
			call(t, i);
	}
	for (size_t i = 0; i < t->nqueue; i++)
		if (is_alias(t, i) || !trim_function(t, t->queue[i]))
			return false;
	drop_uncalled(t);
	for (unsigned i = 1; i < t->o.n; i++)
		if (t->o.sections[i].sh_type == SHT_REL && t->o.sections[i].sh_info < t->o.n &&
			t->code[t->o.sections[i].sh_info].n)
			drop_relocations(t, &t->o.sections[i]);
	return true;
}

int unwinders_trim(void *elf, size_t size, const void *rodata, size_t rodata_size)
{
	struct trim t = {.constants = {rodata, rodata_size}};
	uint32_t most;
	int r = 0;

	if (!object_open(&t.o, elf, size))
		return -EINVAL;
	if (has_lines(&t.o))
		return 0;
	t.rodata = object_section(&t.o, ".rodata");
	t.code = calloc(t.o.n, sizeof(*t.code));
	most = t.code ? find_code(&t) : 0;
	if (!most || !get_memory(&t, most))
		r = -ENOMEM;
	else if (!trim_all(&t))
		r = -EINVAL;
	free_memory(&t);
	return r;
}
