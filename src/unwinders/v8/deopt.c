// SPDX-License-Identifier: Apache-2.0
/* deopt.c - the frames that V8 would make of an optimised one.
 *
 * One optimised frame stands for several frames: its function's, those of the functions inlined into it,
 * and those of inlined builtins (map, forEach..). V8 must be able to undo its work, so it describes these
 * frames for each call in optimised code; its own stacks are made from that description. A return address
 * leads to it in three steps:
 *
 *     safepoint table, after the instructions     return address -> index
 *     deoptimisation data, an array               index -> start of its translation
 *     translation, bytes                          frames, the outermost first
 *
 * A translation is a list of operations, each an opcode and a fixed number of operands. The first, begin, has
 * the number of frames. An operation that begins a frame has its offset in the bytecode and the index of its
 * SharedFunctionInfo among the code's literals; a builtin's has only the index. The other operations
 * describe values and are skipped: of them only a builtin frame's first one is read, its JSFunction. From 11
 * on, translations are compressed: an operand of begin is the distance back to an earlier translation, the
 * basis, and `match` with n stands for n operations of the basis at the same position.
 *
 * A failed check jumps to one of the exits after the instructions, and the exit's number is an index, too: the
 * frames of a check are found without a return address. When an assumption of optimised code has become wrong,
 * V8 moves return addresses into it to the code that undoes it: the safepoint table has those addresses, too.
 *
 * Opcodes and their operands are those of V8's src/deoptimizer/translation-opcode.h (before 9.4
 * src/deoptimizer/deoptimizer.h, translation-array.h) at 7.8.279, 9.4.146, 11.3.244, 12.4.254, 12.9.202
 * and 13.6.233; tables those of src/codegen/safepoint-table.h and maglev-safepoint-table.h; indices
 * those of src/objects/deoptimization-data.h (code.h). A translation that decodes to fewer frames than
 * it announces is rejected. */
#include <stdlib.h>
#include <string.h>

#include "base/owner.h"
#include "v8.h"
#include "vlq.h"

#define TABLE_MAX  (1 << 20)
#define OPS_MAX    (1 << 16) /* operations of one translation */
#define ENTRY_SIZE 3         /* words of an entry: offset in the bytecode, translation, pc */
#define NONE       0xff

/* ---- safepoints ---- */

struct safepoint {
	uint32_t pc, trampoline; /* from the start of the code; trampoline -1: none */
	int32_t index;
};

static uint32_t read_little(const uint8_t *p, unsigned size)
{
	uint32_t v = 0;

	for (unsigned i = 0; i < size; i++)
		v |= (uint32_t)p[i] << 8 * i;
	return v;
}

/* The table is {entries, bytes of a bitmap} {pc, index, trampoline}..., all u32. */
static bool entry_fixed(const uint8_t *entry, struct safepoint *ret)
{
	*ret = (struct safepoint){ read_little(entry, 4), read_little(entry + 8, 4),
		(int32_t)read_little(entry + 4, 4) };
	return true;
}

/* The table is {entries, layout of an entry} {pc, 1 + index, 1 + trampoline, ...}..., then bitmaps. */
struct packed {
	unsigned pc_size, index_size, size;
	bool has_index;
};

static struct packed packed_of(uint32_t config, bool maglev)
{
	unsigned registers = config >> 1 & 7;
	struct packed f = { .pc_size = config >> 4 & 7, .index_size = config >> 7 & 7,
		.has_index = config & 1 };

	f.size = f.pc_size + registers + maglev;
	if (f.has_index)
		f.size += f.index_size + f.pc_size;
	return f;
}

static bool entry_packed(const uint8_t *p, const struct packed *f, struct safepoint *ret)
{
	if (!f->has_index || f->pc_size > 4 || f->index_size > 4)
		return false;
	ret->pc = read_little(p, f->pc_size);
	ret->index = (int32_t)(read_little(p + f->pc_size, f->index_size) - 1);
	ret->trampoline = read_little(p + f->pc_size + f->index_size, f->pc_size) - 1;
	return true;
}

