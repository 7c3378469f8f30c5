// SPDX-License-Identifier: Apache-2.0
/* gen.c - the typed tree, probe by probe, to programs: prologue, statements,
 * epilogue. Expressions, maps and records have files of their own. */
#include "gen.h"

#include <assert.h>
#include <linux/bpf.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/owner.h"
#include "bpf/objects.h"
#include "bpf/unwind.h"
#include "codegen/link.h"

/* ---- temporaries -------------------------------------------------------- */

static const uint32_t pool_size[GEN_POOL_CLASSES] = {8, 16, 32};

struct gen_mark gen_mark(struct gen *g)
{
	struct gen_mark m = {.mem_top = g->mem_top};

	for (int i = 0; i < GEN_POOL_CLASSES; i++)
		m.used[i] = g->pool[i].used;
	return m;
}

void gen_release(struct gen *g, struct gen_mark m)
{
	g->mem_top = m.mem_top;
	for (int i = 0; i < GEN_POOL_CLASSES; i++)
		g->pool[i].used = m.used[i];
}

struct ir *gen_mem(struct gen *g, uint32_t size)
{
	uint32_t at = g->mem_top;

	g->mem_used = true;
	g->mem_top += (size + 7) & ~7u;
	if (g->mem_top > g->mem_max)
		g->mem_max = g->mem_top;
	return emit_offset(g->e, emit_get_ptr(g->e, g->mem_room), at);
}

struct ir *gen_tmp(struct gen *g, uint32_t size)
{
	for (int i = 0; i < GEN_POOL_CLASSES; i++) {
		unsigned n = g->pool[i].used;

		/* A program's own stack is small: the unwinder needs the rest of 512. */
		if (size > pool_size[i] || n >= 4)
			continue;
		if (n == g->pool[i].made)
			g->pool[i].room[g->pool[i].made++] = emit_alloca(g->e, pool_size[i]);
		g->pool[i].used++;
		return g->pool[i].room[n];
	}
	return gen_mem(g, size);
}

struct ir *gen_local(struct gen *g)
{
	return emit_alloca(g->e, 8);
}

struct ir *gen_slot(struct gen *g)
{
	g->mem_used = true;
	return emit_load(g->e, g->slot_room, 0, 8, false);
}

/* ---- statements --------------------------------------------------------- */

void gen_stop(struct gen *g)
{
	emit_jump(g->e, g->leave);
	emit_at(g->e, emit_block(g->e, "unreached"));
}

static void gen_if(struct gen *g, struct node *n)
{
	struct ir_block *then = emit_block(g->e, "then");
	struct ir_block *els = emit_block(g->e, "else");
	struct ir_block *end = emit_block(g->e, "endif");

	emit_branch(g->e, gen_truth(g, n->cond.test), then, els);
	emit_at(g->e, then);
	gen_stmts(g, n->cond.then);
	emit_jump(g->e, end);
	emit_at(g->e, els);
	if (n->cond.els)
		gen_stmts(g, n->cond.els);
	emit_jump(g->e, end);
	emit_at(g->e, end);
}

static void var_store(struct gen *g, struct var *v, struct ir *value, const struct type *from)
{
	gen_put(g, value, from, v->type, v->slot, 0);
}

static void gen_assign_var(struct gen *g, struct node *n)
{
	struct var *v = n->op.left->var.var;
	struct ir *value;

	if (n->op.op == OP_NONE) {
		gen_into(g, n->op.right, v->type, v->slot, 0);
		return;
	}
	value = gen_value(g, n->op.right);
	value = gen_binary(g, n->op.op, v->type, gen_get(g, v->type, v->slot, 0),
		n->op.right->type, value);
	var_store(g, v, value, v->type);
}

static void gen_let(struct gen *g, struct node *n)
{
	struct var *v = n->let.var->var.var;

	if (n->let.value)
		gen_into(g, n->let.value, v->type, v->slot, 0);
	else
		gen_zero(g, v->slot, type_in_memory(v->type) ? v->type->size : 8);
}

static void loop_body(struct gen *g, struct node *body, struct ir_block *next,
	struct ir_block *end)
{
	struct ir_block *outer_next = g->loop_next, *outer_end = g->loop_end;

	g->loop_next = next;
	g->loop_end = end;
	gen_stmts(g, body);
	g->loop_next = outer_next;
	g->loop_end = outer_end;
}

