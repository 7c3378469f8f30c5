// SPDX-License-Identifier: Apache-2.0
/* stack.c - kstack, ustack, the stacks of languages, goid, beampid, and len(), which counts frames. The value of a
 * stack is its id; its frames are sent through the ring buffer the first time that the id occurs. */
#include <linux/bpf.h>
#include <string.h>

#include "builtins.h"

#include "base/str.h"
#include "bpf/lib/beampid.h"
#include "bpf/walk/kstack.h"
#include "bpf/walk/handover.h"
#include "codegen/gate.h"
#include "model/request.h"

/* ---- mode and limit ----------------------------------------------------- */

static void hint_modes(struct check *c)
{
	struct str names = {};

	for (int i = 0; i < STACK_MODE_MAX; i++)
		str_addf(&names, "%s%s", i ? ", " : "", stack_mode_names[i]);
	check_hint(c, "the modes are %s", str_text(&names));
	str_done(&names);
}

static bool read_mode(struct check *c, const struct expr *n, enum stack_mode *ret)
{
	const char *near;

	if (n->kind == EXPR_WORD && stack_mode_by_name(n->word, ret))
		return true;
	if (n->kind != EXPR_WORD) {
		check_fail(c, n->span, DIAG_STACK, "this is not a stack mode");
		hint_modes(c);
		return false;
	}
	near = nearest(n->word, stack_mode_names, STACK_MODE_MAX);
	check_fail(c, n->span, DIAG_STACK, "unknown stack mode: %s", n->word);
	if (near)
		check_hint(c, "did you mean %s?", near);
	else
		hint_modes(c);
	return false;
}

/* A limit of -N means the N outermost frames. */
static bool read_limit(struct check *c, const struct expr *n, int64_t max, uint32_t *ret, uint32_t *ret_last)
{
	int64_t v = 0;

	if (!expr_is_const(n, &v)) {
		check_fail(c, n->span, DIAG_STACK, "the limit of a stack must be a constant");
		return false;
	}
	if (!v || v > max || v < -max) {
		check_fail(c, n->span, DIAG_STACK,
			"the limit of a stack is 1 to %lld, or -1 to -%lld for its outermost frames, not %lld",
			(long long)max, (long long)max, (long long)v);
		return false;
	}
	if (v > 0)
		*ret = (uint32_t)v;
	else
		*ret_last = (uint32_t)-v;
	return true;
}

/* Reads from: "FUNC" and to: "FUNC". */
static const struct type *part_of_stack(struct check *c, struct expr *call, const struct type *t)
{
	const char *from = NULL, *to = NULL;

	for (struct expr *n = call->call.named; n; n = n->next) {
		bool is_from = !strcmp(n->string.label, "from");

		if (!is_from && strcmp(n->string.label, "to") != 0) {
			check_fail(c, n->span, DIAG_STACK, "%s has no argument %s:", call->call.name, n->string.label);
			check_hint(c, "%s(func, from: \"FUNC\", to: \"FUNC\") shows a part of the frames",
				call->call.name);
			return type_bad;
		}
		*(is_from ? &from : &to) = n->string.text;
	}
	return from || to ? type_stack_part(check_arena(c), t, from, to) : t;
}

static const struct type *check_stack(struct check *c, struct expr *call,
	enum frame_lang lang, uint32_t limit, uint32_t max)
{
	struct expr *a = call_arg(call, 0), *b = call_arg(call, 1);
	enum stack_mode mode = check_request(c)->settings.stack_mode;
	bool limited = b || (a && a->kind != EXPR_WORD);
	const struct type *t;
	uint32_t last = 0;

	if (a && !b && a->kind != EXPR_WORD) {
		if (!read_limit(c, a, max, &limit, &last))
			return type_bad;
	} else if (a && !read_mode(c, a, &mode)) {
		return type_bad;
	}
	if (b && !read_limit(c, b, max, &limit, &last))
		return type_bad;
	if (mode == STACK_BUILD_ID && lang == FRAME_LANG_KERNEL && a && a->kind == EXPR_WORD)
		return check_fail(c, a->span, DIAG_STACK, "build_id is a mode of user stacks");
	if (mode == STACK_BUILD_ID && lang == FRAME_LANG_KERNEL) /* the mode comes from the setting */
		mode = STACK_RAW;
	t = type_stack(check_arena(c), lang, mode, limit, limited && !last);
	return part_of_stack(c, call, last ? type_stack_last(check_arena(c), t, last) : t);
}

