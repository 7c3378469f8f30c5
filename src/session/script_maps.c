// SPDX-License-Identifier: Apache-2.0
/* script_maps.c - see script_maps.h. */
#include "script_maps.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/log.h"
#include "base/owner.h"
#include "base/vec.h"
#include "bpf/lib/record.h"
#include "model/image.h"
#include "session/image_object.h"
#include "session/shared.h"
#include "target/target.h"

/* The kernel makes all elements of a hash map at once. A map larger than the memory takes memory from all
 * other processes before it is refused. */
bool script_maps_fit(const struct image *img, struct bpf_object *obj)
{
	uint64_t half = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE) / 2;
	uint64_t cpus = (uint64_t)libbpf_num_possible_cpus(), sum = img->scratch_size * SCRATCH_SLOTS * cpus;

	for (unsigned i = 0; i < img->nmaps; i++) {
		const struct image_map *m = &img->maps[i];
		const struct bpf_map *bpf = bpf_object__find_map_by_name(obj, m->bpf_name);
		uint64_t entries = bpf ? m->max_entries : 0;

		sum += entries * (m->key_size + m->value_size * (m->per_cpu ? cpus : 1));
		if (sum <= half)
			continue;
		log_error("@%s has room for %" PRIu64 " elements of %u bytes, which makes the script's maps larger "
			"than half of this machine's memory", m->name, entries, m->key_size + m->value_size);
		log_hint("config = { max_map_keys = N } sets the elements of all maps, let @%s = hash(N) those of "
			"one", m->name);
		return false;
	}
	return true;
}

/* Stacks that differ only by an address are different keys until they are printed, so a long profile has far
 * more than the usual 4,096 keys. Their number is limited to a part of the machine's memory; the kernel
 * allocates elements as the map fills, or before 6.1 all at once. */
enum { STACK_KEYS_LEAST = 4096, STACK_KEYS_MOST = 1 << 18, STACK_KEYS_AT_ONCE = 1 << 14, STACK_KEYS_MEMORY = 256 };

static uint32_t stack_keys(const struct image_map *m, bool at_once)
{
	uint64_t memory = (uint64_t)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE) / STACK_KEYS_MEMORY;
	uint64_t cpus = m->per_cpu ? (uint64_t)libbpf_num_possible_cpus() : 1, n = STACK_KEYS_LEAST;
	uint64_t element = 96 + m->key_size + cpus * m->value_size;

	while (n < (at_once ? STACK_KEYS_AT_ONCE : STACK_KEYS_MOST) && 2 * n * element <= memory)
		n *= 2;
	return (uint32_t)n;
}

static int size_script_map(const struct image_map *m, bool grows, struct shared *s, struct bpf_object *obj)
{
	struct bpf_map *map = bpf_object__find_map_by_name(obj, m->bpf_name);
	uint32_t entries = m->sized_by_memory ? stack_keys(m, !grows) : m->max_entries;
	uint32_t flags = m->sized_by_memory && grows ? BPF_F_NO_PREALLOC : 0;

	if (!map)
		return 0;
	if (m->taken)
		return shared_hold(s, obj, m, entries, flags);
	bpf_map__set_max_entries(map, entries);
	bpf_map__set_map_flags(map, bpf_map__map_flags(map) | flags);
	return 0;
}

int script_maps_size(const struct image *img, const struct load_env *env, struct bpf_object *obj)
{
	bool grows = target_feature(env->target, FEATURE_MAP_ALLOC);
	int r = 0;

	for (unsigned i = 0; i < img->nmaps && !r; i++)
		r = size_script_map(&img->maps[i], grows, env->shared, obj);
	return r;
}

/* ---- large maps ---------------------------------------------------------- */

enum { LARGE_ENTRIES = 1 << 15 }; /* the kernel writes a bucket for each, at once */

struct large_map {
	struct bpf_map *map; /* of the object */
	int fd;              /* -errno: not made */
};

struct large_maps {
	VEC(struct large_map) all;
	pthread_t thread;
};

static void *make_large(void *arg)
{
	struct large_maps *l = arg;

	for (size_t i = 0; i < l->all.len; i++) {
		const struct bpf_map *m = l->all.data[i].map;
		LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = bpf_map__map_flags(m));

		l->all.data[i].fd = bpf_map_create(bpf_map__type(m), bpf_map__name(m), bpf_map__key_size(m),
			bpf_map__value_size(m), bpf_map__max_entries(m), &opts);
	}
	return NULL;
}

struct large_maps *large_maps_begin(const struct image *img, struct bpf_object *obj, const struct shared *s)
{
	struct large_maps *l = calloc(1, sizeof(*l));

	for (unsigned i = 0; l && i < img->nmaps; i++) {
		const struct image_map *m = &img->maps[i];
		struct bpf_map *map = bpf_object__find_map_by_name(obj, m->bpf_name);

		if (map && !m->taken && !shared_find(s, m->bpf_name) && bpf_map__max_entries(map) >= LARGE_ENTRIES)
			vec_push(&l->all, (struct large_map){map, -1});
	}
	if (l && l->all.len && !pthread_create(&l->thread, NULL, make_large, l))
		return l;
	if (l)
		vec_done(&l->all);
	free(l);
	return NULL;
}

int large_maps_use(struct large_maps *l, struct bpf_object *obj)
{
	int r = 0;

	if (!l)
		return 0;
	pthread_join(l->thread, NULL);
	for (size_t i = 0; i < l->all.len; i++) {
		struct large_map *m = &l->all.data[i];

		if (obj && m->fd >= 0 && !r)
			r = bpf_map__reuse_fd(m->map, m->fd);
		closep(&m->fd);
	}
	vec_done(&l->all);
	free(l);
	return r;
}
