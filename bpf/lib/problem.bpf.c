// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/* problem.bpf.c - problems at a place of the script: a read that failed, a division by zero. Each is counted
 * by place; the first one is sent. Linked only if a script can have one. */
#include "maps.bpf.h"

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, PROBLEMS_MAX);
	__type(key, __u32); /* the record's id */
	__type(value, __u64);
} problems SEC(".maps");

/* id: the record that stands for the place. Returns 0. */
__global int count_problem(int id)
{
	__u32 key = id;
	__u64 one = 1, *n = bpf_map_lookup_elem(&problems, &key);
	struct record r = { RECORD_SCRIPT, key };

	if (n)
		__sync_fetch_and_add(n, 1);
	else if (!bpf_map_update_elem(&problems, &key, &one, BPF_NOEXIST))
		bpf_ringbuf_output(&ring, &r, sizeof(r), 0); /* not ring_output(): one nested call less */
	return 0;
}
