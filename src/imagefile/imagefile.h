// SPDX-License-Identifier: Apache-2.0
/* imagefile.h - an image with facts as bytes: `strata build` writes them, a built program reads them.
 *
 * The bytes begin with struct imagefile_head, and the checksum is over everything after it. A reader trusts nothing:
 * counts and lengths are compared with the bytes that are left, numbers with the lists that they index. A file of
 * another version, of another strata or of another architecture is refused, so the rest has no versions. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/settings.h"

struct arena;
struct image;
struct provider;
struct str;

#define IMAGEFILE_MAGIC "strata image\n" /* 14 bytes with the NUL */
enum { IMAGEFILE_VERSION = 1, IMAGEFILE_COMMIT = 64 };

struct imagefile_head {
	char magic[14];
	uint16_t version;
	uint64_t size;     /* of everything after the head, in bytes */
	uint64_t checksum; /* of the same */
	char commit[IMAGEFILE_COMMIT]; /* of the strata that wrote it; ends with a NUL */
	char arch[16];                 /* "x86_64"; ends with a NUL */
};
_Static_assert(sizeof(struct imagefile_head) == 112, "there is no padding");

/* What a session needs. */
struct imagefile {
	struct image *image;
	struct settings settings;
	bool tree;        /* the image traces the processes in map `tree`: for -c and several -p */
	const char *name; /* of the script */
};

/* Appends the bytes of an image with facts. Returns false, and appends nothing, if the image has something for which
 * the file has no form: a reader would refuse the bytes. */
bool imagefile_write(const struct imagefile *f, const char *commit, struct str *out);
/* Reads what imagefile_write() wrote, into the arena, except for the image's ELF file, which stays in data until
 * start_image() fills the holes of a copy. providers has the form of model/provider.h's. Returns 0 on
 * success, -EINVAL if the bytes are not an image or are damaged, -ESTALE if another strata or machine wrote them. */
int imagefile_read(struct arena *a, const struct provider *const *providers, const char *commit, const void *data,
	size_t size, struct imagefile *ret);
/* Reads only what comes after the head: for the fuzzer, which does not know checksums. */
int imagefile_read_body(struct arena *a, const struct provider *const *providers, const void *body, size_t size,
	struct imagefile *ret);
/* Returns the size of the head and of the bytes after it, or 0 if these `size` bytes do not begin an image. */
size_t imagefile_size(const void *data, size_t size);
