// SPDX-License-Identifier: Apache-2.0
/* dwarf_file.c - opens debug information. See dwarf_file.h. */
#include "dwarf_file.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/owner.h"
#include "base/regular.h"
#include "base/str.h"
#include "elf_priv.h"
#include "filemap.h"
#include "inflate.h"

/* Sections that units, functions, inlined functions and lines need. */
static const char *const wanted[] = {"info", "abbrev", "line", "str", "line_str", "rnglists", "ranges", "addr",
	"str_offsets", "types", "aranges"};
enum { WANTED = ARRAY_SIZE(wanted) };

#define COPY_MAX   (4ull << 30)
#define SAME_BYTES 65536 /* of two files that are compared */

bool dwarf_file_is_in(const struct elf *e)
{
	static const char *const names[] = {".debug_info", ".zdebug_info"};
	struct elf_section s;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (elf_section(e, names[i], &s) && s.data && s.size)
			return true;
	return false;
}

/* ---- a copy with unpacked sections ------------------------------------------ */

enum packing { PLAIN, ZLIB, ZSTD };

struct part {
	const uint8_t *data;
	size_t n;
	uint64_t size, at; /* unpacked, and the place in the copy */
	enum packing packing;
};

struct copy {
	struct part parts[WANTED];
	uint64_t names_at, headers_at, size;
	bool is_packed;
};

/* The older form, .zdebug_NAME: "ZLIB", then the size, the highest byte first. */
static bool find_old(const struct elf *e, const char *name, struct part *ret)
{
	char full[32];
	struct elf_section s;

	snprintf(full, sizeof(full), ".zdebug_%s", name);
	if (!elf_section(e, full, &s) || !s.data || s.size < 12 || memcmp(s.data, "ZLIB", 4))
		return false;
	*ret = (struct part){.data = s.data + 12, .n = s.size - 12, .packing = ZLIB};
	for (int i = 4; i < 12; i++)
		ret->size = ret->size << 8 | s.data[i];
	return true;
}

static bool find_part(const struct elf *e, const char *name, struct part *ret)
{
	char full[32];
	struct elf_section s;
	Elf64_Chdr h;

	snprintf(full, sizeof(full), ".debug_%s", name);
	if (!elf_section(e, full, &s) || !s.data || !s.size)
		return find_old(e, name, ret);
	*ret = (struct part){.data = s.data, .n = s.size, .size = s.size};
	if (!(s.flags & SHF_COMPRESSED))
		return true;
	if (s.size < sizeof(h))
		return false;
	memcpy(&h, s.data, sizeof(h));
	*ret = (struct part){s.data + sizeof(h), s.size - sizeof(h), h.ch_size, 0, h.ch_type == 1 ? ZLIB : ZSTD};
	return h.ch_type == 1 || h.ch_type == 2;
}

/* Finds the sections, and their places in a copy. Returns false if the file is damaged. */
static bool plan(const struct elf *e, struct copy *c)
{
	uint64_t at = sizeof(Elf64_Ehdr);

	for (size_t i = 0; i < WANTED; i++) {
		struct part *p = &c->parts[i];

		if (!find_part(e, wanted[i], p))
			*p = (struct part){};
		c->is_packed |= p->packing != PLAIN;
		if (p->packing != PLAIN && !inflate_is_likely(p->size, p->n))
			return false;
		p->at = at;
		at += (p->size + 15) & ~15ull;
		if (at > COPY_MAX)
			return false;
	}
	c->names_at = at;
	c->headers_at = at + 512;
	c->size = c->headers_at + (WANTED + 2) * sizeof(Elf64_Shdr);
	return true;
}

