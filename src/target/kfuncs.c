// SPDX-License-Identifier: Apache-2.0
/* kfuncs.c - names of kernel functions.
 *
 * tracefs lists the functions that ftrace can trace; only those can be probed by the thousand. Without
 * ftrace the names come from kallsyms. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/owner.h"
#include "base/str.h"
#include "base/vec.h"
#include "target/priv.h"

#define LIST_MAX (256u << 20)

/* Splits "nft_do_chain [nf_tables]" in two. Returns the module, or "" for "vfs_read". */
static const char *cut_module(char *line)
{
	char *space = strpbrk(line, " \t"), *module;

	if (!space)
		return "";
	*space = '\0';
	module = strchr(space + 1, '[');
	if (!module)
		return "";
	module[strcspn(module, "]")] = '\0';
	return module + 1;
}

/* Returns the name in a line of kallsyms, or NULL if the symbol is not code. */
static char *symbol_name(char *line)
{
	char *kind = strchr(line, ' ');

	return kind && kind[1] && kind[2] == ' ' && strchr("tTwW", kind[1]) ? kind + 3 : NULL;
}

/* Returns whether the compiler or linker made the symbol; scripts never mean such symbols. */
static bool is_internal(const char *name)
{
	return !strncmp(name, "__pfx_", 6) || !strncmp(name, "__cfi_", 6) || strchr(name, '$');
}

struct kfunc {
	const char *name, *module; /* point into the text; module is "" for the kernel itself */
};

/* A list of 60,000 or more names, read once. */
struct kfuncs {
	char *text;
	VEC(struct kfunc) list; /* sorted by name */
	const char *const *names; /* all names, once they were needed */
};

static int cmp_kfunc(const void *a, const void *b)
{
	return strcmp(((const struct kfunc *)a)->name, ((const struct kfunc *)b)->name);
}

void kfuncs_free(struct kfuncs *k)
{
	if (!k)
		return;
	vec_done(&k->list);
	free(k->text);
	free(k);
}

/* Takes ownership of text. symbols: the text is from kallsyms. */
static struct kfuncs *kfuncs_new(char *text, bool symbols)
{
	struct kfuncs *k = calloc(1, sizeof(*k));
	char *rest, *line;

	if (!k)
		out_of_memory();
	k->text = text;
	for (rest = text; rest && (line = strsep(&rest, "\n"));) {
		const char *module;

		if (symbols)
			line = symbol_name(line);
		if (!line || !*line)
			continue;
		module = cut_module(line);
		if (!is_internal(line))
			vec_push(&k->list, (struct kfunc){line, module});
	}
	if (k->list.len)
		qsort(k->list.data, k->list.len, sizeof(*k->list.data), cmp_kfunc);
	return k;
}

static struct kfuncs *by_symbols(struct target *t)
{
	if (!t->functions)
		t->functions = kfuncs_new(target_read(t, "/proc/kallsyms", LIST_MAX, NULL), true);
	return t->functions;
}

static struct kfuncs *by_ftrace(struct target *t)
{
	const char *tracefs;
	char *text = NULL;

	if (t->traceable || t->no_traceable)
		return t->traceable;
	tracefs = target_tracefs(t);
	if (tracefs)
		text = target_read(t, arena_printf(t->arena, "%s/available_filter_functions", tracefs),
			LIST_MAX, NULL);
	if (text)
		t->traceable = kfuncs_new(text, false);
	t->no_traceable = !text;
	return t->traceable;
}

int target_set_traceable(struct target *t, const char *path)
{
	_cleanup_(fclosep) FILE *f = fopen(path, "re");
	char *text = f ? read_fd(fileno(f), LIST_MAX, NULL) : NULL;

	if (!text)
		return -errno;
	kfuncs_free(t->traceable);
	t->traceable = kfuncs_new(text, false);
	return 0;
}

/* Finds the range of functions that may match. A pattern without '*' is a name. */
static void narrow(const struct kfuncs *k, const char *pattern, const struct kfunc **ret_first,
	const struct kfunc **ret_end)
{
	size_t low = 0, high = k->list.len, n = strcspn(pattern, "*");

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (strncmp(k->list.data[middle].name, pattern, n) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	for (high = low; high < k->list.len && !strncmp(k->list.data[high].name, pattern, n); high++)
		if (!pattern[n] && k->list.data[high].name[n])
			break;
	*ret_first = k->list.data + low;
	*ret_end = k->list.data + high;
}

bool target_has_module(struct target *t, const char *module)
{
	const struct kfuncs *k = by_symbols(t);
	bool has = !strcmp(module, "vmlinux");

	for (size_t i = 0; i < k->list.len && !has; i++)
		has = glob_match(module, k->list.data[i].module);
	return has;
}

const char *const *target_all_functions(struct target *t)
{
	struct kfuncs *k = by_symbols(t);

	if (!k->names)
		k->names = target_kernel_functions(t, "", "*", false);
	return k->names;
}

const char *const *target_kernel_functions(struct target *t, const char *module,
	const char *pattern, bool traceable)
{
	const struct kfuncs *k = traceable ? by_ftrace(t) : NULL;
	const struct kfunc *f, *end, *last = NULL;
	struct strings found = {};

	if (!k)
		k = by_symbols(t);
	for (narrow(k, pattern, &f, &end); f < end; f++) {
		if ((last && !strcmp(f->name, last->name)) || !glob_match(pattern, f->name) ||
			(*module && !glob_match(module, *f->module ? f->module : "vmlinux")))
			continue;
		strings_add(t, &found, f->name);
		last = f;
	}
	return strings_done(t, &found);
}
