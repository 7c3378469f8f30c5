// SPDX-License-Identifier: Apache-2.0
/* gen.c - makes programs from probes: prologue, statements, epilogue. gen_expr.c, gen_var.c, gen_loop.c,
 * gen_map.c and gen_record.c handle expressions, variables, loops, maps and records. */
#include "gen.h"

#include <assert.h>
#include <errno.h>
#include <linux/bpf.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/invariant.h"
#include "base/log.h"
#include "base/owner.h"
#include "bpf/lib/who.h"
#include "bpf/objects.h"
#include "bpf/walk/unwind.h"
#include "codegen/gate.h"
#include "codegen/link.h"
#include "model/attach_point.h"
#include "model/facts.h"
#include "parser/check.h"
#include "types/types.h"

/* ---- temporaries -------------------------------------------------------- */

static const uint32_t pool_size[GEN_POOL_CLASSES] = {8, 16, 32};

struct gen_mark gen_mark(struct gen *g)
{
	struct gen_mark m = {.mem_top = g->mem_top};

	for (int i = 0; i < GEN_POOL_CLASSES; i++)
		m.used[i] = g->fn.pool[i].used;
	return m;
}

void gen_release(struct gen *g, struct gen_mark m)
{
	g->mem_top = m.mem_top > g->mem_kept ? m.mem_top : g->mem_kept;
	for (int i = 0; i < GEN_POOL_CLASSES; i++)
		g->fn.pool[i].used = m.used[i];
}

enum { SCRATCH_MAX = 64 << 20 }; /* bytes of scratch memory of a program: each CPU has SCRATCH_SLOTS slots */

static void scratch_is_full(struct gen *g)
{
	if (g->mem_full)
		return;
	g->mem_full = true;
	diag(g->opt->diags, g->at, DIAG_TOO_LARGE,
		"the values here need more than %d MiB of memory", SCRATCH_MAX >> 20);
	diag_hint(g->opt->diags, "read the members that are needed, not the whole");
}

uint32_t gen_mem_take(struct gen *g, uint32_t size)
{
	uint32_t at = g->mem_top;

	if (size > SCRATCH_MAX || at > SCRATCH_MAX - size) {
		scratch_is_full(g);
		return 0;
	}
	g->mem_top += (size + 7) & ~7u;
	if (g->mem_top > g->mem_max)
		g->mem_max = g->mem_top;
	if (g->mem_top > g->mem_most)
		g->mem_most = g->mem_top;
	return at;
}

struct ir *gen_mem_at(struct gen *g, uint32_t at)
{
	g->mem_used = true;
	return ir_offset(g->ir, ir_get_ptr(g->ir, g->fn.mem_ptr), at);
}

struct ir *gen_mem(struct gen *g, uint32_t size)
{
	return gen_mem_at(g, gen_mem_take(g, size));
}

struct ir *gen_tmp(struct gen *g, uint32_t size)
{
	for (int i = 0; i < GEN_POOL_CLASSES; i++) {
		unsigned n = g->fn.pool[i].used;

		/* Only few temporaries are on the BPF stack, since the unwinder needs most of its 512
		 * bytes. */
		if (size > pool_size[i] || n >= 4 || g->fn.is_body)
			continue;
		if (n == g->fn.pool[i].made)
			g->fn.pool[i].slot[g->fn.pool[i].made++] = ir_alloca(g->ir, pool_size[i]);
		g->fn.pool[i].used++;
		return g->fn.pool[i].slot[n];
	}
	return gen_mem(g, size);
}

struct ir *gen_local(struct gen *g)
{
	return ir_alloca(g->ir, 8);
}

/* ---- calls -------------------------------------------------------------- */

enum { CALLS_MAX = 8 }; /* nested calls that the kernel allows, including the program */

void gen_check_calls(struct gen *g, unsigned calls)
{
	if (1 + g->depth + calls <= CALLS_MAX)
		return;
	diag(g->opt->diags, g->at, DIAG_TOO_LARGE, "loops are nested too deeply for this: %u, at most %u",
		g->depth, CALLS_MAX - 1 - calls);
	diag_hint(g->opt->diags, calls < 3 ? "the kernel allows %d calls in a program, and each loop is one" :
		"the kernel allows %d calls in a program, and each loop is one; take the stack before the "
		"loops: $s = ustack", CALLS_MAX);
}