static const struct type *check_kstack(struct check *c, struct expr *call)
{
	return check_stack(c, call, FRAME_LANG_KERNEL, KSTACK_MAX, KSTACK_MAX);
}

/* Checks ustack and the stacks in languages.def. */
static const struct type *check_ustack(struct check *c, struct expr *call)
{
	enum frame_lang lang = FRAME_LANG_NATIVE;

	stack_lang_by_name(call->call.name, &lang);
	return check_stack(c, call, lang, UNWIND_LIMIT_DEFAULT, UNWIND_LIMIT_MAX);
}

/* All stacks are walked by DWARF's unwind tables, so this is ustack. */
static const struct type *check_dw_ustack(struct check *c, struct expr *call)
{
	struct script *s = check_script(c);

	if (!check_unstable(c, call->span, "dw_ustack", check_request(c)->settings.unstable_dw_ustack))
		return type_bad;
	if (check_is_last(c) && !s->dw_noted) {
		check_warn(c, call->span, DIAG_STACK, "dw_ustack is ustack here: no stack needs frame pointers");
		s->dw_noted = true;
	}
	return check_ustack(c, call);
}

/* ---- walking ------------------------------------------------------------ */

/* Lets the unwinder answer a struct stack_req. Returns the address of the struct. */
static struct ir *ask_unwinder(struct gen *g, enum handover_what what, uint32_t filter, uint32_t limit,
	bool len_only)
{
	struct ir *req = gen_tmp(g, sizeof(struct stack_req)), *slot = gen_slot(g);

	slot = ir_binary(g->ir, IR_AND, slot, ir_int(g->ir, SCRATCH_SLOTS - 1));
	ir_store(g->ir, req, offsetof(struct stack_req, filter), 4, ir_int(g->ir, filter));
	ir_store(g->ir, req, offsetof(struct stack_req, limit), 4, ir_int(g->ir, limit));
	ir_store(g->ir, req, offsetof(struct stack_req, slot), 4, slot);
	ir_store(g->ir, req, offsetof(struct stack_req, len_only), 2, ir_int(g->ir, len_only));
	ir_store(g->ir, req, offsetof(struct stack_req, back), 2, gen_skip(g));
	ir_store(g->ir, req, offsetof(struct stack_req, id), 8, ir_int(g->ir, 0));
	ir_store(g->ir, req, offsetof(struct stack_req, nr), 8, ir_int(g->ir, 0));
	gen_walk(g, what, len_only ? 0 : limit, req);
	g->walks_all |= what == HANDOVER_STACK && !filter;
	g->img->languages |= filter;
	g->img->user_stacks = true;
	g->img->ring = true;
	return req;
}

static struct ir *walk_user(struct gen *g, const struct type *t, uint32_t limit, bool len_only)
{
	enum frame_lang lang = (enum frame_lang)t->stack.lang;
	struct ir *req = ask_unwinder(g, HANDOVER_STACK, lang == FRAME_LANG_NATIVE ? 0 : 1U << lang, limit, len_only);

	if (!len_only && g->img->stack_limit < limit)
		g->img->stack_limit = limit;
	return req;
}

/* bpf_get_stack() needs the program's own context, so it is called here. The library makes an id from the
 * addresses. */
static struct ir *walk_kernel(struct gen *g, uint32_t limit, bool len_only)
{
	static const char *const params[] = {"kstack_req"};
	static const uint32_t sizes[] = {sizeof(struct kstack_req)};
	struct ir *req = gen_mem(g, sizeof(struct kstack_req)), *n;

	n = gen_call(g, BPF_FUNC_get_stack, 4, gen_ctx(g),
		ir_offset(g->ir, req, offsetof(struct kstack_req, ips)),
		ir_int(g->ir, limit * 8), ir_int(g->ir, 0));
	n = ir_select(g->ir, ir_compare(g->ir, IR_SLT, n, ir_int(g->ir, 0)),
		ir_int(g->ir, 0), n);
	n = ir_binary(g->ir, IR_LSHR, n, ir_int(g->ir, 3));
	ir_store(g->ir, req, offsetof(struct kstack_req, nr), 4, n);
	if (len_only)
		return req;
	ir_store(g->ir, req, offsetof(struct kstack_req, id), 8, ir_int(g->ir, 0));
	gen_library(g, "stack_kernel", params, sizes, &req, 1);
	g->img->kernel_stacks = true;
	g->img->ring = true;
	return req;
}

