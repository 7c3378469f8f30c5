// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/* maps.bpf.c - the maps that every object may use. */
#define MAP
#include "maps.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";
