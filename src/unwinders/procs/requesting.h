// SPDX-License-Identifier: Apache-2.0
/* requesting.h - looks for the threads' variable in the files of processes, for src/unwinders/requests/. */
#pragma once
#include "process.h"

struct requests;

/* The process has mapped the file; bias: address - vaddr. rs may be NULL. */
void requesting_file(struct requests *rs, const struct process *p, struct file *f, uint64_t bias);
/* Does so for all files that the process has mapped. */
void requesting_process(struct requests *rs, const struct process *p, const struct files *fs);
