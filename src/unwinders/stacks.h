// SPDX-License-Identifier: Apache-2.0
/* stacks.h - frames by a stack's id, and the final ids of provisional ones. */
#pragma once
#include <sys/types.h>

#include "unwinders.h"

struct stacks;

struct stacks *stacks_new(void);
void stacks_free(struct stacks *s);

/* Only the first frames for an id count. Returns NULL for id 0, which is not a stack's. */
struct stack;
struct stack *stacks_add(struct stacks *s, uint64_t id, const uint64_t *frames, uint32_t n,
	enum unwind_end end);
/* Takes a RECORD_STACK of size bytes, which is untrusted. */
void stacks_record(struct stacks *s, const struct stack_record *r, size_t size);
void stacks_alias(struct stacks *s, uint64_t provisional, uint64_t real);

uint64_t stacks_real_id(const struct stacks *s, uint64_t id);
/* Returns the number of frames, or -ENOENT. */
/* Makes the CPU load the place of an id, or the stack that is there. */
void stacks_expect(const struct stacks *s, uint64_t id, bool near);
ssize_t stacks_find(const struct stacks *s, uint64_t id, const uint64_t **ret_frames,
	enum unwind_end *ret_end);
void stacks_each_frame(const struct stacks *s, void (*f)(void *arg, uint64_t frame), void *arg);
size_t stacks_count(const struct stacks *s);

/* To save memory, begins a generation: stacks that are added or kept from now on stay, and
 * stacks_forget() removes the others. */
size_t stacks_bytes(const struct stacks *s);
void stacks_renew(struct stacks *s);
void stacks_keep(struct stacks *s, uint64_t id); /* also takes a provisional id */
void stacks_forget(struct stacks *s);

/* Computes the id like the kernel half, see unwind.h. */
uint64_t stack_id(const uint64_t *frames, uint32_t n, enum unwind_end end);