/* Finds the entry of the call that returns to pc, or returned there before V8 moved its return address. */
static bool safepoint_at(const struct v8_heap *h, const struct v8_code *code, uint32_t pc,
	struct safepoint *ret)
{
	const struct v8_row *row = v8_row(h->at->version);
	bool fixed = !row->packed_safepoints;
	bool maglev = !fixed && (int32_t)code->kind == h->at->kind_baseline + 1;
	unsigned skip = row->safepoint_skip; /* bytes with the number of the frame's slots */
	_cleanup_(freep) uint8_t *table = NULL;
	size_t header = maglev ? 16 : skip + 8, size; /* Maglev's also has the numbers of tagged and untagged slots */
	uint8_t head[16];
	struct packed form;
	uint32_t n;

	if (!code->safepoints || h->read(h->arg, code->safepoints, head, header))
		return false;
	n = read_little(head + skip, 4);
	form = packed_of(read_little(head + skip + 4, 4), maglev);
	size = fixed ? 12 : form.size;
	if (!n || !size || n > TABLE_MAX / size)
		return false;
	table = malloc(n * size);
	if (!table || h->read(h->arg, code->safepoints + header, table, n * size))
		return false;
	for (const uint8_t *p = table; n--; p += size)
		if ((fixed ? entry_fixed(p, ret) : entry_packed(p, &form, ret)) &&
			(ret->pc == pc || ret->trampoline == pc))
			return ret->index >= 0;
	return false;
}

/* ---- translations ---- */

struct opcodes {
	uint32_t since;           /* V8_VERSION() */
	uint8_t begin[2], interpreted[2], builtin[2], literal, match;
	bool continued_low;       /* bit 0 of a byte, not bit 7, means that more bytes follow */
	const char *operands;     /* their numbers, by opcode */
};

static const struct opcodes versions[] = {
	{ V8_VERSION(7, 8), { 0, NONE }, { 1, NONE }, { 3, 4 }, 25, NONE, true,
		"353333211111111111111111112" },
	{ V8_VERSION(9, 4), { 3, NONE }, { 18, NONE }, { 19, 20 }, 22, NONE, false,
		"2103113131111111115334111112" },
	{ V8_VERSION(11, 3), { 2, 3 }, { 23, 24 }, { 25, 26 }, 29, 35, false,
		"103311313111112111111115333401111121" },
	{ V8_VERSION(12, 4), { 12, 13 }, { 0, 1 }, { 2, 3 }, 33, 39, false,
		"5333213432103311111111111111111101111121" },
	{ V8_VERSION(12, 5), { 14, 15 }, { 0, 1 }, { 2, 3 }, 37, 43, false,
		"53332134332100331111111111111111111101111121" },
	{ V8_VERSION(13, 6), { 14, 15 }, { 0, 1 }, { 2, 3 }, 38, 44, false,
		"643321343331003311101111111111111111101111121" },
};

static const struct opcodes *opcodes_of(uint32_t version)
{
	const struct opcodes *found = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(versions); i++)
		if (version >= versions[i].since)
			found = &versions[i];
	return found;
}

static bool is_one_of(const uint8_t pair[2], unsigned op)
{
	return op == pair[0] || op == pair[1];
}

/* A translation and its basis, an earlier translation: from 11 on, `match` stands for operations of the
 * basis at the same position. */
struct translation {
	const struct opcodes *form;
	struct bytes own, basis;
	uint64_t like;      /* operations that remain to be taken from the basis */
	uint32_t at, basis_at;
	bool signed_opcode; /* before 11 an opcode is a signed number, like operands */
};

static bool read_number(const struct opcodes *form, struct bytes *b, uint64_t *ret)
{
	uint64_t v = 0;

	if (!form->continued_low)
		return read_vlq(b, ret);
	for (unsigned shift = 0; b->p < b->end && shift < 35; shift += 7) {
		v |= (uint64_t)(*b->p >> 1) << shift;
		if (!(*b->p++ & 1)) {
			*ret = v;
			return true;
		}
	}
	return false;
}

