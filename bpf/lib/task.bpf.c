// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/* task.bpf.c - data of a task by its id, from functions of the kernel that hold the task (Linux 6.2,
 * kernel/bpf/helpers.c). Linked only if it is used, because libbpf reads the kernel's BTF for it. */
#include "maps.bpf.h"
#include "task.h"

/* libbpf matches a struct with the kernel's by its name, but not one that is only declared. */
struct task_struct {
	int pid;
};

extern struct task_struct *bpf_task_from_pid(__s32 pid) __ksym __weak;
extern void bpf_task_release(struct task_struct *t) __ksym __weak;

static int unknown(struct comm_req *r)
{
	r->comm[0] = 'N';
	r->comm[1] = '/';
	r->comm[2] = 'A';
	return 0;
}

/* Reads the thread's name into zeros: "N/A" if there is no such thread. */
__global int task_comm(struct comm_req *r)
{
	struct task_struct *t;

	if (!r)
		return 0;
	if (!bpf_task_from_pid)
		return unknown(r);
	t = bpf_task_from_pid(r->pid);
	if (!t)
		return unknown(r);
	bpf_probe_read_kernel_str(r->comm, sizeof(r->comm), (char *)t + r->offset);
	bpf_task_release(t);
	return 0;
}
