// SPDX-License-Identifier: Apache-2.0
/* dwp.c - packages of split units. See dwp.h. */
#include "dwp.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/owner.h"
#include "base/regular.h"
#include "base/str.h"
#include "dwarf_copy.h"
#include "elf_priv.h"
#include "target/fde.h"

enum {
	COLUMNS_MAX = 16,
	SLOTS_MAX = 1 << 24,
	HEAD = 16,     /* bytes of the index before its hash table */
};
#define UNIT_MAX (256u << 20) /* bytes of a unit's file */

/* The sections that a unit's file has. The numbers are those of columns: DW_SECT_*. */
enum { INFO = 1, ABBREV = 3, LINE = 4, STR_OFFSETS = 6, RNGLISTS = 8 };
static const char *const sections[] = {"info.dwo", "abbrev.dwo", "line.dwo", "str_offsets.dwo", "rnglists.dwo",
	"str.dwo", "cu_index"};
static const uint32_t columns[] = {INFO, ABBREV, LINE, STR_OFFSETS, RNGLISTS};
enum { PARTS = ARRAY_SIZE(columns), STR = PARTS, STR_PART = 3 };

struct dwp {
	struct elf *elf;
	struct dwarf_copy copy; /* its data: unpacked sections; not made: those of the file */
	const uint8_t *index;
	uint64_t index_size;
	uint32_t version, ncolumns, nunits, nslots;
	int fd;                 /* the unit's file */
	char path[32];
};

/* ---- the index -------------------------------------------------------------------- */

static struct reader part_reader(const struct dwp *d, size_t i)
{
	const struct dwarf_part *p = &d->copy.parts[i];
	const uint8_t *data = d->copy.data ? d->copy.data + p->at : p->data;

	return (struct reader){.p = data, .end = data + (data ? p->size : 0)};
}

static uint32_t word_at(const struct dwp *d, uint64_t at)
{
	uint32_t word = 0;

	if (at + 4 <= d->index_size)
		memcpy(&word, d->index + at, 4);
	return word;
}

/* The version is a u32 (2) in GNU's form, and a u16 (5) in DWARF 5. */
static bool read_index(struct dwp *d)
{
	struct reader r = part_reader(d, ARRAY_SIZE(sections) - 1);
	uint64_t need;

	d->index = r.p;
	d->index_size = (uint64_t)(r.end - r.p);
	d->version = word_at(d, 0) & 0xffff;
	d->ncolumns = word_at(d, 4);
	d->nunits = word_at(d, 8);
	d->nslots = word_at(d, 12);
	if ((d->version != 2 && d->version != 5) || d->ncolumns > COLUMNS_MAX || d->nslots > SLOTS_MAX ||
		d->nunits > d->nslots || !d->nslots || d->nslots & (d->nslots - 1))
		return false;
	need = HEAD + 12ull * d->nslots + 4ull * d->ncolumns + 8ull * d->ncolumns * d->nunits;
	return need <= d->index_size;
}

/* Returns the unit's row, from 1 on; 0: it has none. */
static uint32_t row_of(const struct dwp *d, uint64_t id)
{
	uint32_t mask = d->nslots - 1, slot = (uint32_t)id & mask, step = ((uint32_t)(id >> 32) & mask) | 1;

	for (uint32_t tries = 0; tries < d->nslots; tries++, slot = (slot + step) & mask) {
		uint32_t row = word_at(d, HEAD + 8ull * d->nslots + 4ull * slot);
		uint64_t its;

		memcpy(&its, d->index + HEAD + 8ull * slot, 8);
		if (!row || row > d->nunits)
			return 0;
		if (its == id)
			return row;
	}
	return 0;
}

/* Returns the unit's bytes of a section, which may be none. Number 8 is another section in GNU's form. */
static struct reader bytes_of(const struct dwp *d, uint32_t row, size_t part)
{
	uint64_t table = HEAD + 12ull * d->nslots, width = 4ull * d->ncolumns;
	struct reader all = part_reader(d, part);

	for (uint32_t i = 0; i < d->ncolumns && !(columns[part] == RNGLISTS && d->version == 2); i++) {
		if (word_at(d, table + 4ull * i) != columns[part])
			continue;
		read_skip(&all, word_at(d, table + width * row + 4ull * i));
		all = all.bad ? all : read_block(&all, word_at(d, table + width * (row + d->nunits) + 4ull * i));
		return all;
	}
	return (struct reader){};
}

/* ---- the file of a unit ------------------------------------------------------------ */

