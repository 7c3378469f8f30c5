// SPDX-License-Identifier: Apache-2.0
/* traced.c - finds the files that names of programs and libraries mean for a traced process or command. */
#include "traced.h"

#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "model/request.h"
#include "target/target.h"

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* Searches the files that a traced program loads: libpython3.11 of a Python outside the library cache. */
static const char *find_loaded(struct traced *t, const char *exe, const char *name)
{
	const char *const *files = target_closure(t->target, exe);
	size_t n = strlen(name);

	for (; files && *files; files++) {
		const char *base = base_name(*files);

		if (!strncmp(base, name, n) && (!base[n] || base[n] == '.'))
			return *files;
	}
	return NULL;
}

/* Runs the command up to its program, to get past the scripts of a version manager. */
static const char *run_through_scripts(struct traced *t)
{
	if (!t->exe && t->child.pid)
		t->exe = child_run_to_exec(&t->child, base_name(t->child.argv[0]));
	return t->exe;
}

/* Returns the ELF file that the command of -c or the process of -p runs, or NULL without these. */
static const char *traced_exe(struct traced *t)
{
	const char *which;

	if (t->exe)
		return t->exe;
	if (t->pid) /* a container's file must not be searched here */
		return t->exe = proc_has_other_root(t->target, t->pid) ? NULL : proc_exe(t->target, t->pid);
	if (!t->child.pid)
		return NULL;
	which = target_which(t->target, t->child.argv[0]);
	if (!which || target_is_elf(t->target, which))
		return which;
	return run_through_scripts(t);
}

static bool starts_with(const char *text, const char *prefix)
{
	return !strncmp(text, prefix, strlen(prefix));
}

/* The process of -p has its own root, in which names are looked up. */
static const char *find_in_container(struct traced *t, const char *name)
{
	if (!t->pid || strchr(name, '*'))
		return NULL;
	if (name[0] == '/' && access(name, F_OK)) /* the process may have its own mounts */
		return proc_path_in_root(t->target, t->pid, name);
	if (!proc_has_other_root(t->target, t->pid))
		return NULL;
	if (!strchr(name, '/'))
		return proc_find_mapped(t->target, t->pid, name);
	return name[0] == '/' ? proc_path_in_root(t->target, t->pid, name) : NULL;
}

const char *traced_find(const struct request *req, const char *name)
{
	struct traced *t = req->hooks.find_arg;
	const char *which, *exe;

	exe = find_in_container(t, name);
	if (exe)
		return exe;
	if (strchr(name, '/') || strchr(name, '*'))
		return NULL;
	which = target_which(t->target, name);
	if (which && target_is_elf(t->target, which))
		return NULL;
	exe = traced_exe(t);
	if (!exe)
		return NULL;
	if (which) /* it is a script of that name, which may run the program */
		return starts_with(base_name(exe), name) ? exe : NULL;
	return find_loaded(t, exe, name);
}

const char *const *traced_files(const struct request *req, bool all)
{
	struct traced *t = req->hooks.find_arg;
	const char **list, *exe;

	if (t->pid && all)
		return proc_objects(t->target, t->pid);
	exe = traced_exe(t);
	if (t->pid && (!exe || access(exe, R_OK))) /* it is in a container, or was deleted */
		exe = arena_printf(req->arena, "/proc/%d/exe", t->pid);
	if (exe && all)
		return target_closure(t->target, exe);
	list = arena_new_array(req->arena, const char *, 2);
	list[0] = exe;
	return list;
}
