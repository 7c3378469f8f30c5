/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* task.h - comm(PID): the name of a thread by its id. */
#pragma once
#include "types.h"

struct comm_req {
	__u32 pid;    /* its number in the first PID namespace */
	__u32 offset; /* offset of comm in struct task_struct */
	char comm[16];
};
ABI_SIZE(comm_req, 24);