static void write_headers(const struct elf *e, const struct copy *c, uint8_t *to)
{
	Elf64_Ehdr head = e->head;
	Elf64_Shdr sections[WANTED + 2] = {};
	char names[512] = "";
	uint32_t used = 1;

	for (size_t i = 0; i < WANTED; i++) {
		const struct part *p = &c->parts[i];

		sections[i + 1] = (Elf64_Shdr){.sh_name = used, .sh_type = SHT_PROGBITS, .sh_offset = p->at,
			.sh_size = p->size, .sh_addralign = 1};
		used += (uint32_t)sprintf(names + used, ".debug_%s", wanted[i]) + 1;
	}
	sections[WANTED + 1] = (Elf64_Shdr){.sh_name = used, .sh_type = SHT_STRTAB, .sh_offset = c->names_at,
		.sh_size = sizeof(names), .sh_addralign = 1};
	sprintf(names + used, ".shstrtab");
	head.e_phoff = head.e_phnum = head.e_entry = 0;
	head.e_shoff = c->headers_at;
	head.e_shentsize = sizeof(Elf64_Shdr);
	head.e_shnum = WANTED + 2;
	head.e_shstrndx = WANTED + 1;
	memcpy(to, &head, sizeof(head));
	memcpy(to + c->names_at, names, sizeof(names));
	memcpy(to + c->headers_at, sections, sizeof(sections));
}

static bool unpack(const struct copy *c, uint8_t *to)
{
	for (size_t i = 0; i < WANTED; i++) {
		const struct part *p = &c->parts[i];
		bool ok = true;

		if (p->packing == ZLIB)
			ok = inflate_zlib(p->data, p->n, to + p->at, p->size);
		else if (p->packing == ZSTD)
			ok = inflate_zstd(p->data, p->n, to + p->at, p->size);
		else if (p->n)
			memcpy(to + p->at, p->data, p->n);
		if (!ok)
			return false;
	}
	return true;
}