/* ---- lengths of stored stacks ------------------------------------------- */

/* The lengths of stacks by id, for scripts that use one. */
#define LENS "stack_lens"
static struct ir *lens(struct gen *g)
{
	static const struct ir_map m = {
		.name = LENS,
		.type = BPF_MAP_TYPE_LRU_HASH,
		.key_size = 8,
		.value_size = 8,
		.max_entries = 16384,
	};

	return ir_map(g->ir, &m);
}

static void keep_len(struct gen *g, struct ir *id, struct ir *nr)
{
	struct ir *key, *value;

	if (!g->script->stack_lens)
		return;
	key = gen_tmp(g, 8);
	value = gen_tmp(g, 8);
	ir_store(g->ir, key, 0, 8, id);
	ir_store(g->ir, value, 0, 8, nr);
	gen_call(g, BPF_FUNC_map_update_elem, 4, lens(g), key, value, ir_int(g->ir, BPF_ANY));
}

/* A stack that userspace still has to complete has no length yet. */
static void check_finished(struct gen *g, struct ir *id)
{
	struct ir_block *unknown = ir_block(g->ir, "unknown"), *known = ir_block(g->ir, "known");

	ir_branch(g->ir, ir_compare(g->ir, IR_SLT, id, ir_int(g->ir, 0)), unknown, known);
	ir_at(g->ir, unknown);
	gen_problem(g, PROBLEM_LENGTH);
	ir_jump(g->ir, known);
	ir_at(g->ir, known);
}

static struct ir *stored_len(struct gen *g, struct ir *id)
{
	struct ir_block *found = ir_block(g->ir, "found"), *end = ir_block(g->ir, "len"), *here;
	struct ir *key = gen_tmp(g, 8), *p, *n;

	check_finished(g, id);
	ir_store(g->ir, key, 0, 8, id);
	p = gen_lookup(g, lens(g), key);
	here = ir_here(g->ir);
	ir_branch(g->ir, ir_is_null(g->ir, p), end, found);
	ir_at(g->ir, found);
	n = ir_load(g->ir, p, 0, 8, false);
	ir_jump(g->ir, end);
	ir_at(g->ir, end);
	return ir_phi(g->ir, ir_int(g->ir, 0), here, n, found);
}

/* Walks, unless the program has walked this stack. */
static struct ir *walk_once(struct gen *g, struct expr *call, uint32_t at,
	struct ir *(*walk)(struct gen *g, struct expr *call))
{
	struct ir_block *first = ir_block(g->ir, "first_walk"), *end = ir_block(g->ir, "walked");
	struct ir *done = ir_load(g->ir, gen_mem_at(g, at - 8), 0, 8, false);

	ir_branch(g->ir, ir_compare(g->ir, IR_EQ, done, ir_int(g->ir, 0)), first, end);
	ir_at(g->ir, first);
	ir_store(g->ir, gen_mem_at(g, at), 0, 8, walk(g, call));
	ir_store(g->ir, gen_mem_at(g, at - 8), 0, 8, ir_int(g->ir, 1));
	ir_jump(g->ir, end);
	ir_at(g->ir, end);
	return ir_load(g->ir, gen_mem_at(g, at), 0, 8, false);
}

static struct ir *id_of_kernel(struct gen *g, struct expr *call)
{
	struct ir *req = walk_kernel(g, call->type->stack.limit, false);
	struct ir *id = ir_load(g->ir, req, offsetof(struct kstack_req, id), 8, false);

	keep_len(g, id, ir_load(g->ir, req, offsetof(struct kstack_req, nr), 4, false));
	return id;
}

static struct ir *gen_kstack(struct gen *g, struct expr *call, struct ir *into)
{
	uint32_t at = gate_walk_at(g, call->type);

	return at ? walk_once(g, call, at, id_of_kernel) : id_of_kernel(g, call);
}

static struct ir *id_of_user(struct gen *g, struct expr *call)
{
	struct ir *req = walk_user(g, call->type, call->type->stack.limit, false);
	struct ir *id = ir_load(g->ir, req, offsetof(struct stack_req, id), 8, false);

