// SPDX-License-Identifier: Apache-2.0
/* idmap.h - maps 64-bit numbers to others. Start from `struct idmap m = {}`. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct idmap {
	struct idmap_entry {
		uint64_t key, value;
	} *slot;
	size_t n, cap;     /* cap: 0 or a power of 2 */
	bool has_zero;     /* key 0 marks a free slot, so its value is here */
	uint64_t zero;
};

void idmap_done(struct idmap *m);
/* Returns NULL if the key is missing. Valid until the next idmap_set(). */
uint64_t *idmap_find(const struct idmap *m, uint64_t key);
/* Makes the CPU load the place of a key. */
void idmap_expect(const struct idmap *m, uint64_t key);
/* Running out of memory ends the program. */
void idmap_set(struct idmap *m, uint64_t key, uint64_t value);
/* Moves other entries: a loop over the slots may miss one. */
void idmap_remove(struct idmap *m, uint64_t key);

static inline void *idmap_pointer(const struct idmap *m, uint64_t key)
{
	uint64_t *v = idmap_find(m, key);

	return v ? (void *)(uintptr_t)*v : NULL;
}

static inline uint64_t idmap_hash(uint64_t a, uint64_t b)
{
	uint64_t h = (a ^ b * 0x9e3779b97f4a7c15ULL) * 0xff51afd7ed558ccdULL;

	return h ^ h >> 32;
}
