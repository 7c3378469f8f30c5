// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/* main.bpf.c - the smallest program that walks, for kernel_test.c and tests/bench/walk. */
#include "bpf/lib/maps.bpf.h"
#include "bpf/walk/unwind.h"

int stack_user(struct stack_req *r);

const volatile __u32 test_limit = UNWIND_LIMIT_DEFAULT;
const volatile __u32 test_len_only;

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct stack_req);
} result SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64[127]);
} kernel_frames SEC(".maps");

SEC("uprobe.multi")
int test_walk(void *ctx)
{
	struct stack_req r = {.limit = test_limit, .len_only = test_len_only};
	__u32 zero = 0;

	stack_user(&r);
	bpf_map_update_elem(&result, &zero, &r, BPF_ANY);
	return 0;
}

/* The kernel's own walk by frame pointers, which the benchmark compares with. */
SEC("uprobe.multi")
int test_get_stack(void *ctx)
{
	__u32 zero = 0;
	__u64 *to = bpf_map_lookup_elem(&kernel_frames, &zero);
	struct stack_req r = {};

	if (!to)
		return 0;
	r.nr = (__u32)bpf_get_stack(ctx, to, sizeof(__u64[127]), BPF_F_USER_STACK) / 8;
	bpf_map_update_elem(&result, &zero, &r, BPF_ANY);
	return 0;
}

SEC("uprobe.multi")
int test_nothing(void *ctx)
{
	return 0;
}
