// SPDX-License-Identifier: Apache-2.0
/* unframed.c - finds functions in code without call frame information, and follows them. See unframed.h.
 *
 * The code between FDEs is cut into holes. In a hole, each known function begins with the CFA above its return address;
 * from there all paths are followed, and where two meet they must agree. A function that returns with another depth was
 * not understood and gets no rules. Functions are known by symbols; else by addresses that code or data take, by
 * calls, and by their place after the end of another function and its padding. */
#include "unframed.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "base/allowance.h"
#include "base/memory.h"
#include "base/owner.h"
#include "base/vec.h"
#include "bpf/lib/insn.h"
#include "bpf/walk/unwind.h"
#include "cfi.h"
#include "target/elf.h"
#include "unframed_state.h"

enum {
	HOLE_MIN = 4,          /* bytes */
	HOLES_BYTES_MAX = 16 << 20, /* of all holes: the rest has no rules */
	HOLES_BYTES_FEW = 1 << 20,  /* the same, for a unit of strata agent without room */
	SLOW_MAX = 3 << 20,    /* instructions that the library decodes */
	SPOTS_MAX = 4 << 20,
	SYMBOLS_MAX = 1 << 18,
	TAKEN_MAX = 1 << 18,
	FORGOTTEN_MAX = 1 << 28,
	ALIGNMENT = 16,
	PART = 1 << 20,        /* bytes of code that are searched before their pages may be freed */
	SMALL = 1024,          /* bytes of all holes: all of the file's code is not searched for their functions */
};

struct hole {
	uint64_t start, end;
	const uint8_t *bytes;
	uint64_t rule; /* where nothing is understood: 0, or RULE_FP */
};

struct spot { /* an instruction that was reached */
	struct frame_state state;
	uint32_t owner;        /* the function that reached it first */
	bool is_entry;
	uint8_t size;          /* of the instruction; 0: not known */
};

struct function {
	uint32_t at;
	bool bad;              /* not understood */
	bool returns;          /* a path returns, or leads to code of another function */
	bool is_part;          /* code of another function, unless it is bad: after a call and padding, or of a table */
	bool is_guess;         /* nothing but its place says that it is one */
	bool has_table;        /* a jump leads to unknown places.. */
	struct frame_state table; /* ..with this state */
	bool found_table;      /* a place was found to which the jump leads */
};

struct after_call { /* code after a call and padding: the call may not return, and another function begin there */
	struct frame_state state;
	uint32_t at;
};

struct unframed {
	struct elf *e;
	const struct unframed_machine *machine;
	struct code *code;
	VEC(struct hole) holes;
	VEC(uint64_t) taken;     /* addresses in holes that code or data take, sorted */
	VEC(uint64_t) called;    /* bytes that look like calls lead there; sorted */
	struct elf_symbol *symbols; /* sorted */
	size_t nsymbols;
	uint64_t bytes;          /* of all holes */
	bool is_cut;             /* large holes were left out */
	uint32_t slow, spots_made;
	uint64_t forgotten;      /* bytes looked through by forget() */

	/* The present hole. */
	const struct hole *hole;
	uint32_t size;
	uint32_t *index;         /* by byte: number of its spot + 1 */
	VEC(struct spot) spots;
	VEC(uint32_t) todo;      /* offsets */
	VEC(struct function) functions;
	VEC(struct after_call) after_calls;
};

/* ---- following ---------------------------------------------------------------------- */

static bool same_frame(const struct frame_state *a, const struct frame_state *b)
{
	if (a->kind != b->kind || a->fp_slot != b->fp_slot || a->fp_is_base != b->fp_is_base ||
		a->fp_is_moved != b->fp_is_moved || a->ra_slot != b->ra_slot)
		return false;
	if ((a->fp_is_base || a->fp_is_moved) && a->fp_depth != b->fp_depth)
		return false;
	return a->kind == FRAME_LOST || a->kind == FRAME_FIRST || a->depth == b->depth ||
		(a->kind == FRAME_MOVED && a->fp_is_base);
}

