// SPDX-License-Identifier: Apache-2.0
/* host_python.c - the walk's Python half for the host, see host_walk.c. */
#include "kernel.h"

#pragma GCC diagnostic ignored "-Wmissing-prototypes"
#pragma GCC diagnostic ignored "-Wsign-compare"

#define STRATA_HOST
#include "bpf/lang/python.bpf.c"

void *const host_python_seen = &python_seen;
void *const host_python_procs = &python_procs;
void *const host_python_scratch = &python_scratch;
const size_t host_python_scratch_size = sizeof(struct python_scratch);
