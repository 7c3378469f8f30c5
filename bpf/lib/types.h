/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* types.h - the fixed-width types of the interfaces between userspace and BPF. */
#pragma once
#include <linux/types.h>

/* Such a struct has this size on every architecture and on both sides. */
#define ABI_SIZE(name, bytes)                                                            \
	_Static_assert(sizeof(struct name) == (bytes), "struct " #name " changed size")

/* Programs that interrupt each other on a CPU each take a slot of scratch. */
#define SCRATCH_SLOTS 4
