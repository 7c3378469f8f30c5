// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/* match.bpf.c - verdicts about stacks and cgroups. See match.h. Linked only if a script has
 * conditions with has_frame() or names of containers. */
#include "match.h"

#include "bpf/lib/kernel.bpf.h"
#include "bpf/walk/unwind.h"

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, VERDICT_SLOTS);
	__type(key, __u32);
	__type(value, __u64);
} verdicts SEC(".maps");

static __always_inline __u64 verdict_at(__u32 slot, __u64 tag)
{
	__u64 *e = bpf_map_lookup_elem(&verdicts, &slot);

	return e && (*e & ~VERDICT_BITS) == tag ? *e : 0;
}

static __always_inline int verdict(__u64 id)
{
	__u64 k = id * VERDICT_MIX, e;

	e = verdict_at(VERDICT_SLOT(k), VERDICT_TAG(k));
	if (!e)
		e = verdict_at(VERDICT_SLOT(k) ^ 1, VERDICT_TAG(k));
	return e ? (e & VERDICT_BITS) | VERDICT_KNOWN : VERDICT_UNKNOWN;
}

/* Returns the patterns that match, as bits, | VERDICT_PARTIAL, | VERDICT_KNOWN; or VERDICT_UNKNOWN. The empty stack
 * has no frame. */
__global int stack_verdict(__u64 id)
{
	if (!id)
		return VERDICT_KNOWN;
	if (id & STACK_PROVISIONAL)
		return VERDICT_UNKNOWN;
	return verdict(id);
}

/* Returns the same for a cgroup. */
__global int cgroup_verdict(__u64 id)
{
	return verdict(id | VERDICT_CGROUP);
}