/* Joins the states of two paths. Returns whether *s changed. */
static bool meet(struct frame_state *s, const struct frame_state *other)
{
	struct frame_state before = *s;

	if (!same_frame(s, other)) {
		*s = (struct frame_state){.reg = FRAME_NO_REG};
		return before.kind != FRAME_LOST;
	}
	if (s->reg != other->reg || s->reg_depth != other->reg_depth)
		s->reg = FRAME_NO_REG;
	if (s->has_slot && (!other->has_slot || s->slot != other->slot || s->slot_depth != other->slot_depth ||
		s->depth != other->depth))
		s->has_slot = false;
	s->fp_is_zero &= other->fp_is_zero;
	s->fp_is_other |= other->fp_is_other;
	s->ra_is_lost |= other->ra_is_lost;
	return s->reg != before.reg || s->has_slot != before.has_slot || s->fp_is_zero != before.fp_is_zero ||
		s->fp_is_other != before.fp_is_other || s->ra_is_lost != before.ra_is_lost;
}

static struct spot *spot_at(const struct unframed *u, uint32_t at)
{
	return u->index[at] ? &u->spots.data[u->index[at] - 1] : NULL;
}

static void reach(struct unframed *u, uint64_t at, const struct frame_state *s, uint32_t owner, bool is_entry)
{
	struct function *f = &u->functions.data[owner];
	struct spot *spot;

	if (at >= u->size || u->spots_made >= SPOTS_MAX)
		return;
	spot = spot_at(u, (uint32_t)at);
	/* A guess that disagrees with known code is wrong. */
	if (spot && spot->owner != owner && !spot->is_entry && (f->is_part || f->is_guess) &&
		!same_frame(&spot->state, s)) {
		f->bad = true;
		return;
	}
	f->returns |= spot && spot->owner != owner;
	if (spot && (spot->is_entry || !meet(&spot->state, s)))
		return;
	if (!spot) {
		vec_push(&u->spots, (struct spot){*s, owner, is_entry, 0});
		u->index[at] = (uint32_t)u->spots.len;
		u->spots_made++;
	}
	vec_push(&u->todo, (uint32_t)at);
}

static void add_entry(struct unframed *u, uint64_t at)
{
	const struct frame_state *entry = &u->machine->entry;
	struct spot *spot;

	if (at >= u->size)
		return;
	spot = spot_at(u, (uint32_t)at);
	if (spot && (spot->is_entry || !same_frame(&spot->state, entry)))
		return;
	vec_push(&u->functions, (struct function){.at = (uint32_t)at});
	if (spot) /* the function before it ends with a call that does not return */
		spot->is_entry = true;
	else
		reach(u, at, entry, (uint32_t)u->functions.len - 1, true);
}

/* A jump within the function, or to another one. */
static void jump(struct unframed *u, const struct frame_step *step, const struct frame_state *s, uint32_t owner)
{
	uint64_t at = step->target - u->hole->start;

	if (at < u->size)
		reach(u, at, s, owner, false);
	else if (!u->machine->is_returning(s))
		u->functions.data[owner].bad = true;
}

/* Continues after a call. Padding up to an aligned address may be the end of the function: see enter_after_calls(). */
static void return_from_call(struct unframed *u, uint32_t at, const struct frame_state *s, uint32_t owner)
{
	const uint8_t *code = u->hole->bytes + at;
	size_t n = at < u->size ? u->machine->padding(code, u->size - at) : 0;

	if (n && at + n >= u->size)
		return;
	if (at < u->size && u->machine->begins && u->machine->begins(code, u->size - at)) {
		add_entry(u, at); /* the call does not return */
		return;
	}
	if (n && !((u->hole->start + at + n) % ALIGNMENT))
		vec_push(&u->after_calls, (struct after_call){*s, (uint32_t)(at + n)});
	else
		reach(u, at, s, owner, false);
}