/* bit 0 is the sign */
static int32_t signed_of(uint64_t v)
{
	return v & 1 ? -(int32_t)(v >> 1 & 0x7fffffff) : (int32_t)(v >> 1 & 0x7fffffff);
}

static unsigned operands_of(const struct opcodes *form, uint64_t op)
{
	return (unsigned)(form->operands[op] - '0');
}

#define OPERANDS_MAX 6

struct operation {
	uint64_t code;
	uint64_t operand[OPERANDS_MAX];
};

static bool read_operands(const struct opcodes *form, struct bytes *b, struct operation *ret)
{
	if (ret->code >= strlen(form->operands))
		return false;
	for (unsigned i = 0; i < operands_of(form, ret->code); i++)
		if (!read_number(form, b, &ret->operand[i]))
			return false;
	return true;
}

/* Reads the operation of the basis at t->at. */
static bool read_basis(struct translation *t, struct operation *ret)
{
	do {
		if (t->basis.p >= t->basis.end)
			return false;
		ret->code = *t->basis.p++;
		if (ret->code == t->form->match || !read_operands(t->form, &t->basis, ret))
			return false;
	} while (t->basis_at++ < t->at);
	t->at++;
	return true;
}

static bool read_operation(struct translation *t, struct operation *ret)
{
	size_t last = strlen(t->form->operands);

	if (t->like && t->like--)
		return read_basis(t, ret);
	if (t->form->match == NONE) {
		t->at++;
		if (!read_number(t->form, &t->own, &ret->code))
			return false;
		ret->code >>= t->signed_opcode;
		return read_operands(t->form, &t->own, ret);
	}
	if (t->own.p >= t->own.end)
		return false;
	ret->code = *t->own.p++;
	if (ret->code > last) { /* short form of match, with the number of operations */
		t->like = ret->code - last;
	} else if (!read_operands(t->form, &t->own, ret)) {
		return false;
	} else if (ret->code == t->form->match) {
		t->like = ret->operand[0];
	} else {
		t->at++;
		return true;
	}
	return t->basis.p && t->like && t->like-- && read_basis(t, ret);
}

/* Reads the first operation: the distance back to the basis (from 11 on), the number of frames, and the
 * number of JavaScript's frames. Returns the number of JavaScript's frames, or -1 if this is not a
 * translation. */
static int32_t read_begin(struct translation *t, const uint8_t *bytes)
{
	bool may_match = t->form->match != NONE;
	const uint8_t *start = t->own.p;
	struct operation op;
	struct translation basis;

	t->signed_opcode = !may_match;
	if (!read_operation(t, &op) || !is_one_of(t->form->begin, (unsigned)op.code))
		return -1;
	t->at = 0;
	if (may_match && op.operand[0]) {
		if (op.operand[0] > (uint64_t)(start - bytes))
			return -1;
		basis = (struct translation){ .form = t->form, .own = { start - op.operand[0], start } };
		if (basis.own.p >= start || read_begin(&basis, basis.own.p) < 0)
			return -1;
		t->basis = basis.own;
	}
	return signed_of(op.operand[may_match ? 2 : 1]);
}

static bool is_frame(const struct opcodes *form, const struct operation *op)
{
	return is_one_of(form->builtin, (unsigned)op->code) ||
	       is_one_of(form->interpreted, (unsigned)op->code);
}

/* Reads a frame. A builtin frame's first value is its JSFunction. */
static bool read_frame(struct translation *t, struct operation *op, struct v8_virtual *ret)
{
	bool builtin = is_one_of(t->form->builtin, (unsigned)op->code);

	*ret = (struct v8_virtual){ .literal = signed_of(op->operand[1]), .function = -1,
		.offset = builtin ? -1 : signed_of(op->operand[0]) };
	if (!builtin)
		return true;
	if (!read_operation(t, op) || is_one_of(t->form->begin, (unsigned)op->code))
		return false;
	if (op->code == t->form->literal)
		ret->function = signed_of(op->operand[0]);
	return true;
}

