// SPDX-License-Identifier: Apache-2.0
/* jitdump.c - reads any bytes as a jitdump file, whose second half is written after the first look. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "unwinders/procs/jitdump.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void take(void *arg, const struct jitdump_code *c)
{
	size_t *bytes = arg;

	if (!c->name == !c->from && c->name)
		abort();
	*bytes += c->name ? strlen(c->name) : 0;
	for (size_t i = 0; i < c->nlines; i++)
		*bytes += strlen(c->files + c->lines[i].file) + c->lines[i].line % 2;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fd = memfd_create("jit", MFD_CLOEXEC);
	struct jitdump *d;
	size_t bytes = 0, half = size / 2;

	if (fd < 0 || pwrite(fd, data, half, 0) != (ssize_t)half)
		abort();
	d = jitdump_new(fd);
	jitdump_read(d, take, &bytes);
	if (pwrite(fd, data + half, size - half, (off_t)half) != (ssize_t)(size - half))
		abort();
	jitdump_read(d, take, &bytes);
	jitdump_free(d);
	return 0;
}
