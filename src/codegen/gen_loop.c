// SPDX-License-Identifier: Apache-2.0
/* gen_loop.c - loops.
 *
 * A loop of few rounds is made of jumps within the program: the verifier looks at each
 * round. The body of any other becomes a function that bpf_loop() calls (Linux 5.17): the
 * verifier looks at it once, however often it runs.
 *
 * Such a body shares the program's scratch memory. All variables of the program lie there,
 * none in registers, and the body finds it, and the context, by a struct on the program's
 * stack whose address bpf_loop() hands to it:
 *
 *     0  context of the program
 *     8  scratch memory
 *    16  index of the scratch slot
 *
 * A body returns 0: on to the next round; or 1: no more rounds. Where the program is to be
 * left (return, exit()), the body sets the word at stop_at first. */
#include "gen.h"

#include <linux/bpf.h>
#include <string.h>

#include "base/arena.h"
#include "bpf/lib/record.h"
#include "parser/check.h"

enum { FRAME_CTX = 0, FRAME_MEM = 8, FRAME_SLOT = 16, FRAME_SIZE = 24 };

/* Copies of a body, or rounds that the verifier looks at; and what their text may come to:
 * of one loop; of a program, beyond which it has none. */
enum { INLINE_ROUNDS = 8, INLINE_WEIGHT = 512, PROGRAM_WEIGHT = 8192 };
/* Rounds of a loop on kernels without bpf_loop(), where they are not known before. */
enum { BOUNDED_ROUNDS = 256 };
#define WEIGHT_MAX ((uint64_t)1 << 32)

/* ---- which kind of loop ------------------------------------------------- */

/* How often the body runs; UINT64_MAX: not known before. */
static uint64_t rounds_of(const struct node *n)
{
	int64_t from = 0, to;

	if (n->kind == N_WHILE)
		return UINT64_MAX;
	if (n->kind == N_UNROLL)
		return n->loop.from->integer.value;
	if (!node_is_const(n->loop.from, &from) || !node_is_const(n->loop.to, &to))
		return UINT64_MAX;
	return from < to ? (uint64_t)to - (uint64_t)from : 0;
}

static uint64_t weigh(const struct node *first);

static uint64_t times(uint64_t rounds, uint64_t weight)
{
	return rounds > WEIGHT_MAX / (weight + 1) ? WEIGHT_MAX : rounds * weight;
}

static uint64_t weigh_one(const struct node *n)
{
	if (n->kind == N_IF)
		return weigh(n->cond.then) + weigh(n->cond.els);
	if (n->kind == N_BLOCK)
		return weigh(n->stmts);
	if (n->kind == N_UNROLL || n->kind == N_FOR_RANGE)
		return times(rounds_of(n), weigh(n->loop.body));
	return n->span.end - n->span.start;
}

/* How much code statements become: bytes of their text, those of a loop for each round. */
static uint64_t weigh(const struct node *first)
{
	uint64_t all = 0;

	for (const struct node *n = first; n && all < WEIGHT_MAX; n = n->next)
		all += weigh_one(n);
	return all;
}

static bool is_small(struct gen *g, const struct node *n)
{
	return !g->is_long && times(rounds_of(n), weigh(n->loop.body)) <= INLINE_WEIGHT;
}

static bool has_body(struct gen *g, const struct node *n)
{
	if (g->opt->no_loops)
		return false;
	if (n->kind == N_UNROLL)
		return !is_small(g, n);
	return n->kind == N_WHILE || rounds_of(n) > INLINE_ROUNDS || !is_small(g, n);
}

static bool has_bodies(struct gen *g, const struct node *first)
{
	for (const struct node *n = first; n; n = n->next) {
		bool is_loop = n->kind == N_UNROLL || n->kind == N_FOR_RANGE || n->kind == N_WHILE;

		if (is_loop && has_body(g, n))
			return true;
		if (is_loop && n->kind != N_WHILE && has_bodies(g, n->loop.body))
			return true;
		if ((n->kind == N_IF || n->kind == N_WHILE) && has_bodies(g, n->cond.then))
			return true;
		if (n->kind == N_IF && has_bodies(g, n->cond.els))
			return true;
		if (n->kind == N_BLOCK && has_bodies(g, n->stmts))
			return true;
	}
	return false;
}

void gen_find_loops(struct gen *g, const struct node *first)
{
	g->is_long = weigh(first) > PROGRAM_WEIGHT;
	g->has_bodies = has_bodies(g, first);
}

/* ---- the body as a function --------------------------------------------- */

struct body {
	struct gen_fn outer;
	struct emit_outer *emit;
};

/* Writes its head; gives the number of the round. */
static struct ir *body_begin(struct gen *g, struct body *b, struct span at)
{
	const char *name = arena_printf(g->arena, "loop_%u", g->nbodies++);
	struct ir *frame;

