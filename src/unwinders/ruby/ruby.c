// SPDX-License-Identifier: Apache-2.0
/* ruby.c - CRuby's versions, a row each, and the addresses in a file.
 *
 * A file is Ruby's by its symbols, whatever its name. The interpreter's loop, vm_exec_core(), is a static function: the
 * largest one that rb_vm_exec() calls. */
#include "ruby.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>

#include <string.h>

#include "base/owner.h"
#include "target/code.h"
#include "target/elf.h"
#include "unwinders/native/ehframe.h"
#include "unwinders/python/python.h"

#define V(major, minor) ((major) << 8 | (minor))

enum {
	LOOP_MIN = 8192, /* bytes of vm_exec_core(): 17,000 in 3.1 */
	OPS_MIN = 100, OPS_MAX = 256, /* the last ID of an operator is between them: 168 to 171 */
	INSNS_MAX = 200,
	FUNCTION_MAX = 4096, /* bytes: a branch further on leads out of the function, to its .cold part */
	ARM_REGS = 32,
	DISPATCHES_MIN = 5, /* jumps to the next instruction: 10 in 2.7 and 3.1, 12 in 3.3 */
};

/* Instructions of arm64: br xN; ldr xN, [xM, #imm]; bl. */
#define ARM_BR       0xd61f0000
#define ARM_BR_MASK  0xfffffc1f
#define ARM_LDR      0xf9400000
#define ARM_LDR_MASK 0xffc00000
#define ARM_BL       0x94000000
#define ARM_BL_MASK  0xfc000000

/* offsetof() and sizeof() in ruby/vm_core.h (rb_control_frame_t, struct rb_iseq_constant_body), ruby/iseq.h (struct
 * iseq_insn_info_entry), ruby/internal/class.h (struct RClass_and_rb_classext_t) and gc.c (struct rb_objspace),
 * FL_SINGLETON and FL_PROMOTED, at the tag next to the row, such as v3.1.2. Before 3.3 a class has its name among its
 * instance variables. */
static const struct ruby_row {
	unsigned version;
	struct ruby_layout at;
} rows[] = {
	{ V(2, 7), { 56, 16, 120, 136, 144, 8, 176, 0, 0, 0, 0, 1, 0, 0x60, 2 } },   /* v2.7.4 */
	{ V(3, 1), { 64, 16, 120, 136, 144, 12, 176, 0, 0, 0, 0, 1, 0, 0x60, 1 } },  /* v3.1.2 */
	{ V(3, 3), { 56, 24, 112, 128, 136, 12, 168, 128, 152, 12, 0, 0, 0, 0x20, 1 } }, /* v3.3.8 */
	{ V(3, 4), { 56, 24, 112, 128, 136, 12, 168, 128, 152, 13, 1, 0, 0, 0x20, 1 } }, /* v3.4.11 */
	{ V(4, 0), { 56, 24, 112, 128, 136, 12, 176, 136, 152, 13, 1, 0, 1, 0x20, 1 } }, /* v4.0.0: not tried */
};

unsigned ruby_version(struct elf *e)
{
	struct elf_symbol sym;
	const uint8_t *p;

	if (!elf_symbol_named(e, "ruby_version", &sym))
		return 0;
	p = elf_at(e, sym.vaddr, 6); /* "3.1.2" */
	return p && p[1] == '.' && p[3] == '.' ? V((unsigned)(p[0] - '0'), (unsigned)(p[2] - '0')) : 0;
}

static const struct ruby_row *find_row(unsigned version)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (rows[i].version == version)
			return &rows[i];
	return NULL;
}

/* ---- the symbols ---- */

struct symbols {
	struct elf *elf;
	struct code *code;
	uint64_t symbols, last_op;
	uint64_t page[ARM_REGS]; /* arm64: what adrp has set a register to; 0: something else */
	uint64_t word[ARM_REGS]; /* arm64: the address of the 4 bytes that a register has; 0: something else */
	unsigned left; /* instructions that may still be decoded */
};

