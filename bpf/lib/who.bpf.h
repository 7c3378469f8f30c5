/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* who.bpf.h - the ids of the current thread, as strata's PID namespace has them. */
#pragma once
#include "kernel.bpf.h"
#include "who.h"

#ifdef STRATA_HOST
static __always_inline __u64 current_ids(void)
{
	return bpf_get_current_pid_tgid();
}

static __always_inline int is_outside(__u32 tgid)
{
	return 0;
}
#else
/* The inode of strata's PID namespace; 0: it is the first one, whose ids the kernel has at
 * hand. The verifier knows the value: it drops the branch that is not taken. */
extern const volatile __u64 pid_ns_inode;

__u64 ns_ids(void);

/* tgid << 32 | thread id; 0 for what is outside of the namespace. */
static __always_inline __u64 current_ids(void)
{
	return pid_ns_inode ? ns_ids() : bpf_get_current_pid_tgid();
}

/* A process that strata's namespace has no number for: it cannot be looked at. */
static __always_inline int is_outside(__u32 tgid)
{
	return pid_ns_inode && !tgid;
}

/* Of another task: a kernel address. */
__u32 ns_tgid_of(__u64 task);
/* Whether programs still run: strata has not begun to end. */
int is_running(void);
#endif
