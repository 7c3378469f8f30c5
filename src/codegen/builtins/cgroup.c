// SPDX-License-Identifier: Apache-2.0
/* cgroup.c - builtins for ids and paths of cgroups. */
#include <errno.h>
#include <linux/bpf.h>
#include <string.h>

#include "builtins.h"

static struct ir *gen_cgroup(struct gen *g, struct expr *call, struct ir *into)
{
	return gen_call(g, BPF_FUNC_get_current_cgroup_id, 0);
}

/* The cgroup's name is known when the script is compiled, and so is its id. */
static const struct type *check_cgroupid(struct check *c, struct expr *call)
{
	struct expr *path = call_arg(call, 0);
	uint64_t id = 0;
	int r = check_cgroup_id(c, path->string.text, &id);

	if (r)
		return check_fail(c, path->span, DIAG_NAME, r == -ENOTTY ? "%s is no directory of a cgroup" :
			"cgroupid() cannot open %s: %s", path->string.text, strerror(-r));
	check_becomes_int(call, id);
	return type_uint64;
}

static const struct type *check_cgroup_path(struct check *c, struct expr *call)
{
	struct expr *names = call_arg(call, 1);

	return type_shown(check_arena(c), SHOWN_CGROUP, names ? names->string.text : "*");
}

static struct ir *gen_cgroup_path(struct gen *g, struct expr *call, struct ir *into)
{
	return gen_value(g, call_arg(call, 0));
}

static const struct type *check_container(struct check *c, struct expr *call)
{
	return type_shown(check_arena(c), SHOWN_CONTAINER, NULL);
}

static const struct type *check_pod(struct check *c, struct expr *call)
{
	return type_shown(check_arena(c), SHOWN_POD, NULL);
}

/* The name of a container in a pod is POD/NAME. */
static const struct type *check_in_container(struct check *c, struct expr *call)
{
	struct expr *what = call_arg(call, 0), *name = call_arg(call, 1);

	if (what->type->kind == TYPE_SHOWN && what->type->shown.as == SHOWN_POD)
		return type_shown(check_arena(c), SHOWN_IN_CONTAINER,
			arena_printf(check_arena(c), "%s/*", name->string.text));
	if (what->type->kind != TYPE_SHOWN || what->type->shown.as != SHOWN_CONTAINER)
		return check_fail(c, what->span, DIAG_ARG_TYPE, "in_container() takes a container, not %s",
			type_name(check_arena(c), what->type));
	return type_shown(check_arena(c), SHOWN_IN_CONTAINER, name->string.text);
}

/* Userspace knows the names: gen_gate.c has conditions. */
static struct ir *gen_in_container(struct gen *g, struct expr *call, struct ir *into)
{
	return gen_value(g, call_arg(call, 0));
}

/* The call's data is the place of the cgroup. */
struct place_of_cgroup {
	uint64_t id;
	int level; /* -1: not known */
};

static const struct type *check_in_cgroup(struct check *c, struct expr *call)
{
	struct expr *path = call_arg(call, 0);
	struct place_of_cgroup *at = arena_new_obj(check_arena(c), struct place_of_cgroup);
	int r = check_cgroup_place(c, path->string.text, &at->id, &at->level);

	if (r)
		return check_fail(c, path->span, DIAG_NAME, r == -ENOTTY ? "%s is not a directory of a cgroup (v2)" :
			"there is no cgroup (v2) %s: %s", path->string.text, strerror(-r));
	call->call.data = at;
	return type_bool;
}

enum { CGROUP_LEVELS = 32 };

static struct ir *is_ancestor(struct gen *g, uint64_t id, int level)
{
	return ir_compare(g->ir, IR_EQ, gen_call(g, BPF_FUNC_get_current_ancestor_cgroup_id, 1, ir_int(g->ir, level)),
		ir_int(g->ir, id));
}

/* In a cgroup namespace, the level is not known: one of the cgroups above is it. */
static struct ir *gen_in_cgroup(struct gen *g, struct expr *call, struct ir *into)
{
	const struct place_of_cgroup *at = call->call.data;
	struct ir *is = is_ancestor(g, at->id, at->level < 0 ? 0 : at->level);

	for (int i = 1; at->level < 0 && i < CGROUP_LEVELS; i++)
		is = ir_binary(g->ir, IR_OR, is, is_ancestor(g, at->id, i));
	return is;
}

const struct builtin builtins_cgroup[] = {
	{
		.name = "cgroup",
		.sig = " -> uint64",
		.help = "id of the current cgroup (v2)",
		.flags = BUILTIN_VAR,
		.gen = gen_cgroup,
	},
	{
		.name = "cgroup_path",
		.sig = "int [format] -> special",
		.help = "the paths of the cgroups with an id, as HIERARCHY:PATH, in hierarchies that match a pattern",
		.check = check_cgroup_path,
		.gen = gen_cgroup_path,
	},
	{
		.name = "cgroupid",
		.sig = "format -> special",
		.help = "the id of the cgroup with this directory",
		.check = check_cgroupid,
	},
	{
		.name = "container",
		.sig = " -> special",
		.help = "the container of the current process: its name or the beginning of its id, \"\" outside of "
			"containers",
		.flags = BUILTIN_VAR,
		.check = check_container,
		.gen = gen_cgroup,
	},
	{
		.name = "in_cgroup",
		.sig = "format -> special",
		.help = "whether the current process is in the cgroup (v2) with this path, or below it",
		.check = check_in_cgroup,
		.gen = gen_in_cgroup,
	},
	{
		.name = "in_container",
		.sig = "any format -> special",
		.help = "whether a container has this name, or an ID with this beginning: in_container(container, "
			"\"NAME\")",
		.check = check_in_container,
		.gen = gen_in_container,
	},
	{
		.name = "pod",
		.sig = " -> special",
		.help = "the Kubernetes pod of the current process: its name or the beginning of its id, \"\" outside "
			"of pods",
		.flags = BUILTIN_VAR,
		.check = check_pod,
		.gen = gen_cgroup,
	},
	BUILTINS_END,
};
