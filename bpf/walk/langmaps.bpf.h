/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* langmaps.bpf.h - the maps of a language of kind LANG_LIST or LANG_FRAME, declared once in its own .bpf.c.
 *
 *     STEM_procs    struct STEM_proc by tgid: userspace's data about a process
 *     STEM_files    struct STEM_proc by file: with the file's own addresses, for processes that
 *                   userspace has not published yet
 *     STEM_scratch  struct STEM_scratch by CPU and slot, like `walks`: SCRATCH_SLOTS * CPUs, and
 *                   mmapable, so that it begins at a page */
#pragma once
#include "bpf/lib/kernel.bpf.h"
#include "lang.bpf.h"

#ifdef STRATA_HOST
#define LANG_OWN(stem)                                                                   \
	const struct host_lang stem##_host = {&stem##_procs, &stem##_files,              \
		&stem##_scratch, sizeof(struct stem##_scratch)};
#else
#define LANG_OWN(stem)                                                                   \
	__global int stem##_forget(__u32 pid)                                            \
	{                                                                                \
		if (bpf_map_lookup_elem(&stem##_procs, &pid)) /* takes no lock */        \
			bpf_map_delete_elem(&stem##_procs, &pid);                        \
		return 0;                                                                \
	}
#endif

#define LANG_MAPS(stem)                                                                  \
	struct {                                                                         \
		__uint(type, BPF_MAP_TYPE_HASH);                                         \
		__uint(map_flags, BPF_F_NO_PREALLOC);                                    \
		__uint(max_entries, 16384);                                              \
		__type(key, __u32);                                                      \
		__type(value, struct stem##_proc);                                       \
	} stem##_procs SEC(".maps");                                                     \
	struct {                                                                         \
		__uint(type, BPF_MAP_TYPE_HASH);                                         \
		__uint(map_flags, BPF_F_NO_PREALLOC);                                    \
		__uint(max_entries, 1024);                                               \
		__type(key, __u32);                                                      \
		__type(value, struct stem##_proc);                                       \
	} stem##_files SEC(".maps");                                                     \
	struct {                                                                         \
		__uint(type, BPF_MAP_TYPE_ARRAY);                                        \
		__uint(map_flags, BPF_F_MMAPABLE);                                       \
		__uint(max_entries, SCRATCH_SLOTS);                                      \
		__type(key, __u32);                                                      \
		__type(value, struct stem##_scratch);                                    \
	} stem##_scratch SEC(".maps");                                                   \
	LANG_OWN(stem)                                                                   \
	static __always_inline struct stem##_scratch *scratch_of(const struct walk *w)   \
	{                                                                                \
		__u32 index = w->slot;                                                   \
                                                                                         \
		return bpf_map_lookup_elem(&stem##_scratch, &index);                     \
	}
