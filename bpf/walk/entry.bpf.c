// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/* entry.bpf.c - a program that is attached in the place of another one, which it calls: see src/session/entries.h.
 * The session loads it for each program that walks user stacks, as a program of that one's type. */
#include "bpf/lib/kernel.bpf.h"

struct {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} entered SEC(".maps");

SEC("?raw_tp")
int entry(void *ctx)
{
	bpf_tail_call(ctx, &entered, 0);
	return 0;
}

char entry_license[] SEC("license") = "Dual BSD/GPL";
