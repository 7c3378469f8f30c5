// SPDX-License-Identifier: Apache-2.0
/* task.c - builtins for the current thread and the CPU. */
#include <linux/bpf.h>
#include <string.h>

#include "builtins.h"

#include "codegen/gate.h"

#include "bpf/lib/who.h"
#include "model/regs.h"
#include "model/request.h"
#include "types/types.h"

static struct ir *high_half(struct gen *g, struct ir *v)
{
	return ir_binary(g->ir, IR_LSHR, v, ir_int(g->ir, 32));
}

static struct ir *low_half(struct gen *g, struct ir *v)
{
	return ir_binary(g->ir, IR_AND, v, ir_int(g->ir, UINT32_MAX));
}

/* Returns the ids of the filter, or NULL if it has none. Code for any machine asks at each use in which namespace it
 * runs. */
static struct ir *known_ids(struct gen *g)
{
	struct ir *slot = g->fn.ids;

	if (!slot && !(g->opt->facts && g->opt->pid_ns))
		return NULL;
	if (!slot) {
		slot = gen_local(g);
		gen_current_ids(g, slot);
	}
	return ir_load(g->ir, slot, 0, 8, false);
}

/* bpf_get_current_pid_tgid() has userspace's pid in the high half and its tid in the low half;
 * bpf_get_current_uid_gid() has gid, then uid. */
struct ir *gen_current_pid(struct gen *g)
{
	struct ir *ids = known_ids(g);

	if (ids)
		return high_half(g, ids);
	if (g->opt->pid_ns)
		return low_half(g, ir_library(g->ir, "ns_pid", NULL, NULL, NULL, 0));
	return high_half(g, gen_call(g, BPF_FUNC_get_current_pid_tgid, 0));
}

/* Returns whether it is pid(init), the id in the first PID namespace. */
static bool of_first_namespace(const struct expr *call)
{
	return call_arg(call, 0) && !strcmp(call_arg(call, 0)->word, "init");
}

static const struct type *check_pid(struct check *c, struct expr *call)
{
	struct expr *mode = call_arg(call, 0);

	if (!mode || !strcmp(mode->word, "init") || !strcmp(mode->word, "curr_ns"))
		return NULL;
	check_fail(c, mode->span, DIAG_ARG_TYPE, "unknown PID namespace: %s", mode->word);
	check_hint(c, "init is the first one, curr_ns is that of strata");
	return type_bad;
}

static struct ir *gen_pid(struct gen *g, struct expr *call, struct ir *into)
{
	if (g->opt->pid_ns && of_first_namespace(call))
		return high_half(g, gen_call(g, BPF_FUNC_get_current_pid_tgid, 0));
	return gen_current_pid(g);
}

static struct ir *gen_tid(struct gen *g, struct expr *call, struct ir *into)
{
	struct ir *ids = g->opt->pid_ns && of_first_namespace(call) ? NULL : known_ids(g);

	if (ids)
		return low_half(g, ids);
	if (g->opt->pid_ns && !of_first_namespace(call))
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

static struct ir *gen_numaid(struct gen *g, struct expr *call, struct ir *into)
{
	return low_half(g, gen_call(g, BPF_FUNC_get_numa_node_id, 0));
}

/* Programs with `traced` do not check the process before they begin: see filter_event(). */
static struct ir *gen_traced(struct gen *g, struct expr *call, struct ir *into)
{
	struct ir *wanted = ir_compare(g->ir, IR_NE, gen_wanted_ids(g), ir_int(g->ir, UNWANTED));

	return g->probe->filter ? ir_binary(g->ir, IR_AND, wanted, gate_value(g, g->probe->filter)) : wanted;
}

static bool is_interrupt(const struct provider *p)
{
	return p->prog_type == BPF_PROG_TYPE_PERF_EVENT;
}

/* Without registers the answer is fixed: uprobes, begin and end run for a program, the others in the
 * kernel. */
static const struct type *check_usermode(struct check *c, struct expr *call)
{
	return type_uint8;
}

static struct ir *gen_usermode(struct gen *g, struct expr *call, struct ir *into)
{
	const struct provider *p = g->provider;
	struct ir *v;

	if (!is_interrupt(p))
		return ir_int(g->ir, p->run != RUN_ATTACHED || (p->ctx == CTX_PT_REGS && !p->kernel));
	v = ir_load_ctx(g->ir, gen_ctx(g), (uint32_t)regs_mode(), 8, false);
	v = ir_binary(g->ir, IR_AND, v, ir_int(g->ir, regs_mode_mask()));
	return ir_compare(g->ir, IR_EQ, v, ir_int(g->ir, regs_mode_user()));
}

static struct ir *gen_rand(struct gen *g, struct expr *call, struct ir *into)
{
	return low_half(g, gen_call(g, BPF_FUNC_get_prandom_u32, 0));
}

static struct ir *gen_ncpus(struct gen *g, struct expr *call, struct ir *into)
{
	return gen_cpus(g);
}

/* bpf_get_current_task() returns the address, from which helpers read. */
static const struct type *check_curtask(struct check *c, struct expr *call)
{
	struct types *types = check_request(c)->types;
	const struct type *task = types ? types_find(types, TAG_STRUCT, "task_struct") : NULL;

	return type_pointer(check_arena(c), task ? task : type_none, SPACE_KERNEL);
}

static struct ir *gen_curtask(struct gen *g, struct expr *call, struct ir *into)
{
	return gen_call(g, BPF_FUNC_get_current_task, 0);
}

const struct builtin builtins_task[] = {
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
		.name = "numaid",
		.sig = " -> uint32",
		.help = "NUMA node of the current CPU",
		.flags = BUILTIN_VAR,
		.gen = gen_numaid,
	},
	{
		.name = "pid",
		.sig = "[word] -> uint32",
		.help = "process id in strata's PID namespace; pid(init) in the first one",
		.flags = BUILTIN_VAR,
		.check = check_pid,
		.gen = gen_pid,
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
		.sig = "[word] -> uint32",
		.help = "thread id in strata's PID namespace; tid(init) in the first one",
		.flags = BUILTIN_VAR,
		.check = check_pid,
		.gen = gen_tid,
	},
	{
		.name = "traced",
		.sig = " -> bool",
		.help = "whether -p, -c, --container.. select the current process, for config = { all_processes = 1 }",
		.flags = BUILTIN_VAR,
		.gen = gen_traced,
	},
	{
		.name = "uid",
		.sig = " -> uint32",
		.help = "user id of the current process",
		.flags = BUILTIN_VAR,
		.gen = gen_uid,
	},
	{
		.name = "usermode",
		.sig = " -> special",
		.help = "1 if the probe interrupted a program, 0 if it interrupted the kernel",
		.flags = BUILTIN_VAR,
		.check = check_usermode,
		.gen = gen_usermode,
	},
	BUILTINS_END,
};