size_t v8_translation_frames(uint32_t version, const uint8_t *bytes, size_t size, size_t index,
	struct v8_virtual *frames, size_t max)
{
	struct translation t = { .form = opcodes_of(version) };
	struct operation op;
	int32_t wanted;
	size_t n = 0;

	if (!t.form || index >= size)
		return 0;
	t.own = (struct bytes){ bytes + index, bytes + size };
	wanted = read_begin(&t, bytes);
	if (wanted <= 0 || (size_t)wanted > max)
		return 0;
	for (unsigned i = 0; i < OPS_MAX && n < (size_t)wanted; i++) {
		if (!read_operation(&t, &op) || is_one_of(t.form->begin, (unsigned)op.code))
			return 0;
		if (is_frame(t.form, &op) && !read_frame(&t, &op, &frames[n++]))
			return 0;
	}
	return n == (size_t)wanted ? n : 0;
}

/* ---- deoptimisation data ---- */

static void reverse(struct v8_virtual *frames, size_t n)
{
	for (size_t i = 0; i < n / 2; i++) {
		struct v8_virtual f = frames[i];

		frames[i] = frames[n - 1 - i];
		frames[n - 1 - i] = f;
	}
}

static bool literal_at(const struct v8_heap *h, uint64_t literals, int32_t index, uint64_t *ret)
{
	int32_t n;

	return v8_smi(h, literals, 8, &n) && index >= 0 && index < n &&
		v8_word(h, literals, 16 + 8ll * index, ret);
}

/* Maglev gives an inlined builtin its caller's SharedFunctionInfo. The builtin's JSFunction has the right
 * one, if it is a literal (a weak one ends in 11). */
static bool shared_of_function(const struct v8_heap *h, uint64_t literals, int32_t index,
	uint64_t *ret)
{
	const struct v8_proc *p = &h->at->proc;
	uint64_t function;
	int type;

	if (!literal_at(h, literals, index, &function))
		return false;
	function &= ~2ULL;
	type = v8_type(h, function);
	return type >= p->function_first && type <= p->function_last &&
		v8_word(h, function, p->function_shared, ret) && v8_type(h, *ret) == p->shared_type;
}

/* Finds the frames' functions among the code's literals: its constants, and the functions
 * that were compiled into it. */
static bool find_functions(const struct v8_heap *h, uint64_t deopt, struct v8_virtual *frames,
	size_t n)
{
	uint64_t literals;

	if (!v8_word(h, deopt, 16 + 8 * h->at->deopt_literals, &literals))
		return false;
	for (size_t i = 0; i < n; i++)
		if (!shared_of_function(h, literals, frames[i].function, &frames[i].shared) &&
			(!literal_at(h, literals, frames[i].literal, &frames[i].shared) ||
				v8_type(h, frames[i].shared) != h->at->proc.shared_type))
			return false;
	return true;
}

/* Reads the frames of an entry of the deoptimisation data, innermost first. */
static size_t entry_frames(const struct v8_heap *h, uint64_t deopt, int64_t number, struct v8_virtual *frames,
	size_t max)
{
	_cleanup_(freep) uint8_t *bytes = NULL;
	int32_t length, index;
	uint64_t table;
	size_t size, n;
	int64_t entry;

	if (!v8_smi(h, deopt, 8, &length) || number > ((int64_t)length - h->at->deopt_first) / ENTRY_SIZE - 1)
		return 0;
	entry = h->at->deopt_first + (int64_t)ENTRY_SIZE * number;
	if (!v8_smi(h, deopt, 16 + 8 * (entry + 1), &index) || index < 0 ||
		!v8_word(h, deopt, 16, &table))
		return 0;
	bytes = v8_bytes(h, table, &size);
	if (!bytes)
		return 0;
	n = v8_translation_frames(h->at->version, bytes, size, (size_t)index, frames, max);
	if (!find_functions(h, deopt, frames, n))
		return 0;
	reverse(frames, n);
	return n;
}

