// SPDX-License-Identifier: Apache-2.0
/* stacks.c - frames by a stack's id, and the final ids of provisional ones.
 *
 * Stacks are next to each other in an arena. It has huge pages if there are many, so lookups need few page tables. */
#include "stacks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"

#include "idmap.h"
#include "unwinders.h"

struct stack {
	uint32_t n, end;
	uint32_t generation; /* generation in which it was last added */
	uint64_t frames[];
};

#define FOREVER UINT32_MAX

enum { LINE = 64, EXPECTED = 4 * LINE }; /* bytes of a line of the CPU's cache, and of most stacks */

struct stacks {
	struct arena *arena;      /* of the stacks */
	struct idmap by_id;       /* struct stack * */
	struct idmap aliases;     /* provisional id -> id, of this generation */
	struct idmap old_aliases; /* provisional ids of earlier generations */
	struct idmap kept;        /* those of old_aliases that this generation uses */
	uint32_t generation;
	size_t count, bytes;      /* bytes: of the stacks that were not forgotten */
	size_t left;              /* bytes in the arena of stacks that were forgotten */
	size_t nempty;            /* stacks that add_empty() made */
};

const char *unwind_end_text(enum unwind_end e)
{
	static const char *const text[] = {
#define E(end, text) [UNWIND_##end] = text,
#include "bpf/walk/unwind_end.def"
#undef E
	};

	return e < UNWIND_END_MAX ? text[e] : "?";
}

static struct stack *nth_stack(const struct stacks *s, size_t i)
{
	return s->by_id.slot[i].key ? (struct stack *)(uintptr_t)s->by_id.slot[i].value : NULL;
}

static size_t stack_size(const struct stack *stack)
{
	return sizeof(*stack) + stack->n * sizeof(stack->frames[0]);
}

struct stack *stacks_add(struct stacks *s, uint64_t id, const uint64_t *frames, uint32_t n,
	enum unwind_end end)
{
	struct stack *stack = id ? idmap_pointer(&s->by_id, id) : NULL;

	if (stack && stack->generation != FOREVER)
		stack->generation = s->generation;
	if (stack || !id)
		return stack;
	stack = arena_alloc(s->arena, sizeof(*stack) + n * sizeof(*frames));
	stack->n = n;
	stack->end = end;
	stack->generation = s->generation;
	if (n)
		memcpy(stack->frames, frames, n * sizeof(*frames));
	idmap_set(&s->by_id, id, (uintptr_t)stack);
	s->count++;
	s->bytes += stack_size(stack);
	return stack;
}

/* Adds the stacks without frames, one for each end: see STACK_EMPTY(). */
static void add_empty(struct stacks *s)
{
	for (unsigned end = 0; end < UNWIND_END_MAX; end++)
		if (end != UNWIND_COMPLETE && end != UNWIND_NO_USER)
			stacks_add(s, STACK_EMPTY(end), NULL, 0, end)->generation = FOREVER;
	s->nempty = s->count;
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
	arena_free(s->arena);
	idmap_done(&s->by_id);
	idmap_done(&s->aliases);
	idmap_done(&s->old_aliases);
	idmap_done(&s->kept);
	free(s);
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
	uint64_t *real = NULL;

	if (id & STACK_PROVISIONAL)
		real = idmap_find(&s->aliases, id);
	if (id & STACK_PROVISIONAL && !real)
		real = idmap_find(&s->old_aliases, id);
	return real ? *real : id;
}

void stacks_expect(const struct stacks *s, uint64_t id, bool near)
{
	const struct stack *stack = near ? idmap_pointer(&s->by_id, id) : NULL;

	if (!near)
		idmap_expect(&s->by_id, id);
	for (unsigned i = 0; stack && i < EXPECTED; i += LINE)
		__builtin_prefetch((const char *)stack + i);
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
		const struct stack *stack = nth_stack(s, i);

		for (uint32_t k = 0; stack && k < stack->n; k++)
			f(arg, stack->frames[k]);
	}
}

size_t stacks_count(const struct stacks *s)
{
	return s->count - s->nempty;
}

/* ---- forgetting --------------------------------------------------------- */

size_t stacks_bytes(const struct stacks *s)
{
	return s->bytes + s->left + (s->by_id.cap + s->aliases.cap + s->old_aliases.cap) * sizeof(*s->by_id.slot);
}

static void move_all(struct idmap *to, struct idmap *from)
{
	for (size_t i = 0; i < from->cap; i++)
		if (from->slot[i].key)
			idmap_set(to, from->slot[i].key, from->slot[i].value);
	idmap_done(from);
	*from = (struct idmap){};
}

void stacks_renew(struct stacks *s)
{
	s->generation++;
	move_all(&s->old_aliases, &s->aliases);
}

void stacks_keep(struct stacks *s, uint64_t id)
{
	uint64_t real = stacks_real_id(s, id);
	struct stack *stack = idmap_pointer(&s->by_id, real);

	if (stack && stack->generation != FOREVER)
		stack->generation = s->generation;
	if (real != id && idmap_find(&s->old_aliases, id))
		idmap_set(&s->kept, id, real);
}

static bool stays(const struct stacks *s, const struct stack *stack)
{
	return stack && stack->generation >= s->generation;
}

/* Moves the stacks to a new arena. */
static void repack(struct stacks *s)
{
	struct arena *arena = arena_new();

	for (size_t i = 0; i < s->by_id.cap; i++) {
		struct stack *stack = nth_stack(s, i);

		if (stack)
			s->by_id.slot[i].value = (uintptr_t)memcpy(arena_alloc(arena, stack_size(stack)), stack,
				stack_size(stack));
	}
	arena_free(s->arena);
	s->arena = arena;
	s->left = 0;
}

/* Removes the other generations' stacks from by_id. */
static void leave_out(struct stacks *s)
{
	struct idmap by_id = {};

	for (size_t i = 0; i < s->by_id.cap; i++)
		if (stays(s, nth_stack(s, i)))
			idmap_set(&by_id, s->by_id.slot[i].key, s->by_id.slot[i].value);
	idmap_done(&s->by_id);
	s->by_id = by_id;
}

/* The memory of forgotten stacks is returned if it is more than the others', so moving these needs less than half as
 * much memory as there is. */
void stacks_forget(struct stacks *s)
{
	size_t forgotten = 0;

	/* An alias of this generation keeps its stack. */
	for (size_t i = 0; i < s->aliases.cap; i++)
		if (s->aliases.slot[i].key)
			stacks_keep(s, s->aliases.slot[i].value);
	for (size_t i = 0; i < s->by_id.cap; i++) {
		const struct stack *stack = nth_stack(s, i);

		if (!stack || stays(s, stack))
			continue;
		s->bytes -= stack_size(stack);
		s->left += stack_size(stack);
		forgotten++;
	}
	s->count -= forgotten;
	if (forgotten)
		leave_out(s);
	if (s->left > s->bytes)
		repack(s);
	idmap_done(&s->old_aliases);
	s->old_aliases = s->kept;
	s->kept = (struct idmap){};
}

uint64_t stack_id(const uint64_t *frames, uint32_t n, enum unwind_end end)
{
	uint64_t h = STACK_HASH_SEED;

	for (uint32_t i = 0; i < n; i++)
		h = STACK_HASH(h, frames[i]);
	h = STACK_HASH(h, (uint64_t)end) & ~STACK_PROVISIONAL;
	return h ? h : 1;
}
