// SPDX-License-Identifier: Apache-2.0
/* roundtrip_test.c - reads images, writes them again, and compares the bytes. Damaged images are refused. Prints TAP.
 *
 *     roundtrip-test FILE... */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/owner.h"
#include "base/str.h"
#include "imagefile/imagefile.h"
#include "imagefile/program.h"
#include "model/image.h"
#include "model/provider.h"

static unsigned count, failed;

static void check(bool ok, const char *path, const char *what)
{
	printf("%s %u - %s: %s\n", ok ? "ok" : "not ok", ++count, path, what);
	failed += !ok;
}

static int read_with(const void *data, size_t size, const char *commit)
{
	struct arena *a = arena_new();
	struct imagefile f;
	int r = imagefile_read(a, providers, commit, data, size, &f);

	arena_free(a);
	return r;
}

static bool comes_back(const uint8_t *data, size_t size, const char *commit)
{
	struct arena *a = arena_new();
	_cleanup_(str_done) struct str again = {};
	struct imagefile f;
	bool ok = !imagefile_read(a, providers, commit, data, size, &f);

	if (ok) {
		image_dump(f.image, stderr);
		ok = imagefile_write(&f, commit, &again) && again.len == size && !memcmp(again.data, data, size);
	}
	arena_free(a);
	return ok;
}

/* Each change of a byte, and each missing end, is noticed. */
static bool refuses_damage(const uint8_t *data, size_t size, const char *commit)
{
	uint8_t *copy = malloc(size);
	bool ok = copy;

	for (size_t at = 0; ok && at < size; at += at < 400 ? 1 : size / 60 + 1) {
		memcpy(copy, data, size);
		copy[at] ^= 0x41;
		ok = read_with(copy, size, commit) && read_with(data, at, commit) == -EINVAL;
	}
	free(copy);
	return ok;
}

static void try_file(const char *path)
{
	_cleanup_(closep) int fd = open(path, O_RDONLY | O_CLOEXEC);
	_cleanup_(freep) void *data = NULL;
	const uint8_t *bytes;
	size_t size = 0;

	if (fd < 0 || program_read(fd, &data, &size)) {
		check(false, path, "it can be read");
		return;
	}
	bytes = data;
	for (size_t at = 0; at < size; ) {
		size_t n = imagefile_size(bytes + at, size - at);
		struct imagefile_head head;

		if (!n) {
			check(false, path, "one image follows another");
			return;
		}
		memcpy(&head, bytes + at, sizeof(head));
		check(comes_back(bytes + at, n, head.commit), path, "written again, it is the same");
		check(read_with(bytes + at, n, "other") == -ESTALE, path, "another strata refuses it");
		check(refuses_damage(bytes + at, n, head.commit), path, "damage is noticed");
		at += n;
	}
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		try_file(argv[i]);
	printf("1..%u\n", count);
	return failed || !count;
}