/* Appends the strings that the unit uses, and its offsets of strings, which are those of the new strings. */
static bool add_strings(const struct dwp *d, struct reader offsets, struct str *ret_strings, struct str *ret_offsets)
{
	struct reader strings = part_reader(d, STR);
	uint64_t size = (uint64_t)(strings.end - strings.p);

	str_addn(ret_strings, "", 1);
	if (d->version == 5) { /* the head: length, version, padding. A length of 2^32 - 1: 64-bit offsets */
		const uint8_t *head = offsets.p;

		if (read_uint(&offsets, 4) == UINT32_MAX)
			return false;
		read_skip(&offsets, 4);
		if (!offsets.bad)
			str_addn(ret_offsets, (const char *)head, 8);
	}
	while (offsets.end - offsets.p >= 4) {
		uint64_t from = read_uint(&offsets, 4);
		uint32_t to = from < size ? (uint32_t)ret_strings->len : 0;
		const char *text = (const char *)strings.p + from;

		str_addn(ret_offsets, (const char *)&to, 4);
		if (from < size) {
			str_addn(ret_strings, text, strnlen(text, size - from));
			str_addn(ret_strings, "", 1);
		}
		if (ret_strings->len > UNIT_MAX)
			return false;
	}
	return true;
}

static void add_section(struct str *file, Elf64_Shdr *ret, uint32_t name, const void *data, size_t size)
{
	*ret = (Elf64_Shdr){.sh_name = name, .sh_type = SHT_PROGBITS, .sh_offset = file->len, .sh_size = size,
		.sh_addralign = 1};
	str_addn(file, data, size);
}

/* Appends the ELF file of a unit. */
static bool add_file(const struct dwp *d, uint32_t row, struct str *ret)
{
	_cleanup_(str_done) struct str names = {}, strings = {}, offsets = {};
	Elf64_Shdr headers[PARTS + 3] = {};
	Elf64_Ehdr head = d->elf->head;
	size_t n = 1;

	if (!add_strings(d, bytes_of(d, row, STR_PART), &strings, &offsets))
		return false;
	str_addn(&names, "", 1);
	str_addn(ret, (const char *)&head, sizeof(head));
	for (size_t i = 0; i <= PARTS; i++) {
		struct reader part = i < PARTS ? bytes_of(d, row, i) : (struct reader){};
		uint32_t name = (uint32_t)names.len;

		if (part.bad || ret->len > UNIT_MAX)
			return false;
		str_addf(&names, ".debug_%s", sections[i]);
		str_addn(&names, "", 1);
		if (i == STR || i == STR_PART)
			add_section(ret, &headers[n++], name, i == STR ? strings.data : offsets.data,
				i == STR ? strings.len : offsets.len);
		else
			add_section(ret, &headers[n++], name, part.p, (size_t)(part.end - part.p));
	}
	str_addn(&names, ".shstrtab", sizeof(".shstrtab"));
	add_section(ret, &headers[n++], (uint32_t)(names.len - sizeof(".shstrtab")), names.data, names.len);
	headers[n - 1].sh_type = SHT_STRTAB;
	head.e_type = ET_REL;
	head.e_phoff = head.e_phnum = head.e_entry = 0;
	head.e_shoff = ret->len;
	head.e_shentsize = sizeof(Elf64_Shdr);
	head.e_shnum = (uint16_t)n;
	head.e_shstrndx = (uint16_t)(n - 1);
	str_addn(ret, (const char *)headers, n * sizeof(*headers));
	memcpy(ret->data, &head, sizeof(head));
	return true;
}

int dwp_unit(struct dwp *d, uint64_t id)
{
	_cleanup_(str_done) struct str file = {};
	_cleanup_(closep) int fd = -1;
	uint32_t row = row_of(d, id);

	if (!row)
		return -ENOENT;
	if (!add_file(d, row, &file))
		return -EBADMSG;
	fd = memfd_create("dwo", MFD_CLOEXEC);
	if (fd < 0 || write(fd, file.data, file.len) != (ssize_t)file.len || dup3(fd, d->fd, O_CLOEXEC) < 0)
		return -errno;
	return 0;
}

const char *dwp_path(const struct dwp *d)
{
	return d->path;
}

/* ---- open and close ------------------------------------------------------------------ */

static int open_in(struct dwp *d, const char *path, int dir)
{
	int r = elf_open(path, &d->elf);

	if (r)
		return r;
	if (d->elf->is_32 || !dwarf_copy_plan(d->elf, sections, ARRAY_SIZE(sections), false, &d->copy))
		return -EBADMSG;
	if (d->copy.is_packed)
		r = dwarf_copy_make(&d->copy, d->elf, dir);
	if (r)
		return r;
	d->fd = memfd_create("dwo", MFD_CLOEXEC);
	if (d->fd < 0)
		return -errno;
	snprintf(d->path, sizeof(d->path), "/proc/self/fd/%d", d->fd);
	return read_index(d) ? 0 : -EBADMSG;
}

struct dwp *dwp_open(const char *path, int dir)
{
	_cleanup_(str_done) struct str full = {};
	struct dwp *d;

	if (!path)
		return NULL;
	str_addf(&full, "%s.dwp", path);
	if (access(str_text(&full), R_OK))
		return NULL;
	d = calloc(1, sizeof(*d));
	if (!d)
		out_of_memory();
	d->fd = -1;
	if (!open_in(d, str_text(&full), dir))
		return d;
	dwp_close(d);
	return NULL;
}

void dwp_close(struct dwp *d)
{
	if (!d)
		return;
	closep(&d->fd);
	dwarf_copy_done(&d->copy);
	elf_close(d->elf);
	free(d);
}
