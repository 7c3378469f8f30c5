// SPDX-License-Identifier: Apache-2.0
/* gen_loop.c - loops.
 *
 * A loop of few rounds uses jumps within the program: the verifier checks each round. The body of any other
 * loop becomes a function that bpf_loop() calls (Linux 5.17): the verifier checks it once, however often it
 * runs.
 *
 * Such a body shares the program's scratch memory, which also holds all variables of such a program. bpf_loop()
 * passes the address of a struct on the program's stack, which leads to the memory and to the context:
 *
 *     0  context of the program
 *     8  scratch memory
 *    16  index of the scratch slot
 *
 *    24  process and thread, if the program has them
 *
 * A body returns 0 for the next round, 1 to end the loop. To leave the program (return, exit()), it sets the
 * word at stop_at and returns 1.
 *
 * A jump spans at most 32,767 instructions, so a long list of statements is split into such functions, too, each
 * of which is called once. */
#include "gen.h"

#include <linux/bpf.h>
#include <string.h>

#include "base/arena.h"
#include "bpf/lib/record.h"
#include "parser/check.h"

enum { FRAME_CTX = 0, FRAME_MEM = 8, FRAME_SLOT = 16, FRAME_IDS = 24, FRAME_SIZE = 32 };

/* Limits of a loop that uses jumps: the rounds, and the bytes of script text times rounds, in the loop and
 * in its whole program. */
enum { INLINE_ROUNDS = 8, INLINE_WEIGHT = 512, PROGRAM_WEIGHT = 8192 };
/* The most rounds on kernels without bpf_loop(), for a loop whose number of rounds is not a constant. */
enum { BOUNDED_ROUNDS = 256 };
#define WEIGHT_MAX ((uint64_t)1 << 32)
/* The most bytes of script text of a program in one function, and of one part of other programs. The kernel
 * allows 256 functions, including all others. A byte becomes at most six instructions. */
enum { UNPARTED_WEIGHT = 5120, PART_WEIGHT = 2048, PARTS_MAX = 128 };
/* The unwinder needs most of the nested calls that the kernel allows, so only loop bodies that are long
 * themselves are split. */
enum { PART_DEPTH_MAX = 1 };

/* ---- choosing the kind of loop ------------------------------------------- */

/* Returns how often the body runs, or UINT64_MAX if that is not a constant. */
static uint64_t rounds_of(const struct stmt *n)
{
	int64_t from = 0, to;

	if (n->kind == STMT_WHILE)
		return UINT64_MAX;
	if (n->kind == STMT_UNROLL)
		return n->loop.from->integer.value;
	if (!expr_is_const(n->loop.from, &from) || !expr_is_const(n->loop.to, &to))
		return UINT64_MAX;
	return from < to ? (uint64_t)to - (uint64_t)from : 0;
}

static uint64_t weigh(const struct stmt *first);

static uint64_t times(uint64_t rounds, uint64_t weight)
{
	return rounds > WEIGHT_MAX / (weight + 1) ? WEIGHT_MAX : rounds * weight;
}

static uint64_t weigh_one(const struct stmt *n)
{
	if (n->kind == STMT_IF)
		return weigh(n->cond.then) + weigh(n->cond.els);
	if (n->kind == STMT_BLOCK)
		return weigh(n->stmts);
	if (n->kind == STMT_FOR_MAP || n->kind == STMT_FOR_STACK)
		return weigh(n->loop.body);
	if (n->kind == STMT_UNROLL || n->kind == STMT_FOR_RANGE)
		return times(rounds_of(n), weigh(n->loop.body));
	return n->span.end - n->span.start;
}

/* Estimates the code of statements by the bytes of their text. The text of a loop counts once per round. */
static uint64_t weigh(const struct stmt *first)
{
	uint64_t all = 0;

	for (const struct stmt *n = first; n && all < WEIGHT_MAX; n = n->next)
		all += weigh_one(n);
	return all;
}

static bool is_small(struct gen *g, const struct stmt *n)
{
	return !g->is_long && times(rounds_of(n), weigh(n->loop.body)) <= INLINE_WEIGHT;
}

static bool has_body(struct gen *g, const struct stmt *n)
{
	if (g->opt->no_loops)
		return false;
	if (n->kind == STMT_UNROLL)
		return !is_small(g, n);
	return n->kind == STMT_WHILE || rounds_of(n) > INLINE_ROUNDS || !is_small(g, n);
}