struct ir *gen_library(struct gen *g, const char *name, const char *const *params,
	const uint32_t *sizes, struct ir *const *args, unsigned n)
{
	static const struct {
		const char *name;
		unsigned calls; /* depth of calls in it, including itself: see tests/verifier/depth.py */
	} deep[] = {
		{"beam_id", 4}, {"go_id", 4}, {"find_text", 2},
		{"join_strings", 2}, {"path_text", 4}, {"request_ids", 3}, {"request_label", 3},
		{"stack_kernel", 2}, {"stack_user", 6},
	};
	unsigned calls = 1;

	for (size_t i = 0; i < ARRAY_SIZE(deep); i++)
		if (!strcmp(name, deep[i].name))
			calls = deep[i].calls;
	g->mem_slot |= calls > 1;
	gen_check_calls(g, calls);
	return ir_library(g->ir, name, params, sizes, args, n);
}

/* ---- statements --------------------------------------------------------- */

void gen_stop(struct gen *g)
{
	ir_jump(g->ir, g->fn.leave);
	ir_at(g->ir, ir_block(g->ir, "unreached"));
}

/* The result of a test is used; other programs return 0. */
static void gen_return(struct gen *g, struct stmt *n)
{
	if (n->expr && g->provider->run == RUN_TEST)
		ir_store(g->ir, gen_mem_at(g, g->result_at), 0, 8, gen_value(g, n->expr));
	gen_stop(g);
}

static void gen_if(struct gen *g, struct stmt *n)
{
	struct ir_block *then, *els, *end;

	gen_named(g, n->cond.test);
	if (gate_is(n->cond.test)) {
		gate_if(g, n);
		return;
	}
	then = ir_block(g->ir, "then");
	els = ir_block(g->ir, "else");
	end = ir_block(g->ir, "endif");
	ir_branch(g->ir, gen_truth(g, n->cond.test), then, els);
	ir_at(g->ir, then);
	gen_stmts(g, n->cond.then);
	ir_jump(g->ir, end);
	ir_at(g->ir, els);
	if (n->cond.els)
		gen_stmts(g, n->cond.els);
	ir_jump(g->ir, end);
	ir_at(g->ir, end);
}

static void gen_jump_to(struct gen *g, struct ir_block *to)
{
	assert(to);
	ir_jump(g->ir, to);
	ir_at(g->ir, ir_block(g->ir, "unreached"));
}

static void gen_stmt(struct gen *g, struct stmt *n)
{
	switch (n->kind) {
	case STMT_ASSIGN:
		if (n->assign.left->kind == EXPR_VAR)
			gen_assign_var(g, n);
		else
			gen_map_assign(g, n);
		break;
	case STMT_LET:
		gen_let(g, n);
		break;
	case STMT_EXPR:
		gen_value(g, n->expr);
		break;
	case STMT_IF:
		gen_if(g, n);
		break;
	case STMT_BLOCK:
		gen_stmts(g, n->stmts);
		break;
	case STMT_UNROLL:
		gen_unroll(g, n);
		break;
	case STMT_WHILE:
		gen_while(g, n);
		break;
	case STMT_FOR_RANGE:
	case STMT_FOR_MAP:
	case STMT_FOR_STACK:
		gen_for(g, n);
		break;
	case STMT_RETURN:
		gen_return(g, n);
		break;
	case STMT_BREAK:
		gen_jump_to(g, g->fn.loop_end);
		break;
	case STMT_CONTINUE:
		gen_jump_to(g, g->fn.loop_next);
		break;
	}
}

static void set_line(struct gen *g, uint32_t at)
{
	source_move(g->script->source, &g->line, at);
	ir_line(g->ir, g->line.lines + 1, g->line.at - g->line.line_start + 1);
}

void gen_stmts(struct gen *g, struct stmt *first)
{
	if (first && first->kind == STMT_BLOCK && !first->next)
		first = first->stmts;
	if (!gen_parts(g, first))
		gen_stmts_until(g, first, NULL);
}

void gen_stmts_until(struct gen *g, struct stmt *first, const struct stmt *end)
{
	for (struct stmt *n = first; n != end; n = n->next) {
		struct gen_mark mark = gen_mark(g);

		set_line(g, n->span.start);
		g->at = n->span;
		gen_stmt(g, n);
		gen_release(g, mark);
	}
}

