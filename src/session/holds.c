// SPDX-License-Identifier: Apache-2.0
/* holds.c - decides about events. See holds.h. */
#include "holds.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/owner.h"
#include "base/vec.h"
#include "bpf/walk/kstack.h"
#include "bpf/walk/match.h"
#include "held.h"
#include "model/image.h"
#include "model/settings.h"
#include "model/type.h"
#include "target/target.h"
#include "unwinders/idmap.h"
#include "unwinders/unwinders.h"
#include "values/entries.h"
#include "values/frames.h"
#include "values/match.h"
#include "values/show.h"

enum { VERDICTS_MAX = 1 << 20, NAMES_MAX = 4096 };

enum passes { PASSES_NO, PASSES_YES };

struct holds {
	const struct image *img;
	int verdicts, problems, input; /* maps, owned by the object */
	int *programs;                 /* by image_record.apply, owned by the object */
	struct idmap known;            /* id of a stack -> patterns that match, | VERDICT_PARTIAL */
	struct idmap cgroups;          /* the same for ids of cgroups */
	size_t nknown;
	uint64_t next;                 /* the way of the table in which the next verdict goes */
	uint32_t matched;              /* patterns that have matched */
	uint8_t (*slots)[GATE_LEVELS]; /* by scratch slot and level: enum passes */
	uint32_t nslots;
	struct idmap seen;             /* names, by their addresses */
	struct held *held;             /* records of hold() */
	VEC(char *) names;             /* without parameters, to find the nearest of them; owned */
};

static int map_of(struct bpf_object *obj, const char *name)
{
	struct bpf_map *m = bpf_object__find_map_by_name(obj, name);

	return m ? bpf_map__fd(m) : -1;
}

static bool find_programs(struct holds *h, struct bpf_object *obj)
{
	h->programs = calloc(h->img->napplies + 1, sizeof(*h->programs));
	if (!h->programs)
		out_of_memory();
	for (unsigned i = 0; i < h->img->napplies; i++) {
		struct bpf_program *p;
		char name[32];

		snprintf(name, sizeof(name), APPLY_PROGRAM, i);
		p = bpf_object__find_program_by_name(obj, name);
		if (!p)
			return false;
		h->programs[i] = bpf_program__fd(p);
	}
	return true;
}

void holds_free(struct holds *h)
{
	if (!h)
		return;
	idmap_done(&h->known);
	idmap_done(&h->cgroups);
	idmap_done(&h->seen);
	for (size_t i = 0; i < h->names.len; i++)
		free(h->names.data[i]);
	vec_done(&h->names);
	held_free(h->held);
	free(h->programs);
	free(h->slots);
	free(h);
}

/* ---- verdicts ------------------------------------------------------------ */

/* Gives the verdict to the kernel, in one of the two slots of the id; another id may lose its place there. */
static void give(struct holds *h, uint64_t id, uint64_t bits)
{
	uint64_t k = id * VERDICT_MIX, entry = VERDICT_TAG(k) | bits;
	uint32_t slot = VERDICT_SLOT(k) ^ (uint32_t)(h->next++ & 1);

	bpf_map_update_elem(h->verdicts, &slot, &entry, BPF_ANY);
}

/* Keeps a name, as long as a pattern has not matched. */
static void keep_name(struct holds *h, const struct frame_name *f)
{
	uint64_t at = (uintptr_t)f->name;

	if (!at || h->names.len >= NAMES_MAX || h->matched == (1u << h->img->npatterns) - 1 ||
		idmap_find(&h->seen, at))
		return;
	idmap_set(&h->seen, at, 1);
	vec_push(&h->names, strndup(f->name, frame_bare_length(f)));
	if (!h->names.data[h->names.len - 1])
		out_of_memory();
}

/* Returns the patterns that match the stack, as bits. */
static uint64_t match(struct holds *h, const struct frame_list *l)
{
	uint64_t bits = 0;

	for (unsigned i = 0; i < h->img->npatterns; i++)
		if (!h->img->patterns[i]->container && frames_match(l, h->img->patterns[i]))
			bits |= 1ull << i;
	h->matched |= (uint32_t)bits;
	for (size_t i = 0; i < l->len; i++)
		keep_name(h, &l->data[i].name);
	return bits;
}

static void remember(struct holds *h, uint64_t id, uint64_t bits)
{
	if (h->nknown >= VERDICTS_MAX) {
		idmap_done(&h->known);
		h->known = (struct idmap){};
		h->nknown = 0;
	}
	idmap_set(&h->known, id, bits);
	h->nknown++;
}

/* Returns whether more frames may follow. A limit that the script gave is the stack's end. The list may lack frames
 * that are hidden, and has inlined ones. */
