// SPDX-License-Identifier: Apache-2.0
/* stopped.h - a process held still by ptrace, for walks on the host. */
#pragma once
#include <stdint.h>
#include <sys/types.h>

#include "unwinders/host/walk.h"

struct stopped {
	int *tids;
	size_t n; /* number of stopped threads */
};

/* Holds one thread until stopped_release(). Returns 0 on success, -ETIMEDOUT if the thread does not stop
 * within wait_ns because it waits for a CPU, or in an uninterruptible system call; else -errno. A thread that
 * stops later can be awaited by stopped_wait(). If it never stops, the kernel releases it when strata ends. */
int stopped_hold(int tid, uint64_t wait_ns);
int stopped_wait(int tid, uint64_t wait_ns);
void stopped_release(int tid);

/* Stops all threads, now. Returns 0 on success, -errno on failure. */
int stopped_open(int pid, struct stopped *ret);
/* Releases the threads. */
void stopped_close(struct stopped *s);
int stopped_regs(int tid, struct host_regs *ret);
