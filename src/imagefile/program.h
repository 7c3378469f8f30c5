// SPDX-License-Identifier: Apache-2.0
/* program.h - a built program: the file strata-run with images after its end.
 *
 *     ELF of strata-run | image | image | .. | struct program_tail
 *
 * A file of images alone begins with the first image and has no tail. */
#pragma once
#include <stddef.h>
#include <stdint.h>

#define PROGRAM_MAGIC "strata program" /* 15 bytes with the NUL */

struct program_tail {
	uint64_t size; /* of all images, in bytes */
	char magic[16];
};
_Static_assert(sizeof(struct program_tail) == 24, "there is no padding");

enum { PROGRAM_MAX = 1 << 28 }; /* bytes of images */

/* Reads the images of the file into memory that the caller frees. Returns 0 on success, -ENOENT if there are none,
 * -EINVAL if the file is damaged, another -errno on other failures. */
int program_read(int fd, void **ret, size_t *ret_size);
