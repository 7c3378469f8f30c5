// SPDX-License-Identifier: Apache-2.0
/* losses.c - reports losses at the end. See losses.h. */
#include "losses.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/owner.h"
#include "base/str.h"
#include "base/vec.h"
#include "bpf/lib/record.h"
#include "image_object.h"
#include "output/output.h"
#include "problems.h"
#include "shared.h"
#include "values/show.h"

static const char *const what[LOST_MAX] = {
	[LOST_RING] = "events: the ring buffer was full (config perf_rb_pages makes it larger)",
	[LOST_SCRATCH] = "events: programs interrupted one another too deeply",
	[LOST_MAP] = "updates lost: a map was full",
	[LOST_STACK] = "stacks lost their frames: the ring buffer was full",
	[LOST_LOOP] = "loops were ended early: a loop has at most 8388608 rounds (256 before Linux 5.17)",
	[LOST_UPDATE] = "updates lost: the kernel refused them, as the map was busy or no memory was free",
	[LOST_OTHER] = "records for stacks and names lost: the ring buffer was full",
};

static const char what_missed[] =
	"events, counted before any filter: their CPU was inside another BPF program or a call of bpf()";

struct list {
	VEC(struct output_loss) losses; /* probe is owned */
};

static char *name_of(const struct show *s, uint64_t place)
{
	struct str name = {};

	show_place_name(s, false, place & ~LOST_PROGRAM, &name);
	if (place & LOST_PROGRAM)
		str_add(&name, " and others");
	return name.data;
}

/* Sorts the largest first. */
static int compare(const void *pa, const void *pb)
{
	const struct output_loss *a = pa, *b = pb;

	if (a->n != b->n)
		return a->n < b->n ? 1 : -1;
	return (a->cpu > b->cpu) - (a->cpu < b->cpu);
}

static void read_places(struct list *l, const struct show *s, int fd)
{
	struct lost_at key, *last = NULL;
	uint64_t n;

	for (; !bpf_map_get_next_key(fd, last, &key); last = &key)
		if (!bpf_map_lookup_elem(fd, &key, &n) && n)
			vec_push(&l->losses, (struct output_loss){name_of(s, key.place), key.cpu, n});
	if (l->losses.len)
		qsort(l->losses.data, l->losses.len, sizeof(*l->losses.data), compare);
}

static void list_done(struct list *l)
{
	for (size_t i = 0; i < l->losses.len; i++)
		free((char *)l->losses.data[i].probe);
	vec_done(&l->losses);
}

static uint64_t sum(int fd, uint32_t kind)
{
	int ncpus = libbpf_num_possible_cpus();
	_cleanup_(freep) uint64_t *v = calloc(ncpus, sizeof(*v));
	uint64_t n = 0;

	if (!v || bpf_map_lookup_elem(fd, &kind, v))
		return 0;
	for (int i = 0; i < ncpus; i++)
		n += v[i];
	return n;
}

uint64_t losses_total(const struct shared *shared)
{
	static const enum lost_kind counted[] = {LOST_RING, LOST_SCRATCH, LOST_MAP, LOST_UPDATE, LOST_STACK};
	int fd = shared_fd(shared, "lost");
	uint64_t n = 0;

	for (size_t i = 0; fd >= 0 && i < ARRAY_SIZE(counted); i++)
		n += sum(fd, counted[i]);
	return n;
}

uint64_t losses_events(const struct shared *shared)
{
	int fd = shared_fd(shared, "events");

	return fd >= 0 ? sum(fd, 0) : 0;
}

static void read_missed(struct list *l, const struct show *s, const struct image_object *o)
{
	for (uint32_t i = 0; o->missed && i < o->img->nprogs; i++) {
		const struct image_prog *prog = &o->img->progs[i];
		uint64_t place = image_place_id(o->img->number, prog->first_place);

		if (!o->missed[i])
			continue;
		place |= prog->nplaces > 1 ? LOST_PROGRAM : 0;
		vec_push(&l->losses, (struct output_loss){name_of(s, place), OUTPUT_ANY_CPU, o->missed[i]});
	}
}

static void report_missed(struct out *o, struct image_object *const *objects, size_t n)
{
	struct output_event e = {.kind = OUTPUT_LOST, .what = what_missed, .are_events = true};
	_cleanup_(list_done) struct list l = {};

	for (size_t i = 0; i < n; i++)
		if (objects[i]->obj)
			read_missed(&l, o->show, objects[i]);
	for (size_t i = 0; i < l.losses.len; i++)
		e.n += l.losses.data[i].n;
	if (!e.n)
		return;
	qsort(l.losses.data, l.losses.len, sizeof(*l.losses.data), compare);
	e.losses = l.losses.data;
	e.nlosses = l.losses.len;
	o->output->event(o, &e);
}

static const char *name_full(const struct shared *shared, struct image_object *const *objects, size_t n,
	struct str *out)
{
	VEC(const struct image *) images = {};

	for (size_t i = 0; i < n; i++)
		vec_push(&images, objects[i]->img);
	str_addf(out, "%s ", what[LOST_MAP]);
	problems_full(shared, images.data, images.len, out);
	vec_done(&images);
	return str_text(out);
}

void losses_report(struct out *o, const struct shared *shared, struct image_object *const *objects, size_t n)
{
	int fd = shared_fd(shared, "lost"), at = shared_fd(shared, "lost_at");
	_cleanup_(str_done) struct str full = {};

	for (uint32_t k = 0; fd >= 0 && k < LOST_MAX; k++) {
		struct output_event e = {.kind = OUTPUT_LOST, .what = what[k], .n = sum(fd, k)};
		_cleanup_(list_done) struct list l = {};

		if (!e.n)
			continue;
		if (k == LOST_MAP)
			e.what = name_full(shared, objects, n, &full);
		if (k == LOST_RING && at >= 0)
			read_places(&l, o->show, at);
		e.are_events = k == LOST_RING || k == LOST_SCRATCH;
		e.losses = l.losses.data;
		e.nlosses = l.losses.len;
		o->output->event(o, &e);
	}
	report_missed(o, objects, n);
}