/* Returns a file without a name, of that size. The space is taken now, because a full disk would end strata later. */
static int unnamed_file(int dir, uint64_t size)
{
	_cleanup_(closep) int fd = -1;

	if (dir >= 0)
		fd = openat(dir, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (fd < 0)
		fd = open("/var/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	return posix_fallocate(fd, 0, (off_t)size) ? -ENOSPC : TAKE_FD(fd);
}

/* Sets d->elf to the copy. */
static int make_copy(struct dwarf_file *d, const struct elf *e, const struct copy *c, int dir)
{
	_cleanup_(closep) int fd = unnamed_file(dir, c->size);
	uint8_t *data;

	d->elf = NULL;
	if (fd < 0)
		return fd;
	data = mmap(NULL, c->size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (data == MAP_FAILED)
		return -errno;
	d->copy = data;
	d->copy_size = c->size;
	write_headers(e, c, data);
	if (!unpack(c, data))
		return -EBADMSG;
	return elf_open_memory(data, c->size, &d->elf);
}

/* ---- dwz's shared file -------------------------------------------------------- */

static bool is_alt(const char *path, const uint8_t *id, size_t id_size, struct elf **ret)
{
	uint8_t its[64];

	if (access(path, R_OK) || elf_open(path, ret))
		return false;
	if (elf_build_id(*ret, its) == id_size && !memcmp(its, id, id_size))
		return true;
	elf_close(*ret);
	*ret = NULL;
	return false;
}

/* The name is relative to the debug file. */
static bool alt_by_name(const char *from, const char *name, const uint8_t *id, size_t id_size, struct elf **ret)
{
	_cleanup_(str_done) struct str path = {};
	const char *slash = from ? strrchr(from, '/') : NULL;

	if (*name != '/' && slash)
		str_addf(&path, "%.*s/%s", (int)(slash - from), from, name);
	else
		str_add(&path, name);
	return is_alt(str_text(&path), id, id_size, ret);
}

static bool alt_by_id(const uint8_t *id, size_t id_size, struct elf **ret)
{
	_cleanup_(str_done) struct str path = {};

	str_addf(&path, "/usr/lib/debug/.build-id/%02x/", id[0]);
	for (size_t i = 1; i < id_size; i++)
		str_addf(&path, "%02x", id[i]);
	str_add(&path, ".debug");
	return is_alt(str_text(&path), id, id_size, ret);
}

static int open_new(struct elf *e, int dir, bool with_alt, struct dwarf_file **ret);

/* Without the shared file, some functions have no names. A shared file has no shared file. */
static void open_alt(struct dwarf_file *d, const struct elf *e, int dir)
{
	struct elf_section s;
	size_t n, id_size;
	const char *name;
	const uint8_t *id;

	if (!elf_section(e, ".gnu_debugaltlink", &s) || !s.data)
		return;
	d->has_parts = d->is_partial = true;
	name = (const char *)s.data;
	n = strnlen(name, s.size);
	if (!n || n + 1 >= s.size || s.size - n - 1 > 64)
		return;
	id = s.data + n + 1;
	id_size = s.size - n - 1;
	if ((alt_by_name(e->path, name, id, id_size, &d->alt_elf) || alt_by_id(id, id_size, &d->alt_elf)) &&
		dwarf_file_is_in(d->alt_elf) && !open_new(d->alt_elf, dir, false, &d->alt))
		d->dw->setalt(d->dwarf, d->alt->dwarf);
	d->is_partial = !d->alt;
}

/* ---- open and close ------------------------------------------------------------ */

static bool is_same(struct dwarf_file *d, const struct elf *e)
{
	d->guarded = d->dw->elf_rawfile(d->libelf, &d->guarded_size);
	if (!d->guarded || d->guarded_size != e->size || !filemap_guard(d->guarded, d->guarded_size)) {
		d->guarded = NULL;
		return false;
	}
	return !memcmp(d->guarded, e->data, e->size < SAME_BYTES ? e->size : SAME_BYTES);
}

static void close_libelf(struct dwarf_file *d)
{
	if (d->guarded)
		filemap_unguard(d->guarded);
	if (d->libelf)
		d->dw->elf_end(d->libelf);
	d->guarded = NULL;
	d->libelf = NULL;
}

/* Opens the file by its path, if it is still the same file: libdw then finds PATH.dwp, and .dwo files next to it. */
static void open_by_path(struct dwarf_file *d, const struct elf *e)
{
	_cleanup_(closep) int fd = e->path ? regular_open(AT_FDCWD, e->path, 0) : -1;

	d->libelf = fd < 0 ? NULL : d->dw->elf_begin(fd, ELF_C_READ_MMAP, NULL);
	if (d->libelf && is_same(d, e))
		d->dwarf = libdw_begin(d->dw, d->libelf);
	if (d->dwarf)
		d->dw->elf_cntl(d->libelf, ELF_C_FDDONE);
	else
		close_libelf(d);
}

static void open_in_memory(struct dwarf_file *d)
{
	size_t size;
	const uint8_t *data = elf_data(d->elf, &size);

	d->libelf = d->dw->elf_memory((char *)data, size);
	d->dwarf = d->libelf ? libdw_begin(d->dw, d->libelf) : NULL;
}

static int open_in(struct dwarf_file *d, struct elf *e, int dir, bool with_alt)
{
	struct copy c = {};
	int r = 0;

	if (!plan(e, &c))
		return -EBADMSG;
	d->elf = e;
	if (c.is_packed && !e->is_32)
		r = make_copy(d, e, &c, dir);
	if (r)
		return r;
	if (!d->copy)
		open_by_path(d, e);
	if (!d->dwarf)
		open_in_memory(d);
	if (!d->dwarf)
		return -ENODATA;
	if (with_alt)
		open_alt(d, e, dir);
	return 0;
}

static int open_new(struct elf *e, int dir, bool with_alt, struct dwarf_file **ret)
{
	struct dwarf_file *d = calloc(1, sizeof(*d));
	int r;

	if (!d)
		return -ENOMEM;
	d->dw = libdw();
	r = open_in(d, e, dir, with_alt);
	if (r)
		dwarf_file_close(d);
	else
		*ret = d;
	return r;
}

int dwarf_file_open(struct elf *e, int dir, struct dwarf_file **ret)
{
	struct elf *with = dwarf_file_is_in(e) ? e : elf_debug(e);

	if (!with || !dwarf_file_is_in(with))
		return -ENODATA;
	return libdw() ? open_new(with, dir, true, ret) : -ENOTSUP;
}

void dwarf_file_close(struct dwarf_file *d)
{
	if (!d)
		return;
	if (d->dwarf)
		d->dw->end(d->dwarf);
	close_libelf(d);
	dwarf_file_close(d->alt);
	elf_close(d->alt_elf);
	if (d->copy) {
		elf_close(d->elf);
		munmap((void *)d->copy, d->copy_size);
	}
	free(d);
}

void dwarf_file_release(const struct dwarf_file *d)
{
	if (d->alt)
		dwarf_file_release(d->alt);
	if (d->copy)
		madvise((void *)d->copy, d->copy_size, MADV_DONTNEED);
	else
		elf_release_pages(d->elf);
	if (d->guarded)
		madvise((void *)d->guarded, d->guarded_size, MADV_DONTNEED);
}