	gen_check_calls(g, 1);
	gen_function_add(g, name, at);
	g->depth++;
	b->outer = g->fn;
	b->emit = emit_body_begin(g->e, name);
	frame = emit_param(g->e, 1);
	g->fn = (struct gen_fn){
		.leave = emit_block(g->e, "leave"),
		.loop_next = emit_block(g->e, "next"),
		.loop_end = emit_block(g->e, "end"),
		.mem_ptr = emit_alloca_ptr(g->e),
		.frame = frame,
		.is_body = true,
	};
	emit_set_ptr(g->e, g->fn.mem_ptr,
		emit_get_ptr(g->e, emit_offset(g->e, frame, FRAME_MEM)));
	return emit_param(g->e, 0);
}

/* Its end; gives its address. */
static struct ir *body_end(struct gen *g, struct body *b)
{
	struct ir *body;

	emit_jump(g->e, g->fn.loop_next);
	emit_at(g->e, g->fn.loop_next);
	emit_return(g->e, emit_int(g->e, 0));
	emit_at(g->e, g->fn.leave);
	emit_store(g->e, gen_mem_at(g, g->stop_at), 0, 8, emit_int(g->e, 1));
	emit_jump(g->e, g->fn.loop_end);
	emit_at(g->e, g->fn.loop_end);
	emit_return(g->e, emit_int(g->e, 1));
	body = emit_body_end(g->e, b->emit);
	g->fn = b->outer;
	g->depth--;
	return body;
}

struct ir *gen_ctx(struct gen *g)
{
	if (!g->fn.is_body)
		return emit_param(g->e, 0);
	return emit_get_ptr(g->e, emit_offset(g->e, g->fn.frame, FRAME_CTX));
}

struct ir *gen_slot(struct gen *g)
{
	g->mem_used = true;
	if (g->fn.is_body)
		return emit_load(g->e, g->fn.frame, FRAME_SLOT, 8, false);
	return emit_load(g->e, g->fn.slot_index, 0, 8, false);
}

/* What a body is handed; a body hands on what it got. */
static struct ir *frame_for_body(struct gen *g)
{
	if (g->fn.is_body)
		return g->fn.frame;
	if (!g->fn.frame)
		g->fn.frame = emit_alloca(g->e, FRAME_SIZE);
	emit_store(g->e, g->fn.frame, FRAME_CTX, 8, gen_ctx(g));
	emit_store(g->e, g->fn.frame, FRAME_MEM, 8, gen_mem_at(g, 0));
	emit_store(g->e, g->fn.frame, FRAME_SLOT, 8, gen_slot(g));
	emit_store(g->e, gen_mem_at(g, g->stop_at), 0, 8, emit_int(g->e, 0));
	return g->fn.frame;
}

/* Calls the body so many times; `cut`: were more wanted than the kernel does? The number goes
 * through memory: where the verifier knows that it is 0, Linux 6.18 removes the body, and then
 * misses it ("verifier bug: No program to jit"). */
static void run_body(struct gen *g, struct ir *body, struct ir *rounds, struct ir *cut)
{
	struct ir *at = gen_mem(g, 8);

	struct ir_block *lost = emit_block(g->e, "lost"), *done = emit_block(g->e, "done");
	struct ir_block *end = emit_block(g->e, "endloop");
	struct ir *frame = frame_for_body(g), *ran;

	emit_store(g->e, at, 0, 8, rounds);
	ran = gen_call(g, BPF_FUNC_loop, 4, emit_load(g->e, at, 0, 8, false), body, frame,
		emit_int(g->e, 0));
	cut = emit_binary(g->e, EMIT_AND, cut,
		emit_compare(g->e, EMIT_EQ, ran, emit_int(g->e, LOOP_ROUNDS_MAX)));
	emit_branch(g->e, cut, lost, done);
	emit_at(g->e, lost);
	gen_lost(g, LOST_LOOP);
	emit_jump(g->e, done);
	emit_at(g->e, done);
	emit_branch(g->e, emit_load(g->e, gen_mem_at(g, g->stop_at), 0, 8, false), g->fn.leave,
		end);
	emit_at(g->e, end);
}

/* ---- the body within the program ---------------------------------------- */

static void inline_body(struct gen *g, struct node *body, struct ir_block *next,
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
	struct ir *i; /* the round */
	struct ir_block *test, *next, *end;
};

/* Up to the body: runs while i is below n, and below `most`, which the verifier knows. */
static void inline_begin(struct gen *g, struct inline_loop *l, struct ir *n, uint64_t most)
{
	struct ir_block *bound = emit_block(g->e, "bound"), *lost = emit_block(g->e, "lost");
	struct ir_block *body = emit_block(g->e, "body");
	struct ir *at;

	*l = (struct inline_loop){gen_local(g), emit_block(g->e, "test"),
		emit_block(g->e, "next"), emit_block(g->e, "endloop")};
	emit_store(g->e, l->i, 0, 8, emit_int(g->e, 0));
	emit_jump(g->e, l->test);
	emit_at(g->e, l->test);
	at = emit_load(g->e, l->i, 0, 8, false);
	emit_branch(g->e, emit_compare(g->e, EMIT_ULT, at, n), bound, l->end);
	emit_at(g->e, bound);
	emit_branch(g->e, emit_compare(g->e, EMIT_ULT, at, emit_int(g->e, most)), body, lost);
	emit_at(g->e, lost);
	gen_lost(g, LOST_LOOP);
	emit_jump(g->e, l->end);
	emit_at(g->e, body);
}

