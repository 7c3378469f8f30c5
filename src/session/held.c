// SPDX-License-Identifier: Apache-2.0
/* held.c - see held.h.
 *
 * Keys are in the order of their first record, oldest first, since the oldest go first. A key is known by a hash of
 * its bytes; keys with the same hash have the next ones. */
#include "held.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"
#include "bpf/lib/record.h"
#include "model/type.h"
#include "unwinders/idmap.h"

enum { KEY_MAX = 256 }; /* bytes of a text that distinguish keys */

struct held_record {
	struct held_record *next;
	size_t size;
	uint64_t record[];
};

struct held_key {
	struct held_key *older, *newer;
	struct held_record *first, **end;
	uint64_t since, hash; /* since: CLOCK_MONOTONIC ns */
	uint64_t bytes, n;
	size_t size;
	uint8_t key[];
};

struct held {
	struct idmap by_hash;           /* struct held_key * */
	struct held_key *oldest, *newest;
	struct held_key **slots;        /* the key of the slot's event; NULL: none */
	uint32_t nslots;
	uint64_t most, ns, bytes;       /* limits; bytes of all records */
	uint64_t full, old;             /* records that were dropped: no space, too old */
};

struct held *held_new(uint32_t nslots, uint64_t bytes, uint64_t ns)
{
	struct held *h = calloc(1, sizeof(*h));

	if (h)
		h->slots = calloc(nslots, sizeof(*h->slots));
	if (!h || !h->slots)
		out_of_memory();
	h->nslots = nslots;
	h->most = bytes;
	h->ns = ns;
	return h;
}

/* ---- keys ------------------------------------------------------------------- */

/* Integers of all sizes are 8 bytes; a text ends at its NUL. So the same value is the same key in all probes. */
static size_t key_of(const struct type *t, const uint8_t *key, uint8_t ret[KEY_MAX])
{
	int64_t n = 0;
	size_t size;

	if (t->kind == TYPE_STRING) {
		size = strnlen((const char *)key, t->size < KEY_MAX ? t->size : KEY_MAX);
		memcpy(ret, key, size);
		return size;
	}
	memcpy(&n, key, t->size < sizeof(n) ? t->size : sizeof(n));
	if (t->is_signed && t->size < sizeof(n))
		n = (int64_t)((uint64_t)n << (64 - 8 * t->size)) >> (64 - 8 * t->size);
	memcpy(ret, &n, sizeof(n));
	return sizeof(n);
}

static uint64_t hash_of(const uint8_t *key, size_t size)
{
	uint64_t h = size;

	for (size_t i = 0; i < size; i++)
		h = idmap_hash(h, key[i] + 1u);
	return h;
}

/* Returns the key, or NULL; *hash is where it is or would be. */
static struct held_key *find(const struct held *h, const uint8_t *key, size_t size, uint64_t *hash)
{
	struct held_key *k;

	*hash = hash_of(key, size);
	while ((k = idmap_pointer(&h->by_hash, *hash)) && (k->size != size || memcmp(k->key, key, size)))
		++*hash;
	return k;
}

static void forget(struct held *h, struct held_key *k)
{
	for (struct held_record *r = k->first, *next; r; r = next) {
		next = r->next;
		free(r);
	}
	for (uint32_t i = 0; i < h->nslots; i++)
		if (h->slots[i] == k)
			h->slots[i] = NULL;
	*(k->older ? &k->older->newer : &h->oldest) = k->newer;
	*(k->newer ? &k->newer->older : &h->newest) = k->older;
	h->bytes -= k->bytes;
	idmap_remove(&h->by_hash, k->hash);
	free(k);
}

void held_free(struct held *h)
{
	if (!h)
		return;
	while (h->oldest)
		forget(h, h->oldest);
	idmap_done(&h->by_hash);
	free(h->slots);
	free(h);
}

