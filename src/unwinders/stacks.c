// SPDX-License-Identifier: Apache-2.0
/* stacks.c - frames by a stack's id, and what provisional ids came to mean. */
#include "stacks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "idmap.h"

struct stack {
	uint32_t n, end;
	uint64_t frames[];
};

struct stacks {
	struct arena *arena;
	struct idmap by_id;   /* struct stack * */
	struct idmap aliases; /* provisional id -> id */
	size_t nempty;        /* of by_id: what add_empty() made */
};

/* A stack without frames that is not the whole truth is told by its mark. */
static void add_empty(struct stacks *s)
{
	for (unsigned end = 0; end < UNWIND_END_MAX; end++)
		if (end != UNWIND_COMPLETE && end != UNWIND_NO_USER)
			stacks_add(s, STACK_EMPTY(end), NULL, 0, end);
	s->nempty = s->by_id.n;
}

struct stacks *stacks_new(void)
{
	struct stacks *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->arena = arena_new();
	add_empty(s);
	return s;
}

void stacks_free(struct stacks *s)
{
	if (!s)
		return;
	idmap_done(&s->by_id);
	idmap_done(&s->aliases);
	arena_free(s->arena);
	free(s);
}

void stacks_add(struct stacks *s, uint64_t id, const uint64_t *frames, uint32_t n,
	enum unwind_end end)
{
	struct stack *stack;

	if (!id || idmap_find(&s->by_id, id))
		return;
	stack = arena_alloc(s->arena, sizeof(*stack) + n * sizeof(*frames));
	stack->n = n;
	stack->end = end;
	if (n)
		memcpy(stack->frames, frames, n * sizeof(*frames));
	idmap_set(&s->by_id, id, (uintptr_t)stack);
}

void stacks_record(struct stacks *s, const struct stack_record *r, size_t size)
{
	if (size < sizeof(*r) || r->nr > UNWIND_LIMIT_MAX || r->end >= UNWIND_END_MAX ||
		size - sizeof(*r) < r->nr * sizeof(r->frames[0]))
		return;
	stacks_add(s, r->id, (const uint64_t *)r->frames, r->nr, (enum unwind_end)r->end);
}

void stacks_alias(struct stacks *s, uint64_t provisional, uint64_t real)
{
	idmap_set(&s->aliases, provisional, real);
}

uint64_t stacks_real_id(const struct stacks *s, uint64_t id)
{
	uint64_t *real = id & STACK_PROVISIONAL ? idmap_find(&s->aliases, id) : NULL;

	return real ? *real : id;
}

ssize_t stacks_find(const struct stacks *s, uint64_t id, const uint64_t **ret_frames,
	enum unwind_end *ret_end)
{
	const struct stack *stack;

	*ret_frames = NULL;
	*ret_end = UNWIND_COMPLETE;
	id = stacks_real_id(s, id);
	if (!id)
		return 0;
	stack = idmap_pointer(&s->by_id, id);
	if (!stack)
		return -ENOENT;
	*ret_frames = stack->frames;
	*ret_end = (enum unwind_end)stack->end;
	return stack->n;
}

void stacks_each_frame(const struct stacks *s, void (*f)(void *arg, uint64_t frame), void *arg)
{
	for (size_t i = 0; i < s->by_id.cap; i++) {
		const struct stack *stack = s->by_id.slot[i].key ?
			(const void *)(uintptr_t)s->by_id.slot[i].value : NULL;

		for (uint32_t k = 0; stack && k < stack->n; k++)
			f(arg, stack->frames[k]);
	}
}

size_t stacks_count(const struct stacks *s)
{
	return s->by_id.n - s->nempty;
}

uint64_t stack_id(const uint64_t *frames, uint32_t n, enum unwind_end end)
{
	uint64_t h = STACK_HASH_SEED;

	for (uint32_t i = 0; i < n; i++)
		h = STACK_HASH(h, frames[i]);
	h = STACK_HASH(h, (uint64_t)end) & ~STACK_PROVISIONAL;
	return h ? h : 1;
}