/* On arm64, two instructions make the address: a page, then an offset. The number that is compared is in a register. */
static void look_at_arm(struct symbols *s, const struct code_insn *i)
{
	const struct code_operand *a = &i->operand[0], *b = &i->operand[1];
	bool loads = b->kind == CODE_MEM && b->reg < ARM_REGS && a->size == 4 && !strcmp(i->mnemonic, "ldr");
	uint64_t word;

	if (i->noperands < 2 || a->kind != CODE_REG || a->reg >= ARM_REGS)
		return;
	if (!strcmp(i->mnemonic, "cmp")) {
		if (s->last_op && b->kind == CODE_REG && b->reg < ARM_REGS)
			s->symbols = s->word[b->reg] ? s->word[b->reg] : s->word[a->reg];
		return;
	}
	if (!strncmp(i->mnemonic, "st", 2))
		return;
	word = loads && s->page[b->reg] ? s->page[b->reg] + (uint64_t)b->value : 0;
	s->word[a->reg] = word;
	s->page[a->reg] = !strcmp(i->mnemonic, "adrp") ? (uint64_t)b->value : 0;
}

/* rb_id2str() compares its argument with the last ID of an operator; it, or a function that it goes on in, compares a
 * number with last_id, the first member of ruby_global_symbols. */
static void look_at(struct symbols *s, const struct code_insn *i)
{
	const struct code_operand *a = &i->operand[0], *b = &i->operand[1];

	if (elf_machine(s->elf) == EM_AARCH64)
		look_at_arm(s, i);
	if (strcmp(i->mnemonic, "cmp") != 0 || i->noperands != 2)
		return;
	if (!s->last_op && a->kind == CODE_REG && b->kind == CODE_IMM && b->value > OPS_MIN && b->value < OPS_MAX)
		s->last_op = (uint64_t)b->value;
	for (unsigned k = 0; k < 2; k++)
		if (s->last_op && i->operand[k].kind == CODE_MEM && i->operand[k].reg == CODE_REG_PC)
			s->symbols = i->vaddr + i->size + (uint64_t)i->operand[k].value;
}

/* Decodes a function up to a return that no branch leads past, except one to a part that the compiler moved away. */
static void search(struct symbols *s, uint64_t vaddr, unsigned depth)
{
	uint64_t furthest = 0; /* target of a branch */
	struct code_insn i;

	while (s->left && !s->symbols) {
		const uint8_t *p = elf_at(s->elf, vaddr, CODE_LONGEST);

		s->left--;
		if (!p || !code_decode(s->code, p, CODE_LONGEST, vaddr, &i))
			return;
		look_at(s, &i);
		if (depth && i.target && (i.flow == CODE_CALL || i.flow == CODE_JUMP))
			search(s, i.target, depth - 1);
		vaddr += i.size;
		if (i.flow == CODE_BRANCH && i.target > furthest && i.target - vaddr <= FUNCTION_MAX)
			furthest = i.target;
		if ((i.flow == CODE_RETURN || i.flow == CODE_JUMP || i.flow == CODE_STOP) && vaddr > furthest)
			return;
	}
}

static void find_symbols(struct elf *e, struct ruby_proc *ret)
{
	struct symbols s = { .elf = e, .left = INSNS_MAX };
	struct elf_symbol sym;

	if (!elf_symbol_named(e, "rb_id2str", &sym) || code_open(elf_machine(e), true, &s.code))
		return;
	search(&s, sym.vaddr, 2);
	code_close(s.code);
	ret->symbols = s.symbols;
	ret->last_op = s.last_op;
}

/* ---- the loop, and vm_exec() ---- */

static const struct eh_range *range_at(const struct eh_ranges *ranges, uint64_t vaddr)
{
	for (size_t i = 0; i < ranges->len; i++)
		if (ranges->data[i].start == vaddr)
			return &ranges->data[i];
	return NULL;
}

static uint64_t size_of(const struct eh_range *r)
{
	return r ? r->end - r->start : 0;
}

/* Returns the largest function that the code from start to end calls, or NULL. */
static const struct eh_range *largest_callee(struct elf *e, uint64_t start, uint64_t end,
	const struct eh_ranges *ranges)
{
	_cleanup_(code_closep) struct code *c = NULL;
	const uint8_t *p = elf_at(e, start, end - start);
	const struct eh_range *largest = NULL, *callee;
	struct code_insn i;

	if (!p || code_open(elf_machine(e), false, &c))
		return NULL;
	for (uint64_t at = 0; at < end - start; at += i.size) {
		if (!code_decode(c, p + at, end - start - at, start + at, &i)) {
			i.size = (uint8_t)code_skip(c);
			continue;
		}
		callee = i.flow == CODE_CALL && i.target ? range_at(ranges, i.target) : NULL;
		if (size_of(callee) > size_of(largest))
			largest = callee;
	}
	return largest;
}

