// SPDX-License-Identifier: Apache-2.0
/* session_records.c - reads the ring buffer: records of scripts and of the unwinders. */
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/stop.h"
#include "bpf/walk/match.h"
#include "model/type.h"
#include "output/stream.h"
#include "session/follow.h"
#include "session/holds.h"
#include "session/session_priv.h"
#include "unwinders/unwinders.h"

/* Returns NULL if the record is not of this kind. */
static const uint8_t *whole_record(struct session *s, const struct image_record *r, const void *data, size_t size)
{
	if (!r->ntexts)
		return size < r->size ? NULL : data;
	if (s->whole_size < r->size) {
		free(s->whole);
		s->whole = calloc(1, r->size);
		s->whole_size = s->whole ? r->size : 0;
	}
	return s->whole && image_record_unpack(r, data, size, s->whole) ? s->whole : NULL;
}

void session_on_script(void *arg, const struct record *head, size_t size)
{
	struct session *s = arg;
	struct image_object *o = session_object(s, head->id / IMAGE_RECORDS_MAX);
	uint32_t n = head->id % IMAGE_RECORDS_MAX;

	const uint8_t *data;

	if (!o || o->env.exit_called || n >= o->img->nrecords)
		return;
	data = whole_record(s, &o->img->records[n], head, size);
	if (!data || !holds_pass(o->env.holds, head->kind) ||
		holds_put(o->env.holds, &o->img->records[n], head, size))
		return;
	s->seen += image_record_prints(&o->img->records[n]);
	record_run(o->rows[n], &o->env, &o->img->records[n], data);
	if (!o->env.exit_called)
		return;
	s->ended = !s->opt.is_prompt;
	s->code = o->env.code;
}

/* Returns whether to stop reading: records may come faster than they are printed, and the ring is then never empty. */
static bool is_interrupted(struct session *s)
{
	if (!s->slice_end)
		return false;
	return s->ended || stop_asked() || (!(++s->records % 64) && clock_ns(CLOCK_MONOTONIC) >= s->slice_end);
}

/* Returns whether the unwinders name values of the type. */
static bool has_names(const struct type *t)
{
	return type_has_ids(t) || type_has(t, TYPE_USYM);
}

static bool maps_have_stacks(const struct shared *s)
{
	bool have = false;

	for (size_t i = 0; i < s->maps.len; i++) {
		const struct image_map *m = s->maps.data[i].script;

		have |= m && (has_names(m->key) || has_names(m->value));
	}
	return have;
}

/* Returns whether events depend on the names of stacks. */
static bool names_decide(const struct session *s)
{
	bool decide = false;

	for (size_t i = 0; i < s->images.len; i++)
		decide |= s->images.data[i]->gates;
	return decide;
}

/* Returns whether stacks will still be printed, and so must be named. */
static bool names_matter(const struct session *s)
{
	return stream_has_time(s->opt.stream) || maps_have_stacks(&s->shared) || names_decide(s);
}

static void take_record(struct session *s, const struct record *head, size_t size)
{
	if (RECORD_KIND(head->kind) == RECORD_SCRIPT) {
		session_on_script(s, head, size);
	} else {
		uint64_t time = unwinders_record_time(head, size);

		if (s->follow && time && names_matter(s))
			follow_drain(s->follow, time);
		if (s->unwinders && names_matter(s))
			unwinders_record(s->unwinders, head, size);
	}
}

/* Returns whether the record must wait, because it may need tables, or others wait and records are
 * handled in the ring's order. */
static bool must_wait(struct session *s, const struct record *head)
{
	bool slow = s->unwinders && unwinders_record_is_slow(head) && names_matter(s);

	return slow || s->gathers || s->backlog.bytes;
}

static int on_record(void *ctx, void *data, size_t size)
{
	const struct record *head = data;
	struct session *s = ctx;

	if (size < sizeof(*head))
		return 0;
	if (must_wait(s, head)) {
		backlog_put(&s->backlog, data, size);
		return backlog_is_full(&s->backlog) ? -EINTR : 0;
	}
	take_record(s, head, size);
	return is_interrupted(s) ? -EINTR : 0;
}

struct ring_buffer *session_new_ring(struct session *s, int fd)
{
	return ring_buffer__new(fd, on_record, s, NULL);
}

static void read_ring(struct session *s)
{
	s->reads = true;
	pace_read(&s->pace);
	s->reads = false;
}

void session_gather(void *arg)
{
	struct session *s = arg;

	if (s->reads || backlog_is_full(&s->backlog))
		return;
	s->gathers = true;
	read_ring(s);
	s->gathers = false;
	if (s->follow)
		follow_gather(s->follow);
}

/* Returns false if it was interrupted. */
static bool work_off(struct session *s)
{
	const struct record *head;
	size_t size;

	while ((head = backlog_first(&s->backlog, &size))) {
		take_record(s, head, size);
		backlog_drop(&s->backlog);
		if (is_interrupted(s))
			return false;
	}
	return true;
}

bool session_drain(struct session *s, uint64_t slice_ns)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC);
	bool all;

	s->slice_end = slice_ns ? now + slice_ns : 0;
	all = work_off(s);
	if (all) {
		now = clock_ns(CLOCK_MONOTONIC);
		read_ring(s);
		all = work_off(s);
	}
	/* No event is passed on before an older walk. All walks until `now` are done; the ring may have later ones. */
	if (s->follow && all) {
		follow_drain(s->follow, now);
		unwinders_publish(s->unwinders);
		reuse_open(&s->reuse, s->target, &s->shared); /* not before: the start would take longer */
		all = slice_ns || work_off(s); /* handle records gathered meanwhile */
	}
	if (!stream_flush(s->opt.stream))
		s->ended = true;
	if (all)
		forget_step(&s->forget);
	return all;
}
