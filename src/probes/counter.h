// SPDX-License-Identifier: Apache-2.0
/* counter.h - events that the kernel counts: the program runs at each COUNT-th, on every CPU. */
#pragma once
#include "probes.h"

struct counter {
	const char *name;
	uint64_t config; /* PERF_COUNT_SW_*, PERF_COUNT_HW_* */
	uint64_t period; /* bpftrace's, if the script gives none */
};

/* TYPE:EVENT[:COUNT]; rows end with a NULL name. */
bool counter_expand(const struct request *req, struct attach_point *ap, const struct counter *rows);
/* type: PERF_TYPE_*. */
int counter_attach(struct loaded_probe *p, uint32_t type);
