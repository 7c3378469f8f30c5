// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/* who.bpf.c - the processes whose events a program handles, and ids within a PID namespace.
 *
 * src/session/image_object.c fills in the constants. */
#include "who.bpf.h"

const volatile __u32 only_pid = 0; /* -p: only events of this process; 0: all except strata's */
const volatile __u32 own_pid = 0;
const volatile __u64 pid_ns_dev = 0, pid_ns_inode = 0;

/* Userspace sets this when the script ends: the kernel needs minutes to detach hundreds of probes. */
volatile __u32 stopped SEC(".data.stopped") = 0;

__global int is_running(void)
{
	return !stopped;
}

/* Returns the builtin `traced`: current_ids(), or UNWANTED. codegen/gen.c has the filter of programs, which
 * differs for probes whose events are not only the current task's. */
__global __u64 wanted_ids(void)
{
	__u64 ids;

	if (stopped)
		return UNWANTED;
	ids = current_ids();
	if (only_pid ? ids >> 32 != only_pid : ids >> 32 == own_pid)
		return UNWANTED;
	return ids;
}

/* ---- PID namespaces ----------------------------------------------------- */

enum { NS_LEVELS = 8 }; /* maximum number of namespaces nested within strata's that are searched */

/* From BTF. */
const volatile struct {
	__u32 task_pid;     /* task_struct.thread_pid */
	__u32 task_leader;  /* task_struct.group_leader */
	__u32 pid_level;    /* pid.level */
	__u32 pid_numbers;  /* pid.numbers */
	__u32 ns_inode;     /* pid_namespace.ns.inum */
} ns_offsets = {};

struct upid { /* kernel: include/linux/pid.h, since 2.6.24 */
	__s32 nr;
	__u32 pad;
	__u64 ns;
};

static __always_inline __u64 read_word(__u64 at)
{
	__u64 v = 0;

	bpf_probe_read_kernel(&v, sizeof(v), (void *)at);
	return v;
}

/* Returns the number of a task in strata's namespace, or 0 if the task is outside. Searches from the task's
 * innermost namespace outwards. */
static __always_inline __u32 number_of(__u64 task)
{
	__u64 pid = read_word(task + ns_offsets.task_pid);
	__s32 level = read_word(pid + ns_offsets.pid_level);

	for (int i = 0; i < NS_LEVELS && i <= level; i++) {
		__u64 at = pid + ns_offsets.pid_numbers + sizeof(struct upid) * (level - i);
		struct upid u = {};

		if (bpf_probe_read_kernel(&u, sizeof(u), (void *)at))
			return 0;
		if ((__u32)read_word(u.ns + ns_offsets.ns_inode) == pid_ns_inode)
			return u.nr;
	}
	return 0;
}

__global __u32 ns_tgid_of(__u64 task)
{
	return ns_offsets.task_pid ? number_of(read_word(task + ns_offsets.task_leader)) : 0;
}

/* The kernel's helper answers only for threads whose innermost namespace this is. */
__global __u64 ns_ids(void)
{
	struct bpf_pidns_info ids = {};
	__u64 task;

	if (!bpf_get_ns_current_pid_tgid(pid_ns_dev, pid_ns_inode, &ids, sizeof(ids)))
		return (__u64)ids.tgid << 32 | ids.pid;
	if (!ns_offsets.task_pid)
		return 0;
	task = bpf_get_current_task();
	return (__u64)ns_tgid_of(task) << 32 | number_of(task);
}

__global int ns_pid(void)
{
	return ns_ids() >> 32;
}

__global int ns_tid(void)
{
	return ns_ids();
}
