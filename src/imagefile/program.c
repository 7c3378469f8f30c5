// SPDX-License-Identifier: Apache-2.0
/* program.c - finds the images in a file. */
#include "program.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/owner.h"
#include "imagefile.h"

static int read_at(int fd, void *to, size_t size, off_t at)
{
	for (size_t done = 0; done < size; ) {
		ssize_t n = pread(fd, (char *)to + done, size - done, at + (off_t)done);

		if (n <= 0)
			return n ? -errno : -EINVAL;
		done += (size_t)n;
	}
	return 0;
}

/* Returns -EINVAL if an image follows the ELF file, whose tail is missing or not at the end, else -ENOENT. The headers
 * of sections are the last part of an ELF file. */
static int without_tail(int fd, off_t size)
{
	char magic[sizeof(IMAGEFILE_MAGIC)];
	Elf64_Ehdr e;
	uint64_t end;

	if (read_at(fd, &e, sizeof(e), 0) || memcmp(e.e_ident, ELFMAG, SELFMAG) || e.e_ident[EI_CLASS] != ELFCLASS64)
		return -ENOENT;
	if (e.e_shoff > (uint64_t)size)
		return -ENOENT;
	end = e.e_shoff + (uint64_t)e.e_shnum * e.e_shentsize;
	return end < (uint64_t)size && !read_at(fd, magic, sizeof(magic), (off_t)end) &&
		!memcmp(magic, IMAGEFILE_MAGIC, sizeof(magic)) ? -EINVAL : -ENOENT;
}

/* Finds the range of the images. */
static int find(int fd, off_t size, off_t *ret_at, size_t *ret_size)
{
	struct program_tail tail;
	struct imagefile_head head;
	int r;

	if (size < (off_t)sizeof(head))
		return -ENOENT;
	r = read_at(fd, &tail, sizeof(tail), size - (off_t)sizeof(tail));
	if (!r)
		r = read_at(fd, &head, sizeof(head), 0);
	if (r)
		return r;
	if (!memcmp(tail.magic, PROGRAM_MAGIC, sizeof(PROGRAM_MAGIC))) {
		if (tail.size > PROGRAM_MAX || (off_t)tail.size > size - (off_t)sizeof(tail))
			return -EINVAL;
		*ret_at = size - (off_t)sizeof(tail) - (off_t)tail.size;
		*ret_size = tail.size;
		return 0;
	}
	if (memcmp(head.magic, IMAGEFILE_MAGIC, sizeof(head.magic)))
		return without_tail(fd, size);
	*ret_at = 0;
	*ret_size = (size_t)size;
	return size > PROGRAM_MAX ? -EINVAL : 0;
}

int program_read(int fd, void **ret, size_t *ret_size)
{
	_cleanup_(freep) void *data = NULL;
	struct stat st;
	size_t size;
	off_t at;
	int r;

	if (fstat(fd, &st))
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -ENOENT;
	r = find(fd, st.st_size, &at, &size);
	if (r)
		return r;
	data = malloc(size + 1);
	if (!data)
		return -ENOMEM;
	r = read_at(fd, data, size, at);
	if (r)
		return r;
	*ret = TAKE(data);
	*ret_size = size;
	return 0;
}
