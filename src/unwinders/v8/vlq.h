// SPDX-License-Identifier: Apache-2.0
/* vlq.h - numbers of any length in bytes: 7 bits per byte, the low ones first; bit 7: more follow. The bytes
 * are untrusted; reading stops at their end. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct bytes {
	const uint8_t *p, *end;
};

static inline bool read_vlq(struct bytes *b, uint64_t *ret)
{
	uint64_t v = 0;

	for (unsigned shift = 0; b->p < b->end && shift < 63; shift += 7) {
		v |= (uint64_t)(*b->p & 127) << shift;
		if (!(*b->p++ & 128)) {
			*ret = v;
			return true;
		}
	}
	return false;
}