static void follow_spot(struct unframed *u, uint32_t at)
{
	struct frame_state s = spot_at(u, at)->state;
	uint32_t owner = spot_at(u, at)->owner;
	struct function *f = &u->functions.data[owner];
	struct frame_step step = u->machine->step(u->code, u->hole->bytes + at, u->size - at, u->hole->start + at, &s,
		&u->slow);

	spot_at(u, at)->size = step.size;
	if (!step.size || (step.flow == CODE_RETURN && !u->machine->is_returning(&s))) {
		f->bad = true;
		return;
	}
	f->returns |= step.flow == CODE_RETURN;
	if (step.flow == CODE_JUMP_INDIRECT && !same_frame(&s, &u->machine->entry)) {
		f->has_table = true;
		f->table = s;
	}
	if (step.flow == CODE_JUMP || step.flow == CODE_BRANCH)
		jump(u, &step, &s, owner);
	if (step.flow == CODE_CALL)
		add_entry(u, step.target - u->hole->start);
	if (step.flow == CODE_CALL || step.flow == CODE_CALL_INDIRECT)
		return_from_call(u, at + step.size, &s, owner);
	else if (step.flow == CODE_NEXT || step.flow == CODE_BRANCH)
		reach(u, at + step.size, &s, owner, false);
}

static void follow_all(struct unframed *u)
{
	while (u->todo.len && u->slow < SLOW_MAX)
		follow_spot(u, u->todo.data[--u->todo.len]);
}

/* ---- functions of a hole -------------------------------------------------------------- */

