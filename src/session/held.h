// SPDX-License-Identifier: Apache-2.0
/* held.h - the records that hold(KEY) keeps until keep(KEY) or drop(KEY), by key. */
#pragma once
#include <stddef.h>
#include <stdint.h>

struct held;
struct record;
struct type;

/* nslots: scratch slots of all CPUs. bytes: limit of all records, above which those of the oldest key are dropped; ns:
 * time after which the records of a key are dropped. Running out of memory ends the program. */
struct held *held_new(uint32_t nslots, uint64_t bytes, uint64_t ns);
void held_free(struct held *h);
/* An event of the slot holds: held_put() files its records under the key, a value of type t (an integer or a text). */
void held_begin(struct held *h, uint32_t slot, const struct type *t, const uint8_t *key);
void held_put(struct held *h, uint32_t slot, const struct record *r, size_t size);
/* Passes the records of the key to run, in their order, and forgets them. */
void held_keep(struct held *h, const struct type *t, const uint8_t *key,
	void (*run)(void *arg, const struct record *r, size_t size), void *arg);
void held_drop(struct held *h, const struct type *t, const uint8_t *key);
/* Calls f for each record. */
void held_each(const struct held *h, void (*f)(void *arg, const struct record *r, size_t size), void *arg);
/* Warns about records that were dropped because of the limits. */
void held_report(const struct held *h);
