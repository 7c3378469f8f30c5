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

enum {
	LARGE_ENTRIES = 1 << 15, /* the kernel writes a bucket for each, at once */
	LARGE_RING = 1 << 20,    /* bytes; the kernel clears all pages */
};

struct large_map {
	const char *name;
	enum bpf_map_type type;
	uint32_t key_size, value_size, entries, flags;
	int fd; /* -errno: not made */
};

/* Maps that one thread makes, one after the other. */
struct lane {
	VEC(struct large_map) all;
	pthread_t thread;
	bool has_thread;
};

/* The ring takes half as long as a script's map, so that both are ready at about the same time. */
enum { LANE_SCRIPT, LANE_RING, LANES };

struct large_maps {
	struct lane lane[LANES];
};

static void *make_large(void *arg)
{
	struct lane *l = arg;

	for (size_t i = 0; i < l->all.len; i++) {
		struct large_map *m = &l->all.data[i];
		LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = m->flags);

		m->fd = bpf_map_create(m->type, m->name, m->key_size, m->value_size, m->entries, &opts);
	}
	return NULL;
}

static void start(struct lane *l)
{
	l->has_thread = l->all.len && !pthread_create(&l->thread, NULL, make_large, l);
}

struct large_maps *large_maps_begin(uint32_t ring)
{
	struct large_maps *l = calloc(1, sizeof(*l));

	if (!l || ring < LARGE_RING)
		return l;
	vec_push(&l->lane[LANE_RING].all, (struct large_map){"ring", BPF_MAP_TYPE_RINGBUF, .entries = ring, .fd = -1});
	start(&l->lane[LANE_RING]);
	return l;
}

void large_maps_add(struct large_maps *l, const struct image *img, struct bpf_object *obj, const struct shared *s)
{
	struct lane *lane = &l->lane[LANE_SCRIPT];

	for (unsigned i = 0; i < img->nmaps; i++) {
		const char *name = img->maps[i].bpf_name;
		const struct bpf_map *m = bpf_object__find_map_by_name(obj, name);

		if (m && !img->maps[i].taken && !shared_find(s, name) && bpf_map__max_entries(m) >= LARGE_ENTRIES)
			vec_push(&lane->all, (struct large_map){name, bpf_map__type(m), bpf_map__key_size(m),
				bpf_map__value_size(m), bpf_map__max_entries(m), bpf_map__map_flags(m), -1});
	}
	start(lane);
}

static int use_lane(struct lane *l, struct bpf_object *obj)
{
	int r = 0;

	if (l->has_thread)
		pthread_join(l->thread, NULL);
	for (size_t i = 0; i < l->all.len; i++) {
		struct large_map *m = &l->all.data[i];
		struct bpf_map *map = obj && m->fd >= 0 ? bpf_object__find_map_by_name(obj, m->name) : NULL;

		if (map && !r)
			r = bpf_map__reuse_fd(map, m->fd);
		closep(&m->fd);
	}
	vec_done(&l->all);
	return r;
}

int large_maps_use(struct large_maps *l, struct bpf_object *obj)
{
	int r = 0;

	for (unsigned i = 0; l && i < LANES; i++) {
		int r1 = use_lane(&l->lane[i], obj);

		r = r ? r : r1;
	}
	free(l);
	return r;
}