static void gen_while(struct gen *g, struct node *n)
{
	struct ir_block *test = emit_block(g->e, "while");
	struct ir_block *body = emit_block(g->e, "body");
	struct ir_block *end = emit_block(g->e, "endwhile");

	emit_jump(g->e, test);
	emit_at(g->e, test);
	emit_branch(g->e, gen_truth(g, n->cond.test), body, end);
	emit_at(g->e, body);
	loop_body(g, n->cond.then, test, end);
	emit_jump(g->e, test);
	emit_at(g->e, end);
}

static void gen_for_range(struct gen *g, struct node *n)
{
	struct var *v = n->loop.var->var.var;
	struct ir_block *test = emit_block(g->e, "for");
	struct ir_block *body = emit_block(g->e, "body");
	struct ir_block *step = emit_block(g->e, "step");
	struct ir_block *end = emit_block(g->e, "endfor");
	struct ir *i = gen_local(g), *to = gen_local(g), *at;

	emit_store(g->e, i, 0, 8, gen_value(g, n->loop.from));
	emit_store(g->e, to, 0, 8, gen_value(g, n->loop.to));
	emit_jump(g->e, test);
	emit_at(g->e, test);
	at = emit_load(g->e, i, 0, 8, true);
	emit_branch(g->e, emit_compare(g->e, EMIT_SLT, at, emit_load(g->e, to, 0, 8, true)),
		body, end);
	emit_at(g->e, body);
	var_store(g, v, emit_load(g->e, i, 0, 8, true), v->type);
	loop_body(g, n->loop.body, step, end);
	emit_jump(g->e, step);
	emit_at(g->e, step);
	at = emit_load(g->e, i, 0, 8, true);
	emit_store(g->e, i, 0, 8, emit_binary(g->e, EMIT_ADD, at, emit_int(g->e, 1)));
	emit_jump(g->e, test);
	emit_at(g->e, end);
}

static void gen_unroll(struct gen *g, struct node *n)
{
	struct ir_block *end = emit_block(g->e, "endunroll");

	for (uint64_t i = 0; i < n->loop.from->integer.value; i++) {
		struct ir_block *next = emit_block(g->e, "unroll");

		loop_body(g, n->loop.body, next, end);
		emit_jump(g->e, next);
		emit_at(g->e, next);
	}
	emit_jump(g->e, end);
	emit_at(g->e, end);
}

static void gen_jump_to(struct gen *g, struct ir_block *to)
{
	assert(to);
	emit_jump(g->e, to);
	emit_at(g->e, emit_block(g->e, "unreached"));
}

static void gen_stmt(struct gen *g, struct node *n)
{
	switch (n->kind) {
	case N_ASSIGN:
		if (n->op.left->kind == N_VAR)
			gen_assign_var(g, n);
		else
			gen_map_assign(g, n);
		break;
	case N_LET:
		gen_let(g, n);
		break;
	case N_EXPR:
		gen_value(g, n->expr);
		break;
	case N_IF:
		gen_if(g, n);
		break;
	case N_BLOCK:
		gen_stmts(g, n->stmts);
		break;
	case N_UNROLL:
		gen_unroll(g, n);
		break;
	case N_WHILE:
		gen_while(g, n);
		break;
	case N_FOR_RANGE:
		gen_for_range(g, n);
		break;
	case N_RETURN:
		gen_stop(g);
		break;
	case N_BREAK:
		gen_jump_to(g, g->loop_end);
		break;
	case N_CONTINUE:
		gen_jump_to(g, g->loop_next);
		break;
	case N_INT:
	case N_STRING:
	case N_BOOL:
	case N_PARAM:
	case N_WORD:
	case N_VAR:
	case N_MAP:
	case N_CALL:
	case N_FIELD:
	case N_INDEX:
	case N_UNOP:
	case N_BINOP:
	case N_TERNARY:
	case N_CAST:
	case N_TUPLE:
	case N_MAX:
		gen_value(g, n);
	}
}

void gen_stmts(struct gen *g, struct node *first)
{
	if (first && first->kind == N_BLOCK && !first->next)
		first = first->stmts;
	for (struct node *n = first; n; n = n->next) {
		struct gen_mark mark = gen_mark(g);
		unsigned line, col;

		source_place(g->script->source, n->span.start, &line, &col);
		emit_line(g->e, line, col);
		gen_stmt(g, n);
		gen_release(g, mark);
	}
}

/* ---- a program ---------------------------------------------------------- */

