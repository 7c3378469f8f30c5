// SPDX-License-Identifier: Apache-2.0
/* link.c - links with libbpf's static linker. Before 1.6, libbpf only takes file names, so it gets the name
 * of a memfd: /proc/self/fd/N. */
#include "link.h"

#include <bpf/libbpf.h>
#include <elf.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "base/arena.h"
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

/* Size of struct btf_ext_header: Linux tools/lib/bpf/libbpf_internal.h */
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

static void hide_functions(Elf64_Sym *symbols, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (ELF64_ST_TYPE(symbols[i].st_info) == STT_FUNC)
			symbols[i].st_other = STV_HIDDEN;
}

struct bpf_blob adopted_object(struct arena *a, const char *name, const void *elf, size_t size)
{
	static const char license[] = "Dual BSD/GPL"; /* the same as in bpf/lib/maps.bpf.c */
	char *copy = arena_alloc(a, size + sizeof(license)), *names;
	Elf64_Ehdr *h = memcpy(copy, elf, size);
	Elf64_Shdr *s = (void *)(copy + h->e_shoff);

	memcpy(copy + size, license, sizeof(license));
	drop_lines(copy);
	names = copy + s[h->e_shstrndx].sh_offset;
	for (unsigned i = 0; i < h->e_shnum; i++) {
		if (s[i].sh_type == SHT_SYMTAB)
			hide_functions((void *)(copy + s[i].sh_offset), s[i].sh_size / sizeof(Elf64_Sym));
		if (strcmp(names + s[i].sh_name, "license"))
			continue;
		s[i].sh_offset = size;
		s[i].sh_size = sizeof(license);
	}
	return (struct bpf_blob){name, copy, size + sizeof(license)};
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

static char said[256]; /* the last warning of libbpf */

static int keep_warning(enum libbpf_print_level level, const char *fmt, va_list ap)
{
	if (level == LIBBPF_WARN)
		vsnprintf(said, sizeof(said), fmt, ap);
	return 0;
}

int link_bpf(const struct bpf_blob *blobs, size_t n, void **ret, size_t *ret_size)
{
	_cleanup_(closep) int out = memfd_create("strata", MFD_CLOEXEC);
	char path[PATH_LEN];
	int r = out < 0 ? -errno : 0;

	*said = 0;
	libbpf_set_print(keep_warning);
	fd_path(out, path);
	r = r ? r : link_into(path, blobs, n);
	r = r ? r : read_all(out, ret, ret_size);
	if (r)
		log_error("cannot link BPF objects: %s%s", strerror(-r), r == -EFBIG ? " (raise ulimit -f)" :
			r == -EMFILE ? " (raise ulimit -n)" : "");
	if (r == -EINVAL && *said)
		log_hint("%.*s", (int)strcspn(said, "\n"), said);
	libbpf_set_print(NULL);
	return r;
}
