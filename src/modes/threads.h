/* SPDX-License-Identifier: Apache-2.0 */
/* threads.h - the current stacks of a process' threads, for strata dump and --unwind. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct target;
struct unwinders;

struct walked {
	int tid;
	uint64_t stack; /* id of its stack */
	bool is_walked; /* false if the thread has ended */
	bool is_blocked; /* it did not stop: stack only has what can be known without its registers */
	char *name;      /* its name in its language, to be free()d, or NULL */
	bool holds_lock; /* it held the lock of its interpreter while it was walked */
};

/* Walks threads one after another; each is held only while it is walked. A thread in an uninterruptible
 * system call (state D) does not stop: after a second at most it is walked from the address and the stack
 * pointer in /proc, without its other registers. ret: n zeroed elements with their tids. Returns 0 on
 * success, -errno if the process cannot be read or held at all. */
int threads_walk(struct target *t, struct unwinders *u, int pid, struct walked *ret, size_t n);

/* Adds a line for each function of a thread's kernel stack, each after a newline: "do_wait+84 [kernel]".
 * Adds nothing if /proc/PID/task/TID/stack cannot be read: only root may read it. */
struct str;
void thread_kernel_stack(struct target *t, int pid, int tid, struct str *out);

/* Finds the threads of a process. Returns their number and an array that the caller frees, or -errno. */
long threads_list(struct target *t, int pid, struct walked **ret);
