// SPDX-License-Identifier: Apache-2.0
/* process.c - tasks other than the current one: names, parents, leaders, the command of -c. */
#include <linux/bpf.h>
#include <string.h>

#include "builtins.h"

#include "bpf/lib/task.h"
#include "model/request.h"
#include "types/types.h"

/* ---- relations of a task ----------------------------------------------- */

#define TASK "struct task_struct"

/* A member of the task to which a member of struct task_struct points. */
static const struct relation {
	const char *name, *via, *member;
} relations[] = {
	{"leader_comm", "group_leader", "comm"},
	{"leader_tid", "group_leader", "pid"},
	{"pcomm", "real_parent", "comm"},
	{"ppid", "real_parent", "tgid"},
};

static bool offsets(struct check *c, const char *name, struct member ret[2])
{
	struct types *types = check_request(c)->types;
	const struct type *task = types ? types_find(types, TAG_STRUCT, "task_struct") : NULL;

	for (size_t i = 0; task && i < ARRAY_SIZE(relations); i++)
		if (!strcmp(relations[i].name, name))
			return type_member(task, relations[i].via, &ret[0]) &&
				type_member(task, relations[i].member, &ret[1]);
	return false;
}

/* Keeps the offsets of the members for .gen. */
static const struct type *check_relation(struct check *c, struct expr *call)
{
	struct member *m = arena_new_array(check_arena(c), struct member, 2);
	struct expr *task = call_arg(call, 0);

	if (!offsets(c, call->call.name, m))
		return check_fail(c, call->span, DIAG_CONTEXT, "this kernel has no type information (BTF), "
			"which %s needs", call->call.name);
	if (task && task->type->kind != TYPE_POINTER)
		return check_fail(c, task->span, DIAG_ARG_TYPE, "%s() takes a task, a struct task_struct *, not %s",
			call->call.name, type_name(check_arena(c), task->type));
	call->call.data = m;
	return type_in_memory(m[1].type) ? m[1].type : type_uint32;
}

static struct ir *gen_relation(struct gen *g, struct expr *call, struct ir *into)
{
	const struct member *m = call->call.data;
	struct expr *task = call_arg(call, 0);
	struct ir *slot = gen_tmp(g, 8), *addr, *dst;

	addr = task ? gen_value(g, task) : gen_call(g, BPF_FUNC_get_current_task, 0);
	addr = ir_binary(g->ir, IR_ADD, addr, gen_kernel_offset(g, TASK, m[0].name, m[0].offset));
	gen_read(g, SPACE_KERNEL, false, slot, ir_int(g->ir, 8), addr);
	addr = ir_binary(g->ir, IR_ADD, ir_load(g->ir, slot, 0, 8, false),
		gen_kernel_offset(g, TASK, m[1].name, m[1].offset));
	if (!type_in_memory(call->type)) {
		gen_read(g, SPACE_KERNEL, false, slot, ir_int(g->ir, 4), addr);
		return ir_load(g->ir, slot, 0, 4, false);
	}
	dst = into ? into : gen_mem(g, call->type->size);
	gen_zero(g, dst, call->type->size);
	gen_read(g, SPACE_KERNEL, true, dst, ir_int(g->ir, call->type->size), addr);
	return dst;
}

/* ---- comm --------------------------------------------------------------- */

/* Keeps the offset of the name in a task for .gen. */
static const struct type *check_comm(struct check *c, struct expr *call)
{
	struct types *types = check_request(c)->types;
	const struct type *task = call_arg(call, 0) && types ? types_find(types, TAG_STRUCT, "task_struct") : NULL;
	struct member *m = arena_new_obj(check_arena(c), struct member);
	int here;

	call->call.data = m;
	if (!call_arg(call, 0)) {
		here = check_task_offset(c, "comm");
		m->offset = here > 0 ? (uint32_t)here : 0;
		return NULL;
	}
	if (!task || !type_member(task, "comm", m))
		return check_fail(c, call->span, DIAG_CONTEXT, "this kernel has no type information (BTF), "
			"which comm(PID) needs");
	return NULL;
}

static struct ir *comm_of(struct gen *g, struct expr *call, struct ir *dst)
{
	static const char *const params[] = {"comm_req"};
	static const uint32_t sizes[] = {sizeof(struct comm_req)};
	const struct member *m = call->call.data;
	struct ir *pid = gen_value(g, call_arg(call, 0)), *req = gen_tmp(g, sizeof(struct comm_req));

	gen_zero(g, req, sizeof(struct comm_req));
	ir_store(g->ir, req, offsetof(struct comm_req, pid), 4, pid);
	ir_store(g->ir, req, offsetof(struct comm_req, offset), 4,
		gen_kernel_offset(g, TASK, m->name, m->offset));
	gen_library(g, "task_comm", params, sizes, &req, 1);
	g->img->tasks = true;
	gen_copy(g, dst, ir_offset(g->ir, req, offsetof(struct comm_req, comm)), call->type->size);
	return dst;
}

/* Zeroes the bytes of a word after its first NUL. Returns 0 if it has none. */
static struct ir *end_text(struct gen *g, struct ir **word)
{
	const uint64_t ones = 0x0101010101010101;
	struct ir *w = *word, *nuls, *first;

