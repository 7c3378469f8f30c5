/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* kstack.h - the interface of kernel stacks: codegen's stack.c and kstack.bpf.c. */
#pragma once
#include "unwind.h"

/* bpf_get_stack() returns at most kernel.perf_event_max_stack frames, which is 127 unless raised. */
#define KSTACK_MAX 127

/* The caller fills nr and ips, in its scratch memory. The layout is a struct stack_record, so
 * that it is sent unchanged. */
struct kstack_req {
	struct record head;
	__u64 id; /* out: 0: the empty stack */
	__u32 nr; /* in: frames in ips */
	__u32 end;
	__u64 ips[KSTACK_MAX + 1]; /* in: addresses; out: frames */
};
ABI_SIZE(kstack_req, 24 + 8 * 128);
