// SPDX-License-Identifier: Apache-2.0
/* link.c - libbpf's static linker. Before libbpf 1.6 it takes file names only: /proc/self/fd/N is the
 * name of a memfd. */
#include "link.h"

#include <bpf/libbpf.h>
#include <elf.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "base/log.h"
#include "base/owner.h"

enum { PATH_LEN = 32 };

static void fd_path(int fd, char path[PATH_LEN])
{
	snprintf(path, PATH_LEN, "/proc/self/fd/%d", fd);
}

static int write_all(int fd, const char *data, size_t size)
{
	while (size) {
		ssize_t n = write(fd, data, size);

		if (n < 0)
			return -errno;
		data += n;
		size -= n;
	}
	return 0;
}

static int add(struct bpf_linker *linker, const struct bpf_blob *blob)
{
	_cleanup_(closep) int fd = memfd_create(blob->name, MFD_CLOEXEC);
	char path[PATH_LEN];
	int r;

	if (fd < 0)
		return -errno;
	r = write_all(fd, blob->data, blob->size);
	if (r < 0)
		return r;
	fd_path(fd, path);
	return bpf_linker__add_file(linker, path, NULL);
}

static int read_all(int fd, void **ret, size_t *ret_size)
{
	_cleanup_(freep) void *buf = NULL;
	struct stat st;

	if (fstat(fd, &st) < 0)
		return -errno;
	buf = malloc(st.st_size);
	if (!buf)
		return -ENOMEM;
	if (pread(fd, buf, st.st_size, 0) != st.st_size)
		return -EIO;
	*ret_size = st.st_size;
	*ret = TAKE(buf);
	return 0;
}

/* struct btf_ext_header: Linux tools/lib/bpf/libbpf_internal.h */
enum { LINE_INFO_LEN = 20 };

void drop_lines(void *elf)
{
	const Elf64_Ehdr *h = elf;
	const Elf64_Shdr *s = (const void *)((char *)elf + h->e_shoff);
	const char *names = (char *)elf + s[h->e_shstrndx].sh_offset;

	for (unsigned i = 0; i < h->e_shnum; i++)
		if (!strcmp(names + s[i].sh_name, ".BTF.ext"))
			memset((char *)elf + s[i].sh_offset + LINE_INFO_LEN, 0, sizeof(uint32_t));
}

static int link_into(const char *path, const struct bpf_blob *blobs, size_t n)
{
	struct bpf_linker *linker = bpf_linker__new(path, NULL);
	int r = linker ? 0 : -errno;

	for (size_t i = 0; i < n && !r; i++)
		r = add(linker, &blobs[i]);
	if (!r)
		r = bpf_linker__finalize(linker);
	bpf_linker__free(linker);
	return r;
}

int link_bpf(const struct bpf_blob *blobs, size_t n, void **ret, size_t *ret_size)
{
	_cleanup_(closep) int out = memfd_create("strata", MFD_CLOEXEC);
	char path[PATH_LEN];
	int r = out < 0 ? -errno : 0;

	libbpf_set_print(NULL); /* the reason is reported here */
	fd_path(out, path);
	r = r ? r : link_into(path, blobs, n);
	r = r ? r : read_all(out, ret, ret_size);
	if (r)
		log_error("cannot link BPF objects: %s%s", strerror(-r), r == -EFBIG ? " (raise ulimit -f)" :
			r == -EMFILE ? " (raise ulimit -n)" : "");
	return r;
}
