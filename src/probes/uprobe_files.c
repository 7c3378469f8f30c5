// SPDX-License-Identifier: Apache-2.0
/* uprobe_files.c - finds the files of an attach point. */
#include "uprobe.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/log.h"
#include "base/owner.h"
#include "base/str.h"
#include "base/vec.h"
#include "base/why.h"
#include "probes.h"
#include "probes/files.h"
#include "target/elf.h"
#include "target/target.h"

enum { KEPT_OPEN = 4 };

struct found {
	const char *name, *const *files; /* in the script's arena */
};

struct kept_files {
	VEC(struct found) found;
	struct { char *path; struct elf *elf; } open[KEPT_OPEN];
	unsigned next; /* index of the one to close next */
};

struct kept_files *kept_files_new(void)
{
	return calloc(1, sizeof(struct kept_files));
}

void kept_files_free(struct kept_files *k)
{
	if (!k)
		return;
	for (size_t i = 0; i < ARRAY_SIZE(k->open); i++) {
		free(k->open[i].path);
		elf_close(k->open[i].elf);
	}
	vec_done(&k->found);
	free(k);
}

static void hint_skipped(const char *skipped)
{
	if (skipped)
		log_info("%s is a script: passed over", skipped);
}

/* The program of -c's command or -p's process has priority over PATH if PATH's first hit is a
 * script: a version manager's. */
static const char *const *look_for_files(const struct request *req, const char *name)
{
	const char *skipped = NULL, *exe = NULL;
	const char *const *files;

	if (req->hooks.find_exe)
		exe = req->hooks.find_exe(req, name);
	if (exe) {
		const char **list = arena_new_array(req->arena, const char *, 2);

		log_info("%s means %s, which the traced command runs", name, exe);
		list[0] = exe;
		return list;
	}
	files = target_find_binary(req->target, name, &skipped);
	hint_skipped(skipped);
	if (files && *files && !strchr(name, '/'))
		log_info("%s means %s", name, *files);
	return files;
}

static const char *const *find_files(const struct request *req, const char *name)
{
	struct kept_files *k = req->files;
	const char *const *files;
	const char **list;
	size_t n = 0;

	for (size_t i = 0; k && i < k->found.len; i++)
		if (!strcmp(k->found.data[i].name, name))
			return k->found.data[i].files;
	files = look_for_files(req, name);
	if (!k || !files)
		return files;
	while (files[n])
		n++;
	list = arena_new_array(req->arena, const char *, n + 1);
	for (size_t i = 0; i < n; i++)
		list[i] = arena_strdup(req->arena, files[i]);
	vec_push(&k->found, (struct found){arena_strdup(req->arena, name), list});
	return list;
}

/* "/x/a.apk!/lib/b.so" is a library that is stored in an archive. */
static const char *const *in_archive(const struct request *req, const char *name)
{
	const char **list = arena_new_array(req->arena, const char *, 2);
	const char *mark = strstr(name, "!/"), *archive = arena_strndup(req->arena, name, (size_t)(mark - name));

	if (!access(target_path(req->target, archive), F_OK))
		list[0] = arena_printf(req->arena, "%s%s", target_path(req->target, archive), mark);
	return list;
}

static bool is_traced(const struct request *req)
{
	return req->hooks.traced_files && req->cmd.pid;
}

const char *const *uprobe_files(const struct request *req, const struct attach_point *ap, bool all)
{
	const char *name = ap->nwords > 1 ? ap->words[1] : "";
	bool every = !strcmp(name, "*");

	if (strstr(name, "!/"))
		return in_archive(req, name);
	if (*name && !every)
		return find_files(req, name);
	if (is_traced(req))
		return req->hooks.traced_files(req, all || every);
	if (every)
		return proc_objects(req->target, 0);
	diag(req->diags, ap->nwords > 1 ? ap->word_spans[1] : ap->span, DIAG_ATTACH_POINT,
		"the file is missing: without one a process or command must be traced");
	diag_hint(req->diags, "give the path of a program or library, or -p PID, or -c COMMAND");
	return NULL;
}

bool uprobe_no_file(const struct request *req, const struct attach_point *ap)
{
	bool is_path = strchr(ap->words[1], '/');
	bool exists = is_path && !strchr(ap->words[1], '*') &&
		!access(target_path(req->target, ap->words[1]), F_OK);

	if (!missing_place(req, ap->word_spans[1], exists ? "%s exists, but is not a program or library (an ELF file)" :
		"there is no program or library %s", ap->words[1]))
		return true;
	if (exists)
		diag_hint(req->diags, "a script is run by its interpreter: probe that");
	else if (is_path)
		diag_hint(req->diags, "is the path right?");
	else
		diag_hint(req->diags, "give its path, or a name that is in PATH or in the "
			"library cache (libc, libssl..)");
	return missing_allowed(req);
}

static const char *why_not(int r)
{
	return r == -ENOEXEC ? "it is not an ELF program or library" :
	       r == -EMEDIUMTYPE ? "it is compressed in the archive: nothing can run it there" : why_errno(r);
}

static void keep_open(struct kept_files *k, const char *path, struct elf *e)
{
	unsigned i = k->next++ % ARRAY_SIZE(k->open);

	free(k->open[i].path);
	elf_close(k->open[i].elf);
	k->open[i].path = strdup(path);
	k->open[i].elf = e;
}

bool uprobe_open(const struct request *req, const struct attach_point *ap, const char *path, struct elf **ret)
{
	struct kept_files *k = req->files;
	int r;

	for (size_t i = 0; k && i < ARRAY_SIZE(k->open); i++) {
		*ret = k->open[i].elf;
		if (*ret && k->open[i].path && !strcmp(k->open[i].path, path))
			return true;
	}
	r = strstr(path, "!/") ? elf_open_member(path, ret) : elf_open(path, ret);
	if (!r && k)
		keep_open(k, path, *ret);
	if (r)
		diag(req->diags, ap->nwords > 1 ? ap->word_spans[1] : ap->span, DIAG_NO_PLACE, "cannot read %s: %s",
			path, why_not(r));
	return !r;
}

void uprobe_close(const struct request *req, struct elf *e)
{
	if (!req->files)
		elf_close(e);
}

const char *uprobe_attach_path(const struct request *req, const char *path)
{
	const char *mark = strstr(path, "!/");

	return mark ? arena_strndup(req->arena, path, (size_t)(mark - path)) : path;
}

const char *uprobe_file_name(const struct attach_point *ap, const char *path)
{
	const char *name = ap->nwords > 1 ? ap->words[1] : "";

	return strchr(name, '/') && !strchr(name, '*') ? name : path;
}

const char *uprobe_safe(struct arena *a, const char *text)
{
	_cleanup_(str_done) struct str s = {};

	str_add_safe(&s, text, strlen(text));
	return arena_strdup(a, str_text(&s));
}

bool uprobe_data_offset(const struct elf *e, uint64_t vaddr, uint64_t *ret)
{
	if (!elf_vaddr_to_offset(e, vaddr, ret))
		return false;
	*ret += elf_start(e);
	return true;
}

bool uprobe_offset(const struct elf *e, uint64_t vaddr, uint64_t *ret)
{
	const struct elf_segment *s;
	size_t n = elf_segments(e, &s);

	for (size_t i = 0; i < n; i++)
		if (s[i].exec && vaddr >= s[i].vaddr && vaddr - s[i].vaddr < s[i].filesz)
			return uprobe_data_offset(e, vaddr, ret);
	return false;
}
