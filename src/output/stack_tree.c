// SPDX-License-Identifier: Apache-2.0
/* stack_tree.c - the tree of stacks. A stack is a list of numbers, each for a kind, name and line. Lists are
 * sorted, so that those with a common beginning are neighbours; a node is complete, and its width known, when
 * the next list does not contain it. A narrow node is then freed, together with all nodes below. */
#include "stack_tree.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/memory.h"

enum { DEPTH_MAX = 2000 }; /* maximum depth of the tree, which recursive functions walk */

/* The label of a node: equal ones below one parent are one node. */
struct shown {
	const char *name, *match; /* match: the name for comparisons, see recording_pair() */
	enum frame_kind kind;
	uint32_t line;
};

/* A stack, the outermost frame first. */
struct list {
	size_t first;
	uint32_t n;
	bool before;
	uint64_t weight;
};

struct profile {
	struct arena *arena;
	VEC(struct shown) shown;
	uint32_t *slots;          /* index into shown, + 1; open addressing, at most half are used */
	size_t nslots;
	VEC(uint32_t) numbers;
	VEC(struct list) lists;
	struct profile_node root;
	struct profile_node *unused; /* nodes that were freed */
	uint64_t narrowest, least;
	bool by_line, has_lines, built;
};

/* ---- numbers ------------------------------------------------------------- */

static uint64_t hash_of(const struct shown *s)
{
	uint64_t h = 0xcbf29ce484222325 ^ (uint64_t)s->line << 8 ^ (uint64_t)s->kind; /* FNV-1a */

	for (const char *p = s->match; *p; p++)
		h = (h ^ (unsigned char)*p) * 0x100000001b3;
	return h ^ h >> 32;
}

static uint32_t *slot_of(const struct profile *p, const struct shown *s)
{
	size_t i = hash_of(s) & (p->nslots - 1);

	for (; p->slots[i]; i = (i + 1) & (p->nslots - 1)) {
		const struct shown *other = &p->shown.data[p->slots[i] - 1];

		if (other->kind == s->kind && other->line == s->line && !strcmp(other->match, s->match))
			break;
	}
	return &p->slots[i];
}

static void grow(struct profile *p)
{
	if (p->nslots && 2 * p->shown.len < p->nslots)
		return;
	p->nslots = p->nslots ? 2 * p->nslots : 1024;
	free(p->slots);
	p->slots = calloc(p->nslots, sizeof(*p->slots));
	if (!p->slots)
		out_of_memory();
	for (size_t i = 0; i < p->shown.len; i++)
		*slot_of(p, &p->shown.data[i]) = (uint32_t)i + 1;
}

static uint32_t number_of(struct profile *p, const struct shown *s)
{
	uint32_t *slot;

	grow(p);
	slot = slot_of(p, s);
	if (!*slot) {
		vec_push(&p->shown, *s);
		*slot = (uint32_t)p->shown.len;
	}
	return *slot - 1;
}

/* ---- entries ------------------------------------------------------------- */

/* A recording with the entries to add. */
struct adding {
	struct profile *profile;
	const struct recording *recording;
	uint32_t *of_frame; /* numbers + 1; 0: unknown yet */
	bool before, keys;
};

static void add_text(const struct adding *a, enum frame_kind kind, uint32_t text)
{
	const struct recording *r = a->recording;
	struct shown s = {recording_text(r, text), recording_name(r, text), kind, 0};
	uint32_t n = number_of(a->profile, &s);

	vec_push(&a->profile->numbers, n);
}

static void add_frame(const struct adding *a, uint32_t id)
{
	const struct recording *r = a->recording;
	const struct recorded_frame *f = &r->frames.data[id];

	if (!a->of_frame[id]) {
		struct shown s = {recording_text(r, f->function), recording_name(r, f->function), f->kind,
			a->profile->by_line ? f->shown.name.line : 0};

		a->of_frame[id] = number_of(a->profile, &s) + 1;
		a->profile->has_lines |= f->shown.name.line && f->shown.name.line == f->shown.last_line;
	}
	vec_push(&a->profile->numbers, a->of_frame[id] - 1);
}