static bool is_incomplete(const struct show *show, uint64_t id, const struct frame_list *l)
{
	const uint64_t *frames = NULL;
	enum unwind_end end = UNWIND_COMPLETE;
	ssize_t n = unwinders_stack(show->unwinders, id, &frames, &end);

	if (n == KSTACK_MAX && frames[0] >> FRAME_LANG_SHIFT == FRAME_LANG_KERNEL)
		return true;
	if (l->end == UNWIND_LIMIT)
		return n >= UNWIND_LIMIT_DEFAULT;
	return l->end != UNWIND_COMPLETE && l->end != UNWIND_NO_USER;
}

/* Finds the patterns that match, | VERDICT_PARTIAL. Returns false if the frames never came. */
static bool verdict(struct holds *h, const struct show *show, uint64_t id, uint64_t *ret_bits)
{
	static const struct type whole = {
		.kind = TYPE_STACK, .stack = {.mode = STACK_FUNC, .limit = UNWIND_LIMIT_MAX},
	};
	struct frame_list l;
	uint64_t *known;

	*ret_bits = 0;
	if (!id)
		return true;
	id = unwinders_real_id(show->unwinders, id);
	known = idmap_find(&h->known, id);
	if (!known) {
		frames_get(show, &whole, id, &l);
		if (l.end != UNWIND_LOST) {
			remember(h, id, match(h, &l) | (is_incomplete(show, id, &l) ? VERDICT_PARTIAL : 0));
			known = idmap_find(&h->known, id);
		}
		frames_done(&l);
	}
	if (!known)
		return false;
	*ret_bits = *known;
	give(h, id, *known);
	return true;
}

/* Finds the names that the cgroup's container has. Returns false if the cgroup has gone before it was looked at. */
static bool container_verdict(struct holds *h, struct target *t, uint64_t id, uint64_t *ret_bits)
{
	const uint64_t *known = idmap_find(&h->cgroups, id);
	uint64_t bits = 0;

	for (unsigned i = 0; !known && i < h->img->npatterns; i++) {
		int is = h->img->patterns[i]->container ? target_container_is(t, id, h->img->patterns[i]->func) : 0;

		if (is < 0)
			return false;
		bits |= (uint64_t)is << i;
	}
	if (!known)
		idmap_set(&h->cgroups, id, bits);
	*ret_bits = known ? *known : bits;
	h->matched |= (uint32_t)*ret_bits;
	give(h, id | VERDICT_CGROUP, *ret_bits);
	return true;
}

struct first {
	struct holds *h;
	struct target *target;
};

static void first_verdict(void *arg, uint64_t id, const char *path)
{
	const struct first *f = arg;
	uint64_t bits;

	target_container_note(f->target, id, path);
	container_verdict(f->h, f->target, id, &bits);
}

/* Events of cgroups that exist are decided from the start. */
static void first_verdicts(struct holds *h, struct target *t)
{
	bool has = false;

	for (unsigned i = 0; i < h->img->npatterns; i++)
		has |= h->img->patterns[i]->container;
	if (has)
		target_each_cgroup(t, first_verdict, &(struct first){h, t});
}

struct holds *holds_new(const struct image *img, struct bpf_object *obj, struct target *t,
	const struct settings *settings)
{
	struct holds *h = calloc(1, sizeof(*h));

	if (!h)
		out_of_memory();
	h->img = img;
	h->verdicts = map_of(obj, "verdicts");
	h->problems = map_of(obj, "problems");
	h->input = img->napplies ? map_of(obj, APPLY_INPUT) : -1;
	h->nslots = (uint32_t)libbpf_num_possible_cpus() * SCRATCH_SLOTS;
	h->slots = calloc(h->nslots, sizeof(*h->slots));
	if (!h->slots)
		out_of_memory();
	h->held = held_new(h->nslots, settings->max_hold_mb << 20, settings->max_hold_time);
	if (find_programs(h, obj) && h->verdicts >= 0 && h->problems >= 0 && (h->input >= 0 || !img->napplies)) {
		first_verdicts(h, t);
		return h;
	}
	holds_free(h);
	return NULL;
}

static bool is_known(struct holds *h, const struct show *show, const struct frame_pattern *p, uint64_t id,
	uint64_t *ret_bits)
{
	return p->container ? container_verdict(h, show->target, id, ret_bits) : verdict(h, show, id, ret_bits);
}

/* ---- conditions ---------------------------------------------------------- */

/* Counts an event at the place of a record of the kind "problem". */
static void count(const struct holds *h, uint32_t number)
{
	uint32_t key = image_record_id(h->img->number, number);
	uint64_t n = 0;

	bpf_map_lookup_elem(h->problems, &key, &n);
	n++;
	bpf_map_update_elem(h->problems, &key, &n, BPF_ANY);
}