static void make_vars(struct gen *g)
{
	for (struct var *v = g->probe->vars; v; v = v->next) {
		if (!v->type || v->type->kind == TYPE_BAD)
			continue;
		if (type_in_memory(v->type)) {
			v->slot = gen_mem(g, v->type->size);
			gen_zero(g, v->slot, v->type->size);
		} else {
			v->slot = emit_alloca(g->e, 8);
			emit_store(g->e, v->slot, 0, 8, emit_int(g->e, 0));
		}
	}
}

/* bpf/who.bpf.c: not after the end, and of the processes that -p, -c or neither mean. */
static void filter_event(struct gen *g, struct ir_block *out)
{
	const char *filter = g->provider->any_process ? "is_running" :
		g->opt->pid_tree ? "in_tree" : "is_wanted";
	struct ir_block *wanted;

	if (g->provider->run != RUN_ATTACHED)
		return;
	wanted = emit_block(g->e, "wanted");
	emit_branch(g->e, emit_library(g->e, filter, NULL, NULL, NULL, 0), wanted, out);
	emit_at(g->e, wanted);
}

static void gen_predicate(struct gen *g)
{
	struct gen_mark mark = gen_mark(g);
	struct ir_block *pass;

	if (!g->probe->predicate)
		return;
	pass = emit_block(g->e, "pass");
	emit_branch(g->e, gen_truth(g, g->probe->predicate), pass, g->leave);
	emit_at(g->e, pass);
	gen_release(g, mark);
}

/* Where the scratch slot is taken is written last: only then is it known whether
 * the program needs one. */
static void scratch_prologue(struct gen *g, struct ir_block *body, struct ir_block *out)
{
	struct ir_block *taken, *ready;
	struct ir *slot, *mem, *key;

	if (!g->mem_used) {
		emit_jump(g->e, body);
		return;
	}
	taken = emit_block(g->e, "taken");
	ready = emit_block(g->e, "ready");
	key = emit_alloca(g->e, 8);
	slot = emit_library(g->e, "scratch_take", NULL, NULL, NULL, 0);
	emit_branch(g->e, emit_compare(g->e, EMIT_SLT, slot, emit_int(g->e, 0)), out, taken);
	emit_at(g->e, taken);
	emit_store(g->e, g->slot_room, 0, 8, slot);
	emit_store(g->e, key, 0, 4, slot);
	mem = gen_lookup(g, g->scratch, key);
	emit_branch(g->e, emit_is_null(g->e, mem), out, ready);
	emit_at(g->e, ready);
	emit_set_ptr(g->e, g->mem_room, mem);
	emit_jump(g->e, body);
}

static void scratch_epilogue(struct gen *g)
{
	static const char *const params[] = {"int"};
	struct ir *slot;

	if (!g->mem_used)
		return;
	slot = gen_slot(g);
	emit_library(g->e, "scratch_give", params, NULL, &slot, 1);
}

static void gen_program(struct gen *g, const char *name)
{
	struct ir_block *prologue, *body, *out;
	unsigned line, col;

	source_place(g->script->source, g->probe->span.start, &line, &col);
	emit_prog_begin(g->e, name, g->provider->section, line);
	memset(g->pool, 0, sizeof(g->pool));
	g->mem_top = 0;
	g->mem_used = false;
	g->mem_room = emit_alloca_ptr(g->e);
	g->slot_room = emit_alloca(g->e, 8);
	g->leave = emit_block(g->e, "leave");
	prologue = emit_block(g->e, "prologue");
	body = emit_block(g->e, "body");
	out = emit_block(g->e, "out");
	filter_event(g, out);
	emit_jump(g->e, prologue);
	emit_at(g->e, body);
	make_vars(g);
	gen_predicate(g);
	gen_stmts(g, g->probe->body);
	emit_jump(g->e, g->leave);
	emit_at(g->e, g->leave);
	scratch_epilogue(g);
	emit_jump(g->e, out);
	emit_at(g->e, prologue);
	scratch_prologue(g, body, out);
	emit_at(g->e, out);
	emit_return(g->e, emit_int(g->e, 0));
	emit_prog_end(g->e);
}

/* ---- which programs ----------------------------------------------------- */

static uint32_t add_place(struct gen *g, const struct place *p)
{
	struct image *img = g->img;

	if (img->nplaces == g->places_cap) {
		struct image_place *more;

		g->places_cap = g->places_cap ? g->places_cap * 2 : 64;
		more = arena_new_array(g->arena, struct image_place, g->places_cap);
		if (img->nplaces)
			memcpy(more, img->places, sizeof(*more) * img->nplaces);
		img->places = more;
	}
	img->places[img->nplaces].place = p;
	return img->nplaces++;
}

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
		.span = g->probe->span,
	};
	g->bound_to_place = g->provider->ctx == CTX_TRAMPOLINE; /* is loaded for its function */
	gen_program(g, name);
	return &g->img->progs[g->img->nprogs - 1];
}