/* ---- a program ---------------------------------------------------------- */

/* Writes a byte to an iterator's file for each object, see probes/iter.c. There is no object after the last
 * one. */
static void count_object(struct gen *g, struct ir_block *out)
{
	struct ir_block *is_there = ir_block(g->ir, "is_there");
	struct ir *meta, *file, *byte = ir_alloca(g->ir, 8);

	ir_branch(g->ir, ir_compare(g->ir, IR_EQ, ir_load_ctx(g->ir, gen_ctx(g), 8, 8, false), ir_int(g->ir, 0)), out,
		is_there);
	ir_at(g->ir, is_there);
	ir_store(g->ir, byte, 0, 8, ir_int(g->ir, 0));
	meta = ir_load_ctx(g->ir, gen_ctx(g), 0, 8, false);
	file = ir_load_ctx(g->ir, meta, 0, 8, false);
	gen_call(g, BPF_FUNC_seq_write, 3, file, byte, ir_int(g->ir, 1));
}

struct ir *gen_wanted_ids(struct gen *g)
{
	return ir_library_u64(g->ir, g->opt->pid_tree ? "tree_ids" : "wanted_ids");
}

/* Continues only if the condition is true. */
static void only_if(struct gen *g, struct ir *condition, struct ir_block *out)
{
	struct ir_block *on = ir_block(g->ir, "on");

	ir_branch(g->ir, condition, on, out);
	ir_at(g->ir, on);
}

/* A switch from strata to a thread is also an event of that thread: without it, the thread would still be
 * off its CPU. And an interrupt that comes while strata runs is not an event of strata. */
bool gen_wants_own_events(const struct gen *g)
{
	for (const struct attach_point *ap = g->probe->points; ap; ap = ap->next)
		for (const struct place *p = ap->places; p; p = p->next)
			if (!p->of_others)
				return false;
	return true;
}

/* Does the work of wanted_ids() without a call, which is expensive for a program of ten instructions, and
 * also accepts strata's own events if they are events of other threads, too. The verifier knows the values
 * in .rodata and drops branches that are not taken. */
static void filter_process(struct gen *g, struct ir_block *out)
{
	struct ir_block *one = ir_block(g->ir, "one"), *all = ir_block(g->ir, "all"), *on = ir_block(g->ir, "on");
	struct ir *only, *pid, *own;

	gen_clock_early(g);
	gen_current_ids(g, g->fn.ids);
	pid = ir_binary(g->ir, IR_LSHR, ir_load(g->ir, g->fn.ids, 0, 8, false), ir_int(g->ir, 32));
	only = ir_library_value(g->ir, "only_pid", 4, ".rodata");
	ir_branch(g->ir, only, one, all);
	ir_at(g->ir, one);
	ir_branch(g->ir, ir_compare(g->ir, IR_EQ, pid, only), on, out);
	ir_at(g->ir, all);
	own = ir_compare(g->ir, IR_EQ, pid, ir_library_value(g->ir, "own_pid", 4, ".rodata"));
	ir_branch(g->ir, own, gen_wants_own_events(g) ? on : out, on);
	ir_at(g->ir, on);
}

/* config thin: one event in N, chosen at random. Each Nth would prefer events of a pattern. */
static void leave_out(struct gen *g, struct ir_block *out)
{
	struct ir *random, *share;

	if (g->opt->thin <= 1 || !thin_event(g->probe, g->provider))
		return;
	random = ir_binary(g->ir, IR_AND, gen_call(g, BPF_FUNC_get_prandom_u32, 0), ir_int(g->ir, UINT32_MAX));
	share = ir_int(g->ir, (1ull << 32) / g->opt->thin);
	only_if(g, ir_compare(g->ir, IR_ULT, random, share), out);
}

/* Leaves the program after the end of the script, and for processes that -p or -c excludes: see
 * bpf/lib/who.bpf.c. */
static void filter_event(struct gen *g, struct ir_block *out)
{
	struct ir *ids;

	if (g->provider->ctx == CTX_ITER)
		count_object(g, out);
	if (g->provider->run != RUN_ATTACHED)
		return;
	only_if(g, ir_compare(g->ir, IR_EQ, ir_library_value(g->ir, "stopped", 4, ".data.stopped"), ir_int(g->ir, 0)),
		out);
	leave_out(g, out);
	if (g->provider->any_process || g->opt->all_processes)
		return;
	g->fn.ids = ir_alloca(g->ir, 8);
	if (!g->opt->pid_tree) {
		filter_process(g, out);
		return;
	}
	ids = gen_wanted_ids(g);
	ir_store(g->ir, g->fn.ids, 0, 8, ids);
	only_if(g, ir_compare(g->ir, IR_NE, ids, ir_int(g->ir, UNWANTED)), out);
}

