// SPDX-License-Identifier: Apache-2.0
/* perl.c - Perl's versions, a row each, and the addresses in a file.
 *
 * A file is Perl's by its symbols, whatever its name. S_docatch() is static: pp_entertry(), whose address is in the
 * table PL_ppaddr, passes its own address to it. */
#include "perl.h"

#include <elf.h>
#include <errno.h>
#include <string.h>

#include "base/owner.h"
#include "target/code.h"
#include "target/elf.h"
#include "unwinders/native/ehframe.h"
#include "unwinders/python/python.h"

enum {
	OPS_MAX = 512,     /* operations of a version: 400 in 5.32, 426 in 5.42 */
	ENTERTRY_MAX = 64, /* instructions of pp_entertry(): 20 */
	DOCATCH_MAX = 4096,
	INTRO_MAX = 96,    /* instructions of Perl_intro_my(): 46 */
	INTERP_MIN = 256,  /* offset of Icop_seqmax: 0x844 in 5.32, 0x75c in 5.42; of members of a name: 0x20 */
};

/* offsetof(struct interpreter, Iop), Icurcop and Icurstackinfo in perl/intrpvar.h with MULTIPLICITY, at the tag next to
 * the row, such as v5.36.0; whether perl/hv.h has struct xpvhv_with_aux. Odd versions are under development. */
static const struct perl_row {
	unsigned first, last; /* minor versions */
	uint64_t op, cop, info;
	uint16_t name_inside;
} rows[] = {
	{ 32, 32, 0x8, 0xe0, 0xf0, 0 }, /* v5.32.1 */
	{ 34, 34, 0x8, 0xd0, 0xe0, 0 }, /* v5.34.0 */
	{ 36, 42, 0x8, 0xd0, 0xe0, 1 }, /* v5.36.0 and v5.42.0 */
};

static uint8_t byte_at(struct elf *e, const char *symbol)
{
	struct elf_symbol sym;
	const uint8_t *p = elf_symbol_named(e, symbol, &sym) ? elf_at(e, sym.vaddr, 1) : NULL;

	return p ? *p : 0;
}

static const struct perl_row *find_row(struct elf *e)
{
	unsigned minor = byte_at(e, "PL_version");

	if (minor & 1)
		return NULL;
	for (size_t i = 0; byte_at(e, "PL_revision") == 5 && i < ARRAY_SIZE(rows); i++)
		if (minor >= rows[i].first && minor <= rows[i].last)
			return &rows[i];
	return NULL;
}

static uint64_t address(struct elf *e, const char *symbol)
{
	struct elf_symbol sym;

	return elf_symbol_named(e, symbol, &sym) ? sym.vaddr : 0;
}

/* ---- S_docatch() ---- */

/* Returns the words of an array of n pointers, as the dynamic linker fills them in for a file that is loaded at 0. */
static void read_pointers(struct elf *e, uint64_t array, size_t n, uint64_t *ret)
{
	const uint8_t *p = elf_at(e, array, n * 8);
	struct elf_section s;
	Elf64_Rela r;

	memset(ret, 0, n * 8);
	if (p)
		memcpy(ret, p, n * 8);
	if (!elf_section(e, ".rela.dyn", &s) || !s.data)
		return;
	for (uint64_t i = 0; i + sizeof(r) <= s.size; i += sizeof(r)) {
		memcpy(&r, s.data + i, sizeof(r));
		if (r.r_offset - array < n * 8 && !((r.r_offset - array) & 7) && r.r_addend)
			ret[(r.r_offset - array) / 8] = (uint64_t)r.r_addend;
	}
}

/* Returns the number of an operation with this name: its index in PL_op_name; 0 if there is none. */
static unsigned number_of(struct elf *e, const char *operation)
{
	struct elf_symbol names;
	uint64_t words[OPS_MAX];
	size_t n, size = strlen(operation) + 1;

	if (!elf_symbol_named(e, "PL_op_name", &names))
		return 0;
	n = names.size / 8 < OPS_MAX ? names.size / 8 : OPS_MAX;
	read_pointers(e, names.vaddr, n, words);
	for (unsigned i = 0; i < n; i++) {
		const uint8_t *name = words[i] ? elf_at(e, words[i], size) : NULL;

		if (name && !memcmp(name, operation, size))
			return i;
	}
	return 0;
}

