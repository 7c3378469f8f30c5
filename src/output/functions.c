// SPDX-License-Identifier: Apache-2.0
/* functions.c - see functions.h. A function's number is found by its name. Two recordings number their texts
 * independently, so all names get new numbers. */
#include "functions.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "bpf/walk/unwind.h"
#include "values/own.h"

struct functions {
	struct recording *texts; /* only has names */
	VEC(struct function_total) list;
	uint64_t entries;        /* number counted so far */
};

/* A recording with the entries to count. */
struct counting {
	struct functions *functions;
	const struct recording *recording;
	uint32_t *number; /* by text: index into list + 1; 0: unknown yet */
	bool before;
	bool interpreted; /* the recording has frames of an interpreter */
};

static size_t number_of(struct counting *c, uint32_t text, const struct recorded_frame *frame)
{
	enum frame_kind kind = frame->kind;
	struct functions *f = c->functions;
	size_t n;

	if (c->number[text])
		return c->number[text] - 1;
	n = recording_add_text(f->texts, recording_name(c->recording, text));
	if (n == f->list.len)
		vec_push(&f->list, (struct function_total){.name = recording_text(c->recording, text), .kind = kind,
			.order = n,
			.is_own = own_is_frame(&frame->shown, c->interpreted)});
	c->number[text] = (uint32_t)n + 1;
	return n;
}

static void count(struct counting *c, size_t n, uint64_t weight, bool self)
{
	struct function_total *t = &c->functions->list.data[n];

	if (self)
		*(c->before ? &t->self_before : &t->self) += weight;
	if (t->entry == c->functions->entries)
		return;
	t->entry = c->functions->entries;
	t->stacks = c->before ? t->stacks : STACK_HASH(t->stacks, t->entry);
	*(c->before ? &t->total_before : &t->total) += weight;
}

/* User frames call the kernel's frames. */
static void count_entry(struct counting *c, const struct recorded_map *m, const struct recorded_entry *e)
{
	const struct recorded_part *parts = c->recording->parts.data + e->parts;
	bool self = true;

	c->functions->entries++;
	for (int kernel = 1; kernel >= 0; kernel--)
		for (unsigned i = m->ncolumns; i-- > 0;) {
			if (!m->columns[i].is_stack || m->columns[i].is_kernel != kernel)
				continue;
			for (uint32_t k = 0; k < parts[i].n; k++, self = false) {
				const struct recorded_frame *f = &c->recording->frames.data[
					c->recording->ids.data[parts[i].first + k]];

				count(c, number_of(c, f->function, f), e->weight, self);
			}
		}
}

static void count_map(struct functions *f, const struct recording *r, const struct recorded_map *m, bool before)
{
	struct counting c = {f, r, calloc(r->texts.len + 1, sizeof(uint32_t)), before};

	if (!c.number)
		out_of_memory();
	for (size_t i = 0; i < r->frames.len; i++)
		c.interpreted |= r->frames.data[i].kind > FRAME_KIND_REASON && r->frames.data[i].shown.name.file;
	for (size_t i = 0; i < m->entries.len; i++)
		count_entry(&c, m, &m->entries.data[i]);
	free(c.number);
}

struct functions *functions_new(const struct recording *r, const struct recorded_map *m)
{
	struct functions *f = calloc(1, sizeof(*f));

	if (!f)
		out_of_memory();
	f->texts = recording_new();
	count_map(f, r, m, false);
	return f;
}

void functions_add_before(struct functions *f, const struct recording *r, const struct recorded_map *m)
{
	count_map(f, r, m, true);
}

void functions_free(struct functions *f)
{
	if (!f)
		return;
	recording_free(f->texts);
	vec_done(&f->list);
	free(f);
}

static int by_entries(const void *a, const void *b)
{
	const struct function_total *x = a, *y = b;

	if (x->stacks != y->stacks)
		return x->stacks < y->stacks ? 1 : -1;
	if (x->is_own != y->is_own)
		return x->is_own ? -1 : 1;
	return (x->order > y->order) - (x->order < y->order);
}

static int by_total(const void *a, const void *b)
{
	const struct function_total *x = a, *y = b;

	if (x->is_wrapper != y->is_wrapper)
		return x->is_wrapper ? 1 : -1;
	if (x->is_own != y->is_own)
		return x->is_own ? -1 : 1;
	if (x->total != y->total)
		return x->total < y->total ? 1 : -1;
	if (x->self != y->self)
		return x->self < y->self ? 1 : -1;
	return strcmp(x->name, y->name);
}

void functions_sort(struct functions *f)
{
	struct function_total *list = f->list.data;

	if (f->list.len)
		qsort(list, f->list.len, sizeof(*list), by_entries);
	for (size_t i = 1; i < f->list.len; i++)
		list[i].is_wrapper = list[i].stacks == list[i - 1].stacks && list[i].stacks && !list[i].self;
	if (f->list.len)
		qsort(f->list.data, f->list.len, sizeof(*f->list.data), by_total);
}

size_t functions_count(const struct functions *f)
{
	return f->list.len;
}

const struct function_total *functions_at(const struct functions *f, size_t i)
{
	return &f->list.data[i];
}