static bool has_bodies(struct gen *g, const struct stmt *first)
{
	for (const struct stmt *n = first; n; n = n->next) {
		bool is_loop = n->kind == STMT_UNROLL || n->kind == STMT_FOR_RANGE || n->kind == STMT_WHILE;

		if (n->kind == STMT_FOR_MAP)
			return true;

		if (is_loop && has_body(g, n))
			return true;
		if (is_loop && n->kind != STMT_WHILE && has_bodies(g, n->loop.body))
			return true;
		if ((n->kind == STMT_IF || n->kind == STMT_WHILE) && has_bodies(g, n->cond.then))
			return true;
		if (n->kind == STMT_IF && has_bodies(g, n->cond.els))
			return true;
		if (n->kind == STMT_BLOCK && has_bodies(g, n->stmts))
			return true;
		if (n->kind == STMT_FOR_STACK && has_bodies(g, n->loop.body))
			return true;
	}
	return false;
}

static uint64_t weigh_text(struct stmt *n);

static uint64_t weigh_texts(struct stmt *first)
{
	uint64_t all = 0;

	for (struct stmt *n = first; n; n = n->next)
		all += weigh_text(n);
	return all;
}

/* Returns the bytes of a statement's text. The text of a loop counts once. */
static uint64_t weigh_text(struct stmt *n)
{
	struct stmt **stmts[STMT_STMTS_MAX];
	unsigned most = stmt_stmts(n, stmts);
	uint64_t all = 0;

	for (unsigned i = 0; i < most; i++)
		all += weigh_texts(*stmts[i]);
	return all ? all : n->span.end - n->span.start;
}

static uint64_t part_weight(uint64_t weight)
{
	if (weight <= UNPARTED_WEIGHT)
		return 0;
	return weight / PARTS_MAX > PART_WEIGHT ? weight / PARTS_MAX : PART_WEIGHT;
}

void gen_find_loops(struct gen *g, struct stmt *first)
{
	g->is_long = weigh(first) > PROGRAM_WEIGHT;
	g->part_weight = g->opt->no_loops ? 0 : part_weight(weigh_texts(first));
	g->has_bodies = g->part_weight || has_bodies(g, first) || g->probe->block_map_loops ||
		(g->probe->block_loops && !g->opt->no_loops);
}

/* ---- the body as a function --------------------------------------------- */

struct body {
	struct gen_fn outer;
	struct ir_outer *outside;
};

/* Begins the function for each round, or for each element of a map. */
static void function_begin(struct gen *g, struct body *b, struct span at, bool each)
{
	const char *name = arena_printf(g->arena, "loop_%u", g->nbodies++);
	struct ir *frame;

	gen_check_calls(g, 1);
	gen_function_add(g, name, at);
	g->depth++;
	b->outer = g->fn;
	b->outside = each ? ir_each_begin(g->ir, name) : ir_body_begin(g->ir, name);
	frame = ir_param(g->ir, each ? 3 : 1);
	g->fn = (struct gen_fn){
		.leave = ir_block(g->ir, "leave"),
		.loop_next = ir_block(g->ir, "next"),
		.loop_end = ir_block(g->ir, "end"),
		.mem_ptr = ir_alloca_ptr(g->ir),
		.ids = b->outer.ids ? ir_offset(g->ir, frame, FRAME_IDS) : NULL,
		.frame = frame,
		.is_body = true,
	};
	ir_set_ptr(g->ir, g->fn.mem_ptr,
		ir_get_ptr(g->ir, ir_offset(g->ir, frame, FRAME_MEM)));
}

/* Begins the function and returns the number of the round. */
static struct ir *body_begin(struct gen *g, struct body *b, struct span at)
{
	function_begin(g, b, at, false);
	return ir_param(g->ir, 0);
}

/* Ends the function and returns its address. */
static struct ir *body_end(struct gen *g, struct body *b)
{
	struct ir *body;

	ir_jump(g->ir, g->fn.loop_next);
	ir_at(g->ir, g->fn.loop_next);
	ir_return(g->ir, ir_int(g->ir, 0));
	ir_at(g->ir, g->fn.leave);
	ir_store(g->ir, gen_mem_at(g, g->stop_at), 0, 8, ir_int(g->ir, 1));
	ir_jump(g->ir, g->fn.loop_end);
	ir_at(g->ir, g->fn.loop_end);
	ir_return(g->ir, ir_int(g->ir, 1));
	body = ir_body_end(g->ir, b->outside);
	g->fn = b->outer;
	g->depth--;
	return body;
}

