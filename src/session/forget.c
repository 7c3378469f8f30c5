// SPDX-License-Identifier: Apache-2.0
/* forget.c - see forget.h; unwinders.h explains the steps.
 *
 * The kernel sends each stack once, so its list of sent stacks is cleared first. A program that is running may
 * still store or send the id of a stack that it found in the list. So nothing is dropped until SETTLED_NS have
 * passed, far longer than a program runs, and the ring buffer has been read up to its position at that time. */
#include "forget.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/owner.h"
#include "session/pace.h"
#include "session/shared.h"
#include "unwinders/unwinders.h"
#include "values/entries.h"

#define SETTLED_NS 1000000000ull

/* Zeros mean free entries. */
static void clear_array(const struct shared *s, const char *name)
{
	const struct shared_map *m = shared_find(s, name);
	uint32_t n = m ? m->max_entries : 0;
	_cleanup_(freep) uint8_t *zeros = m ? calloc(n, m->value_size) : NULL;
	_cleanup_(freep) uint32_t *keys = calloc(n + 1, sizeof(*keys));

	for (uint32_t i = 0; keys && i < n; i++)
		keys[i] = i;
	if (!m || !zeros || !keys || !bpf_map_update_batch(m->fd, keys, zeros, &n, NULL))
		return;
	for (uint32_t i = 0; i < m->max_entries; i++) /* before 5.6 */
		bpf_map_update_elem(m->fd, &i, zeros, BPF_ANY);
}

static void keep(void *arg, uint64_t id)
{
	unwinders_keep_stack(arg, id);
}

static void enter(struct forget *f, int state)
{
	f->state = state;
	f->since = clock_ns(CLOCK_MONOTONIC_COARSE);
}

static void renew(struct forget *f)
{
	unwinders_renew_stacks(f->unwinders);
	clear_array(f->shared, "seen");
	clear_array(f->shared, "kstacks_seen");
	enter(f, FORGET_RENEWED);
}

static void drop(struct forget *f)
{
	for (size_t i = 0; i < f->shared->maps.len; i++) {
		const struct shared_map *m = &f->shared->maps.data[i];

		if (m->script)
			map_each_stack(m->fd, m->script, keep, f->unwinders);
	}
	f->each_waiting(f->waiting, keep, f->unwinders);
	unwinders_forget_stacks(f->unwinders);
	enter(f, FORGET_IDLE);
}

void forget_step(struct forget *f)
{
	struct ring *ring = f->pace && f->pace->buffer ? ring_buffer__ring(f->pace->buffer, 0) : NULL;

	if (!f->unwinders || !ring)
		return;
	switch (f->state) {
	case FORGET_IDLE:
		if (unwinders_stacks_due(f->unwinders))
			renew(f);
		break;
	case FORGET_RENEWED:
		if (clock_ns(CLOCK_MONOTONIC_COARSE) - f->since < SETTLED_NS)
			break;
		f->until = ring__producer_pos(ring);
		enter(f, FORGET_DRAINING);
		break;
	case FORGET_DRAINING:
		if (pace_has_read(f->pace, f->until))
			drop(f);
		break;
	}
}