static void add_stack(const struct adding *a, const struct recorded_part *part)
{
	if (part->text != NO_TEXT)
		add_text(a, FRAME_KIND_REASON, part->text);
	for (size_t i = part->n; i-- > 0;)
		add_frame(a, a->recording->ids.data[part->first + i]);
}

/* Entries without a stack are a part of the whole, too. */
static void add_nothing(struct profile *p)
{
	static const struct shown nothing = {"[no stack]", "[no stack]", FRAME_KIND_REASON, 0};

	vec_push(&p->numbers, number_of(p, &nothing));
}

static void cut_deep(struct profile *p, size_t first)
{
	static const struct shown deeper = {"(deeper frames)", "(deeper frames)", FRAME_KIND_REASON, 0};

	if (p->numbers.len - first <= DEPTH_MAX)
		return;
	p->numbers.len = first + DEPTH_MAX - 1;
	p->numbers.data[p->numbers.len++] = number_of(p, &deeper);
}

/* Key parts that are not stacks are the outermost frames; user frames call the kernel's frames. */
static void add_entry(const struct adding *a, const struct recorded_map *m, const struct recorded_entry *e,
	const uint32_t *top)
{
	const struct recorded_part *parts = a->recording->parts.data + e->parts;
	struct list l = {.first = a->profile->numbers.len, .before = a->before, .weight = e->weight};

	if (top)
		vec_push(&a->profile->numbers, *top);
	for (unsigned i = 0; a->keys && i < m->ncolumns; i++)
		if (!m->columns[i].is_stack)
			add_text(a, FRAME_KIND_KEY, parts[i].text);
	for (int kernel = 0; kernel < 2; kernel++)
		for (unsigned i = 0; i < m->ncolumns; i++)
			if (m->columns[i].is_stack && m->columns[i].is_kernel == kernel)
				add_stack(a, &parts[i]);
	if (a->profile->numbers.len == l.first + (top != NULL))
		add_nothing(a->profile);
	cut_deep(a->profile, l.first);
	l.n = (uint32_t)(a->profile->numbers.len - l.first);
	vec_push(&a->profile->lists, l);
}

static void add_map(struct adding *a, const struct recorded_map *m, const char *top)
{
	const char *name = top ? arena_strdup(a->profile->arena, top) : NULL;
	uint32_t number = top ? number_of(a->profile, &(struct shown){name, name, FRAME_KIND_KEY, 0}) : 0;

	a->of_frame = calloc(a->recording->frames.len + 1, sizeof(*a->of_frame));
	if (!a->of_frame)
		out_of_memory();
	for (size_t i = 0; i < m->entries.len; i++)
		if (m->entries.data[i].weight)
			add_entry(a, m, &m->entries.data[i], top ? &number : NULL);
	free(a->of_frame);
}

void profile_add(struct profile *p, const struct recording *r, const struct recorded_map *m, const char *top,
	bool keys)
{
	add_map(&(struct adding){.profile = p, .recording = r, .keys = keys}, m, top);
}

void profile_add_before(struct profile *p, const struct recording *r, const struct recorded_map *m,
	const char *top, bool keys)
{
	add_map(&(struct adding){.profile = p, .recording = r, .keys = keys, .before = true}, m, top);
}

/* ---- the tree ------------------------------------------------------------ */

static int by_numbers(const void *pa, const void *pb, void *arg)
{
	const struct profile *p = arg;
	const struct list *a = pa, *b = pb;
	const uint32_t *x = p->numbers.data + a->first, *y = p->numbers.data + b->first;

	for (uint32_t i = 0; i < a->n && i < b->n; i++)
		if (x[i] != y[i])
			return x[i] < y[i] ? -1 : 1;
	return (a->n > b->n) - (a->n < b->n);
}