/* Returns the address of pp_entertry(), or 0. */
static uint64_t entertry(struct elf *e)
{
	unsigned i = number_of(e, "entertry");
	struct elf_symbol functions;
	uint64_t words[OPS_MAX];
	size_t n;

	if (!i || !elf_symbol_named(e, "PL_ppaddr", &functions))
		return 0;
	n = functions.size / 8 < OPS_MAX ? functions.size / 8 : OPS_MAX;
	read_pointers(e, functions.vaddr, n, words);
	return i < n ? words[i] : 0;
}

/* Returns whether the instruction sets a register to that address. arm64: to the page that adrp has set it to, which
 * *page keeps, and an offset. */
static bool computes(const struct code_insn *i, uint64_t vaddr, uint64_t *page)
{
	const struct code_operand *from = &i->operand[1], *add = &i->operand[2];

	if (i->noperands < 2 || i->operand[0].kind != CODE_REG)
		return false;
	if (i->noperands == 3)
		return !strcmp(i->mnemonic, "add") && add->kind == CODE_IMM && *page &&
		       *page + (uint64_t)add->value == vaddr;
	if (!strcmp(i->mnemonic, "adrp"))
		*page = (uint64_t)from->value;
	if (!strcmp(i->mnemonic, "lea") && from->kind == CODE_MEM && from->reg == CODE_REG_PC)
		return i->vaddr + i->size + (uint64_t)from->value == vaddr;
	/* x86_64: not position independent; arm64: adr */
	return from->kind == CODE_IMM && (uint64_t)from->value == vaddr;
}

/* Returns the function that is called, or jumped to, next after `function` computes its own address; 0: none. */
static uint64_t called_with_self(struct elf *e, uint64_t function)
{
	_cleanup_(code_closep) struct code *c = NULL;
	uint64_t vaddr = function, page = 0;
	bool computed = false;
	struct code_insn i;

	if (!function || code_open(elf_machine(e), true, &c))
		return 0;
	for (unsigned n = 0; n < ENTERTRY_MAX; n++, vaddr += i.size) {
		const uint8_t *p = elf_at(e, vaddr, CODE_LONGEST);

		if (!p || !code_decode(c, p, CODE_LONGEST, vaddr, &i))
			return 0;
		computed = computed || computes(&i, function, &page);
		if (computed && i.target && (i.flow == CODE_CALL || i.flow == CODE_JUMP))
			return i.target;
	}
	return 0;
}

/* Returns the range of S_docatch(), or an empty one. */
static struct eh_range docatch(struct elf *e)
{
	uint64_t start = called_with_self(e, entertry(e));
	struct eh_range found = {};
	struct eh_ranges ranges = {};

	if (start && !ehframe_ranges(e, &ranges))
		for (size_t i = 0; i < ranges.len; i++)
			if (ranges.data[i].start == start && ranges.data[i].end - start <= DOCATCH_MAX)
				found = ranges.data[i];
	eh_ranges_done(&ranges);
	return found;
}

/* ---- Icop_seqmax ---- */

struct seq_search {
	int64_t loaded[8], stored; /* offsets; 0: none yet */
	unsigned n;
	bool ambiguous;
};

/* Notes the offset of a member that the instruction loads into a 4-byte register, or stores from one. */
static void note_member(struct seq_search *s, const struct code_insn *i)
{
	bool x86 = !strcmp(i->mnemonic, "mov"), store;
	const struct code_operand *reg = &i->operand[0], *mem = &i->operand[1];

	if (i->noperands != 2 || (!x86 && strcmp(i->mnemonic, "ldr") && strcmp(i->mnemonic, "str")))
		return;
	store = x86 ? i->operand[0].kind == CODE_MEM : i->mnemonic[0] == 's';
	if (x86 && store) {
		reg = &i->operand[1];
		mem = &i->operand[0];
	}
	if (reg->kind != CODE_REG || reg->size != 4 || reg->reg == CODE_REG_OTHER || mem->kind != CODE_MEM ||
		mem->index != CODE_REG_NONE || mem->value < INTERP_MIN)
		return;
	if (store) {
		s->ambiguous = s->ambiguous || (s->stored && s->stored != mem->value);
		s->stored = mem->value;
	} else if (s->n < ARRAY_SIZE(s->loaded)) {
		s->loaded[s->n++] = mem->value;
	}
}