	nuls = ir_binary(g->ir, IR_AND, ir_binary(g->ir, IR_SUB, w, ir_int(g->ir, ones)),
		ir_binary(g->ir, IR_XOR, w, ir_int(g->ir, UINT64_MAX)));
	nuls = ir_binary(g->ir, IR_AND, nuls, ir_int(g->ir, ones << 7)); /* the lowest bit is of the first NUL */
	first = ir_binary(g->ir, IR_AND, nuls, ir_binary(g->ir, IR_SUB, ir_int(g->ir, 0), nuls));
	*word = ir_binary(g->ir, IR_AND, w, ir_binary(g->ir, IR_SUB, first, ir_int(g->ir, 1)));
	return nuls;
}

/* Loads the name from the task, which costs less than bpf_get_current_comm(). Before Linux 5.17, and while another
 * thread changes the name, parts of an older one may follow the NUL (__set_task_comm(), fs/exec.c). */
static struct ir *load_comm(struct gen *g, uint32_t at, struct ir *dst)
{
	struct ir *task = ir_helper_ptr(g->ir, BPF_FUNC_get_current_task_btf, NULL, 0);
	struct ir *low = ir_load(g->ir, task, at, 8, false), *high = ir_load(g->ir, task, at + 8, 8, false), *ended;

	ended = end_text(g, &low);
	end_text(g, &high);
	high = ir_binary(g->ir, IR_AND, high, ir_int(g->ir, UINT64_MAX >> 8));
	ir_store(g->ir, dst, 0, 8, low);
	ir_store(g->ir, dst, 8, 8, ir_select(g->ir, ended, ir_int(g->ir, 0), high));
	return dst;
}

/* The buffer is zeroed first, since Linux 6.0 to 6.4 write nothing after the NUL (strscpy() in
 * bpf_get_current_comm(), kernel/bpf/helpers.c). */
static struct ir *gen_comm(struct gen *g, struct expr *call, struct ir *into)
{
	struct ir *dst = into ? into : gen_mem(g, call->type->size);
	const struct member *m = call->call.data;

	if (call_arg(call, 0))
		return comm_of(g, call, dst);
	if (g->opt->task_loads && m->offset && m->offset % 8 == 0)
		return load_comm(g, m->offset, dst);
	gen_zero(g, dst, call->type->size);
	gen_call(g, BPF_FUNC_get_current_comm, 2, dst, ir_int(g->ir, call->type->size));
	return dst;
}

/* ---- the command of -c -------------------------------------------------- */

static const struct type *check_cpid(struct check *c, struct expr *call)
{
	if (!check_request(c)->facts)
		check_becomes_int(call, (uint64_t)check_request(c)->cmd.child);
	return type_uint32;
}

/* Only a program for any machine does not know it yet. */
static struct ir *gen_cpid(struct gen *g, struct expr *call, struct ir *into)
{
	return gen_child(g);
}

static struct ir *gen_has_cpid(struct gen *g, struct expr *call, struct ir *into)
{
	return ir_compare(g->ir, IR_NE, gen_child(g), ir_int(g->ir, 0));
}

static const struct type *check_has_cpid(struct check *c, struct expr *call)
{
	if (!check_request(c)->facts)
		check_becomes_bool(call, check_request(c)->cmd.child > 0);
	return type_bool;
}

const struct builtin builtins_process[] = {
	{
		.name = "comm",
		.sig = "[int] -> string[16]",
		.help = "name of the current thread; comm(PID) for another one",
		.flags = BUILTIN_VAR,
		.check = check_comm,
		.gen = gen_comm,
	},
	{
		.name = "cpid",
		.sig = " -> special",
		.help = "process id of the command of -c, or 0",
		.flags = BUILTIN_VAR,
		.check = check_cpid,
		.gen = gen_cpid,
	},
	{
		.name = "has_cpid",
		.sig = " -> special",
		.help = "whether -c runs a command",
		.flags = BUILTIN_VAR,
		.check = check_has_cpid,
		.gen = gen_has_cpid,
	},
	{
		.name = "leader_comm",
		.sig = "[int] -> special",
		.help = "name of the first thread in the thread group of the current task, or of a given task",
		.flags = BUILTIN_VAR,
		.check = check_relation,
		.gen = gen_relation,
	},
	{
		.name = "leader_tid",
		.sig = "[int] -> special",
		.help = "id of the first thread in the thread group of the current task, or of a given task",
		.flags = BUILTIN_VAR,
		.check = check_relation,
		.gen = gen_relation,
	},
	{
		.name = "pcomm",
		.sig = "[int] -> special",
		.help = "name of the parent of the current task, or of a given task",
		.flags = BUILTIN_VAR,
		.check = check_relation,
		.gen = gen_relation,
	},
	{
		.name = "ppid",
		.sig = "[int] -> special",
		.help = "process id of the parent of the current task, or of a given task, in the first PID namespace",
		.flags = BUILTIN_VAR,
		.check = check_relation,
		.gen = gen_relation,
	},
	BUILTINS_END,
};