/* The filter of --container, --cgroup and --user comes first, because it costs less than a walk. */
static struct expr *whole_predicate(struct gen *g)
{
	struct expr *filter = g->probe->filter, *predicate = g->probe->predicate, *both;

	if (!filter || g->provider->run != RUN_ATTACHED || g->provider->any_process || g->opt->all_processes)
		return predicate;
	if (!predicate)
		return filter;
	both = arena_new_obj(g->arena, struct expr);
	*both = (struct expr){.kind = EXPR_BINOP, .span = predicate->span, .type = type_bool};
	both->op.op = OP_LAND;
	both->op.left = filter;
	both->op.right = predicate;
	return both;
}

static void gen_predicate(struct gen *g)
{
	struct gen_mark mark = gen_mark(g);
	struct ir_block *pass;

	if (!g->predicate)
		return;
	gen_named(g, g->predicate);
	if (gate_is(g->predicate)) {
		gate_predicate(g, g->predicate);
	} else {
		pass = ir_block(g->ir, "pass");
		ir_branch(g->ir, gen_truth(g, g->predicate), pass, g->fn.leave);
		ir_at(g->ir, pass);
	}
	gen_release(g, mark);
}

enum { ON_STACK_MAX = 128 };

/* Returns whether temporaries are on the BPF stack instead of in a scratch slot. Taking a slot and giving
 * it back costs some 30 ns. But library functions find a slot by its number; programs that call functions
 * need the stack for them; and for an offset that is not constant, the verifier treats a slot's memory as
 * one piece, but not the stack's. */
static bool is_on_stack(const struct gen *g)
{
	return g->mem_used && !g->mem_slot && !g->has_bodies && g->mem_most <= ON_STACK_MAX;
}

static bool needs_slot(const struct gen *g)
{
	return g->mem_used && !is_on_stack(g);
}

/* The prologue takes the scratch slot. It is generated last, when it is known whether the program needs
 * one. */
static void scratch_prologue(struct gen *g, struct ir_block *body, struct ir_block *out)
{
	struct ir_block *taken, *ready;
	struct ir *slot, *mem, *key;

	if (is_on_stack(g)) {
		mem = ir_alloca(g->ir, g->mem_most);
		gen_zero(g, mem, (g->mem_most + 7) & ~7u); /* kernels before 6.3 only read written bytes */
		ir_set_ptr(g->ir, g->fn.mem_ptr, mem);
	}
	if (!needs_slot(g)) {
		ir_jump(g->ir, body);
		return;
	}
	taken = ir_block(g->ir, "taken");
	ready = ir_block(g->ir, "ready");
	key = ir_alloca(g->ir, 8);
	slot = gen_library(g, "scratch_take", NULL, NULL, NULL, 0);
	ir_branch(g->ir, ir_compare(g->ir, IR_SLT, slot, ir_int(g->ir, 0)), out, taken);
	ir_at(g->ir, taken);
	ir_store(g->ir, g->fn.slot_index, 0, 8, slot);
	ir_store(g->ir, key, 0, 4, slot);
	mem = gen_lookup(g, g->scratch, key);
	ir_branch(g->ir, ir_is_null(g->ir, mem), out, ready);
	ir_at(g->ir, ready);
	ir_set_ptr(g->ir, g->fn.mem_ptr, mem);
	ir_jump(g->ir, body);
}

static void scratch_epilogue(struct gen *g)
{
	static const char *const params[] = {"int"};
	struct ir *slot;

	if (!needs_slot(g))
		return;
	slot = gen_slot(g);
	gen_library(g, "scratch_give", params, NULL, &slot, 1);
}

