/* SPDX-License-Identifier: Apache-2.0 */
/* objects.h - the compiled kernel halves, embedded: to be joined by bpf_linker with
 * what codegen makes. maps is always needed; unwind needs python; *_plain is the same for
 * kernels without bpf_loop(). */
#pragma once
#include <stddef.h>

#define BPF_OBJECTS(X) \
	X(maps) X(lib) X(kstack) X(tree) X(unwind) X(python) X(unwind_plain) X(python_plain)

#define X(name)                                                                          \
	extern const unsigned char bpf_obj_##name[];                                     \
	extern const size_t bpf_obj_##name##_size;
BPF_OBJECTS(X)
#undef X