size_t v8_deopt_frames(const struct v8_heap *h, const struct v8_code *code, uint64_t *pc,
	struct v8_virtual *frames, size_t max)
{
	struct safepoint safepoint;
	uint64_t deopt;

	if (!safepoint_at(h, code, (uint32_t)(*pc - code->start), &safepoint))
		return 0;
	*pc = code->start + safepoint.pc;
	return v8_word(h, code->code, h->at->code_deopt, &deopt) ?
		entry_frames(h, deopt, safepoint.index, frames, max) : 0;
}

/* ---- checks ---- */

#define CHECKS_MAX (64 << 10) /* bytes of code that are searched */
#define EXIT_SIZE  4          /* call *N(%r13), or bl */

/* The targets of failed checks: an exit for each, after the instructions. */
struct exits {
	uint64_t start, end;
	bool arm64;
};

static bool find_exits(const struct v8_heap *h, const struct v8_code *code, uint64_t deopt, struct exits *ret)
{
	int32_t start, n, at = 16 + 8 * h->at->deopt_inlined;
	uint8_t first[EXIT_SIZE];

	if (!v8_smi(h, deopt, at + 8, &start) || !v8_smi(h, deopt, at + 16, &n) || start <= 0 || n <= 0 ||
		n > TABLE_MAX)
		return false;
	ret->start = code->start + (uint64_t)start;
	ret->end = ret->start + EXIT_SIZE * (uint64_t)n;
	if (h->read(h->arg, ret->start, first, sizeof(first)))
		return false;
	ret->arm64 = (read_little(first, 4) & 0xfc000000) == 0x94000000;
	return ret->arm64 || read_little(first, 3) == 0x55ff41;
}

static int64_t sign_extend(uint32_t v, unsigned bits)
{
	return (int64_t)((uint64_t)v << (64 - bits)) >> (64 - bits);
}

/* Returns the target of the jump at an address, or 0 if it is not a jump. x86_64: a conditional jump;
 * arm64: b.cond, cbz, tbz, b. */
static uint64_t jump_target(const struct exits *e, const uint8_t *p, uint64_t at)
{
	uint32_t op = read_little(p, 4);

	if (!e->arm64 && (p[0] != 0x0f || (p[1] & 0xf0) != 0x80))
		return 0;
	if (!e->arm64)
		return at + 6 + (uint64_t)sign_extend(read_little(p + 2, 4), 32);
	if ((op & 0xff000010) == 0x54000000 || (op & 0x7e000000) == 0x34000000)
		return at + (uint64_t)(sign_extend(op >> 5 & 0x7ffff, 19) * 4);
	if ((op & 0x7e000000) == 0x36000000)
		return at + (uint64_t)(sign_extend(op >> 5 & 0x3fff, 14) * 4);
	return (op & 0xfc000000) == 0x14000000 ? at + (uint64_t)(sign_extend(op & 0x3ffffff, 26) * 4) : 0;
}

size_t v8_check_frames(const struct v8_heap *h, const struct v8_code *code, uint64_t from, uint64_t to,
	struct v8_virtual *frames, size_t max)
{
	_cleanup_(freep) uint8_t *bytes = NULL;
	size_t size = (size_t)(to - from);
	struct exits e;
	uint64_t deopt;

	if (to <= from || size > CHECKS_MAX || !v8_word(h, code->code, h->at->code_deopt, &deopt) ||
		!find_exits(h, code, deopt, &e))
		return 0;
	bytes = calloc(1, size + 8);
	if (!bytes || h->read(h->arg, from, bytes, size))
		return 0;
	for (size_t i = 0; i + (e.arm64 ? 4 : 6) <= size; i += e.arm64 ? 4 : 1) {
		uint64_t target = jump_target(&e, bytes + i, from + i);

		if (target >= e.start && target < e.end && !((target - e.start) % EXIT_SIZE))
			return entry_frames(h, deopt, (int64_t)((target - e.start) / EXIT_SIZE), frames, max);
	}
	return 0;
}
