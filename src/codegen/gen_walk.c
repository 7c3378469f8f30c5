// SPDX-License-Identifier: Apache-2.0
/* gen_walk.c - calls of the unwinder. Its functions are linked with a script and verified with each of its
 * programs, which takes tens of milliseconds. If a session has a walker (bpf/walk/handover.h), programs
 * call that instead. */
#include <linux/bpf.h>
#include <stdio.h>

#include "base/arena.h"
#include "bpf/walk/handover.h"
#include "bpf/walk/unwind.h"
#include "gen.h"

enum { TAIL_CALLS_MAX = 32 }; /* the kernel allows 33 in one run of a program: MAX_TAIL_CALL_CNT */

/* The session's first image sets the size of the walker's stacks. The body of a loop is a callback, which
 * cannot make a tail call; the program of a trampoline would need a walker for its function. */
static bool can_hand_over(const struct gen *g, uint32_t limit)
{
	return !g->fn.is_body && g->provider->ctx != CTX_TRAMPOLINE && g->provider->ctx != CTX_ITER &&
		g->nwalks <= TAIL_CALLS_MAX && limit <= UNWIND_LIMIT_DEFAULT;
}

static void call_function(struct gen *g, int what, struct ir *req)
{
	static const char *const params[] = {"stack_req"};
	static const uint32_t sizes[] = {sizeof(struct stack_req)};
	static const char *const functions[] = {
		[HANDOVER_STACK] = "stack_user",
		[HANDOVER_GOID] = "go_id",
		[HANDOVER_BEAMPID] = "beam_id",
	};

	gen_library(g, functions[what], params, sizes, &req, 1);
	g->img->unwinder = g->img->progs[g->img->nprogs - 1].walks = true;
}

static void hand_over(struct gen *g, int what, struct ir *req)
{
	static const char *const params[] = {"stack_req", "int"};
	static const uint32_t sizes[] = {sizeof(struct stack_req), 0};
	struct ir *args[] = {req, ir_int(g->ir, what)};
	unsigned n = g->img->nprogs - 1;
	const struct ir_map walkers = {
		.name = arena_printf(g->arena, IMAGE_WALKER, n),
		.type = BPF_MAP_TYPE_PROG_ARRAY,
		.key_size = 4,
		.value_size = 4,
		.max_entries = 1,
	};

	gen_library(g, "hand_over", params, sizes, args, 2);
	ir_hand_over(g->ir, arena_printf(g->arena, "hand_over_%u", n), gen_ctx(g), ir_map(g->ir, &walkers));
	gen_library(g, "take_back", params, sizes, args, 1);
	g->img->handover = true;
}

void gen_walk(struct gen *g, int what, uint32_t limit, struct ir *req)
{
	g->nwalks++;
	g->needs_unwinder |= g->has_walker && !can_hand_over(g, limit);
	if (g->has_walker)
		hand_over(g, what, req);
	else
		call_function(g, what, req);
}
