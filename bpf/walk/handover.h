/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* handover.h - a walk in a program of its own (walker.bpf.c), which the script's programs call by
 * bpf_tail_call(): it is verified once, not with each of them. A tail call passes only the context, so the
 * request and the answer are in the map `handovers`, by CPU and scratch slot. */
#pragma once
#include "unwind.h"

enum handover_what { HANDOVER_STACK, HANDOVER_GOID, HANDOVER_BEAMPID };

struct handover {
	struct stack_req req;
	__u64 task;  /* the task whose program asks */
	__u64 order; /* counts up on its CPU; 0: no request */
	__u64 what;  /* enum handover_what */
};
ABI_SIZE(handover, 56);
