// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/* unwind.bpf.c - the list of files of the unwinder without its languages, which is one object. */
#define WALK_MAP
#include "cfi.bpf.c"
#include "lookup.bpf.c"
#include "send.bpf.c"
#include "walk.bpf.c"

#ifndef STRATA_HOST
/* Userspace's data about a process belongs to the program that it ran: after an exec the same addresses have
 * other meanings. This is called before perf writes its record of the exec, so it deletes nothing that
 * userspace publishes for the new program. */
SEC("raw_tp/task_rename")
int forget_program(void *ctx)
{
	struct mapping_key key = {.pid = current_ids() >> 32};
	__u32 at = MAPPING_VERSION(key.pid);
	__u64 now;

	if (!in_exec())
		return 0;
	now = bpf_ktime_get_ns();
	bpf_map_delete_elem(&mappings, &key);
	bpf_map_update_elem(&mapping_versions, &at, &now, BPF_ANY);
#define LIST_FORGET(stem) stem##_forget(key.pid);
#define NATIVE_FORGET(stem)
#define FRAME_FORGET(stem) stem##_forget(key.pid);
#define L(id, stem, builtin, kind, name) kind##_FORGET(stem)
#include "bpf/languages.def"
#undef L
	return 0;
}
#endif