static int by_total(const void *a, const void *b)
{
	const struct profile_node *x = *(struct profile_node *const *)a, *y = *(struct profile_node *const *)b;

	if (x->total != y->total)
		return x->total < y->total ? 1 : -1;
	if (x->before != y->before)
		return x->before < y->before ? 1 : -1;
	if (x->line != y->line)
		return x->line < y->line ? -1 : 1;
	return strcmp(x->name, y->name);
}

static void sort_children(struct profile_node *n)
{
	struct profile_node **all;
	size_t k = 0;

	if (n->nchildren < 2)
		return;
	all = calloc(n->nchildren, sizeof(*all));
	if (!all)
		out_of_memory();
	for (struct profile_node *c = n->children; c; c = c->next)
		all[k++] = c;
	qsort(all, k, sizeof(*all), by_total);
	for (size_t i = 0; i < k; i++)
		all[i]->next = i + 1 < k ? all[i + 1] : NULL;
	n->children = all[0];
	free(all);
}

static struct profile_node *open_node(struct profile *p, struct profile_node *parent, uint32_t number)
{
	const struct shown *s = &p->shown.data[number];
	struct profile_node *n = p->unused;

	if (n)
		p->unused = n->next;
	else
		n = arena_new_obj(p->arena, struct profile_node);
	*n = (struct profile_node){.name = s->name, .kind = s->kind, .line = s->line, .parent = parent};
	return n;
}

/* The children of a narrow node were freed before: none is wider. */
static struct profile_node *close_node(struct profile *p, struct profile_node *n)
{
	struct profile_node *parent = n->parent;

	parent->total += n->total;
	parent->before += n->before;
	if (n->total >= p->least) {
		sort_children(n);
		n->next = parent->children;
		parent->children = n;
		parent->nchildren++;
		return parent;
	}
	parent->small += n->total;
	parent->small_before += n->before;
	parent->nsmall += n->total > 0;
	n->next = p->unused;
	p->unused = n;
	return parent;
}

static void build(struct profile *p)
{
	struct profile_node *n = &p->root;
	uint32_t depth = 0;

	for (size_t i = 0; i < p->lists.len; i++) {
		const struct list *l = &p->lists.data[i], *last = i ? l - 1 : NULL;
		const uint32_t *x = p->numbers.data + l->first;
		uint32_t same = 0;

		while (last && same < l->n && same < last->n && x[same] == p->numbers.data[last->first + same])
			same++;
		for (; depth > same; depth--)
			n = close_node(p, n);
		for (; depth < l->n; depth++)
			n = open_node(p, n, x[depth]);
		n->self += l->before ? 0 : l->weight;
		*(l->before ? &n->before : &n->total) += l->weight;
	}
	for (; depth; depth--)
		n = close_node(p, n);
	sort_children(&p->root);
}

struct profile_node *profile_root(struct profile *p)
{
	uint64_t total = 0;

	if (p->built)
		return &p->root;
	p->built = true;
	for (size_t i = 0; i < p->lists.len; i++)
		total += p->lists.data[i].before ? 0 : p->lists.data[i].weight;
	p->least = !p->narrowest ? 0 : total < p->narrowest ? 1 : total / p->narrowest + 1;
	if (p->lists.len)
		qsort_r(p->lists.data, p->lists.len, sizeof(struct list), by_numbers, p);
	build(p);
	vec_done(&p->lists);
	vec_done(&p->numbers);
	return &p->root;
}

bool profile_has_lines(const struct profile *p)
{
	return p->has_lines;
}

struct profile *profile_new(bool by_line, uint64_t narrowest)
{
	struct profile *p = calloc(1, sizeof(*p));

	if (!p)
		out_of_memory();
	p->arena = arena_new();
	p->by_line = by_line;
	p->narrowest = narrowest;
	p->root.name = "all";
	p->root.kind = FRAME_KIND_KEY;
	return p;
}

void profile_free(struct profile *p)
{
	if (!p)
		return;
	arena_free(p->arena);
	free(p->slots);
	vec_done(&p->shown);
	vec_done(&p->lists);
	vec_done(&p->numbers);
	free(p);
}
