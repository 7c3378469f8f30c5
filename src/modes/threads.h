/* SPDX-License-Identifier: Apache-2.0 */
/* threads.h - the stacks of a process' threads, now: for strata dump and --unwind. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct target;
struct unwinders;

struct walked {
	int tid;
	uint64_t stack; /* its id */
	bool is_walked; /* false: the thread has ended */
	bool is_blocked; /* it did not stop: stack is what can be known without its registers */
};

/* Walks threads one after another; each is held only while it is walked. A thread in an uninterruptible system call
 * (state D) does not stop: after a second at most it is walked from the address and the stack pointer that the kernel
 * shows in /proc, without its other registers. tids is set in each of ret's n elements. Returns 0, or -errno if the
 * process cannot be read or held at all. */
int threads_walk(struct target *t, struct unwinders *u, int pid, struct walked *ret, size_t n);

/* Adds a line for each function of the kernel's stack of a thread, each after a newline: "do_wait+84 [kernel]". Adds
 * nothing where /proc/PID/task/TID/stack cannot be read: only root may. */
struct str;
void thread_kernel_stack(struct target *t, int pid, int tid, struct str *out);

/* The threads of a process. Returns their number, with an array to be free()d, or -errno. */
long threads_list(struct target *t, int pid, struct walked **ret);
