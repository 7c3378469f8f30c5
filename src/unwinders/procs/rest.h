// SPDX-License-Identifier: Apache-2.0
/* rest.h - the memory that a walk of userspace reads besides the copy of the stack. */
#pragma once
#include "process.h"
#include "unwinders/host/walk.h"

/* Memory outside of a stack's copy or a core: the process's, while it lives, and that of its mapped files. */
struct rest_memory {
	struct host_memory memory; /* its read is rest_read() */
	struct host_memory *first; /* the process or the core */
	const struct files *files;
	const struct process *mapped;
	uint64_t stack;  /* end of the copy of the stack; 0: no copy */
	bool anywhere;   /* stacks may be anywhere: a LANG_NATIVE language has its own */
	bool beyond;     /* stack memory outside of the copy was read */
	bool refuse;     /* do not read stack memory outside of the copy */
};

/* Reads all of size bytes at addr. Returns 0 on success, -EFAULT on failure. */
int rest_read(struct host_memory *m, uint64_t addr, void *buf, size_t size);
