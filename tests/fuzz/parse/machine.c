// SPDX-License-Identifier: Apache-2.0
/* machine.c - a machine for the fuzzer of the parser: a few symbols, a cgroup. */
#include <errno.h>
#include <string.h>

#include "checker.h"

bool check_kernel_address(struct check *c, const char *name, uint64_t *ret)
{
	*ret = 0xffffffff81000000;
	return !strcmp(name, "symbol");
}

int check_cgroup_id(struct check *c, const char *path, uint64_t *ret)
{
	*ret = 7;
	return *path == '/' ? 0 : -ENOENT;
}

const char *check_kernel_function_module(struct check *c, const char *name)
{
	return !strcmp(name, "symbol") ? "vmlinux" : NULL;
}

bool check_file_symbol(struct check *c, const char *path, const char *name, uint64_t offset,
	struct file_symbol *ret)
{
	*ret = (struct file_symbol){.vaddr = 0x1000, .size = 8};
	return !strcmp(name, "symbol");
}