static void program_begin(struct gen *g, const char *name)
{
	source_move(g->script->source, &g->line, g->probe->span.start);
	ir_prog_begin(g->ir, name, g->provider->section, g->line.lines + 1);
	g->fn = (struct gen_fn){};
	g->mem_top = g->mem_kept = 0;
	g->mem_most = g->nwalks = g->zeroed = 0;
	g->mem_used = g->mem_slot = g->mem_full = g->sleeps = false;
	g->at = g->probe->span;
	gen_find_loops(g, g->probe->body);
	if (g->has_bodies)
		g->stop_at = gen_mem_take(g, 8);
	if (g->provider->run == RUN_TEST)
		g->result_at = gen_mem_take(g, 8);
	g->predicate = whole_predicate(g);
	gate_plan(g);
	g->fn.mem_ptr = ir_alloca_ptr(g->ir);
	g->fn.slot_index = ir_alloca(g->ir, 8);
	g->fn.leave = ir_block(g->ir, "leave");
}

static void gen_program(struct gen *g, const char *name)
{
	struct ir_block *prologue, *body, *out;
	struct ir *result;

	program_begin(g, name);
	result = g->provider->run == RUN_TEST ? gen_local(g) : NULL;
	if (result)
		ir_store(g->ir, result, 0, 8, ir_int(g->ir, 0));
	prologue = ir_block(g->ir, "prologue");
	body = ir_block(g->ir, "body");
	out = ir_block(g->ir, "out");
	filter_event(g, out);
	gen_tick(g, out);
	ir_jump(g->ir, prologue);
	ir_at(g->ir, body);
	gen_vars_make(g);
	gate_begin(g);
	if (result)
		gen_zero(g, gen_mem_at(g, g->result_at), 8);
	gen_predicate(g);
	if (g->opt->counts && g->provider->run == RUN_ATTACHED && !g->provider->any_process)
		gen_library(g, "count_event", NULL, NULL, NULL, 0);
	gen_stmts(g, g->probe->body);
	ir_jump(g->ir, g->fn.leave);
	ir_at(g->ir, g->fn.leave);
	if (result)
		ir_store(g->ir, result, 0, 8, ir_load(g->ir, gen_mem_at(g, g->result_at), 0, 8, false));
	scratch_epilogue(g);
	ir_jump(g->ir, out);
	ir_at(g->ir, prologue);
	scratch_prologue(g, body, out);
	ir_at(g->ir, out);
	ir_return(g->ir, result ? ir_load(g->ir, result, 0, 8, false) : ir_int(g->ir, 0));
	ir_prog_end(g->ir);
}

/* ---- choosing the programs ----------------------------------------------- */

static struct image_prog *add_prog(struct gen *g)
{
	struct image *img = g->img;

	if (img->nprogs == g->progs_cap) {
		struct image_prog *more;

		g->progs_cap = g->progs_cap ? g->progs_cap * 2 : 16;
		more = arena_new_array(g->arena, struct image_prog, g->progs_cap);
		if (img->nprogs)
			memcpy(more, img->progs, sizeof(*more) * img->nprogs);
		img->progs = more;
	}
	return &img->progs[img->nprogs++];
}

void gen_function_add(struct gen *g, const char *name, struct span span)
{
	struct gen_function *f = arena_new_obj(g->arena, struct gen_function);

	*f = (struct gen_function){name, span, g->functions};
	g->functions = f;
}

static struct image_prog *make_program(struct gen *g)
{
	const char *name = arena_printf(g->arena, "probe_%u", g->img->nprogs);
	struct image_prog *p = add_prog(g);

	*p = (struct image_prog){
		.name = name,
		.section = g->provider->section,
		.provider = g->provider,
		.first_place = g->first_place,
		.nplaces = 1,
		.span = g->probe->points->span,
	};
	g->bound_to_place = g->provider->ctx == CTX_TRAMPOLINE ||
		g->provider->ctx == CTX_ITER; /* the kernel loads it for a single function */
	g->bound_to_args = false;
	gen_program(g, name);
	g->img->progs[g->img->nprogs - 1].sleeps = g->sleeps;
	gen_function_add(g, name, g->probe->points->span);
	return &g->img->progs[g->img->nprogs - 1];
}

void gen_program_add(struct gen *g, const char *name, struct span span)
{
	g->bound_to_place = g->bound_to_args = false;
	gen_program(g, name);
	gen_function_add(g, name, span);
}

static bool same_args(const struct place *a, const struct place *b)
{
	return a->fields == b->fields && a->abi == b->abi;
}

/* One program serves all places of an attach point, unless its code is only valid for some: arguments are
 * in other places there, or the code contains the place's name, since there are no attach cookies. */