/* Drops the keys whose time is over, and the oldest ones until the rest fits. */
static void trim(struct held *h, uint64_t now)
{
	while (h->oldest && now - h->oldest->since > h->ns) {
		h->old += h->oldest->n;
		forget(h, h->oldest);
	}
	while (h->oldest && h->bytes > h->most) {
		h->full += h->oldest->n;
		forget(h, h->oldest);
	}
}

static struct held_key *add(struct held *h, const uint8_t *key, size_t size, uint64_t hash, uint64_t now)
{
	struct held_key *k = calloc(1, sizeof(*k) + size);

	if (!k)
		out_of_memory();
	memcpy(k->key, key, size);
	k->size = size;
	k->hash = hash;
	k->since = now;
	k->end = &k->first;
	k->older = h->newest;
	*(h->newest ? &h->newest->newer : &h->oldest) = k;
	h->newest = k;
	k->bytes = sizeof(*k) + size;
	h->bytes += k->bytes;
	idmap_set(&h->by_hash, hash, (uintptr_t)k);
	return k;
}

/* ---- records ---------------------------------------------------------------- */

void held_begin(struct held *h, uint32_t slot, const struct type *t, const uint8_t *key)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC), hash;
	uint8_t bytes[KEY_MAX];
	size_t size = key_of(t, key, bytes);
	struct held_key *k;

	trim(h, now);
	if (slot >= h->nslots)
		return;
	k = find(h, bytes, size, &hash);
	h->slots[slot] = k ? k : add(h, bytes, size, hash, now);
}

void held_put(struct held *h, uint32_t slot, const struct record *r, size_t size)
{
	struct held_key *k = slot < h->nslots ? h->slots[slot] : NULL;
	struct held_record *copy;

	if (!k)
		return;
	copy = malloc(sizeof(*copy) + size);
	if (!copy)
		out_of_memory();
	copy->next = NULL;
	copy->size = size;
	memcpy(copy->record, r, size);
	memcpy(copy->record, &(struct record){RECORD_SCRIPT, r->id}, sizeof(*r)); /* it depends on nothing any more */
	*k->end = copy;
	k->end = &copy->next;
	k->n++;
	k->bytes += sizeof(*copy) + size;
	h->bytes += sizeof(*copy) + size;
}

static struct held_key *known(const struct held *h, const struct type *t, const uint8_t *key)
{
	uint8_t bytes[KEY_MAX];
	size_t size = key_of(t, key, bytes);
	uint64_t hash;

	return find(h, bytes, size, &hash);
}

void held_keep(struct held *h, const struct type *t, const uint8_t *key,
	void (*run)(void *arg, const struct record *r, size_t size), void *arg)
{
	struct held_key *k;

	trim(h, clock_ns(CLOCK_MONOTONIC));
	k = known(h, t, key);
	if (!k)
		return;
	for (const struct held_record *r = k->first; r; r = r->next)
		run(arg, (const struct record *)r->record, r->size);
	forget(h, k);
}

void held_drop(struct held *h, const struct type *t, const uint8_t *key)
{
	struct held_key *k = known(h, t, key);

	if (k)
		forget(h, k);
}

void held_each(const struct held *h, void (*f)(void *arg, const struct record *r, size_t size), void *arg)
{
	for (const struct held_key *k = h->oldest; k; k = k->newer)
		for (const struct held_record *r = k->first; r; r = r->next)
			f(arg, (const struct record *)r->record, r->size);
}

void held_report(const struct held *h)
{
	if (h->old) {
		bool seconds = h->ns >= 1000000000;

		log_warn("hold() dropped %llu records, which waited longer than %llu %s for keep() or drop()",
			(unsigned long long)h->old, (unsigned long long)(h->ns / (seconds ? 1000000000 : 1000000)),
			seconds ? "s" : "ms");
		log_hint("config = { max_hold_time = 120s } lets them wait longer");
	}
	if (h->full) {
		log_warn("hold() dropped %llu records: all that wait have more than %llu MB",
			(unsigned long long)h->full, (unsigned long long)(h->most >> 20));
		log_hint("config = { max_hold_mb = 256 } keeps more");
	}
}
