// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/* unwind.bpf.c - the unwinder, as one object. */
#include "lookup.bpf.c"
#include "native.bpf.c"
#include "walk.bpf.c"
#include "bpf/lang/go.bpf.c"
#include "bpf/lang/v8.bpf.c"

#ifndef STRATA_HOST
/* What was told of a process is of the program that it ran: after an exec the same addresses
 * mean something else. Called before perf's record of the exec is written, so that nothing is
 * taken away which userspace tells on hearing of it. */
SEC("raw_tp/task_rename")
int forget_program(void *ctx)
{
	struct mapping_key key = {.pid = current_ids() >> 32};

	if (!in_exec())
		return 0;
	bpf_map_delete_elem(&mappings, &key);
	python_forget(key.pid);
	v8_forget(key.pid);
	return 0;
}
#endif
