/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* handover.bpf.h - the map of handover.h, and the functions that a walker calls. */
#pragma once
#include "bpf/lib/maps.bpf.h"
#include "handover.h"

#ifndef HANDOVER_MAP
#define HANDOVER_MAP extern
#endif

HANDOVER_MAP struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, SCRATCH_SLOTS);
	__type(key, __u32);
	__type(value, struct handover);
} handovers SEC(".maps");

/* The functions of walk.bpf.c, lang/go.bpf.c and lang/beam.bpf.c that answer. */
int stack_user(struct stack_req *r);
int go_id(struct stack_req *r);
int beam_id(struct stack_req *r);

static __always_inline struct handover *handover_at(__u32 slot)
{
	__u32 index = bpf_get_smp_processor_id() * SCRATCH_SLOTS + (slot & (SCRATCH_SLOTS - 1));

	return bpf_map_lookup_elem(&handovers, &index);
}
