/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* maps.bpf.h - the maps that every object may use; defined in maps.bpf.c, which is always linked. bpf_linker
 * joins extern declarations of the same shape. */
#pragma once
#include "kernel.bpf.h"
#include "record.h"

#ifndef MAP
#define MAP extern
#endif

MAP struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, RING_BYTES);
} ring SEC(".maps");

MAP struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, LOST_MAX);
	__type(key, __u32);
	__type(value, __u64);
} lost SEC(".maps");

#ifdef STRATA_HOST
static inline int count_lost(int kind)
{
	return 0;
}
#else
/* kind: enum lost_kind. Returns 0. */
int count_lost(int kind);
#endif

/* Sends a record of strata's own to userspace. Returns 0, or nonzero if it was lost and counted. */
static __always_inline long ring_output(const void *data, __u64 size)
{
	long err = bpf_ringbuf_output(&ring, (void *)data, size, 0);

	if (err)
		count_lost(LOST_OTHER);
	return err;
}
