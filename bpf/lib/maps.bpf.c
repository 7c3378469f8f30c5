// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/* maps.bpf.c - the maps that every object may use, and the counts of lost events. */
#define MAP
#include "maps.bpf.h"
#include "who.bpf.c"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, LOST_PLACES);
	__type(key, struct lost_at);
	__type(value, __u64);
} lost_at SEC(".maps");

__global int count_lost(int kind)
{
	__u32 k = kind;
	__u64 *n = bpf_map_lookup_elem(&lost, &k);

	if (n)
		__sync_fetch_and_add(n, 1); /* another program may interrupt this one */
	return 0;
}

/* Counts a record of the script that had no space in the ring buffer. place: see struct lost_at. Returns 0. */
__global int count_lost_event(__u64 place)
{
	struct lost_at key = { .place = place, .cpu = bpf_get_smp_processor_id() };
	__u64 zero = 0, *n = bpf_map_lookup_elem(&lost_at, &key);
	__u32 kind = LOST_RING;

	if (!n) {
		bpf_map_update_elem(&lost_at, &key, &zero, BPF_NOEXIST);
		n = bpf_map_lookup_elem(&lost_at, &key);
	}
	if (n)
		__sync_fetch_and_add(n, 1);
	n = bpf_map_lookup_elem(&lost, &kind);
	if (n)
		__sync_fetch_and_add(n, 1);
	return 0;
}