struct ir *gen_ctx(struct gen *g)
{
	if (!g->fn.is_body)
		return ir_param(g->ir, 0);
	return ir_get_ptr(g->ir, ir_offset(g->ir, g->fn.frame, FRAME_CTX));
}

struct ir *gen_slot(struct gen *g)
{
	g->mem_used = g->mem_slot = true;
	if (g->fn.is_body)
		return ir_load(g->ir, g->fn.frame, FRAME_SLOT, 8, false);
	return ir_load(g->ir, g->fn.slot_index, 0, 8, false);
}

/* Returns the struct for a body. An inner body gets the same struct. */
static struct ir *frame_for_body(struct gen *g)
{
	if (g->fn.is_body)
		return g->fn.frame;
	if (!g->fn.frame)
		g->fn.frame = ir_alloca(g->ir, FRAME_SIZE);
	ir_store(g->ir, g->fn.frame, FRAME_CTX, 8, gen_ctx(g));
	ir_store(g->ir, g->fn.frame, FRAME_MEM, 8, gen_mem_at(g, 0));
	ir_store(g->ir, g->fn.frame, FRAME_SLOT, 8, gen_slot(g));
	if (g->fn.ids)
		ir_store(g->ir, g->fn.frame, FRAME_IDS, 8, ir_load(g->ir, g->fn.ids, 0, 8, false));
	ir_store(g->ir, gen_mem_at(g, g->stop_at), 0, 8, ir_int(g->ir, 0));
	return g->fn.frame;
}

/* Called after a loop whose body may have asked to leave the program. */
static void leave_if_stopped(struct gen *g, struct ir_block *end)
{
	ir_branch(g->ir, ir_load(g->ir, gen_mem_at(g, g->stop_at), 0, 8, false), g->fn.leave, end);
	ir_at(g->ir, end);
}

/* Calls the body `rounds` times. cut is 1 if the script asked for more than the kernel allows. The number
 * is stored and loaded again to hide it from the verifier: if it is 0, Linux 6.18 removes the body as dead
 * code, and then fails ("verifier bug: No program to jit"). */
static void run_body(struct gen *g, struct ir *body, struct ir *rounds, struct ir *cut)
{
	struct ir *at = gen_mem(g, 8);

	struct ir_block *lost = ir_block(g->ir, "lost"), *done = ir_block(g->ir, "done");
	struct ir_block *end = ir_block(g->ir, "endloop");
	struct ir *frame = frame_for_body(g), *ran;

	ir_store(g->ir, at, 0, 8, rounds);
	ran = gen_call(g, BPF_FUNC_loop, 4, ir_load(g->ir, at, 0, 8, false), body, frame,
		ir_int(g->ir, 0));
	cut = ir_binary(g->ir, IR_AND, cut,
		ir_compare(g->ir, IR_EQ, ran, ir_int(g->ir, LOOP_ROUNDS_MAX)));
	ir_branch(g->ir, cut, lost, done);
	ir_at(g->ir, lost);
	gen_lost(g, LOST_LOOP);
	ir_jump(g->ir, done);
	ir_at(g->ir, done);
	leave_if_stopped(g, end);
}

/* ---- parts -------------------------------------------------------------- */

static bool is_jump_expr(struct expr *n, void *arg)
{
	return n->kind == EXPR_BLOCK; /* the block may contain one */
}

/* Returns whether the statement may jump to a loop around it. */
static bool has_jump(struct stmt *n)
{
	struct stmt **stmts[STMT_STMTS_MAX];
	bool has = n->kind == STMT_BREAK || n->kind == STMT_CONTINUE;

	for (unsigned i = 0, most = has ? 0 : stmt_stmts(n, stmts); i < most; i++)
		for (struct stmt *s = *stmts[i]; s && !has; s = s->next)
			has = has_jump(s);
	return has;
}

static bool is_part(struct gen *g, struct stmt *n)
{
	return !g->fn.loop_next || !(has_jump(n) || stmt_any(n, is_jump_expr, NULL));
}

