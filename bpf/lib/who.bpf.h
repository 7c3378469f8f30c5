/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* who.bpf.h - the ids of the current thread in strata's PID namespace. */
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
/* The inode of strata's PID namespace; 0: the first namespace, whose ids the kernel has at hand. The verifier
 * knows the value and drops the branch that is not taken. */
extern const volatile __u64 pid_ns_inode;

__u64 ns_ids(void);

/* Returns tgid << 32 | thread id, or 0 outside of the namespace. */
static __always_inline __u64 current_ids(void)
{
	return pid_ns_inode ? ns_ids() : bpf_get_current_pid_tgid();
}

/* A process without a number in strata's namespace cannot be read. */
static __always_inline int is_outside(__u32 tgid)
{
	return pid_ns_inode && !tgid;
}

/* Returns the process id of another task, given by its address in the kernel. */
__u32 ns_tgid_of(__u64 task);
/* Returns whether programs still run: the end of the session has not begun. */
int is_running(void);
#endif
