// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/* unwind.bpf.c - the unwinder, as one object. */
#include "lookup.bpf.c"
#include "native.bpf.c"
#include "walk.bpf.c"
#include "go.bpf.c"
#include "v8.bpf.c"
