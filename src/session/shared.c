// SPDX-License-Identifier: Apache-2.0
/* shared.c - maps by name. See shared.h. */
#include "shared.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/log.h"
#include "base/owner.h"
#include "bpf/walk/match.h"
#include "model/image.h"
#include "model/type.h"

static void done(struct shared_map *m)
{
	free(m->name);
	closep(&m->fd);
	closep(&m->holder);
}

static void drop_first(struct shared *s)
{
	for (size_t i = 0; i < s->first.len; i++)
		closep(&s->first.data[i].fd);
	s->first.len = 0;
}

void shared_done(struct shared *s)
{
	drop_first(s);
	vec_done(&s->first);
	for (size_t i = 0; i < s->maps.len; i++)
		done(&s->maps.data[i]);
	vec_done(&s->maps);
}

static struct shared_map *find(const struct shared *s, const char *name)
{
	for (size_t i = 0; i < s->maps.len; i++)
		if (!strcmp(s->maps.data[i].name, name))
			return &s->maps.data[i];
	return NULL;
}

const struct shared_map *shared_find(const struct shared *s, const char *name)
{
	return find(s, name);
}

int shared_fd(const struct shared *s, const char *name)
{
	const struct shared_map *m = find(s, name);

	return m ? m->fd : -1;
}

/* ---- before loading ----------------------------------------------------- */

static bool is_same(const struct type *a, const struct type *b)
{
	return a == b || (a && b && type_eq(a, b));
}

static void complain(const struct image_map *old, const struct image_map *m)
{
	bool key = !is_same(old->key, m->key);
	const struct type *was = key ? old->key : old->value, *is = key ? m->key : m->value;
	struct arena *a = arena_new();

	log_error("the %s of @%s is %s in an earlier script, not %s", key ? "key" : "value", m->name,
		was ? type_name(a, was) : "none", is ? type_name(a, is) : "none");
	arena_free(a);
}

int shared_check(const struct shared *s, const struct image *img)
{
	for (unsigned i = 0; i < img->nmaps; i++) {
		const struct shared_map *old = find(s, img->maps[i].bpf_name);

		if (!old || (is_same(old->script->key, img->maps[i].key) &&
				    is_same(old->script->value, img->maps[i].value)))
			continue;
		complain(old->script, &img->maps[i]);
		return -EINVAL;
	}
	return 0;
}

/* Objects do not share .rodata and similar maps, counts of their programs' runs, and arrays of programs,
 * which are for programs of one type. */
static bool can_be_shared(const struct bpf_map *m)
{
	return !bpf_map__is_internal(m) && bpf_map__type(m) != BPF_MAP_TYPE_PROG_ARRAY
		&& strcmp(bpf_map__name(m), IMAGE_TICKS) && strcmp(bpf_map__name(m), "verdicts")
		&& strcmp(bpf_map__name(m), APPLY_INPUT);
}

int shared_use(const struct shared *s, struct bpf_object *obj)
{
	struct bpf_map *m;

	bpf_object__for_each_map(m, obj) {
		const struct shared_map *old = can_be_shared(m) ? find(s, bpf_map__name(m)) : NULL;
		int r;

		if (!old || old->key_size != bpf_map__key_size(m) || old->value_size != bpf_map__value_size(m))
			continue;
		r = bpf_map__reuse_fd(m, old->holder < 0 ? old->fd : old->holder);
		if (r)
			return r;
	}
	return 0;
}

/* ---- maps that are taken ------------------------------------------------- */

int shared_hold(struct shared *s, struct bpf_object *obj, const struct image_map *m, uint32_t entries, uint32_t flags)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = flags);
	int fd = bpf_map_create(m->type, m->bpf_name, m->key_size, m->value_size, entries, &opts);

	if (fd < 0)
		return -errno;
	vec_push(&s->first, (struct shared_first){.name = m->bpf_name, .fd = fd});
	return bpf_map__set_inner_map_fd(bpf_object__find_map_by_name(obj, m->bpf_name), fd);
}

