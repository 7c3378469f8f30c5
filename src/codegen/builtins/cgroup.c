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
		.help = "the paths of cgroups with an id, HIERARCHY:PATH, for hierarchies that match a pattern",
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
		.help = "the container of the current process: its name, or the beginning of its id; or \"\"",
		.flags = BUILTIN_VAR,
		.check = check_container,
		.gen = gen_cgroup,
	},
	BUILTINS_END,
};
