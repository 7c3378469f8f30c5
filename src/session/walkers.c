// SPDX-License-Identifier: Apache-2.0
/* walkers.c - see walkers.h. A walker is made from the ELF file of the session's first image, which has all
 * of the unwinder, and uses that image's maps. */
#include "walkers.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/owner.h"
#include "bpf/walk/unwind.h"
#include "model/image.h"
#include "model/provider.h"
#include "session/image_object.h"
#include "session/shared.h"
#include "session/who.h"
#include "unwinders/unwinders.h"

#define WALKER "walk_handed"
#define FORGET "forget_program"

void walkers_done(struct walkers *w)
{
	for (size_t i = 0; i < w->all.len; i++) {
		bpf_object__close(w->all.data[i].obj);
		closep(&w->all.data[i].fd);
	}
	vec_done(&w->all);
	if (w->forget)
		closep(&w->forget);
	free(w->elf);
}

int walkers_begin(struct walkers *w, const struct image *img)
{
	w->elf = malloc(img->elf_size);
	if (!w->elf)
		return -ENOMEM;
	memcpy(w->elf, img->elf, img->elf_size);
	w->elf_size = img->elf_size;
	return 0;
}

/* ---- before loading ----------------------------------------------------- */

/* Returns the array that the image's n-th program calls, or NULL if there is none. */
static struct bpf_map *array_of(struct bpf_object *obj, unsigned n)
{
	char name[32];

	snprintf(name, sizeof(name), IMAGE_WALKER, n);
	return bpf_object__find_map_by_name(obj, name);
}

static struct bpf_program *program_of(const struct image *img, struct bpf_object *obj, unsigned n)
{
	return bpf_object__find_program_by_name(obj, img->progs[n].name);
}

/* The kernel lets a program call only those of its type and attach type. */
static struct walker *find(const struct walkers *w, const struct bpf_program *caller)
{
	for (size_t i = 0; i < w->all.len; i++)
		if (w->all.data[i].type == bpf_program__type(caller) &&
			w->all.data[i].attach_type == bpf_program__expected_attach_type(caller))
			return &w->all.data[i];
	return NULL;
}

static int prepare(const struct walkers *w, const struct load_env *env, const struct walker *new)
{
	struct bpf_program *p;
	int r = unwinders_configure(env->target, new->obj, UNWIND_LIMIT_DEFAULT);

	if (r)
		return r;
	bpf_object__for_each_program(p, new->obj)
		bpf_program__set_autoload(p, !strcmp(bpf_program__name(p), FORGET) && !w->forget);
	p = bpf_object__find_program_by_name(new->obj, WALKER);
	if (!p)
		return -ENOENT;
	bpf_program__set_autoload(p, true);
	bpf_program__set_type(p, new->type);
	bpf_program__set_expected_attach_type(p, new->attach_type);
	who_prepare(env->target, new->obj, env->only_pid);
	return shared_use(env->shared, new->obj);
}

static int open_one(struct walkers *w, const struct load_env *env, const struct bpf_program *caller)
{
	LIBBPF_OPTS(bpf_object_open_opts, opts, .object_name = "strata");
	struct walker new = {
		.type = bpf_program__type(caller),
		.attach_type = bpf_program__expected_attach_type(caller),
		.obj = bpf_object__open_mem(w->elf, w->elf_size, &opts),
		.fd = -1,
	};
	int r = new.obj ? prepare(w, env, &new) : -errno;

	if (r)
		bpf_object__close(new.obj);
	else
		vec_push(&w->all, new);
	return r;
}

int walkers_open(struct walkers *w, const struct load_env *env, const struct image *img, struct bpf_object *obj)
{
	int r = 0;

	for (unsigned i = 0; i < img->nprogs && !r; i++) {
		const struct bpf_program *caller = program_of(img, obj, i);

		if (array_of(obj, i) && !find(w, caller))
			r = open_one(w, env, caller);
	}
	return r;
}

/* ---- loading ------------------------------------------------------------ */

static int keep(struct bpf_object *obj, const char *program, int *fd)
{
	*fd = fcntl(bpf_program__fd(bpf_object__find_program_by_name(obj, program)), F_DUPFD_CLOEXEC, 3);
	return *fd < 0 ? -errno : 0;
}

/* The object has a descriptor of each map: keep only the programs' ones. */
static int load(struct walkers *w, struct walker *new)
{
	int r = bpf_object__load(new->obj);

	if (!r)
		r = keep(new->obj, WALKER, &new->fd);
	if (!r && !w->forget)
		r = keep(new->obj, FORGET, &w->forget);
	bpf_object__close(new->obj);
	new->obj = NULL;
	return r;
}

int walkers_load(struct walkers *w, const struct image *img, struct bpf_object *obj)
{
	const uint32_t zero = 0;
	int r = 0;

	for (size_t i = 0; i < w->all.len && !r; i++)
		if (w->all.data[i].obj)
			r = load(w, &w->all.data[i]);
	for (unsigned i = 0; i < img->nprogs && !r; i++) {
		const struct bpf_map *array = array_of(obj, i);
		const struct walker *its = array ? find(w, program_of(img, obj, i)) : NULL;

		if (its && bpf_map_update_elem(bpf_map__fd(array), &zero, &its->fd, BPF_ANY))
			r = -errno;
	}
	return r;
}