static void inline_end(struct gen *g, struct inline_loop *l)
{
	struct ir *at;

	emit_jump(g->e, l->next);
	emit_at(g->e, l->next);
	at = emit_load(g->e, l->i, 0, 8, false);
	emit_store(g->e, l->i, 0, 8, emit_binary(g->e, EMIT_ADD, at, emit_int(g->e, 1)));
	emit_jump(g->e, l->test);
	emit_at(g->e, l->end);
}

static void unroll_copies(struct gen *g, struct node *n)
{
	struct ir_block *end = emit_block(g->e, "endunroll");

	for (uint64_t i = 0; i < n->loop.from->integer.value; i++) {
		struct ir_block *next = emit_block(g->e, "unroll");

		inline_body(g, n->loop.body, next, end);
		emit_jump(g->e, next);
		emit_at(g->e, next);
	}
	emit_jump(g->e, end);
	emit_at(g->e, end);
}

/* ---- statements --------------------------------------------------------- */

void gen_unroll(struct gen *g, struct node *n)
{
	uint64_t rounds = rounds_of(n);
	struct inline_loop l;
	struct body b;

	if (is_small(g, n)) {
		unroll_copies(g, n);
	} else if (has_body(g, n)) {
		body_begin(g, &b, n->span);
		gen_stmts(g, n->loop.body);
		run_body(g, body_end(g, &b), emit_int(g->e, rounds), emit_int(g->e, 0));
	} else {
		inline_begin(g, &l, emit_int(g->e, rounds), rounds);
		inline_body(g, n->loop.body, l.next, l.end);
		inline_end(g, &l);
	}
}

static void while_body(struct gen *g, struct node *n, struct ir_block *end)
{
	struct ir_block *body = emit_block(g->e, "while");

	emit_branch(g->e, gen_truth(g, n->cond.test), body, end);
	emit_at(g->e, body);
}

void gen_while(struct gen *g, struct node *n)
{
	struct inline_loop l;
	struct body b;

	if (has_body(g, n)) {
		body_begin(g, &b, n->span);
		while_body(g, n, g->fn.loop_end);
		gen_stmts(g, n->cond.then);
		run_body(g, body_end(g, &b), emit_int(g->e, LOOP_ROUNDS_MAX),
			emit_int(g->e, 1));
	} else {
		inline_begin(g, &l, emit_int(g->e, UINT64_MAX), BOUNDED_ROUNDS);
		while_body(g, n, l.end);
		inline_body(g, n->cond.then, l.next, l.end);
		inline_end(g, &l);
	}
}

static void set_var(struct gen *g, struct node *var, struct ir *first, struct ir *round)
{
	struct var *v = var->var.var;

	gen_put(g, emit_binary(g->e, EMIT_ADD, first, round), v->type, v->type,
		gen_var_slot(g, v), 0);
}

/* A body reads where the range begins from scratch memory. */
static void range_body(struct gen *g, struct node *n, struct ir *from, struct ir *rounds)
{
	struct ir *most = emit_int(g->e, LOOP_ROUNDS_MAX), *round, *cut;
	uint32_t at = gen_mem_take(g, 8);
	struct body b;

	cut = emit_compare(g->e, EMIT_UGT, rounds, most);
	rounds = emit_select(g->e, cut, most, rounds);
	emit_store(g->e, gen_mem_at(g, at), 0, 8, from);
	round = body_begin(g, &b, n->span);
	set_var(g, n->loop.var, emit_load(g->e, gen_mem_at(g, at), 0, 8, true), round);
	gen_stmts(g, n->loop.body);
	run_body(g, body_end(g, &b), rounds, cut);
}

void gen_for_range(struct gen *g, struct node *n)
{
	struct ir *from = gen_value(g, n->loop.from), *to = gen_value(g, n->loop.to), *rounds;
	uint64_t known = rounds_of(n);
	struct inline_loop l;

	rounds = emit_select(g->e, emit_compare(g->e, EMIT_SLT, from, to),
		emit_binary(g->e, EMIT_SUB, to, from), emit_int(g->e, 0));
	if (has_body(g, n)) {
		range_body(g, n, from, rounds);
		return;
	}
	inline_begin(g, &l, rounds, known == UINT64_MAX ? BOUNDED_ROUNDS : known);
	set_var(g, n->loop.var, from, emit_load(g->e, l.i, 0, 8, false));
	inline_body(g, n->loop.body, l.next, l.end);
	inline_end(g, &l);
}