void holds_decide(struct holds *h, const struct show *show, const struct image_record *r, const uint8_t *data)
{
	const struct gate_record *g = (const struct gate_record *)data;
	uint64_t possible = UINT64_MAX; /* the rows of the table that agree with the known verdicts */
	unsigned level = g->level & ~GATE_OPPOSITE;
	bool yes, no;

	for (unsigned k = 0; k < r->gate->n && k < GATE_VARS; k++) {
		uint64_t column = 0, bits;

		for (unsigned i = 0; i < 64; i++)
			column |= (uint64_t)(i >> k & 1) << i;
		if (!is_known(h, show, h->img->patterns[r->gate->patterns[k]], g->ids[k], &bits))
			continue;
		if (bits >> r->gate->patterns[k] & 1)
			possible &= column;
		else if (!(bits & VERDICT_PARTIAL))
			possible &= ~column;
	}
	yes = g->table & possible;
	no = ~g->table & possible;
	if (level >= GATE_LEVELS || g->slot >= h->nslots)
		return;
	h->slots[g->slot][level] = yes && !no ? PASSES_YES : PASSES_NO;
	if (yes && no && !(g->level & GATE_OPPOSITE))
		count(h, r->gate->undecided);
}

bool holds_pass(const struct holds *h, uint32_t kind)
{
	uint32_t slot = RECORD_SLOT(kind), levels = RECORD_LEVELS(kind);

	if (!levels)
		return true;
	if (!h || slot >= h->nslots)
		return false;
	for (unsigned i = 0; i < GATE_LEVELS; i++)
		if (levels >> i & 1 && h->slots[slot][i] != PASSES_YES)
			return false;
	return true;
}

void holds_apply(struct holds *h, const struct image_record *r, const uint8_t *data)
{
	LIBBPF_OPTS(bpf_test_run_opts, opts);
	static const uint32_t zero;
	uint8_t *input = calloc(1, h->img->apply_size);

	if (!input)
		out_of_memory();
	memcpy(input, data, r->size < h->img->apply_size ? r->size : h->img->apply_size);
	if (bpf_map_update_elem(h->input, &zero, input, BPF_ANY) ||
		bpf_prog_test_run_opts(h->programs[r->apply], &opts))
		count(h, r->failed);
	free(input);
}

/* ---- hold() --------------------------------------------------------------- */

void holds_begin(struct holds *h, const struct image_record *r, const uint8_t *data)
{
	const struct record *head = (const struct record *)data;

	held_begin(h->held, RECORD_SLOT(head->kind), r->args[0].type, data + r->args[0].offset);
}

bool holds_put(struct holds *h, const struct image_record *r, const struct record *record, size_t size)
{
	if (!RECORD_HELD(record->kind) || !strcmp(r->kind, "keep") || !strcmp(r->kind, "drop") ||
		!strcmp(r->kind, "exit"))
		return false;
	if (h)
		held_put(h->held, RECORD_SLOT(record->kind), record, size);
	return true;
}

void holds_keep(struct holds *h, const struct image_record *r, const uint8_t *data,
	void (*run)(void *arg, const struct record *r, size_t size), void *arg)
{
	held_keep(h->held, r->args[0].type, data + r->args[0].offset, run, arg);
}

void holds_drop(struct holds *h, const struct image_record *r, const uint8_t *data)
{
	held_drop(h->held, r->args[0].type, data + r->args[0].offset);
}

struct stacks_of {
	const struct holds *h;
	void (*f)(void *arg, uint64_t id);
	void *arg;
};

static void stacks_of_record(void *arg, const struct record *record, size_t size)
{
	const struct stacks_of *s = arg;
	const struct image *img = s->h->img;
	const struct image_record *r = &img->records[record->id % IMAGE_RECORDS_MAX];
	_cleanup_(freep) uint8_t *whole = r->ntexts ? calloc(1, r->size) : NULL;
	const uint8_t *data = (const uint8_t *)record;

	if (whole && image_record_unpack(r, data, size, whole)) {
		data = whole;
		size = r->size;
	}
	for (unsigned i = 0; i < r->nargs; i++)
		if (r->args[i].offset + r->args[i].type->size <= size)
			type_each_stack(r->args[i].type, data + r->args[i].offset, s->f, s->arg);
	if (!strcmp(r->kind, "apply") && img->maps[r->map].key)
		type_each_stack(img->maps[r->map].key, data + sizeof(struct apply_record), s->f, s->arg);
}

void holds_each_stack(const struct holds *h, void (*f)(void *arg, uint64_t id), void *arg)
{
	held_each(h->held, stacks_of_record, &(struct stacks_of){h, f, arg});
}

/* ---- the end ------------------------------------------------------------- */

void holds_report(const struct holds *h)
{
	if (h)
		held_report(h->held);
	for (unsigned i = 0; h && i < h->img->npatterns; i++) {
		const char *func = h->img->patterns[i]->func, *near;

		if (h->matched >> i & 1 || strchr(func, '*'))
			continue;
		if (h->img->patterns[i]->container) {
			log_warn("no container has the name, pod or ID %s", func);
			log_hint("strata -d 1 -e 'profile:hz:99 { @[container] = count(); }' prints the names of "
				 "busy ones");
			continue;
		}
		if (!h->names.len)
			continue;
		log_warn("has_frame() looked for %s, but no frame has that name", func);
		near = nearest(func, (const char *const *)h->names.data, h->names.len);
		if (near)
			log_hint("did you mean %s?", near);
	}
}