/* Returns the number of jumps from start to end to the instruction at *pc, or at the pc of the next instruction. */
static size_t dispatches_x86(const uint8_t *start, const uint8_t *end)
{
	static const uint8_t jump[] = { 0x41, 0xff, 0x26 }; /* jmp *(%r14): DECL_SC_REG in ruby/vm_exec.h */
	size_t n = 0;

	for (const uint8_t *p = start; (p = memmem(p, (size_t)(end - p), jump, sizeof(jump))); p += sizeof(jump))
		n++;
	return n;
}

/* On arm64 the compiler chooses the registers: ldr x0, [x25, #16]; br x0. */
static size_t dispatches_arm(const uint8_t *start, const uint8_t *end)
{
	uint32_t insn, last = 0;
	size_t n = 0;

	for (const uint8_t *p = start; end - p >= 4; p += 4, last = insn) {
		memcpy(&insn, p, 4);
		n += (insn & ARM_BR_MASK) == ARM_BR && (last & ARM_LDR_MASK) == ARM_LDR &&
		     (last & 31) == (insn >> 5 & 31);
	}
	return n;
}

/* Without rb_vm_exec(), as in Debian's 3.3: the function that jumps to instructions at pc most often. No other
 * function of libruby 2.7.4 to 3.3.8 has as many of these jumps. Returns NULL if none has. */
static const struct eh_range *most_dispatches(struct elf *e, const struct eh_ranges *ranges)
{
	bool is_arm = elf_machine(e) == EM_AARCH64;
	const struct eh_range *found = NULL;
	size_t most = DISPATCHES_MIN - 1;

	for (size_t i = 0; i < ranges->len; i++) {
		const struct eh_range *r = &ranges->data[i];
		const uint8_t *p = elf_at(e, r->start, size_of(r));
		size_t n = !p ? 0 : is_arm ? dispatches_arm(p, p + size_of(r)) : dispatches_x86(p, p + size_of(r));

		if (n > most) {
			most = n;
			found = r;
		}
	}
	return found;
}

/* Returns the loop, or NULL. */
static const struct eh_range *find_loop(struct elf *e, const struct eh_ranges *ranges)
{
	struct elf_symbol exec;
	const struct eh_range *loop = elf_symbol_named(e, "rb_vm_exec", &exec) ?
		largest_callee(e, exec.vaddr, exec.vaddr + exec.size, ranges) : most_dispatches(e, ranges);

	return size_of(loop) < LOOP_MIN ? NULL : loop;
}

/* Returns whether the code of size bytes, which lies at vaddr, calls the function at `to`. */
static bool calls_x86(const uint8_t *code, size_t size, uint64_t vaddr, uint64_t to)
{
	const uint8_t *p = code, *end = code + size;
	int32_t by;

	while ((p = memchr(p, 0xe8, (size_t)(end - p))) && end - p >= 5) {
		memcpy(&by, ++p, 4);
		if (vaddr + (uint64_t)(p - code) + 4 + (uint64_t)(int64_t)by == to)
			return true;
	}
	return false;
}

static bool calls_arm(const uint8_t *code, size_t size, uint64_t vaddr, uint64_t to)
{
	uint32_t insn;

	for (size_t at = 0; at + 4 <= size; at += 4) {
		memcpy(&insn, code + at, 4);
		if ((insn & ARM_BL_MASK) == ARM_BL && vaddr + at + (uint64_t)((int64_t)(int32_t)(insn << 6) >> 4) == to)
			return true;
	}
	return false;
}

/* Returns the function that calls the one at vaddr, or NULL. */
static const struct eh_range *find_caller(struct elf *e, const struct eh_ranges *ranges, uint64_t vaddr)
{
	bool is_arm = elf_machine(e) == EM_AARCH64;

	for (size_t i = 0; i < ranges->len; i++) {
		const struct eh_range *r = &ranges->data[i];
		const uint8_t *p = elf_at(e, r->start, size_of(r));

		if (p && (is_arm ? calls_arm : calls_x86)(p, size_of(r), r->start, vaddr))
			return r;
	}
	return NULL;
}