static void make_point(struct gen *g, struct attach_point *ap)
{
	struct image_prog *shared = NULL;
	const struct place *before = NULL;
	unsigned from = g->img->nprogs;

	g->provider = ap->provider;
	gen_point_begin(g, ap);
	for (const struct place *p = ap->places; p; before = p, p = p->next) {
		uint32_t i = gen_place_add(g, p);

		if (shared && (!g->bound_to_args || same_args(p, before))) {
			shared->nplaces++;
			continue;
		}
		g->place = p;
		g->first_place = i;
		shared = make_program(g);
		if (g->bound_to_place)
			shared = NULL;
	}
	gen_point_end(g, ap, from);
}

/* The number of maps is limited, since LLVM visits all maps for each program. */
enum { MAPS_MAX = 512 };

static void define_maps(struct gen *g)
{
	g->img->maps = arena_new_array(g->arena, struct image_map, g->script->nmaps + 1);
	for (struct map *m = g->script->maps; m; m = m->next) {
		m->index = g->img->nmaps++;
		gen_map_define(g, m, &g->img->maps[m->index]);
		if (m->index == MAPS_MAX)
			diag(g->opt->diags, m->key ? m->first_key : m->first_value, DIAG_TOO_LARGE,
				"a script has at most %d maps: @%s is one more", MAPS_MAX, m->name);
	}
}

/* A predicate that is an option of the script, not given: its events are not wanted, and would only cost time. */
static bool is_off(const struct probe *p)
{
	return p->predicate && p->predicate->kind == EXPR_BOOL && !p->predicate->boolean;
}

enum { LINE = 64 }; /* bytes of a line of the CPU's cache */

static void gen_all(struct gen *g)
{
	const struct ir_map scratch = {
		.name = "scratch",
		.type = BPF_MAP_TYPE_ARRAY,
		.key_size = 4,
		.value_size = 8, /* the session changes it to image.scratch_size */
		.max_entries = g->opt->ncpus * SCRATCH_SLOTS,
		.flags = BPF_F_MMAPABLE, /* only so that it begins at a page, and each slot at a line of the cache */
	};

	g->scratch = ir_map(g->ir, &scratch);
	for (struct probe *p = g->script->probes; p; p = p->next) {
		if (is_off(p) && g->script->probes->next)
			continue;
		g->probe = p;
		for (struct attach_point *ap = p->points; ap; ap = ap->next)
			make_point(g, ap);
	}
	gate_applies(g);
	g->img->scratch_size = g->mem_max ? (g->mem_max + LINE - 1) & ~(LINE - 1u) : 8;
}

/* ---- output -------------------------------------------------------------- */

#define BLOB(name) (struct bpf_blob){#name, bpf_obj_##name, bpf_obj_##name##_size}

static struct bpf_blob base_blob(const struct gen *g)
{
	if (!g->img->unwinder)
		return BLOB(base);
	return g->opt->no_loops ? BLOB(stacks_noloop) : BLOB(stacks);
}

static int link_image(struct gen *g, void *elf, size_t size, void **ret, size_t *ret_size)
{
	const struct image *img = g->img;
	struct bpf_blob *blobs = arena_new_array(g->arena, struct bpf_blob, 14 + g->opt->nc_objects);
	size_t n = 0;
	int r;

	blobs[n++] = base_blob(g);
	if (g->opt->counts)
		blobs[n++] = BLOB(events);
	if (g->opt->pid_tree)
		blobs[n++] = BLOB(tree);
	if (img->kernel_stacks || img->grows)
		blobs[n++] = BLOB(kstack);
	if (img->gates)
		blobs[n++] = BLOB(match);
	if (img->paths)
		blobs[n++] = BLOB(path);
	if (img->requests)
		blobs[n++] = g->opt->no_loops ? BLOB(request_noloop) : BLOB(request);
	if (img->tasks)
		blobs[n++] = BLOB(task);
	if (img->problems || img->grows)
		blobs[n++] = BLOB(problem);
	if (img->handover || img->grows)
		blobs[n++] = BLOB(handover);
	if (img->grows)
		blobs[n++] = BLOB(walker);
	for (unsigned i = 0; i < g->opt->nc_objects; i++)
		blobs[n++] = adopted_object(g->arena, g->opt->c_objects[i].name, g->opt->c_objects[i].data,
			g->opt->c_objects[i].size);
	blobs[n++] = (struct bpf_blob){"script", elf, size};
	r = link_bpf(blobs, n, ret, ret_size);
	if (r && g->opt->nc_objects)
		log_hint("a function or variable of an imported program in C may have the name of another one, or of "
			"one of strata's own: make it static, or rename it");
	return r;
}

