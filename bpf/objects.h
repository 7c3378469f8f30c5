/* SPDX-License-Identifier: Apache-2.0 */
/* objects.h - the compiled kernel halves, embedded: to be joined by bpf_linker with
 * what codegen makes. maps is always needed; unwind needs all languages, walker unwind and handover;
 * *_noloop is the same for kernels without bpf_loop(). */
#pragma once
#include <stddef.h>

#define BPF_OBJECT(name)                                                                 \
	extern const unsigned char bpf_obj_##name[];                                     \
	extern const size_t bpf_obj_##name##_size;

BPF_OBJECT(maps)
BPF_OBJECT(events)
BPF_OBJECT(handover)
BPF_OBJECT(lib)
BPF_OBJECT(kstack)
BPF_OBJECT(path)
BPF_OBJECT(problem)
BPF_OBJECT(task)
BPF_OBJECT(tree)
BPF_OBJECT(walker)
BPF_OBJECT(unwind)
BPF_OBJECT(unwind_noloop)
#define L(id, stem, builtin, kind, name) BPF_OBJECT(stem) BPF_OBJECT(stem##_noloop)
#include "bpf/languages.def"
#undef L
