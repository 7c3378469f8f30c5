// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/* reuse.bpf.c - forgets published mappings whose addresses the kernel gives to new ones. See src/session/reuse.h.
 *
 * Perf's records say when a process maps code, but not when it unmaps code, and userspace reads them up to 100 ms
 * later. Until then, a library at the address of another one, which was closed, would have that one's names. The
 * tracepoint mmap:vm_unmapped_area (since Linux 5.7) has the address that the kernel chose for a new mapping: nothing
 * is mapped there, so a published mapping there has gone. */
#define WALK_MAP
#include "mappings.bpf.h"

#include "bpf/lib/who.bpf.h"

/* Above all addresses of user processes. Operands of a search are below 2^63. */
#define ADDRESS_MAX (1ULL << 62)
#define GONE_MAX    8 /* mappings that one call forgets: a library has one or two */

/* include/linux/mm.h, since Linux 3.8 */
struct vm_unmapped_area_info {
	unsigned long flags, length;
};

/* Cuts the last mapping that begins below end at start, if it reaches beyond. Returns its first address, or 0. */
__global __u64 forget_mapping(__u32 pid, __u64 start, __u64 end)
{
	struct mapping_chunk *c = chunk_of(pid, 0);
	struct mapping *m = c && end - 1 < ADDRESS_MAX ? mapping_below(c, pid, end - 1) : NULL;
	__u64 first;

	if (!m || m->start >= end || m->end <= start)
		return 0;
	first = m->start;
	m->end = first < start ? start : first;
	return first;
}

SEC("raw_tp/vm_unmapped_area")
int forget_mappings(__u64 *args)
{
	struct vm_unmapped_area_info info = {};
	__u64 start = args[0], end, now;
	__u32 pid = current_ids() >> 32, at = MAPPING_VERSION(pid), n = 0;

	if (start >= ADDRESS_MAX || bpf_probe_read_kernel(&info, sizeof(info), (const void *)args[1]))
		return 0; /* or it is an error */
	end = start + info.length;
	while (n < GONE_MAX && end > start && (end = forget_mapping(pid, start, end)))
		n++;
	if (n) {
		now = bpf_ktime_get_ns();
		bpf_map_update_elem(&mapping_versions, &at, &now, BPF_ANY);
	}
	return 0;
}
