// SPDX-License-Identifier: Apache-2.0
/* dwarf_copy.c - copies debug sections, unpacked. See dwarf_copy.h. */
#include "dwarf_copy.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "base/owner.h"
#include "elf_priv.h"
#include "inflate.h"

#define COPY_MAX  (4ull << 30)
#define NAMES_MAX 512 /* bytes of the names of sections */

enum packing { PLAIN, ZLIB, ZSTD };

/* The older form, .zdebug_NAME: "ZLIB", then the size, the highest byte first. */
static void find_old(const struct elf *e, struct dwarf_part *p)
{
	char full[32];
	struct elf_section s;

	snprintf(full, sizeof(full), ".zdebug_%s", p->name);
	if (!elf_section(e, full, &s) || !s.data || s.size < 12 || memcmp(s.data, "ZLIB", 4))
		return;
	p->data = s.data + 12;
	p->n = s.size - 12;
	p->packing = ZLIB;
	for (int i = 4; i < 12; i++)
		p->size = p->size << 8 | s.data[i];
}

static void find_part(const struct elf *e, struct dwarf_part *p)
{
	char full[32];
	struct elf_section s;
	Elf64_Chdr h;

	snprintf(full, sizeof(full), ".debug_%s", p->name);
	if (!elf_section(e, full, &s) || !s.data || !s.size) {
		find_old(e, p);
		return;
	}
	if (!(s.flags & SHF_COMPRESSED)) {
		p->data = s.data;
		p->n = p->size = s.size;
		return;
	}
	if (s.size < sizeof(h))
		return;
	memcpy(&h, s.data, sizeof(h));
	if (h.ch_type != 1 && h.ch_type != 2)
		return;
	p->data = s.data + sizeof(h);
	p->n = s.size - sizeof(h);
	p->size = h.ch_size;
	p->packing = h.ch_type == 1 ? ZLIB : ZSTD;
}

static bool has_room(const struct dwarf_part *p)
{
	return !strcmp(p->name, "str") || !strcmp(p->name, "line_str");
}

static uint64_t headers_at(const struct dwarf_copy *c)
{
	return c->size - (c->n + 2) * sizeof(Elf64_Shdr);
}

bool dwarf_copy_plan(const struct elf *e, const char *const *names, size_t n, bool room, struct dwarf_copy *ret)
{
	uint64_t at = sizeof(Elf64_Ehdr);

	*ret = (struct dwarf_copy){.n = n};
	for (size_t i = 0; i < n; i++) {
		struct dwarf_part *p = &ret->parts[i];

		p->name = names[i];
		find_part(e, p);
		ret->is_packed |= p->packing != PLAIN;
		if (p->packing != PLAIN && !inflate_is_likely(p->size, p->n))
			return false;
		p->at = at;
		at += (p->size + (room && has_room(p) ? DWARF_ROOM : 0) + 15) & ~15ull;
		if (at > COPY_MAX)
			return false;
	}
	ret->size = at + NAMES_MAX + (n + 2) * sizeof(Elf64_Shdr);
	return true;
}

/* Returns the bytes up to the next section: with the room. */
static uint64_t whole_size(const struct dwarf_copy *c, size_t i)
{
	uint64_t end = i + 1 < c->n ? c->parts[i + 1].at : headers_at(c) - NAMES_MAX;

	return has_room(&c->parts[i]) ? end - c->parts[i].at : c->parts[i].size;
}

static void write_headers(const struct elf *e, const struct dwarf_copy *c)
{
	uint64_t headers = headers_at(c);
	Elf64_Ehdr head = e->head;
	Elf64_Shdr sections[DWARF_PARTS + 2] = {};
	char names[NAMES_MAX] = "";
	uint32_t used = 1;

	for (size_t i = 0; i < c->n; i++) {
		sections[i + 1] = (Elf64_Shdr){.sh_name = used, .sh_type = SHT_PROGBITS, .sh_offset = c->parts[i].at,
			.sh_size = whole_size(c, i), .sh_addralign = 1};
		used += (uint32_t)sprintf(names + used, ".debug_%s", c->parts[i].name) + 1;
	}
	sections[c->n + 1] = (Elf64_Shdr){.sh_name = used, .sh_type = SHT_STRTAB, .sh_offset = headers - NAMES_MAX,
		.sh_size = sizeof(names), .sh_addralign = 1};
	sprintf(names + used, ".shstrtab");
	head.e_phoff = head.e_phnum = head.e_entry = 0;
	head.e_shoff = headers;
	head.e_shentsize = sizeof(Elf64_Shdr);
	head.e_shnum = (uint16_t)(c->n + 2);
	head.e_shstrndx = (uint16_t)(c->n + 1);
	memcpy(c->data, &head, sizeof(head));
	memcpy(c->data + headers - NAMES_MAX, names, sizeof(names));
	memcpy(c->data + headers, sections, (c->n + 2) * sizeof(*sections));
}

static bool unpack(const struct dwarf_copy *c)
{
	for (size_t i = 0; i < c->n; i++) {
		const struct dwarf_part *p = &c->parts[i];
		bool ok = true;

		if (p->packing == ZLIB)
			ok = inflate_zlib(p->data, p->n, c->data + p->at, p->size);
		else if (p->packing == ZSTD)
			ok = inflate_zstd(p->data, p->n, c->data + p->at, p->size);
		else if (p->n)
			memcpy(c->data + p->at, p->data, p->n);
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

int dwarf_copy_make(struct dwarf_copy *c, const struct elf *e, int dir)
{
	_cleanup_(closep) int fd = unnamed_file(dir, c->size);

	if (fd < 0)
		return fd;
	c->data = mmap(NULL, c->size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (c->data == MAP_FAILED) {
		c->data = NULL;
		return -errno;
	}
	write_headers(e, c);
	return unpack(c) ? elf_open_memory(c->data, c->size, &c->elf) : -EBADMSG;
}

const struct dwarf_part *dwarf_copy_part(const struct dwarf_copy *c, const char *name)
{
	for (size_t i = 0; i < c->n; i++)
		if (!strcmp(c->parts[i].name, name))
			return &c->parts[i];
	return NULL;
}

void dwarf_copy_done(struct dwarf_copy *c)
{
	elf_close(c->elf);
	if (c->data)
		munmap(c->data, c->size);
	*c = (struct dwarf_copy){};
}