	keep_len(g, id, ir_select(g->ir, ir_compare(g->ir, IR_SLT, id, ir_int(g->ir, 0)), ir_int(g->ir, 0),
		ir_load(g->ir, req, offsetof(struct stack_req, nr), 4, false)));
	return id;
}

static struct ir *gen_ustack(struct gen *g, struct expr *call, struct ir *into)
{
	uint32_t at = gate_walk_at(g, call->type);

	return at ? walk_once(g, call, at, id_of_user) : id_of_user(g, call);
}

static struct ir *gen_goid(struct gen *g, struct expr *call, struct ir *into)
{
	struct ir *req = ask_unwinder(g, HANDOVER_GOID, 0, 1, true);

	return ir_load(g->ir, req, offsetof(struct stack_req, id), 8, false);
}

/* The value is text, as Erlang prints it; a thread that runs no Erlang process has "". */
static struct ir *gen_beampid(struct gen *g, struct expr *call, struct ir *into)
{
	static const char *const params[] = {"beam_pid_text"};
	static const uint32_t sizes[] = {sizeof(struct beam_pid_text)};
	struct ir *req = ask_unwinder(g, HANDOVER_BEAMPID, 1U << FRAME_LANG_BEAM, 1, true);
	struct ir *text = gen_mem(g, sizeof(struct beam_pid_text)), *from;

	gen_zero(g, text, sizeof(struct beam_pid_text));
	ir_store(g->ir, text, offsetof(struct beam_pid_text, id), 8,
		ir_load(g->ir, req, offsetof(struct stack_req, id), 8, false));
	gen_library(g, "beam_pid_text", params, sizes, &text, 1);
	from = ir_offset(g->ir, text, offsetof(struct beam_pid_text, text));
	if (into)
		gen_copy(g, into, from, call->type->size);
	return into ? into : from;
}

/* ---- len ---------------------------------------------------------------- */

static bool is_stack_call(const struct expr *n)
{
	return n->kind == EXPR_CALL && n->type && n->type->kind == TYPE_STACK;
}

static const struct type *check_len(struct check *c, struct expr *call)
{
	struct expr *what = call_arg(call, 0);
	const struct type *t = what->type;

	if (t->kind == TYPE_STACK && (t->stack.from || t->stack.to))
		return check_fail(c, what->span, DIAG_STACK,
			"len() counts all frames of a stack: leave out from: and to:");
	if (what->kind == EXPR_MAP && !what->map.keys && what->map.map->key)
		return type_int64;
	if (t->kind == TYPE_STACK && !is_stack_call(what))
		check_script(c)->stack_lens = true;
	if (t->kind == TYPE_STACK || t->kind == TYPE_STRING || t->kind == TYPE_BAD)
		return type_int64;
	check_fail(c, what->span, DIAG_ARG_TYPE, "len() counts the frames of a stack, the "
		"elements of a map with keys or the bytes of a string, not %s",
		type_name(check_arena(c), t));
	return type_bad;
}

/* Returns n, or a smaller most that is not 0. */
static struct ir *at_most(struct gen *g, struct ir *n, uint32_t most)
{
	struct ir *limit = ir_int(g->ir, most);

	return most ? ir_select(g->ir, ir_compare(g->ir, IR_ULT, n, limit), n, limit) : n;
}

/* For len(ustack), a stack without a limit of its own is counted to its end, since nothing is stored. */
static struct ir *stack_len(struct gen *g, struct expr *n)
{
	const struct type *t = n->type;
	bool limited = n->call.args != NULL;
	struct ir *req;

	if (t->stack.lang == FRAME_LANG_KERNEL) {
		req = walk_kernel(g, t->stack.limit, true);
		return at_most(g, ir_load(g->ir, req, offsetof(struct kstack_req, nr), 4, false), t->stack.last);
	}
	req = walk_user(g, t, limited ? t->stack.limit : UNWIND_LIMIT_MAX, true);
	check_finished(g, ir_load(g->ir, req, offsetof(struct stack_req, id), 8, false));
	return at_most(g, ir_load(g->ir, req, offsetof(struct stack_req, nr), 4, false), t->stack.last);
}

static struct ir *map_len(struct gen *g, struct expr *n)
{
	struct ir *zero = ir_int(g->ir, 0);