/* Makes a function of the statements up to `end`, and calls it. */
static void gen_part(struct gen *g, struct stmt *first, const struct stmt *end)
{
	struct ir_block *next = ir_block(g->ir, "nextpart");
	struct ir *frame = frame_for_body(g), *body;
	struct body b;

	function_begin(g, &b, first->span, false);
	gen_stmts_until(g, first, end);
	body = body_end(g, &b);
	ir_branch(g->ir, ir_call_body(g->ir, body, frame), g->fn.leave, next);
	ir_at(g->ir, next);
}

bool gen_parts(struct gen *g, struct stmt *first)
{
	struct stmt *n = first, *end;
	uint64_t weight;

	if (!g->part_weight || weigh_texts(first) <= (g->depth ? PROGRAM_WEIGHT : g->part_weight) ||
		g->depth > PART_DEPTH_MAX)
		return false;
	for (; n; n = end) {
		weight = 0;
		for (end = n; end && is_part(g, end) && weight + weigh_text(end) <= g->part_weight; end = end->next)
			weight += weigh_text(end);
		if (weight > g->part_weight / 4) {
			gen_part(g, n, end);
			continue;
		}
		end = end == n ? n->next : end;
		gen_stmts_until(g, n, end);
	}
	return true;
}

/* ---- the body within the program ---------------------------------------- */

static void inline_body(struct gen *g, struct stmt *body, struct ir_block *next,
	struct ir_block *end)
{
	struct ir_block *outer_next = g->fn.loop_next, *outer_end = g->fn.loop_end;

	g->fn.loop_next = next;
	g->fn.loop_end = end;
	gen_stmts(g, body);
	g->fn.loop_next = outer_next;
	g->fn.loop_end = outer_end;
}

struct inline_loop {
	struct ir *i; /* number of the round */
	struct ir_block *test, *next, *end;
};

/* Generates the code before the body: loops while i is below n, and below the constant `most`, which the
 * verifier needs. */
static void inline_begin(struct gen *g, struct inline_loop *l, struct ir *n, uint64_t most)
{
	struct ir_block *bound = ir_block(g->ir, "bound"), *lost = ir_block(g->ir, "lost");
	struct ir_block *body = ir_block(g->ir, "body");
	struct ir *at;

	*l = (struct inline_loop){gen_local(g), ir_block(g->ir, "test"),
		ir_block(g->ir, "next"), ir_block(g->ir, "endloop")};
	ir_store(g->ir, l->i, 0, 8, ir_int(g->ir, 0));
	ir_jump(g->ir, l->test);
	ir_at(g->ir, l->test);
	at = ir_load(g->ir, l->i, 0, 8, false);
	ir_branch(g->ir, ir_compare(g->ir, IR_ULT, at, n), bound, l->end);
	ir_at(g->ir, bound);
	ir_branch(g->ir, ir_compare(g->ir, IR_ULT, at, ir_int(g->ir, most)), body, lost);
	ir_at(g->ir, lost);
	gen_lost(g, LOST_LOOP);
	ir_jump(g->ir, l->end);
	ir_at(g->ir, body);
}

static void inline_end(struct gen *g, struct inline_loop *l)
{
	struct ir *at;

	ir_jump(g->ir, l->next);
	ir_at(g->ir, l->next);
	at = ir_load(g->ir, l->i, 0, 8, false);
	ir_store(g->ir, l->i, 0, 8, ir_binary(g->ir, IR_ADD, at, ir_int(g->ir, 1)));
	ir_jump(g->ir, l->test);
	ir_at(g->ir, l->end);
}

static void unroll_copies(struct gen *g, struct stmt *n)
{
	struct ir_block *end = ir_block(g->ir, "endunroll");

	for (uint64_t i = 0; i < n->loop.from->integer.value; i++) {
		struct ir_block *next = ir_block(g->ir, "unroll");

		inline_body(g, n->loop.body, next, end);
		ir_jump(g->ir, next);
		ir_at(g->ir, next);
	}
	ir_jump(g->ir, end);
	ir_at(g->ir, end);
}

/* ---- statements --------------------------------------------------------- */

void gen_unroll(struct gen *g, struct stmt *n)
{
	uint64_t rounds = rounds_of(n);
	struct inline_loop l;
	struct body b;

	if (is_small(g, n)) {
		unroll_copies(g, n);
	} else if (has_body(g, n)) {
		body_begin(g, &b, n->span);
		gen_stmts(g, n->loop.body);
		run_body(g, body_end(g, &b), ir_int(g->ir, rounds), ir_int(g->ir, 0));
	} else {
		inline_begin(g, &l, ir_int(g->ir, rounds), rounds);
		inline_body(g, n->loop.body, l.next, l.end);
		inline_end(g, &l);
	}
}

