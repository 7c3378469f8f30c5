// SPDX-License-Identifier: Apache-2.0
/* record_time.c - what the unwinders' records ask of their reader, without handling them. */
#include <stddef.h>

#include "bpf/walk/unwind.h"
#include "unwinders.h"

uint64_t unwinders_record_time(const struct record *r, size_t size)
{
	const struct walk_record *walk = (const void *)r;
	const struct miss_record *miss = (const void *)r;
	const struct lang_record *lang = (const void *)r;

	switch (r->kind) {
	case RECORD_WALK:
		return size < sizeof(*walk) ? 0 : walk->time;
	case RECORD_MISS:
		return size < sizeof(*miss) ? 0 : miss->time;
	case RECORD_LANG:
		return size < sizeof(*lang) ? 0 : lang->time;
	}
	return 0;
}

bool unwinders_record_is_slow(const struct record *r)
{
	return r->kind == RECORD_WALK || r->kind == RECORD_MISS;
}