	return gen_call(g, BPF_FUNC_for_each_map_elem, 4, gen_map_now(g, n->map.map),
		ir_callback_zero(g->ir), zero, zero);
}

static struct ir *gen_len(struct gen *g, struct expr *call, struct ir *into)
{
	struct expr *what = call_arg(call, 0);

	if (what->kind == EXPR_MAP && !what->map.keys && what->map.map->key)
		return map_len(g, what);
	if (is_stack_call(what))
		return stack_len(g, what);
	if (what->type->kind == TYPE_STACK)
		return stored_len(g, gen_value(g, what));
	return gen_text_len(g, what);
}

/* ---- has_frame ----------------------------------------------------------- */

static const struct type *check_has_frame(struct check *c, struct expr *call)
{
	struct expr *what = call_arg(call, 0), *func = call_arg(call, 1), *module = call_arg(call, 2);
	struct frame_pattern *p;

	if (what->type->kind != TYPE_STACK)
		return check_fail(c, what->span, DIAG_ARG_TYPE, "has_frame() looks at frames of a stack, not at %s",
			type_name(check_arena(c), what->type));
	if (what->type->stack.last || what->type->stack.from || what->type->stack.to)
		return check_fail(c, what->span, DIAG_STACK, "has_frame() looks at a stack from its innermost "
			"frame on: leave out the negative limit, from: and to:");
	if (!func->string.len && (!module || !module->string.len)) { /* an option that was not given */
		call->kind = EXPR_BOOL;
		call->boolean = true;
		return type_bool;
	}
	p = arena_new_obj(check_arena(c), struct frame_pattern);
	p->func = func->string.len ? func->string.text : "*";
	p->module = module && module->string.len ? module->string.text : NULL;
	return type_has_frame(check_arena(c), what->type, p);
}

/* The value is the stack's id: userspace looks at the frames. gen_gate.c has conditions. */
static struct ir *gen_has_frame(struct gen *g, struct expr *call, struct ir *into)
{
	return gen_value(g, call_arg(call, 0));
}

const struct builtin builtins_stack[] = {
	{
		.name = "beampid",
		.sig = " -> string[32]",
		.help = "the running Erlang process, such as <0.81.0>, \"\" if there is none",
		.flags = BUILTIN_VAR,
		.gen = gen_beampid,
	},
	{
		.name = "dw_ustack",
		.sig = "[any] [literal] -> special",
		.help = "the same as ustack, which does not need frame pointers",
		.flags = BUILTIN_VAR | BUILTIN_NAMED,
		.check = check_dw_ustack,
		.gen = gen_ustack,
	},
	{
		.name = "goid",
		.sig = " -> uint64",
		.help = "number of the running goroutine, or 0",
		.flags = BUILTIN_VAR,
		.gen = gen_goid,
	},
	{
		.name = "has_frame",
		.sig = "any format [format] -> special",
		.help = "whether a frame of a stack is a function: has_frame(ustack, \"FUNC\" [, \"MODULE\"])",
		.check = check_has_frame,
		.gen = gen_has_frame,
	},
	{
		.name = "kstack",
		.sig = "[any] [literal] -> special",
		.help = "the kernel's stack: kstack([MODE,] [LIMIT])",
		.flags = BUILTIN_VAR | BUILTIN_NAMED,
		.check = check_kstack,
		.gen = gen_kstack,
	},
	{
		.name = "len",
		.sig = "any -> special",
		.help = "number of frames of a stack, elements of a map, or bytes of a string",
		.check = check_len,
		.gen = gen_len,
	},
	{
		.name = "ustack",
		.sig = "[any] [literal] -> special",
		.help = "the user stack, all languages: ustack([MODE,] [LIMIT])",
		.flags = BUILTIN_VAR | BUILTIN_NAMED,
		.check = check_ustack,
		.gen = gen_ustack,
	},
#define L(id, stem, builtin, kind, lang)                                                 \
	{                                                                                \
		.name = #builtin,                                                        \
		.sig = "[any] [literal] -> special",                                     \
		.help = "the " lang " frames of the stack: " #builtin "([MODE,] [LIMIT])", \
		.flags = BUILTIN_VAR | BUILTIN_NAMED,                                    \
		.check = check_ustack,                                                   \
		.gen = gen_ustack,                                                     \
	},
#include "bpf/languages.def"
#undef L
	BUILTINS_END,
};
