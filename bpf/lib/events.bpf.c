// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/* events.bpf.c - counts the events for which the script's blocks ran, for a person who waits. Linked
 * only if they are counted. */
#include "maps.bpf.h"

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} events SEC(".maps");

/* Returns 0. */
__global int count_event(void)
{
	__u32 key = 0;
	__u64 *n = bpf_map_lookup_elem(&events, &key);

	if (n)
		__sync_fetch_and_add(n, 1); /* another program may interrupt this one */
	return 0;
}
