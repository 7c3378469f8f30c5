// SPDX-License-Identifier: Apache-2.0
/* dwarf_file.c - opens debug information. See dwarf_file.h. */
#include "dwarf_file.h"

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
#include "target/fde.h"

/* Sections that units, functions, inlined functions and lines need. */
static const char *const wanted[] = {"info", "abbrev", "line", "str", "line_str", "rnglists", "ranges", "addr",
	"str_offsets", "types", "aranges"};

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

static int open_new(struct elf *e, const struct elf *program, int dir, struct dwarf_file **ret);

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
		dwarf_file_is_in(d->alt_elf) && !open_new(d->alt_elf, NULL, dir, &d->alt))
		d->dw->setalt(d->dwarf, d->alt->dwarf);
	d->is_partial = !d->alt;
}

/* ---- split units --------------------------------------------------------------- */

/* Returns the four bytes of the copy that refer to the name of the unit's .dwo file, and the section of the name.
 * NULL: the form is not one of those that compilers use. */
static uint8_t *name_of_split(struct dwarf_file *d, Dwarf_Die *skeleton, const char **ret_section)
{
	const struct dwarf_part *offsets = dwarf_copy_part(&d->copy, "str_offsets");
	Dwarf_Attribute a, b;
	Dwarf_Word base = 0;
	uint64_t index = 0;

	if (!d->dw->attr(skeleton, DW_AT_dwo_name, &a) && !d->dw->attr(skeleton, DW_AT_GNU_dwo_name, &a))
		return NULL;
	*ret_section = a.form == DW_FORM_line_strp ? "line_str" : "str";
	switch (a.form) {
	case DW_FORM_strp:
	case DW_FORM_line_strp:
		return a.valp;
	case DW_FORM_strx1:
	case DW_FORM_strx2:
	case DW_FORM_strx3:
	case DW_FORM_strx4:
		memcpy(&index, a.valp, a.form - DW_FORM_strx1 + 1);
		break;
	case DW_FORM_strx: {
		struct reader r = {.p = a.valp, .end = d->copy.data + d->copy.size};

		index = read_uleb(&r);
		break;
	}
	default:
		return NULL;
	}
	if (!d->dw->attr(skeleton, DW_AT_str_offsets_base, &b) || d->dw->formudata(&b, &base) || index > UINT32_MAX ||
		base > offsets->size || 4 * index + 4 > offsets->size - base)
		return NULL;
	return d->copy.data + offsets->at + base + 4 * index;
}

/* Lets the skeleton refer to the unit of the package. */
static void refer_to_package(struct dwarf_file *d, Dwarf_Die *skeleton)
{
	const char *section;
	uint8_t *name = name_of_split(d, skeleton, &section);
	const struct dwarf_part *strings = name ? dwarf_copy_part(&d->copy, section) : NULL;
	uint32_t at = strings ? (uint32_t)strings->size : 0;
	uint64_t id;

	if (!name || name < d->copy.data || (size_t)(name - d->copy.data) > d->copy.size - 4 ||
		d->dw->cu_info(skeleton->cu, NULL, NULL, NULL, NULL, &id, NULL, NULL) || dwp_unit(d->dwp, id))
		return;
	snprintf((char *)d->copy.data + strings->at + at, DWARF_ROOM, "%s", dwp_path(d->dwp));
	memcpy(name, &at, 4);
}

bool dwarf_file_split(struct dwarf_file *d, Dwarf_Die *skeleton, Dwarf_Die *ret)
{
	if (d->dwp)
		refer_to_package(d, skeleton);
	return !d->dw->cu_info(skeleton->cu, NULL, NULL, NULL, ret, NULL, NULL, NULL) && ret->addr;
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

/* program: the program whose debug information e has; NULL: e is shared by several. */
static int open_in(struct dwarf_file *d, struct elf *e, const struct elf *program, int dir)
{
	struct dwarf_copy *c = &d->copy;
	int r = 0;

	if (program && !e->is_32)
		d->dwp = dwp_open(e->path, dir);
	if (program && !e->is_32 && !d->dwp && e != program)
		d->dwp = dwp_open(program->path, dir);
	if (!dwarf_copy_plan(e, wanted, ARRAY_SIZE(wanted), d->dwp, c))
		return -EBADMSG;
	if ((c->is_packed || d->dwp) && !e->is_32)
		r = dwarf_copy_make(c, e, dir);
	if (r)
		return r;
	d->elf = c->data ? c->elf : e;
	if (!c->data)
		open_by_path(d, e);
	if (!d->dwarf)
		open_in_memory(d);
	if (!d->dwarf)
		return -ENODATA;
	if (program)
		open_alt(d, e, dir);
	return 0;
}

static int open_new(struct elf *e, const struct elf *program, int dir, struct dwarf_file **ret)
{
	struct dwarf_file *d = calloc(1, sizeof(*d));
	int r;

	if (!d)
		return -ENOMEM;
	d->dw = libdw();
	r = open_in(d, e, program, dir);
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
	return libdw() ? open_new(with, e, dir, ret) : -ENOTSUP;
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
	dwarf_copy_done(&d->copy);
	dwp_close(d->dwp);
	free(d);
}

void dwarf_file_release(const struct dwarf_file *d)
{
	if (d->alt)
		dwarf_file_release(d->alt);
	if (d->copy.data)
		madvise(d->copy.data, d->copy.size, MADV_DONTNEED);
	else
		elf_release_pages(d->elf);
	if (d->guarded)
		madvise((void *)d->guarded, d->guarded_size, MADV_DONTNEED);
}