static size_t first_symbol(const struct unframed *u, uint64_t vaddr)
{
	size_t lo = 0, hi = u->nsymbols;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (u->symbols[mid].vaddr < vaddr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* Returns whether a symbol says that the address is within a function. */
static bool is_within(const struct unframed *u, uint64_t vaddr)
{
	size_t i = first_symbol(u, vaddr);

	return i && (i == u->nsymbols || u->symbols[i].vaddr != vaddr) &&
		vaddr - u->symbols[i - 1].vaddr < u->symbols[i - 1].size;
}

/* Enters what may be a function. */
static void enter(struct unframed *u, uint64_t vaddr)
{
	size_t n = u->functions.len;

	if (is_within(u, vaddr))
		return;
	add_entry(u, vaddr - u->hole->start);
	if (u->functions.len > n)
		u->functions.data[n].is_guess = true;
	follow_all(u);
}

static void enter_symbols(struct unframed *u, bool typed)
{
	for (size_t i = first_symbol(u, u->hole->start); i < u->nsymbols && u->symbols[i].vaddr < u->hole->end; i++)
		if ((u->symbols[i].type != STT_NOTYPE) == typed)
			add_entry(u, u->symbols[i].vaddr - u->hole->start);
	follow_all(u);
}

static void enter_list(struct unframed *u, const uint64_t *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (list[i] >= u->hole->start && list[i] < u->hole->end)
			enter(u, list[i]);
}

/* Removes the spots that a function has reached. */
static void forget(struct unframed *u, uint32_t owner, size_t first_spot)
{
	for (uint32_t at = 0; at < u->size; at++)
		if (u->index[at] > first_spot && spot_at(u, at)->owner == owner)
			u->index[at] = 0;
	u->forgotten += u->size;
}

/* Follows code as a part of another function, in that state. Returns whether it was right. */
static bool enter_part(struct unframed *u, uint32_t at, const struct frame_state *s)
{
	uint32_t owner = (uint32_t)u->functions.len;
	size_t spots = u->spots.len;

	if (u->forgotten > FORGOTTEN_MAX)
		return false;
	vec_push(&u->functions, (struct function){.at = at, .is_part = true});
	reach(u, at, s, owner, false);
	follow_all(u);
	if (!u->functions.data[owner].bad)
		return true;
	forget(u, owner, spots);
	return false;
}

/* Follows code after calls and padding as a part of the caller. If that is wrong, a function begins there. */
static void enter_after_calls(struct unframed *u)
{
	for (size_t i = 0; i < u->after_calls.len; i++) {
		struct after_call c = u->after_calls.data[i];

		if (!spot_at(u, c.at) && !enter_part(u, c.at, &c.state))
			enter(u, u->hole->start + c.at);
	}
	u->after_calls.len = 0;
}

/* Enters code that nothing reached: another place of a jump by a table, or a function. */
static void enter_unreached(struct unframed *u, uint32_t at, const struct spot *before)
{
	const struct function *f = before ? &u->functions.data[before->owner] : NULL;
	struct frame_state table = f ? f->table : (struct frame_state){};
	size_t part = u->functions.len;

	if (f && f->has_table && enter_part(u, at, &table)) {
		struct function *p = &u->functions.data[part];

		u->functions.data[before->owner].found_table |= p->returns;
		if (!p->has_table) /* the next place may come after this one */
			p->table = table;
		p->has_table = p->found_table = true;
		return;
	}
	if (!((u->hole->start + at) % ALIGNMENT))
		enter(u, u->hole->start + at);
}

static void enter_rest(struct unframed *u)
{
	struct spot *before = NULL, copy;
	uint32_t at = 0;

	while (at < u->size) {
		size_t skip;

		if (spot_at(u, at)) {
			copy = *spot_at(u, at); /* more spots move the list */
			before = &copy;
			at += copy.size ? copy.size : 1;
			continue;
		}
		skip = u->machine->padding(u->hole->bytes + at, u->size - at);
		at += (uint32_t)skip;
		if (skip)
			continue;
		enter_unreached(u, at, before);
		at += spot_at(u, at) ? 0 : u->machine->unit;
	}
}

/* Bytes that look like a call may be anything: a function comes after padding, or after the end of another. */
static void enter_called(struct unframed *u)
{
	for (size_t i = 0; i < u->called.len; i++) {
		uint64_t at = u->called.data[i] - u->hole->start;

		if (at < u->size && (at < u->machine->unit || u->machine->may_end(u->hole->bytes + at)))
			enter(u, u->called.data[i]);
	}
}

/* push %rbp; jmp *%rbx: such a jump out of a function with an unusual stack leads to code that returns elsewhere (the
 * trampoline of Boost's and PHP's make_fcontext()). */
static void leave_strange(struct unframed *u)
{
	for (size_t i = 0; i < u->functions.len; i++)
		if (u->functions.data[i].has_table && !u->functions.data[i].found_table)
			u->functions.data[i].bad = true;
}

static void follow_hole(struct unframed *u)
{
	size_t skip = u->machine->padding(u->hole->bytes, u->size);

	enter_symbols(u, true);
	enter_symbols(u, false);
	if (skip < u->size)
		enter(u, u->hole->start + skip);
	enter_list(u, u->taken.data, u->taken.len);
	enter_called(u);
	enter_after_calls(u);
	enter_rest(u);
	enter_after_calls(u);
	leave_strange(u);
}

/* ---- functions of the file --------------------------------------------------------------- */

static int symbol_cmp(const void *a, const void *b)
{
	const struct elf_symbol *x = a, *y = b;

	return (x->vaddr > y->vaddr) - (x->vaddr < y->vaddr);
}

/* Reads the file's own symbols: names in a debug file would make it be read before it is needed. */
static void read_symbols(struct unframed *u)
{
	static const char *const any[] = {""};
	size_t n, kept = 0;

	u->symbols = calloc(SYMBOLS_MAX, sizeof(*u->symbols));
	if (!u->symbols)
		out_of_memory();
	n = elf_symbols_starting(u->e, any, 1, u->symbols, SYMBOLS_MAX);
	for (size_t i = 0; i < n; i++)
		if (u->symbols[i].type == STT_FUNC || u->symbols[i].type == STT_GNU_IFUNC ||
			(u->symbols[i].type == STT_NOTYPE && *u->symbols[i].name != '$' && *u->symbols[i].name != '.'))
			u->symbols[kept++] = u->symbols[i];
	u->nsymbols = kept;
	qsort(u->symbols, kept, sizeof(*u->symbols), symbol_cmp);
}

static bool in_hole(const struct unframed *u, uint64_t vaddr)
{
	size_t lo = 0, hi = u->holes.len;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (u->holes.data[mid].end <= vaddr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < u->holes.len && vaddr >= u->holes.data[lo].start;
}

static int32_t read_i32(const uint8_t *p)
{
	int32_t v;

	memcpy(&v, p, 4);
	return v;
}

/* lea N(%rip),%r..: 48 or 4c, 8d, ModRM with mod 0 and rm 5. call and jmp: e8, e9. Code also takes addresses within a
 * function, to return there (make_fcontext() of Boost and PHP), so only those count that are aligned like functions. */
static void scan_x86(struct unframed *u, const struct elf_section *s)
{
	for (uint64_t i = 0; i + 7 <= s->size; i++) {
		const uint8_t *p = s->data + i;
		uint64_t at;

		if (!(i % PART))
			elf_passed(u->e, PART);
		if (p[1] == 0x8d && (p[0] & 0xfb) == 0x48 && (p[2] & 0xc7) == 5) {
			at = s->vaddr + i + 7 + (uint64_t)read_i32(p + 3);
			if (at % ALIGNMENT == 0 && in_hole(u, at) && u->taken.len < TAKEN_MAX)
				vec_push(&u->taken, at);
		} else if (p[0] == 0xe8 || p[0] == 0xe9) {
			at = s->vaddr + i + 5 + (uint64_t)read_i32(p + 1);
			if (at % ALIGNMENT == 0 && in_hole(u, at) && u->called.len < TAKEN_MAX)
				vec_push(&u->called, at);
		}
	}
}

static void add_found(struct unframed *u, uint64_t at, bool is_call)
{
	if (at % ALIGNMENT || !in_hole(u, at))
		return;
	if (is_call && u->called.len < TAKEN_MAX)
		vec_push(&u->called, at);
	else if (!is_call && u->taken.len < TAKEN_MAX)
		vec_push(&u->taken, at);
}

/* Returns the page that adrp at an address takes. */
static uint64_t page_of(uint32_t adrp, uint64_t at)
{
	int64_t pages = (int64_t)((int32_t)(adrp << 8) >> 13) * 4 + (adrp >> 29 & 3);

	return (at & ~4095ULL) + ((uint64_t)pages << 12);
}

/* b and bl; adrp x, PAGE; add x, x, #OFFSET. */
static void scan_arm64(struct unframed *u, const struct elf_section *s)
{
	for (uint64_t i = 0; i + 8 <= s->size; i += 4) {
		uint64_t at = s->vaddr + i;
		uint32_t op, next;

		if (!(i % PART))
			elf_passed(u->e, PART);
		memcpy(&op, s->data + i, sizeof(op));
		memcpy(&next, s->data + i + 4, sizeof(next));
		if (A64_IS_B(op) || A64_IS_BL(op))
			add_found(u, at + (uint64_t)A64_BL_DISTANCE(op), true);
		else if ((op & 0x9f000000) == 0x90000000 && (next & 0xffc00000) == 0x91000000 &&
			(next >> 5 & 31) == (op & 31))
			add_found(u, page_of(op, at) + (next >> 10 & 4095), false);
	}
}

static void scan_relocations(struct unframed *u)
{
	struct elf_section s;
	Elf64_Rela r;

	if (!elf_section(u->e, ".rela.dyn", &s) || !s.data)
		return;
	for (uint64_t i = 0; i + sizeof(r) <= s.size && u->taken.len < TAKEN_MAX; i += sizeof(r)) {
		memcpy(&r, s.data + i, sizeof(r));
		if (!(i / sizeof(r) % 4096))
			elf_passed(u->e, 4096 * sizeof(r));
		if (ELF64_R_TYPE(r.r_info) == u->machine->relative && in_hole(u, (uint64_t)r.r_addend))
			vec_push(&u->taken, (uint64_t)r.r_addend);
	}
}

static int address_cmp(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static void find_functions(struct unframed *u)
{
	struct elf_section s;

	read_symbols(u);
	if (u->bytes <= SMALL) /* each file has 200 bytes of crtstuff.c, whose functions follow each other */
		return;
	for (size_t i = 0; elf_code(u->e, i, &s); i++)
		if (s.data && u->machine == &unframed_arm64)
			scan_arm64(u, &s);
		else if (s.data)
			scan_x86(u, &s);
	scan_relocations(u);
	if (u->taken.len)
		qsort(u->taken.data, u->taken.len, sizeof(*u->taken.data), address_cmp);
	if (u->called.len)
		qsort(u->called.data, u->called.len, sizeof(*u->called.data), address_cmp);
}

/* ---- holes ------------------------------------------------------------------------------ */

static void add_hole(struct unframed *u, uint64_t start, uint64_t end, uint64_t rule, uint64_t *left)
{
	const uint8_t *bytes = end > start && end - start >= HOLE_MIN && end - start <= *left ?
		elf_at(u->e, start, end - start) : NULL;

	if (!bytes || u->machine->padding(bytes, end - start) == end - start)
		return;
	*left -= end - start;
	vec_push(&u->holes, (struct hole){start, end, bytes, rule});
}

/* Returns whether instructions may give a better rule. */
static bool is_open(uint64_t rule)
{
	return !rule || RULE_KIND(rule) == RULE_FP;
}

/* Adds the parts of a piece of code that have no rule. */
static void holes_in(struct unframed *u, const struct elf_section *s, const struct eh_rows *rows, uint64_t *left)
{
	uint64_t at = s->vaddr, end = s->vaddr + s->size, rule = 0;
	size_t lo = 0, hi = rows->len;

	while (lo < hi) { /* find the first row above the start */
		size_t mid = (lo + hi) / 2;

		if (rows->data[mid].vaddr <= at)
			lo = mid + 1;
		else
			hi = mid;
	}
	rule = lo ? rows->data[lo - 1].rule : 0;
	for (; lo < rows->len && rows->data[lo].vaddr < end; lo++) {
		if (is_open(rule))
			add_hole(u, at, rows->data[lo].vaddr, rule, left);
		at = rows->data[lo].vaddr;
		rule = rows->data[lo].rule;
	}
	if (is_open(rule))
		add_hole(u, at, end, rule, left);
}

static int hole_cmp(const void *a, const void *b)
{
	const struct hole *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

/* Sections of hostile files overlap. */
static void find_holes(struct unframed *u, const struct eh_rows *rows, uint64_t left)
{
	uint64_t end = 0;
	struct elf_section s;
	size_t kept = 0;

	for (size_t i = 0; elf_code(u->e, i, &s); i++)
		if (s.data && s.vaddr + s.size > s.vaddr)
			holes_in(u, &s, rows, &left);
	if (u->holes.len)
		qsort(u->holes.data, u->holes.len, sizeof(*u->holes.data), hole_cmp);
	for (size_t i = 0; i < u->holes.len; i++) {
		if (u->holes.data[i].start < end)
			continue;
		end = u->holes.data[i].end;
		u->bytes += end - u->holes.data[i].start;
		u->holes.data[kept++] = u->holes.data[i];
	}
	u->holes.len = kept;
}

/* Returns the bytes that holes need while they are followed: the index of the largest one, and spots. */
static uint64_t needs(const struct unframed *u)
{
	uint64_t largest = 0, spots;

	for (size_t i = 0; i < u->holes.len; i++)
		if (u->holes.data[i].end - u->holes.data[i].start > largest)
			largest = u->holes.data[i].end - u->holes.data[i].start;
	spots = largest / 2 < SPOTS_MAX ? largest / 2 : SPOTS_MAX; /* the array grows by copies */
	return largest * sizeof(*u->index) + spots * sizeof(struct spot);
}

static void find_fitting_holes(struct unframed *u, const struct eh_rows *rows)
{
	find_holes(u, rows, HOLES_BYTES_MAX);
	u->is_cut = u->bytes > HOLES_BYTES_FEW && !allowance_fits(needs(u));
	if (!u->is_cut)
		return;
	u->holes.len = u->bytes = 0;
	find_holes(u, rows, HOLES_BYTES_FEW);
}

/* ---- rows ------------------------------------------------------------------------------- */

/* The rows of a hole; where nothing was understood, its rule stays. */
static void add_rows(struct unframed *u, struct eh_rows *out)
{
	uint32_t reached = 0; /* end of the last instruction */
	uint64_t rule;

	for (uint32_t at = 0; at < u->size; at++) {
		const struct spot *spot = spot_at(u, at);

		if (!spot)
			continue;
		if (at > reached)
			eh_row_add(out, u->hole->start + reached, u->hole->rule);
		rule = u->functions.data[spot->owner].bad ? 0 : u->machine->rule(&spot->state);
		eh_row_add(out, u->hole->start + at, rule ? rule : u->hole->rule);
		reached = at + (spot->size ? spot->size : 1);
	}
	if (reached < u->size)
		eh_row_add(out, u->hole->start + reached, u->hole->rule);
}

static int function_cmp(const void *a, const void *b)
{
	const struct function *x = a, *y = b;

	return (x->at > y->at) - (x->at < y->at);
}

/* Functions reach to the next one: a name is wanted for all of the code. */
static void add_functions(struct unframed *u, struct eh_ranges *out)
{
	struct function *f = u->functions.data;
	size_t n = 0;

	for (size_t i = 0; i < u->functions.len; i++)
		if (!f[i].is_part)
			f[n++] = f[i];
	if (n)
		qsort(f, n, sizeof(*f), function_cmp);
	for (size_t i = 0; i < n; i++)
		vec_push(out, (struct eh_range){u->hole->start + f[i].at,
			i + 1 < n ? u->hole->start + f[i + 1].at : u->hole->end});
}

static void take_hole(struct unframed *u, const struct hole *h, struct eh_rows *out, struct eh_ranges *functions)
{
	u->hole = h;
	u->size = (uint32_t)(h->end - h->start);
	u->index = calloc(u->size, sizeof(*u->index));
	if (!u->index)
		out_of_memory();
	u->spots.len = u->todo.len = u->functions.len = u->after_calls.len = 0;
	follow_hole(u);
	if (out)
		add_rows(u, out);
	if (functions)
		add_functions(u, functions);
	free(u->index);
}

/* Copies rows, and puts the rows of all holes between them. */
static void follow_holes(struct unframed *u, struct eh_rows *rows, struct eh_ranges *functions)
{
	struct eh_rows out = {};
	size_t i = 0;

	for (size_t k = 0; k < u->holes.len; k++) {
		const struct hole *h = &u->holes.data[k];

		for (; i < rows->len && rows->data[i].vaddr <= h->start; i++)
			eh_row_add(&out, rows->data[i].vaddr, rows->data[i].rule);
		take_hole(u, h, &out, functions);
		eh_row_add(&out, h->end, 0); /* a row at the same place replaces this one */
	}
	for (; i < rows->len; i++)
		eh_row_add(&out, rows->data[i].vaddr, rows->data[i].rule);
	eh_rows_done(rows);
	*rows = out;
}

/* Returns false if nothing is missing, or the machine is unknown. */
static bool begin(struct unframed *u, struct elf *e, const struct eh_rows *rows)
{
	bool arm64 = elf_machine(e) == EM_AARCH64;

	*u = (struct unframed){.e = e};
	if (!arm64 && elf_machine(e) != EM_X86_64)
		return false;
	u->machine = arm64 ? &unframed_arm64 : &unframed_x86;
	find_fitting_holes(u, rows);
	if (!u->holes.len || (!arm64 && code_open(EM_X86_64, true, &u->code)))
		return false;
	find_functions(u);
	return true;
}

static void end(struct unframed *u)
{
	code_close(u->code);
	free(u->symbols);
	vec_done(&u->holes);
	vec_done(&u->taken);
	vec_done(&u->called);
	vec_done(&u->spots);
	vec_done(&u->todo);
	vec_done(&u->functions);
	vec_done(&u->after_calls);
}

bool unframed_rows(struct elf *e, struct eh_rows *rows, struct eh_ranges *functions)
{
	struct unframed u;

	if (begin(&u, e, rows))
		follow_holes(&u, rows, functions);
	end(&u);
	return !u.is_cut;
}

void unframed_functions(struct elf *e, const struct eh_rows *rows, struct eh_ranges *functions)
{
	struct unframed u;

	if (begin(&u, e, rows))
		for (size_t i = 0; i < u.holes.len; i++)
			take_hole(&u, &u.holes.data[i], NULL, functions);
	end(&u);
}
