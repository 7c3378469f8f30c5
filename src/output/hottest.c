// SPDX-License-Identifier: Apache-2.0
/* hottest.c - the functions in a map's stacks. See hottest.h. */
#include "hottest.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/owner.h"
#include "base/str.h"
#include "base/vec.h"
#include "bpf/walk/unwind.h"
#include "values/frames.h"
#include "values/own.h"
#include "values/show.h"

struct function {
	struct frames_key key;
	struct shown_frame frame; /* its first frame */
	double self, total;       /* percent */
	double own;               /* percent of the stacks whose innermost own function it is */
	bool is_own;              /* it belongs to the program */
	size_t stack;             /* the last stack in which it was counted */
	uint64_t stacks;          /* a hash of all its stacks */
	size_t height;            /* its frame's position in the first stack, from the innermost */
};

struct hottest {
	VEC(struct function) functions;
	size_t *slot; /* hash table: index into functions + 1; 0: free */
	size_t nslots, nstacks;
	bool has_libraries;       /* a stack's innermost function is not an own one */
};

struct hottest *hottest_new(void)
{
	struct hottest *h = calloc(1, sizeof(*h));

	if (!h)
		out_of_memory();
	return h;
}

void hottest_free(struct hottest *h)
{
	vec_done(&h->functions);
	free(h->slot);
	free(h);
}

/* ---- counting ----------------------------------------------------------- */

static size_t *find_slot(const struct hottest *h, const struct frames_key *key)
{
	for (size_t i = key->a & (h->nslots - 1);; i = (i + 1) & (h->nslots - 1)) {
		const struct function *f = h->slot[i] ? &h->functions.data[h->slot[i] - 1] : NULL;

		if (!f || !memcmp(&f->key, key, sizeof(*key)))
			return &h->slot[i];
	}
}

/* At most half of the slots are used. */
static void grow(struct hottest *h)
{
	if (h->functions.len * 2 < h->nslots)
		return;
	h->nslots = h->nslots ? h->nslots * 2 : 256;
	free(h->slot);
	h->slot = calloc(h->nslots, sizeof(*h->slot));
	if (!h->slot)
		out_of_memory();
	for (size_t i = 0; i < h->functions.len; i++)
		*find_slot(h, &h->functions.data[i].key) = i + 1;
}

static struct function *get(struct hottest *h, const struct shown_frame *frame, size_t height)
{
	struct frames_key key = {};
	size_t *slot;

	grow(h);
	frames_key_function(&key, &frame->name);
	slot = find_slot(h, &key);
	if (!*slot) {
		vec_push(&h->functions, (struct function){ .key = key, .frame = *frame, .height = height });
		*slot = h->functions.len;
	}
	return &h->functions.data[*slot - 1];
}

void hottest_add(struct hottest *h, const struct frame_list *stack, double share)
{
	bool interpreted = own_is_interpreted(stack), found = false;

	h->nstacks++;
	for (size_t i = 0; i < stack->len; i++) {
		struct function *f = get(h, &stack->data[i], i);

		f->is_own = own_is_frame(&stack->data[i], interpreted);
		f->own += f->is_own && !found ? share : 0;
		h->has_libraries |= !i && !f->is_own;
		found |= f->is_own;
		f->self += i ? 0 : share;
		if (f->stack == h->nstacks)
			continue;
		f->total += share;
		f->stack = h->nstacks;
		f->stacks = STACK_HASH(f->stacks, f->stack);
	}
}

/* ---- printing ----------------------------------------------------------- */

static int by_self(const void *pa, const void *pb)
{
	const struct function *const *a = pa, *const *b = pb;

	return ((*a)->self < (*b)->self) - ((*a)->self > (*b)->self);
}

static int by_own(const void *pa, const void *pb)
{
	const struct function *const *a = pa, *const *b = pb;

	return ((*a)->own < (*b)->own) - ((*a)->own > (*b)->own);
}

/* Own functions come first. If functions have the same stacks, because each calls the next one, the innermost own
 * function comes first. */
static int by_total(const void *pa, const void *pb)
{
	const struct function *const *a = pa, *const *b = pb;

	if ((*a)->is_own != (*b)->is_own)
		return (*a)->is_own ? -1 : 1;
	if ((*a)->total != (*b)->total)
		return (*a)->total < (*b)->total ? 1 : -1;
	if ((*a)->stacks != (*b)->stacks)
		return (*a)->stacks < (*b)->stacks ? 1 : -1;
	return ((*a)->height > (*b)->height) - ((*a)->height < (*b)->height);
}

static void print_row(double percent, const struct function *f, FILE *out)
{
	struct str text = {};

	show_function(&f->frame, &text);
	fprintf(out, "%7.1f %%  %s\n", percent, str_text(&text));
	str_done(&text);
}

static void print_self(const struct function **f, size_t len, size_t n, FILE *out)
{
	fputs("\n     self  the innermost function of a stack\n", out);
	qsort(f, len, sizeof(*f), by_self);
	for (size_t i = 0; i < n && i < len && f[i]->self > 0; i++)
		print_row(f[i]->self, f[i], out);
}

/* Printed only if it differs from print_self(). */
static void print_own(const struct hottest *h, const struct function **f, size_t len, size_t n, FILE *out)
{
	qsort(f, len, sizeof(*f), by_own);
	if (!h->has_libraries || f[0]->own <= 0)
		return;
	fputs("\n      own  the innermost function of the program itself, with the libraries that it calls\n", out);
	for (size_t i = 0; i < n && i < len && f[i]->own > 0; i++)
		print_row(f[i]->own, f[i], out);
}

static bool was_printed(const struct function **f, size_t i, const uint64_t *printed, size_t n)
{
	for (size_t k = 0; k < n; k++)
		if (printed[k] == f[i]->stacks)
			return true;
	return false;
}

/* Omits functions that call nothing, which print_self() shows. If functions have the same stacks, as those
 * that begin a thread do, only the first one is printed. */
static void print_total(const struct function **f, size_t len, size_t n, FILE *out)
{
	_cleanup_(freep) uint64_t *printed = calloc(n + 1, sizeof(*printed));
	size_t k = 0;

	fputs("\n    total  a function with what it calls\n", out);
	qsort(f, len, sizeof(*f), by_total);
	for (size_t i = 0; printed && k < n && i < len; i++) {
		if (f[i]->total <= f[i]->self || was_printed(f, i, printed, k))
			continue;
		printed[k++] = f[i]->stacks;
		print_row(f[i]->total, f[i], out);
	}
}

void hottest_print(const struct hottest *h, size_t n, FILE *out)
{
	_cleanup_(freep) const struct function **sorted = calloc(h->functions.len + 1, sizeof(*sorted));

	if (!sorted || !h->functions.len)
		return;
	for (size_t i = 0; i < h->functions.len; i++)
		sorted[i] = &h->functions.data[i];
	print_own(h, sorted, h->functions.len, n, out);
	print_self(sorted, h->functions.len, n, out);
	print_total(sorted, h->functions.len, n, out);
}
