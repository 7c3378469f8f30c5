/* SPDX-License-Identifier: Apache-2.0 */
/* objects.h - the compiled kernel halves, embedded; bpf_linker joins them with the generated code. base, or
 * stacks (base with the unwinder and all languages), is always needed; walker needs stacks and handover.
 * stacks_noloop is stacks for kernels without bpf_loop(). entry and reuse are loaded by themselves. */
#pragma once
#include <stddef.h>

#define BPF_OBJECT(name)                                                                 \
	extern const unsigned char bpf_obj_##name[];                                     \
	extern const size_t bpf_obj_##name##_size;

BPF_OBJECT(base)
BPF_OBJECT(stacks)
BPF_OBJECT(stacks_noloop)
BPF_OBJECT(entry)
BPF_OBJECT(events)
BPF_OBJECT(handover)
BPF_OBJECT(kstack)
BPF_OBJECT(match)
BPF_OBJECT(path)
BPF_OBJECT(problem)
BPF_OBJECT(request)
BPF_OBJECT(request_noloop)
BPF_OBJECT(reuse)
BPF_OBJECT(task)
BPF_OBJECT(tree)
BPF_OBJECT(walker)