#undef BLOB

/* A jump spans at most 32,767 instructions, and a program's first jump goes to its end. */
enum { FUNCTION_MAX = 32000, UNOPTIMIZED_MAX = 3 * FUNCTION_MAX };

static bool sizes_fit(struct gen *g, unsigned most)
{
	for (const struct gen_function *f = g->functions; f; f = f->next) {
		if (ir_function_size(g->ir, f->name) <= most)
			continue;
		diag(g->opt->diags, f->span, DIAG_TOO_LARGE,
			"this becomes more than the %d instructions of a BPF function",
			FUNCTION_MAX);
		diag_hint(g->opt->diags, "split it into several probes, or write what repeats as a loop");
	}
	return !diags_failed(g->opt->diags);
}

static void refuse_stack(struct gen *g, const char *function)
{
	const struct gen_function *f = g->functions;

	while (f->next && strcmp(f->name, function))
		f = f->next;
	diag(g->opt->diags, f->span, DIAG_TOO_LARGE,
		"this needs more than the 512 bytes of stack of a BPF program");
	diag_hint(g->opt->diags, "split long expressions, or split it into several probes");
}

static bool finish(struct gen *g)
{
	_cleanup_(freep) void *elf = NULL, *linked = NULL;
	size_t size, linked_size;

	int r;

	if (!sizes_fit(g, UNOPTIMIZED_MAX) || ir_optimize(g->ir) || !sizes_fit(g, FUNCTION_MAX))
		return false;
	r = ir_finish(g->ir, &elf, &size);
	if (r == -E2BIG)
		refuse_stack(g, ir_refused(g->ir));
	if (r)
		return false;
	if (g->opt->dump_llvm)
		ir_dump(g->ir, g->opt->dump_llvm);
	drop_lines(elf);
	if (link_image(g, elf, size, &linked, &linked_size))
		return false;
	if (g->walks_all || g->img->grows)
		g->img->languages = 0;
	g->img->elf = memcpy(arena_alloc(g->arena, linked_size), linked, linked_size);
	g->img->elf_size = linked_size;
	return true;
}

/* Returns -EAGAIN if the script needs the unwinder's functions. */
static int generate(struct script *s, const struct codegen_options *opt, bool has_walker, struct image **ret)
{
	struct gen g = {.arena = s->arena, .script = s, .opt = opt, .has_walker = has_walker};
	int r = 0;

	g.ir = ir_new(s->source->name);
	if (!g.ir)
		return -EINVAL;
	g.img = arena_new_obj(s->arena, struct image);
	g.img->number = opt->image;
	g.img->calls_c = opt->nc_objects;
	g.img->grows = g.img->unwinder = g.img->ring = opt->grows;
	g.img->stack_limit = opt->grows ? UNWIND_LIMIT_DEFAULT : 0;
	g.img->source = s->source;
	g.img->facts = opt->facts;
	define_maps(&g);
	if (!diags_failed(opt->diags))
		gen_all(&g);
	if (g.img->nrecords > IMAGE_RECORDS_MAX)
		diag(opt->diags, g.img->records[IMAGE_RECORDS_MAX].span, DIAG_TOO_LARGE,
			"a script has at most %u calls that print", IMAGE_RECORDS_MAX);
	if (opt->nc_objects)
		facts_bind(opt->facts, (struct span){}, "imported C programs are compiled for this kernel");
	if (diags_failed(opt->diags))
		r = -EINVAL;
	else if (g.needs_unwinder && has_walker)
		r = -EAGAIN;
	else if (!finish(&g))
		r = -EINVAL;
	ir_free(g.ir);
	INVARIANT(r || image_is_whole(g.img));
	if (!r)
		*ret = g.img;
	return r;
}

bool codegen(struct script *s, const struct codegen_options *opt, struct image **ret)
{
	int r = generate(s, opt, opt->has_walker, ret);

	if (r == -EAGAIN)
		r = generate(s, opt, false, ret);
	return !r;
}
