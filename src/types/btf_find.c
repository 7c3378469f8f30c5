// SPDX-License-Identifier: Apache-2.0
/* btf_find.c - finds the BTF of the kernel and its modules, and their types by name. A module's BTF is
 * opened if the kernel's own does not have the name. */
#include <bpf/btf.h>
#include <string.h>

#include "base/arena.h"
#include "btf.h"
#include "target/target.h"

static void add_file(struct btf_types *all, const char *name, struct btf *btf, uint32_t first)
{
	struct btf_file **last = &all->files, *f;
	uint32_t end = btf ? btf__type_cnt(btf) : 0;

	if (end <= first)
		return;
	while (*last)
		last = &(*last)->next;
	f = arena_new_obj(all->arena, struct btf_file);
	*f = (struct btf_file){.all = all, .name = name, .btf = btf, .first = first, .end = end};
	f->made = arena_new_array(all->arena, const struct type *, end - first);
	*last = f;
}

struct btf_file *btf_kernel(struct btf_types *all)
{
	if (!all->files && all->target)
		add_file(all, "vmlinux", target_btf(all->target, "vmlinux"), 1);
	return all->files;
}

static void add_modules(struct btf_types *all)
{
	const char *const *names = target_btf_modules(all->target, "*");

	for (; *names; names++)
		if (strcmp(*names, "vmlinux") != 0)
			add_file(all, *names, target_btf(all->target, *names), all->files->end);
}

struct btf_file *btf_next(struct btf_file *f)
{
	if (!f->next && f->all->target && !f->all->has_modules) {
		f->all->has_modules = true;
		add_modules(f->all);
	}
	return f->next;
}

struct btf_file *btf_owner(struct btf_file *f, uint32_t id)
{
	if (id < f->first)
		f = f->all->files;
	return id >= f->first && id < f->end ? f : NULL;
}

/* ---- by name ------------------------------------------------------------ */

/* Returns 2 for the type itself, 1 for its declaration, 0 for another type. */
static int fits(const struct btf_type *t, enum type_tag tag)
{
	switch (tag) {
	case TAG_NAME:
		return btf_is_typedef(t) || btf_is_int(t) ? 2 : 0;
	case TAG_STRUCT:
		return btf_is_struct(t) ? 2 : btf_is_fwd(t) && !btf_kflag(t);
	case TAG_UNION:
		return btf_is_union(t) ? 2 : btf_is_fwd(t) && btf_kflag(t);
	case TAG_ENUM:
		return btf_is_any_enum(t) ? 2 : 0;
	}
	return 0;
}

static struct btf_found look(struct btf_types *all, enum type_tag tag, const char *name)
{
	struct btf_found found = {.name = arena_strdup(all->arena, name), .tag = tag};

	for (struct btf_file *f = *name ? btf_kernel(all) : NULL; f; f = btf_next(f))
		for (uint32_t id = f->first; id < f->end; id++) {
			const struct btf_type *t = btf__type_by_id(f->btf, id);
			int fit = fits(t, tag);
			const char *own = fit ? btf__name_by_offset(f->btf, t->name_off) : NULL;

			if (!own || strcmp(own, name) != 0 || (fit == 1 && found.id))
				continue;
			found.file = f;
			found.id = id;
			if (fit == 2)
				return found;
		}
	return found;
}

uint32_t btf_find(struct btf_types *all, enum type_tag tag, const char *name, struct btf_file **ret)
{
	struct btf_found *f = all->found, *end = f + BTF_FOUND_MAX;

	while (f < end && !(f->name && f->tag == tag && !strcmp(f->name, name)))
		f++;
	if (f == end) {
		f = &all->found[all->nfound++ % BTF_FOUND_MAX];
		*f = look(all, tag, name);
	}
	*ret = f->file;
	return f->id;
}

/* ---- a single BTF ------------------------------------------------------- */

void btf_source_blob(struct arena *a, const void *data, size_t size, struct type_source *ret)
{
	struct btf *btf = size <= UINT32_MAX ? btf__new(data, (uint32_t)size) : NULL;
	struct btf_types *all;

	btf_source(a, NULL, NULL, ret);
	if (!btf)
		return;
	all = arena_new_obj(a, struct btf_types);
	all->arena = a;
	all->own = btf;
	add_file(all, "blob", btf, 1);
	ret->state = all;
}