/* One program serves all places of an attach point, unless what was generated holds
 * for its place only: arguments that lie elsewhere in another, or the place's own
 * name where the kernel gives no attach cookie. */
static void make_point(struct gen *g, struct attach_point *ap)
{
	struct image_prog *shared = NULL;
	const struct place *before = NULL;

	g->provider = ap->provider;
	for (const struct place *p = ap->places; p; before = p, p = p->next) {
		uint32_t i = add_place(g, p);

		if (!before || !p->at_return || !before->at_return || strcmp(p->name, before->name))
			g->named_place = i;
		if (shared) {
			shared->nplaces++;
			continue;
		}
		g->place = p;
		g->first_place = i;
		shared = make_program(g);
		if (g->bound_to_place)
			shared = NULL;
	}
}

static void define_maps(struct gen *g)
{
	g->img->maps = arena_new_array(g->arena, struct image_map, g->script->nmaps + 1);
	for (struct map *m = g->script->maps; m; m = m->next) {
		m->index = g->img->nmaps++;
		gen_map_define(g, m, &g->img->maps[m->index]);
	}
}

static void gen_all(struct gen *g)
{
	const struct emit_map scratch = {
		.name = "scratch",
		.type = BPF_MAP_TYPE_ARRAY,
		.key_size = 4,
		.value_size = 8, /* the runtime gives it image.scratch_size */
		.max_entries = g->opt->ncpus * SCRATCH_SLOTS,
	};

	g->scratch = emit_map(g->e, &scratch);
	define_maps(g);
	for (struct probe *p = g->script->probes; p; p = p->next) {
		g->probe = p;
		for (struct attach_point *ap = p->points; ap; ap = ap->next)
			make_point(g, ap);
	}
	g->img->scratch_size = g->mem_max ? g->mem_max : 8;
}

/* ---- out ---------------------------------------------------------------- */

static int link_image(struct gen *g, void *elf, size_t size, void **ret, size_t *ret_size)
{
	struct bpf_blob blobs[8];
	size_t n = 0;

	blobs[n++] = (struct bpf_blob){"maps", bpf_obj_maps, bpf_obj_maps_size};
	blobs[n++] = (struct bpf_blob){"lib", bpf_obj_lib, bpf_obj_lib_size};
	if (g->opt->pid_tree)
		blobs[n++] = (struct bpf_blob){"tree", bpf_obj_tree, bpf_obj_tree_size};
	if (g->img->kernel_stacks)
		blobs[n++] = (struct bpf_blob){"kstack", bpf_obj_kstack, bpf_obj_kstack_size};
	if (g->img->user_stacks && g->opt->no_loops) {
		blobs[n++] = (struct bpf_blob){"unwind", bpf_obj_unwind_plain, bpf_obj_unwind_plain_size};
		blobs[n++] = (struct bpf_blob){"python", bpf_obj_python_plain, bpf_obj_python_plain_size};
	} else if (g->img->user_stacks) {
		blobs[n++] = (struct bpf_blob){"unwind", bpf_obj_unwind, bpf_obj_unwind_size};
		blobs[n++] = (struct bpf_blob){"python", bpf_obj_python, bpf_obj_python_size};
	}
	blobs[n++] = (struct bpf_blob){"script", elf, size};
	return link_bpf(blobs, n, ret, ret_size);
}

static bool finish(struct gen *g)
{
	_cleanup_(freep) void *elf = NULL, *linked = NULL;
	size_t size, linked_size;

	if (emit_finish(g->e, &elf, &size))
		return false;
	if (g->opt->dump_llvm)
		emit_dump(g->e, g->opt->dump_llvm);
	if (link_image(g, elf, size, &linked, &linked_size))
		return false;
	g->img->elf = memcpy(arena_alloc(g->arena, linked_size), linked, linked_size);
	g->img->elf_size = linked_size;
	return true;
}

bool codegen(struct script *s, const struct codegen_options *opt, struct image **ret)
{
	struct gen g = {.arena = s->arena, .script = s, .opt = opt};
	bool ok;

	g.e = emit_new(s->source->name);
	if (!g.e)
		return false;
	g.img = arena_new_obj(s->arena, struct image);
	g.img->source = s->source;
	gen_all(&g);
	ok = finish(&g);
	emit_free(g.e);
	if (ok)
		*ret = g.img;
	return ok;
}
