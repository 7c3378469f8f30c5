// SPDX-License-Identifier: Apache-2.0
/* task.c - the process, the CPU, the time. */
#include <linux/bpf.h>
#include <string.h>

#include "builtins.h"

#include "types/types.h"

static struct ir *high_half(struct gen *g, struct ir *v)
{
	return ir_binary(g->ir, IR_LSHR, v, ir_int(g->ir, 32));
}

static struct ir *low_half(struct gen *g, struct ir *v)
{
	return ir_binary(g->ir, IR_AND, v, ir_int(g->ir, UINT32_MAX));
}

/* bpf_get_current_pid_tgid() packs what userspace calls pid into the high half and
 * what it calls tid into the low half; bpf_get_current_uid_gid() gid, then uid. */
struct ir *gen_current_pid(struct gen *g)
{
	if (g->opt->pid_ns)
		return low_half(g, ir_library(g->ir, "ns_pid", NULL, NULL, NULL, 0));
	return high_half(g, gen_call(g, BPF_FUNC_get_current_pid_tgid, 0));
}

static struct ir *gen_pid(struct gen *g, struct expr *call, struct ir *into)
{
	return gen_current_pid(g);
}

static struct ir *gen_tid(struct gen *g, struct expr *call, struct ir *into)
{
	if (g->opt->pid_ns)
		return low_half(g, ir_library(g->ir, "ns_tid", NULL, NULL, NULL, 0));
	return low_half(g, gen_call(g, BPF_FUNC_get_current_pid_tgid, 0));
}

static struct ir *gen_gid(struct gen *g, struct expr *call, struct ir *into)
{
	return high_half(g, gen_call(g, BPF_FUNC_get_current_uid_gid, 0));
}

static struct ir *gen_uid(struct gen *g, struct expr *call, struct ir *into)
{
	return low_half(g, gen_call(g, BPF_FUNC_get_current_uid_gid, 0));
}

static struct ir *gen_cpu(struct gen *g, struct expr *call, struct ir *into)
{
	return low_half(g, gen_call(g, BPF_FUNC_get_smp_processor_id, 0));
}

/* Zeroed first: Linux 6.0 to 6.4 write nothing behind the NUL (strscpy() in bpf_get_current_comm(),
 * kernel/bpf/helpers.c). */
static struct ir *gen_comm(struct gen *g, struct expr *call, struct ir *into)
{
	struct ir *dst = into ? into : gen_mem(g, call->type->size);

	gen_zero(g, dst, call->type->size);
	gen_call(g, BPF_FUNC_get_current_comm, 2, dst, ir_int(g->ir, call->type->size));
	return dst;
}

static struct ir *gen_nsecs(struct gen *g, struct expr *call, struct ir *into)
{
	return gen_call(g, BPF_FUNC_ktime_get_boot_ns, 0);
}

static struct ir *gen_elapsed(struct gen *g, struct expr *call, struct ir *into)
{
	struct ir *now = gen_call(g, BPF_FUNC_ktime_get_boot_ns, 0);

	return ir_binary(g->ir, IR_SUB, now, ir_int(g->ir, g->opt->start_ns));
}

static struct ir *gen_rand(struct gen *g, struct expr *call, struct ir *into)
{
	return low_half(g, gen_call(g, BPF_FUNC_get_prandom_u32, 0));
}

static struct ir *gen_ncpus(struct gen *g, struct expr *call, struct ir *into)
{
	return ir_int(g->ir, g->opt->ncpus);
}

/* bpf_get_current_task(): its address, which helpers read from. */
static const struct type *check_curtask(struct check *c, struct expr *call)
{
	struct types *types = check_env(c)->types;
	const struct type *task = types ? types_find(types, TAG_STRUCT, "task_struct") : NULL;

	return type_pointer(check_arena(c), task ? task : type_none, SPACE_KERNEL);
}

static struct ir *gen_curtask(struct gen *g, struct expr *call, struct ir *into)
{
	return gen_call(g, BPF_FUNC_get_current_task, 0);
}

/* ---- the parent --------------------------------------------------------- */

static bool parent_offsets(struct check *c, const char *name, struct member ret[2])
{
	struct types *types = check_env(c)->types;
	const struct type *task = types ? types_find(types, TAG_STRUCT, "task_struct") : NULL;

	return task && type_member(task, "real_parent", &ret[0]) && type_member(task, name, &ret[1]);
}

