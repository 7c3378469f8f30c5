// SPDX-License-Identifier: Apache-2.0
/* gate.h - conditions with has_frame() or names of containers, which are decided by names: by a verdict of userspace
 * about an earlier event with the same stack or cgroup, or, if there is none, after the event: bpf/walk/match.h has the
 * records.
 *
 * The program of an event that is not decided goes on. Its effects become records, which userspace drops if the
 * condition turns out to be false. Where an effect cannot wait, the event is counted at the condition instead, and
 * the condition is neither true nor false. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct expr;
struct gen;
struct ir;
struct ir_block;
struct stmt;
struct type;

/* Returns whether the condition depends on a has_frame() or the name of a container. */
bool gate_is(const struct expr *condition);

/* Returns whether a part of the condition that comes after a has_frame() changes something, such as a map: while the
 * has_frame() is not decided, it is not known whether that part is evaluated. */
bool gate_changes_late(const struct expr *condition);

/* Called when a program begins: sets gen.gates, .holds, .unheld, and reserves memory. */
void gate_plan(struct gen *g);
/* Called where the body of the program begins. */
void gate_begin(struct gen *g);

/* Generates the predicate of a program. The event goes on if it may be true. */
void gate_predicate(struct gen *g, struct expr *predicate);
void gate_if(struct gen *g, struct stmt *n);
/* Returns whether a condition is true, 0 or 1. An event that is not decided is counted, and the value is 0. */
struct ir *gate_value(struct gen *g, struct expr *condition);

/* Returns the levels of the conditions on which the present effects depend, as bits. */
struct ir *gen_levels(struct gen *g);

/* The walks of a stack in a program with such a condition are one walk. Returns the place of its id in scratch memory
 * (the word before it is 1 if the stack was walked, the word after it has the stack's verdict), or 0. */
uint32_t gate_walk_at(const struct gen *g, const struct type *stack);

/* In gen_hold.c: returns why effects of the program from a statement on cannot wait, or NULL if they can. */
const char *gate_cannot_hold(struct gen *g, struct stmt *first);
/* In gen_hold.c: returns the statement hold() of the program, or NULL. */
const struct stmt *gate_find_hold(struct gen *g);
/* Generates hold(KEY). */
void gate_hold(struct gen *g, struct expr *call);
/* In gen_hold.c: @m[k] = agg() of a program that holds: a record if it depends on a condition. direct generates the
 * update itself. */
void gate_hold_agg(struct gen *g, struct stmt *n, void (*direct)(struct gen *g, struct stmt *n));
/* In gen_hold.c: generates the programs that make the updates of held events. */
void gate_applies(struct gen *g);