/* Returns the part of a function that the compiler has moved away: a conditional branch leads there. NULL: none. */
static const struct eh_range *moved_part(struct elf *e, const struct eh_ranges *ranges, const struct eh_range *r)
{
	_cleanup_(code_closep) struct code *c = NULL;
	const uint8_t *p = elf_at(e, r->start, size_of(r));
	struct code_insn i;

	if (!p || code_open(elf_machine(e), false, &c))
		return NULL;
	for (uint64_t at = 0; at < size_of(r); at += i.size) {
		if (!code_decode(c, p + at, size_of(r) - at, r->start + at, &i)) {
			i.size = (uint8_t)code_skip(c);
			continue;
		}
		if (i.flow != CODE_BRANCH || i.target - r->start < size_of(r))
			continue;
		for (size_t k = 0; k < ranges->len; k++)
			if (i.target - ranges->data[k].start < size_of(&ranges->data[k]))
				return &ranges->data[k];
	}
	return NULL;
}

/* Finds vm_exec(), which calls the loop. */
static void find_exec(struct elf *e, const struct eh_ranges *ranges, struct ruby_proc *ret)
{
	const struct eh_range *loop = find_loop(e, ranges), *part[RUBY_EXEC_PARTS] = {};
	struct elf_symbol exec;

	if (loop)
		part[0] = elf_symbol_named(e, "rb_vm_exec", &exec) ? range_at(ranges, exec.vaddr) :
			find_caller(e, ranges, loop->start);
	if (part[0])
		part[1] = moved_part(e, ranges, part[0]);
	for (int i = 0; i < RUBY_EXEC_PARTS && part[i]; i++) {
		ret->exec[i] = part[i]->start;
		ret->exec_size[i] = (uint32_t)size_of(part[i]);
	}
}

static bool add_range(struct table_header *hdr, uint64_t start, uint64_t size)
{
	if (!size || start < hdr->base || start + size - hdr->base > UINT32_MAX)
		return false;
	hdr->range[hdr->nranges].start = (uint32_t)(start - hdr->base);
	hdr->range[hdr->nranges++].end = (uint32_t)(start + size - hdr->base);
	return true;
}

int ruby_loop(struct elf *e, struct table_header *hdr)
{
	struct eh_ranges ranges = {};
	const struct eh_range *loop;
	struct ruby_proc proc = {};
	int err;

	err = ehframe_ranges(e, &ranges);
	loop = err ? NULL : find_loop(e, &ranges);
	if (loop && add_range(hdr, loop->start, size_of(loop)))
		find_exec(e, &ranges, &proc);
	else if (!err)
		err = -ENOENT;
	for (int i = 0; i < RUBY_EXEC_PARTS; i++)
		add_range(hdr, proc.exec[i], proc.exec_size[i]);
	eh_ranges_done(&ranges);
	return err;
}

/* ---- the process ---- */

int ruby_open(struct elf *e, struct ruby_proc *ret)
{
	unsigned version = ruby_version(e);
	const struct ruby_row *row = find_row(version);
	struct elf_symbol sym;
	struct eh_ranges ranges = {};
	struct python_tls tls;

	*ret = (struct ruby_proc){};
	if (!version)
		return -ENOENT;
	if (!row)
		return 0;
	if (elf_symbol_named(e, "ruby_current_execution_context_ptr", &sym))
		tls = (struct python_tls){ sym.vaddr, 0, RUBY_EC_GLOBAL };
	else if (!python_tls(e, "rb_errinfo", &tls))
		return 0;
	ret->at = row->at;
	ret->ec_at = tls.at;
	ret->ec_add = tls.add;
	ret->ec_kind = tls.kind;
	find_symbols(e, ret);
	ruby_find_gc(e, ret);
	if (!ehframe_ranges(e, &ranges)) {
		find_exec(e, &ranges, ret);
		if (version <= V(2, 7))
			ruby_find_pushes(e, &ranges, ret);
	}
	eh_ranges_done(&ranges);
	return 0;
}
