// SPDX-License-Identifier: Apache-2.0
/* machine.c - looks up facts about the machine for builtins, while a script is compiled. */
#include <string.h>

#include "ast.h"
#include "base/arena.h"
#include "checker.h"
#include "model/attach_point.h"
#include "model/facts.h"
#include "model/request.h"
#include "target/elf.h"
#include "target/target.h"

/* The answer is a constant of the code. */
static void bind(struct check *c, const char *why)
{
	facts_bind(c->req->facts, c->probe ? c->probe->points->span : (struct span){}, why);
}

bool check_kernel_address(struct check *c, const char *name, uint64_t *ret)
{
	bind(c, "the addresses of the kernel differ at each boot");
	return target_kernel_address(c->req->target, name, ret);
}

int check_task_offset(struct check *c, const char *member)
{
	return target_btf_offset(c->req->target, "task_struct", member);
}

int check_cgroup_id(struct check *c, const char *path, uint64_t *ret)
{
	bind(c, "the ids of control groups differ between machines");
	return target_cgroup_id(c->req->target, path, ret);
}

int check_cgroup_place(struct check *c, const char *path, uint64_t *ret_id, int *ret_level)
{
	bind(c, "the ids of control groups differ between machines");
	return target_cgroup_find(c->req->target, path, ret_id, ret_level);
}

const char *check_kernel_function_module(struct check *c, const char *name)
{
	const char *const *modules = target_btf_modules(c->req->target, "*");

	bind(c, "the functions of the kernel differ between machines");
	for (; modules && *modules; modules++)
		if (target_btf_function(c->req->target, *modules, name))
			return *modules;
	return NULL;
}

bool check_file_symbol(struct check *c, const char *path, const char *name, uint64_t offset,
	struct file_symbol *ret)
{
	struct elf_symbol sym;
	struct elf *e = NULL;
	bool ok;

	bind(c, "the addresses of a file differ between its versions");
	if (elf_open(path, &e))
		return false;
	ok = elf_symbol_named(e, name, &sym) && elf_offset_to_vaddr(e, offset, &ret->place);
	if (ok) {
		ret->vaddr = sym.vaddr;
		ret->size = sym.size;
		ret->moves = elf_is_dynamic(e);
	}
	elf_close(e);
	return ok;
}