/* Returns the offset of Icop_seqmax in the interpreter, or 0 if it is unknown: it differs between builds. It is the
 * only u32 of the interpreter that Perl_intro_my() (perl/pad.c) loads and stores; PL_compiling.cop_seq is loaded and
 * set to 0. */
static uint64_t seq_offset(struct elf *e)
{
	_cleanup_(code_closep) struct code *c = NULL;
	struct seq_search s = {};
	struct elf_symbol sym;
	struct code_insn i;

	if (!elf_symbol_named(e, "Perl_intro_my", &sym) || code_open(elf_machine(e), true, &c))
		return 0;
	for (uint64_t at = 0, n = 0; at < sym.size; at += i.size, n++) {
		const uint8_t *p = elf_at(e, sym.vaddr + at, CODE_LONGEST);

		if (!p || n == INTRO_MAX || !code_decode(c, p, CODE_LONGEST, sym.vaddr + at, &i))
			return 0;
		note_member(&s, &i);
	}
	for (unsigned k = 0; k < s.n && !s.ambiguous; k++)
		if (s.loaded[k] == s.stored)
			return (uint64_t)s.stored;
	return 0;
}

/* ---- the file ---- */

int perl_open(struct elf *e, struct perl_proc *ret)
{
	struct python_layout tsd = {};
	const struct perl_row *row;
	struct eh_range caught;

	*ret = (struct perl_proc){};
	if (!address(e, "Perl_runops_standard"))
		return -ENOENT;
	row = find_row(e);
	if (!row)
		return 0;
	ret->name_inside = row->name_inside;
	ret->entersub = (uint16_t)number_of(e, "entersub");
	ret->key = address(e, "PL_thr_key");
	ret->op = ret->key ? row->op : address(e, "PL_op");
	ret->cop = ret->key ? row->cop : address(e, "PL_curcop");
	ret->info = ret->key ? row->info : address(e, "PL_curstackinfo");
	ret->seq = ret->key ? seq_offset(e) : address(e, "PL_cop_seqmax");
	python_tsd(e, &tsd);
	ret->tsd = (struct perl_tsd){ tsd.tsd_first, tsd.tsd_blocks, tsd.tsd_inline, tsd.tsd_block_shift,
		tsd.tsd_entry_shift, tsd.tsd_value };
	caught = docatch(e);
	ret->docatch = caught.start;
	ret->docatch_size = (uint32_t)(caught.end - caught.start);
	return 0;
}

void perl_move(struct perl_proc *p, uint64_t bias)
{
	uint64_t is_file = p->key ? 0 : bias; /* the members of the interpreter are offsets */

	p->key += p->key ? bias : 0;
	p->op += p->info ? is_file : 0;
	p->cop += p->info ? is_file : 0;
	p->info += p->info ? is_file : 0;
	p->seq += p->seq ? is_file : 0;
	p->docatch += p->docatch ? bias : 0;
}

static void add_range(struct table_header *hdr, uint64_t start, uint64_t end)
{
	if (start >= end || start < hdr->base || end - hdr->base > UINT32_MAX || hdr->nranges >= TABLE_RANGES)
		return;
	hdr->range[hdr->nranges].start = (uint32_t)(start - hdr->base);
	hdr->range[hdr->nranges++].end = (uint32_t)(end - hdr->base);
}

int perl_loops(struct elf *e, struct table_header *hdr)
{
	static const char *const loops[] = { "Perl_runops_standard", "Perl_runops_debug" };
	struct eh_range caught;
	struct elf_symbol sym;

	if (!address(e, loops[0]) || !address(e, "PL_op_name"))
		return -ENOENT;
	hdr->nranges = 0;
	for (size_t i = 0; i < ARRAY_SIZE(loops); i++)
		if (elf_symbol_named(e, loops[i], &sym))
			add_range(hdr, sym.vaddr, sym.vaddr + sym.size);
	caught = docatch(e);
	add_range(hdr, caught.start, caught.end);
	return hdr->nranges ? 0 : -ENOENT;
}
