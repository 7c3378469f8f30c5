// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/* maps.bpf.c - the maps that every object may use, and the count of what was lost. */
#define MAP
#include "maps.bpf.h"
#include "who.bpf.c"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

__global int count_lost(int kind)
{
	__u32 k = kind;
	__u64 *n = bpf_map_lookup_elem(&lost, &k);

	if (n)
		__sync_fetch_and_add(n, 1); /* another program may interrupt this one */
	return 0;
}
