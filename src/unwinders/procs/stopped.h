// SPDX-License-Identifier: Apache-2.0
/* stopped.h - a process held still by ptrace, for walks on the host. */
#pragma once
#include <stdint.h>
#include <sys/types.h>

#include "unwinders/host/walk.h"

struct stopped {
	int *tids;
	size_t n; /* of those that were stopped */
};

/* Holds one thread, which stopped_release() lets go on. Returns 0 on success, -ETIMEDOUT if the thread does not stop
 * within wait_ns: it waits for a CPU, or in an uninterruptible system call. It stops later, which stopped_wait() waits
 * for; a thread that never stops is let go by the kernel when strata ends. Else -errno. */
int stopped_hold(int tid, uint64_t wait_ns);
int stopped_wait(int tid, uint64_t wait_ns);
void stopped_release(int tid);

/* Stops all threads, now; 0 or -errno. */
int stopped_open(int pid, struct stopped *ret);
/* Lets them go on. */
void stopped_close(struct stopped *s);
int stopped_regs(int tid, struct host_regs *ret);
