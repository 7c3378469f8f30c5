// SPDX-License-Identifier: Apache-2.0
/* profile.c - the tree of stacks. Children of a node are looked for in a hash table of all nodes, by parent,
 * kind and name. */
#include "profile.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/str.h"
#include "bpf/walk/unwind.h"
#include "model/image.h"
#include "model/type.h"
#include "runtime/frames.h"
#include "runtime/maps.h"
#include "runtime/show.h"

struct profile {
	struct arena *arena;
	struct profile_node root;
	struct profile_node **slots; /* open addressing; half are used at most */
	size_t nslots, nnodes;
	bool sorted;
};

static const char *const kind_names[] = {
	[PROFILE_KEY] = "key",
	[PROFILE_NATIVE] = "native",
	[PROFILE_INLINED] = "inlined",
	[PROFILE_KERNEL] = "kernel",
	[PROFILE_REASON] = "end of the stack",
#define L(id, stem, builtin, kind, name) [PROFILE_##id] = name,
#include "bpf/languages.def"
#undef L
};

const char *profile_kind_name(enum profile_kind k)
{
	return kind_names[k];
}

/* ---- maps ---------------------------------------------------------------- */

bool profile_is_map(const struct image_map *m)
{
	return type_has(m->key, TYPE_STACK) && (m->value->kind == TYPE_INT ||
		(m->value->kind == TYPE_AGG && m->value->agg.kind != AGG_TSERIES));
}

static bool is_signed(const struct type *t)
{
	return t->is_signed && !(t->kind == TYPE_AGG && (t->agg.kind == AGG_COUNT || t->agg.kind >= AGG_HIST));
}

static uint64_t sum_of_buckets(const struct type *t, const uint64_t *v)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < t->agg.buckets; i++)
		sum += v[i];
	return sum;
}

bool profile_weight(const struct type *t, const uint8_t *value, uint64_t *ret)
{
	const uint64_t *v = (const uint64_t *)value;

	if (t->kind == TYPE_INT)
		*ret = (uint64_t)show_int(t, value);
	else if (t->agg.kind >= AGG_HIST)
		*ret = sum_of_buckets(t, v);
	else
		*ret = t->agg.kind == AGG_AVG || t->agg.kind == AGG_STATS ? v[1] : v[0];
	return !is_signed(t) || (int64_t)*ret >= 0;
}

/* ---- nodes --------------------------------------------------------------- */

static uint64_t hash_of(const struct profile_node *parent, enum profile_kind kind, const char *name)
{
	uint64_t h = 0xcbf29ce484222325 ^ (uintptr_t)parent; /* FNV-1a */

	h = (h ^ (uint64_t)kind) * 0x100000001b3;
	for (; *name; name++)
		h = (h ^ (unsigned char)*name) * 0x100000001b3;
	return h ^ h >> 32;
}

static struct profile_node **slot_of(const struct profile *p, const struct profile_node *parent,
	enum profile_kind kind, const char *name)
{
	size_t i = hash_of(parent, kind, name) & (p->nslots - 1);

	while (p->slots[i] && (p->slots[i]->parent != parent || p->slots[i]->kind != kind ||
		strcmp(p->slots[i]->name, name) != 0))
		i = (i + 1) & (p->nslots - 1);
	return &p->slots[i];
}

static void grow(struct profile *p)
{
	struct profile_node **old = p->slots;
	size_t n = p->nslots;

	if (p->nslots && 2 * p->nnodes < p->nslots)
		return;
	p->nslots = n ? 2 * n : 1024;
	p->slots = calloc(p->nslots, sizeof(*p->slots));
	if (!p->slots)
		abort();
	for (size_t i = 0; i < n; i++)
		if (old[i])
			*slot_of(p, old[i]->parent, old[i]->kind, old[i]->name) = old[i];
	free(old);
}

static struct profile_node *child_of(struct profile *p, struct profile_node *parent, enum profile_kind kind,
	const char *name, const char *module)
{
	struct profile_node **slot, *n;

	grow(p);
	slot = slot_of(p, parent, kind, name);
	if (*slot)
		return *slot;
	n = *slot = arena_new_obj(p->arena, struct profile_node);
	n->name = arena_strdup(p->arena, name);
	n->module = module ? arena_strdup(p->arena, module) : NULL;
	n->kind = kind;
	n->parent = parent;
	n->next = parent->children;
	parent->children = n;
	parent->nchildren++;
	p->nnodes++;
	return n;
}

/* ---- entries ------------------------------------------------------------- */

static enum profile_kind kind_of(const struct shown_frame *f)
{
	switch (f->name.lang) {
	case FRAME_LANG_KERNEL:
		return PROFILE_KERNEL;
#define L(id, stem, builtin, kind, name)                                                     \
	case FRAME_LANG_##id:                                                                \
		return PROFILE_##id;
#include "bpf/languages.def"
#undef L
	case FRAME_LANG_NATIVE:
	case FRAME_LANGS:
		break;
	}
	return f->name.caller ? PROFILE_INLINED : PROFILE_NATIVE;
}