static void while_body(struct gen *g, struct stmt *n, struct ir_block *end)
{
	struct ir_block *body = ir_block(g->ir, "while");

	ir_branch(g->ir, gen_truth(g, n->cond.test), body, end);
	ir_at(g->ir, body);
}

void gen_while(struct gen *g, struct stmt *n)
{
	struct inline_loop l;
	struct body b;

	if (has_body(g, n)) {
		body_begin(g, &b, n->span);
		while_body(g, n, g->fn.loop_end);
		gen_stmts(g, n->cond.then);
		run_body(g, body_end(g, &b), ir_int(g->ir, LOOP_ROUNDS_MAX),
			ir_int(g->ir, 1));
	} else {
		inline_begin(g, &l, ir_int(g->ir, UINT64_MAX), BOUNDED_ROUNDS);
		while_body(g, n, l.end);
		inline_body(g, n->cond.then, l.next, l.end);
		inline_end(g, &l);
	}
}

static void set_var(struct gen *g, struct expr *var, struct ir *first, struct ir *round)
{
	struct var *v = var->var.var;

	gen_put(g, ir_binary(g->ir, IR_ADD, first, round), v->type, v->type,
		gen_var_slot(g, v), 0);
}

/* The body reads the start of the range from scratch memory. */
static void range_body(struct gen *g, struct stmt *n, struct ir *from, struct ir *rounds)
{
	struct ir *most = ir_int(g->ir, LOOP_ROUNDS_MAX), *round, *cut;
	uint32_t at = gen_mem_take(g, 8);
	struct body b;

	cut = ir_compare(g->ir, IR_UGT, rounds, most);
	rounds = ir_select(g->ir, cut, most, rounds);
	ir_store(g->ir, gen_mem_at(g, at), 0, 8, from);
	round = body_begin(g, &b, n->span);
	set_var(g, n->loop.var, ir_load(g->ir, gen_mem_at(g, at), 0, 8, true), round);
	gen_stmts(g, n->loop.body);
	run_body(g, body_end(g, &b), rounds, cut);
}

static void for_range(struct gen *g, struct stmt *n)
{
	struct ir *from = gen_value(g, n->loop.from), *to = gen_value(g, n->loop.to), *rounds;
	uint64_t known = rounds_of(n);
	struct inline_loop l;

	rounds = ir_select(g->ir, ir_compare(g->ir, IR_SLT, from, to),
		ir_binary(g->ir, IR_SUB, to, from), ir_int(g->ir, 0));
	if (has_body(g, n)) {
		range_body(g, n, from, rounds);
		return;
	}
	inline_begin(g, &l, rounds, known == UINT64_MAX ? BOUNDED_ROUNDS : known);
	set_var(g, n->loop.var, from, ir_load(g->ir, l.i, 0, 8, false));
	inline_body(g, n->loop.body, l.next, l.end);
	inline_end(g, &l);
}

static void for_map(struct gen *g, struct stmt *n)
{
	struct map *m = n->loop.from->map.map;
	struct var *v = n->loop.var->var.var;
	struct ir_block *end = ir_block(g->ir, "endloop");
	struct ir *frame = frame_for_body(g), *body;
	struct body b;

	function_begin(g, &b, n->span, true);
	gen_map_element(g, m, ir_param(g->ir, 1), ir_param(g->ir, 2), v->type, gen_var_slot(g, v));
	gen_stmts(g, n->loop.body);
	body = body_end(g, &b);
	gen_call(g, BPF_FUNC_for_each_map_elem, 4, gen_map_now(g, m), body, frame, ir_int(g->ir, 0));
	leave_if_stopped(g, end);
}

/* The statements run once, with the stack's id. Userspace repeats them for each frame, since only it knows which
 * functions were inlined. */
static void for_stack(struct gen *g, struct stmt *n)
{
	set_var(g, n->loop.var, gen_value(g, n->loop.from), ir_int(g->ir, 0));
	gen_stmts(g, n->loop.body);
}

void gen_for(struct gen *g, struct stmt *n)
{
	if (n->kind == STMT_FOR_RANGE)
		for_range(g, n);
	else if (n->kind == STMT_FOR_MAP)
		for_map(g, n);
	else
		for_stack(g, n);
}
