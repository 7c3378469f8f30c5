// SPDX-License-Identifier: Apache-2.0
/* stopped.h - a process held still by ptrace, for walks on the host. */
#pragma once
#include <sys/types.h>

#include "unwinders/host/walk.h"

struct stopped {
	int *tids;
	size_t n; /* of those that were stopped */
};

/* Stops all threads, now; 0 or -errno. */
int stopped_open(int pid, struct stopped *ret);
/* Lets them go on. */
void stopped_close(struct stopped *s);
int stopped_regs(int tid, struct host_regs *ret);