/* An entry that is being added. */
struct adding {
	struct profile *profile;
	const struct show *show;
	const struct map_entry *entry;
	enum key_part part; /* that is wanted of its key */
};

static struct profile_node *add_stack(const struct adding *a, const struct type *t, uint32_t at,
	struct profile_node *n)
{
	struct frame_list l;
	const char *why;

	frames_of_entry(a->show, t, a->entry, at, &l);
	why = show_end(t, &l);
	if (why)
		n = child_of(a->profile, n, PROFILE_REASON, why, NULL);
	for (size_t i = l.len; i-- > 0;) {
		struct str name = {};

		show_function(&l.data[i], &name);
		n = child_of(a->profile, n, kind_of(&l.data[i]), str_text(&name), l.data[i].name.module);
		str_done(&name);
	}
	frames_done(&l);
	return n;
}

static struct profile_node *add_value(const struct adding *a, const struct type *t, uint32_t at,
	struct profile_node *n)
{
	struct str text = {};

	show_value(a->show, t, a->entry->key + at, &text);
	n = child_of(a->profile, n, PROFILE_KEY, str_text(&text), NULL);
	str_done(&text);
	return n;
}

/* Below n: the parts of the key that are wanted. The innermost of what was added. */
static struct profile_node *add_parts(const struct adding *a, const struct type *t, uint32_t at,
	struct profile_node *n)
{
	if (t->kind == TYPE_TUPLE && type_has(t, TYPE_STACK)) {
		for (unsigned i = 0; i < t->tuple.n; i++)
			n = add_parts(a, t->tuple.members[i], at + t->tuple.offsets[i], n);
		return n;
	}
	if (key_part(t) != a->part)
		return n;
	return t->kind == TYPE_STACK ? add_stack(a, t, at, n) : add_value(a, t, at, n);
}

/* The rest of the key, then the user's stacks, then the kernel's, which are called from there. */
static void add_entry(struct adding *a, const struct type *key, struct profile_node *n, uint64_t weight)
{
	static const enum key_part order[] = {PART_OTHER, PART_USER, PART_KERNEL};
	const struct profile_node *from = n;

	for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++) {
		a->part = order[i];
		n = add_parts(a, key, 0, n);
	}
	if (n == from) /* of the idle CPU, of threads of the kernel */
		n = child_of(a->profile, n, PROFILE_REASON, "no stack", NULL);
	n->self += weight;
	for (; n; n = n->parent)
		n->total += weight;
}

size_t profile_add(struct profile *p, const struct show *s, const struct map_content *c, const char *top)
{
	struct profile_node *from = top ? child_of(p, &p->root, PROFILE_KEY, top, NULL) : &p->root;
	uint64_t div = c->div > 1 ? (uint64_t)c->div : 1, weight;
	size_t negative = 0;

	p->sorted = false;
	for (size_t i = c->first; i < c->n; i++) {
		struct adding a = {.profile = p, .show = s, .entry = &c->list[i]};

		if (!profile_weight(c->map->value, c->list[i].value, &weight))
			negative++;
		else if (weight / div)
			add_entry(&a, c->map->key, from, weight / div);
	}
	return negative;
}

/* ---- the tree ------------------------------------------------------------ */

static int by_total(const void *a, const void *b)
{
	const struct profile_node *x = *(struct profile_node *const *)a, *y = *(struct profile_node *const *)b;

	if (x->total != y->total)
		return x->total < y->total ? 1 : -1;
	return strcmp(x->name, y->name);
}

static void sort_children(struct profile_node *n)
{
	struct profile_node **all = calloc(n->nchildren + 1, sizeof(*all));
	size_t k = 0;

	if (!all)
		abort();
	for (struct profile_node *c = n->children; c; c = c->next)
		all[k++] = c;
	qsort(all, k, sizeof(*all), by_total);
	for (size_t i = 0; i < k; i++)
		all[i]->next = i + 1 < k ? all[i + 1] : NULL;
	n->children = k ? all[0] : NULL;
	free(all);
}

struct profile_node *profile_root(struct profile *p)
{
	struct profile_node *n = &p->root;

	while (n && !p->sorted) {
		sort_children(n);
		if (n->children) {
			n = n->children;
			continue;
		}
		while (n && !n->next)
			n = n->parent;
		n = n ? n->next : NULL;
	}
	p->sorted = true;
	return &p->root;
}

size_t profile_nodes(const struct profile *p)
{
	return p->nnodes;
}

struct profile *profile_new(void)
{
	struct profile *p = calloc(1, sizeof(*p));

	if (!p)
		abort();
	p->arena = arena_new();
	p->root.name = "all";
	p->root.kind = PROFILE_KEY;
	return p;
}

void profile_free(struct profile *p)
{
	if (!p)
		return;
	arena_free(p->arena);
	free(p->slots);
	free(p);
}