/* Of the parent: which member it is, is kept for .gen. */
static const struct type *check_parent(struct check *c, struct expr *call)
{
	bool comm = !strcmp(call->call.name, "pcomm");
	struct member *m = arena_new_array(check_arena(c), struct member, 2);

	if (!parent_offsets(c, comm ? "comm" : "tgid", m))
		return check_fail(c, call->span, DIAG_CONTEXT, "this kernel has no type information (BTF), "
			"which %s needs", call->call.name);
	call->call.data = m;
	return comm ? m[1].type : type_uint32;
}

static struct ir *gen_parent(struct gen *g, struct expr *call, struct ir *into)
{
	const struct member *m = call->call.data;
	struct ir *slot = gen_tmp(g, 8), *addr, *dst;
	bool text = type_in_memory(call->type);

	addr = ir_binary(g->ir, IR_ADD, gen_call(g, BPF_FUNC_get_current_task, 0),
		ir_int(g->ir, m[0].offset));
	gen_read(g, SPACE_KERNEL, false, slot, ir_int(g->ir, 8), addr);
	addr = ir_binary(g->ir, IR_ADD, ir_load(g->ir, slot, 0, 8, false), ir_int(g->ir, m[1].offset));
	if (!text) {
		gen_read(g, SPACE_KERNEL, false, slot, ir_int(g->ir, 4), addr);
		return ir_load(g->ir, slot, 0, 4, false);
	}
	dst = into ? into : gen_mem(g, call->type->size);
	gen_zero(g, dst, call->type->size);
	gen_read(g, SPACE_KERNEL, true, dst, ir_int(g->ir, call->type->size), addr);
	return dst;
}

const struct builtin builtins_task[] = {
	{
		.name = "comm",
		.sig = " -> string[16]",
		.help = "name of the current thread",
		.flags = BUILTIN_VAR,
		.gen = gen_comm,
	},
	{
		.name = "cpu",
		.sig = " -> uint32",
		.help = "number of the current CPU",
		.flags = BUILTIN_VAR,
		.gen = gen_cpu,
	},
	{
		.name = "curtask",
		.sig = " -> special",
		.help = "the current task, a struct task_struct *",
		.flags = BUILTIN_VAR,
		.check = check_curtask,
		.gen = gen_curtask,
	},
	{
		.name = "elapsed",
		.sig = " -> uint64",
		.help = "nanoseconds since strata started",
		.flags = BUILTIN_VAR,
		.gen = gen_elapsed,
	},
	{
		.name = "gid",
		.sig = " -> uint32",
		.help = "group id of the current process",
		.flags = BUILTIN_VAR,
		.gen = gen_gid,
	},
	{
		.name = "ncpus",
		.sig = " -> uint32",
		.help = "number of possible CPUs",
		.flags = BUILTIN_VAR,
		.gen = gen_ncpus,
	},
	{
		.name = "nsecs",
		.sig = " -> uint64",
		.help = "nanoseconds since boot, time asleep included",
		.flags = BUILTIN_VAR,
		.gen = gen_nsecs,
	},
	{
		.name = "pcomm",
		.sig = " -> special",
		.help = "name of the parent process",
		.flags = BUILTIN_VAR,
		.check = check_parent,
		.gen = gen_parent,
	},
	{
		.name = "pid",
		.sig = " -> uint32",
		.help = "process id, as userspace counts them",
		.flags = BUILTIN_VAR,
		.gen = gen_pid,
	},
	{
		.name = "ppid",
		.sig = " -> special",
		.help = "process id of the parent process, in the first PID namespace",
		.flags = BUILTIN_VAR,
		.check = check_parent,
		.gen = gen_parent,
	},
	{
		.name = "rand",
		.sig = " -> uint32",
		.help = "a pseudo-random number",
		.flags = BUILTIN_VAR,
		.gen = gen_rand,
	},
	{
		.name = "tid",
		.sig = " -> uint32",
		.help = "thread id, as userspace counts them",
		.flags = BUILTIN_VAR,
		.gen = gen_tid,
	},
	{
		.name = "uid",
		.sig = " -> uint32",
		.help = "user id of the current process",
		.flags = BUILTIN_VAR,
		.gen = gen_uid,
	},
	BUILTINS_END,
};
