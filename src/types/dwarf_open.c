// SPDX-License-Identifier: Apache-2.0
/* dwarf_open.c - opens the debug information of a program: its own, or that of a separate file.
 *
 * libelf maps the file, so that even of hundreds of megabytes only the pages that are read are in memory. */
#include "dwarf_read.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/log.h"
#include "base/owner.h"
#include "target/debugfile.h"
#include "target/elf.h"
#include "target/filemap.h"

/* A stripped file still has sections in the table, without content. */
static bool has_dwarf(const struct elf *e)
{
	static const char *const names[] = {".debug_info", ".zdebug_info"};
	struct elf_section s;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (elf_section(e, names[i], &s) && s.data && s.size)
			return true;
	return false;
}

/* Compilers let the linker merge equal names. Names that are shorter than an offset stand in the DIE
 * (gcc/dwarf2out.cc, find_string_form(), 14). */
static void find_strings(struct debuginfo *d, size_t size)
{
	_cleanup_(elf_closep) struct elf *e = NULL;
	struct elf_section s;

	if (elf_open_memory(d->map, size, &e) || elf_section(e, ".gnu_debugaltlink", &s) ||
		!elf_section(e, ".debug_str", &s) || !s.data || s.flags & SHF_COMPRESSED ||
		!(s.flags & SHF_MERGE))
		return;
	d->strings = (const char *)s.data;
	d->strings_size = s.size;
}

static int open_dwarf(struct debuginfo *d, const char *path)
{
	_cleanup_(closep) int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t size = 0;

	if (fd < 0)
		return -errno;
	d->elf = d->dw->elf_begin(fd, ELF_C_READ_MMAP, NULL);
	if (!d->elf)
		return -ENOEXEC;
	d->map = d->dw->elf_rawfile(d->elf, &size);
	if (!d->map || !filemap_guard(d->map, size)) {
		d->map = NULL;
		return -ENOMEM;
	}
	find_strings(d, size);
	/* libdw remembers the file's folder, for .dwo and dwz files. */
	d->dwarf = libdw_begin(d->dw, d->elf);
	d->dw->elf_cntl(d->elf, ELF_C_FDDONE);
	return d->dwarf ? 0 : -ENODATA;
}

static int open_of(struct debuginfo *d, struct elf *e)
{
	_cleanup_(freep) char *other = NULL;

	d->machine = elf_machine(e);
	if (d->machine != EM_X86_64 && d->machine != EM_AARCH64)
		return -ENODATA;
	if (has_dwarf(e))
		return d->dw ? open_dwarf(d, d->path) : -ENOTSUP;
	other = debugfile_find(e, d->path);
	if (!other)
		return -ENODATA;
	log_info("the debug information of %s is in %s", d->path, other);
	return d->dw ? open_dwarf(d, other) : -ENOTSUP;
}

int debuginfo_open(struct arena *a, const char *path, struct debuginfo **ret)
{
	_cleanup_(elf_closep) struct elf *e = NULL;
	struct debuginfo *d;
	int r = elf_open(path, &e);

	if (r)
		return r;
	d = arena_new_obj(a, struct debuginfo);
	d->arena = a;
	d->path = arena_strdup(a, path);
	d->dw = libdw();
	r = open_of(d, e);
	if (r)
		debuginfo_close(d);
	else
		*ret = d;
	return r;
}

void debuginfo_close(struct debuginfo *d)
{
	for (size_t i = 0; i < d->units.len; i++)
		vec_done(&d->units.data[i].functions);
	vec_done(&d->units);
	vec_done(&d->ranges);
	vec_done(&d->names.list);
	free(d->names.buckets);
	free(d->types.slots);
	if (d->dwarf)
		d->dw->end(d->dwarf);
	if (d->map)
		filemap_unguard(d->map);
	if (d->elf)
		d->dw->elf_end(d->elf);
}
