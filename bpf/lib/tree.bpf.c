// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/* tree.bpf.c - follows the descendants of -c's command, or of -p's processes with --children: a child of a process in
 * map `tree` joins it before it runs. With several -p, the map has these. Linked only with these options. */
#include "who.bpf.h"

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16384);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, __u32);
	__type(value, __u32);
} tree SEC(".maps");

/* Offset of task_struct.tgid, from BTF. */
const volatile __u32 task_tgid_offset = 0;

/* ctx has the parent's task and the child's. */
SEC("raw_tp/sched_process_fork")
int tree_fork(__u64 *ctx)
{
	__u32 parent = current_ids() >> 32, child = 0, one = 1;

	if (!bpf_map_lookup_elem(&tree, &parent))
		return 0;
	if (pid_ns_inode)
		child = ns_tgid_of(ctx[1]);
	else if (bpf_probe_read_kernel(&child, sizeof(child), (void *)(ctx[1] + task_tgid_offset)))
		return 0;
	if (child && child != parent)
		bpf_map_update_elem(&tree, &child, &one, BPF_ANY);
	return 0;
}

__global __u64 tree_ids(void)
{
	__u64 ids = current_ids();
	__u32 tgid = ids >> 32;

	return is_running() && bpf_map_lookup_elem(&tree, &tgid) ? ids : UNWANTED;
}