static int create_alike(int fd)
{
	struct bpf_map_info info = {};
	LIBBPF_OPTS(bpf_map_create_opts, opts);
	uint32_t size = sizeof(info);
	int new;

	if (bpf_obj_get_info_by_fd(fd, &info, &size))
		return -errno;
	opts.map_flags = info.map_flags;
	new = bpf_map_create(info.type, info.name, info.key_size, info.value_size, info.max_entries, &opts);
	return new < 0 ? -errno : new;
}

/* The kernel waits in bpf_map_update_elem() for all programs that may use the old map (maybe_wait_bpf_programs()
 * in kernel/bpf/syscall.c). */
int shared_take(struct shared *s, const char *name)
{
	static const uint32_t zero;
	struct shared_map *m = find(s, name);
	int new, old;

	if (!m || m->holder < 0)
		return -EINVAL;
	new = create_alike(m->fd);
	if (new < 0)
		return new;
	if (bpf_map_update_elem(m->holder, &zero, &new, BPF_ANY)) {
		int r = -errno;

		close(new);
		return r;
	}
	old = m->fd;
	m->fd = new;
	return old;
}

/* ---- after loading ------------------------------------------------------ */

static const struct image_map *of_script(const struct image *img, const char *name)
{
	for (unsigned i = 0; i < img->nmaps; i++)
		if (!strcmp(img->maps[i].bpf_name, name))
			return &img->maps[i];
	return NULL;
}

void shared_forget(struct shared *s, const struct image *img)
{
	size_t kept = 0;

	drop_first(s);
	for (size_t i = 0; i < s->maps.len; i++) {
		struct shared_map *m = &s->maps.data[i];

		if (m->script && m->script >= img->maps && m->script < img->maps + img->nmaps)
			done(m);
		else
			s->maps.data[kept++] = *m;
	}
	s->maps.len = kept;
}

/* Puts the first map into its array. */
static int put_first(struct shared *s, struct shared_map *new)
{
	static const uint32_t zero;

	new->holder = new->fd;
	new->fd = -1;
	for (size_t i = 0; i < s->first.len; i++) {
		struct shared_first *first = &s->first.data[i];

		if (strcmp(first->name, new->name))
			continue;
		new->fd = first->fd;
		first->fd = -1;
		return bpf_map_update_elem(new->holder, &zero, &new->fd, BPF_ANY) ? -errno : 0;
	}
	return -ENOENT;
}

static int add(struct shared *s, const struct bpf_map *m, const struct image *img)
{
	struct shared_map new = {
		.name = strdup(bpf_map__name(m)),
		.fd = fcntl(bpf_map__fd(m), F_DUPFD_CLOEXEC, 0),
		.holder = -1,
		.key_size = bpf_map__key_size(m),
		.value_size = bpf_map__value_size(m),
		.max_entries = bpf_map__max_entries(m),
		.script = of_script(img, bpf_map__name(m)),
		.print = img->print_maps,
	};

	int r = !new.name ? -ENOMEM : new.fd < 0 ? -errno : 0;

	if (!r && new.script && new.script->taken)
		r = put_first(s, &new);
	if (r) {
		done(&new);
		return r;
	}
	vec_push(&s->maps, new);
	return 0;
}

int shared_add(struct shared *s, struct bpf_object *obj, const struct image *img)
{
	struct bpf_map *m;
	int r = 0;

	bpf_object__for_each_map(m, obj) {
		struct shared_map *old = find(s, bpf_map__name(m));

		if (old)
			old->print |= img->print_maps && of_script(img, bpf_map__name(m));
		else if (can_be_shared(m) && bpf_map__autocreate(m)) /* see unwinders_load_only() */
			r = add(s, m, img);
		if (r)
			return r;
	}
	return 0;
}
