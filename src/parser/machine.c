// SPDX-License-Identifier: Apache-2.0
/* machine.c - looks up facts about the machine for builtins, while a script is compiled. */
#include <string.h>

#include "base/arena.h"
#include "checker.h"
#include "model/request.h"
#include "target/elf.h"
#include "target/target.h"

bool check_kernel_address(struct check *c, const char *name, uint64_t *ret)
{
	return target_kernel_address(c->req->target, name, ret);
}

int check_cgroup_id(struct check *c, const char *path, uint64_t *ret)
{
	return target_cgroup_id(c->req->target, path, ret);
}

int check_cgroup_place(struct check *c, const char *path, uint64_t *ret_id, int *ret_level)
{
	return target_cgroup_find(c->req->target, path, ret_id, ret_level);
}

const char *check_kernel_function_module(struct check *c, const char *name)
{
	const char *const *modules = target_btf_modules(c->req->target, "*");

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
