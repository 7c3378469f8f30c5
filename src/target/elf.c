// SPDX-License-Identifier: Apache-2.0
/* elf.c - an ELF file mapped into memory. Nothing in it is trusted.
 *
 * Only the structs of <elf.h> are needed, so they are read here, by memcpy (offsets of a hostile file are
 * not aligned) and with one check: file_bytes(). A string table is cut after its last NUL, so that every
 * offset in it is a string. */
#include "elf.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/allowance.h"
#include "base/owner.h"
#include "base/regular.h"
#include "base/str.h"
#include "base/vec.h"
#include "elf32.h"
#include "elf_priv.h"
#include "filemap.h"
#include "zip.h"

#define PHDRS_MAX    4096
#define SECTIONS_MAX (1u << 17)
#define DYNAMIC_MAX  4096
#define PASSED_MAX   (4u << 20)
#define FIND_PART    (1u << 20)

#ifndef NT_GNU_BUILD_ID
#define NT_GNU_BUILD_ID 3
#endif

/* ---- open and close ---------------------------------------------------- */

static bool read_section_header(const struct elf *e, uint64_t i, Elf64_Shdr *ret)
{
	size_t size = elf_shdr_size(e->is_32);
	const uint8_t *p;

	if (e->head.e_shoff > e->size || e->head.e_shentsize != size)
		return false;
	p = file_bytes(e, e->head.e_shoff + i * size, size);
	if (p)
		elf_shdr_read(e->is_32, p, ret);
	return p;
}

static void read_phdrs(struct elf *e, const Elf64_Shdr *first)
{
	size_t size = elf_phdr_size(e->is_32);
	uint64_t n = e->head.e_phnum;

	if (n == PN_XNUM && first)
		n = first->sh_info;
	if (e->head.e_phentsize != size || e->head.e_phoff > e->size)
		return;
	for (uint64_t i = 0; i < n && i < PHDRS_MAX; i++) {
		const uint8_t *p = file_bytes(e, e->head.e_phoff + i * size, size);
		Elf64_Phdr ph;

		if (!p)
			break;
		elf_phdr_read(e->is_32, p, &ph);
		vec_push(&e->phdrs, ph);
		if (ph.p_type == PT_LOAD)
			vec_push(&e->segments, (struct elf_segment){ph.p_offset, ph.p_vaddr,
				ph.p_filesz, ph.p_memsz, ph.p_flags & PF_X, ph.p_flags & PF_W});
	}
}

static void read_sections(struct elf *e, const Elf64_Shdr *first)
{
	uint64_t n = e->head.e_shnum ? e->head.e_shnum : first->sh_size;
	uint32_t names = e->head.e_shstrndx;
	Elf64_Shdr sh;

	for (uint64_t i = 0; i < n && i < SECTIONS_MAX && read_section_header(e, i, &sh); i++)
		vec_push(&e->sections, sh);
	if (names == SHN_XINDEX)
		names = first->sh_link;
	if (names < e->sections.len)
		e->section_names = strings_at(e, e->sections.data[names].sh_offset,
			e->sections.data[names].sh_size);
}

int elf_open_memory(const void *data, size_t size, struct elf **ret)
{
	struct elf *e = calloc(1, sizeof(*e));
	Elf64_Shdr first;
	bool has_sections;

	if (!e)
		return -ENOMEM;
	e->data = data;
	e->size = size;
	if (!elf_head_read(data, size, &e->head) || memcmp(e->head.e_ident, ELFMAG, SELFMAG) ||
		(e->head.e_ident[EI_CLASS] != ELFCLASS64 && e->head.e_ident[EI_CLASS] != ELFCLASS32) ||
		e->head.e_ident[EI_DATA] != ELFDATA2LSB) {
		free(e);
		return -ENOEXEC;
	}
	e->is_32 = e->head.e_ident[EI_CLASS] == ELFCLASS32;
	has_sections = e->head.e_shoff && read_section_header(e, 0, &first);
	read_phdrs(e, has_sections ? &first : NULL);
	if (has_sections)
		read_sections(e, &first);
	*ret = e;
	return 0;
}

/* member is the file's name in an archive, or NULL if the file is not in one. */
static int open_mapped(int fd, const char *member, struct elf **ret)
{
	size_t at = 0, size;
	const uint8_t *data;
	struct stat st;
	int err = 0;

	if (fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode) || st.st_size < (off_t)sizeof(Elf64_Ehdr))
		return -ENOEXEC;
	size = (size_t)st.st_size;
	data = filemap(fd, size);
	if (!data)
		return -errno;
	if (member) {
		enum zip_found found = zip_member(data, (size_t)st.st_size, member, &at, &size);

		err = found == ZIP_NONE ? -ENOENT : found == ZIP_COMPRESSED ? -EMEDIUMTYPE : 0;
	}
	if (!err)
		err = elf_open_memory(data + at, size, ret);
	if (err < 0) {
		filemap_done(data, (size_t)st.st_size);
		return err;
	}
	(*ret)->identity = (struct elf_identity){(uint64_t)st.st_dev, st.st_ino, (uint64_t)st.st_size,
		(uint64_t)st.st_ctim.tv_sec * 1000000000 + (uint64_t)st.st_ctim.tv_nsec};
	(*ret)->map = data;
	(*ret)->map_size = (size_t)st.st_size;
	return 0;
}

int elf_open_fd(int fd, struct elf **ret)
{
	return open_mapped(fd, NULL, ret);
}

int elf_open_member(const char *path, struct elf **ret)
{
	const char *mark = strstr(path, "!/");
	_cleanup_(freep) char *archive = mark ? strndup(path, (size_t)(mark - path)) : NULL;
	_cleanup_(closep) int fd = archive ? regular_open(AT_FDCWD, archive, 0) : -ENOENT;

	return fd < 0 ? fd : open_mapped(fd, mark + 2, ret);
}

const struct elf_identity *elf_identity(const struct elf *e)
{
	return &e->identity;
}

const char *elf_path(const struct elf *e)
{
	return e->path;
}

bool elf_is_32(const struct elf *e)
{
	return e->is_32;
}

uint64_t elf_start(const struct elf *e)
{
	return e->map ? (uint64_t)(e->data - e->map) : 0;
}

int elf_open(const char *path, struct elf **ret)
{
	_cleanup_(closep) int fd = regular_open(AT_FDCWD, path, 0);
	int r = fd < 0 ? fd : elf_open_fd(fd, ret);

	if (!r)
		elf_has_path(*ret, path);
	return r;
}

void elf_has_path(struct elf *e, const char *path)
{
	free(e->path);
	e->path = strdup(path);
}

void elf_close(struct elf *e)
{
	if (!e)
		return;
	elf_close(e->debug);
	if (e->map)
		filemap_done(e->map, e->map_size);
	vec_done(&e->phdrs);
	vec_done(&e->segments);
	vec_done(&e->sections);
	elf_drop_symbols(e);
	vec_done(&e->needed);
	vec_done(&e->runpath);
	free(e->path);
	free(e);
}

void elf_release_pages(const struct elf *e)
{
	if (e->debug)
		elf_release_pages(e->debug);
	if (e->map)
		madvise((void *)e->map, e->map_size, MADV_DONTNEED);
}

void elf_passed(const struct elf *e, size_t bytes)
{
	size_t *passed = &((struct elf *)e)->passed; /* a counter, not a part of the file's contents */

	*passed += bytes;
	if (*passed < PASSED_MAX)
		return;
	*passed = 0;
	if (allowance_is_unit())
		elf_release_pages(e);
}

const void *elf_find(const struct elf *e, const struct elf_section *s, const void *bytes, size_t n)
{
	for (uint64_t at = 0; s->data && n && at + n <= s->size; at += FIND_PART) {
		uint64_t left = s->size - at, part = left < FIND_PART + n - 1 ? left : FIND_PART + n - 1;
		const void *found = memmem(s->data + at, part, bytes, n);

		if (found)
			return found;
		elf_passed(e, part);
	}
	return NULL;
}

void elf_release(struct elf *e)
{
	elf_drop_symbols(e);
	elf_release_pages(e);
}

/* ---- segments and sections --------------------------------------------- */

uint16_t elf_machine(const struct elf *e)
{
	return e->head.e_machine;
}

bool elf_is_dynamic(const struct elf *e)
{
	return e->head.e_type == ET_DYN;
}

bool elf_is_core(const struct elf *e)
{
	return e->head.e_type == ET_CORE;
}

uint64_t elf_entry(const struct elf *e)
{
	return e->head.e_entry;
}

const uint8_t *elf_data(const struct elf *e, size_t *ret_size)
{
	*ret_size = e->size;
	return e->data;
}

size_t elf_segments(const struct elf *e, const struct elf_segment **ret)
{
	*ret = e->segments.data;
	return e->segments.len;
}

bool elf_section(const struct elf *e, const char *name, struct elf_section *ret)
{
	for (size_t i = 0; i < e->sections.len; i++) {
		const Elf64_Shdr *sh = &e->sections.data[i];
		const char *s = string(e->section_names, sh->sh_name);
		uint64_t left;

		if (!s || strcmp(s, name) != 0)
			continue;
		left = sh->sh_offset < e->size ? e->size - sh->sh_offset : 0;
		*ret = (struct elf_section){.name = s, .vaddr = sh->sh_addr, .offset = sh->sh_offset,
			.size = sh->sh_size, .type = sh->sh_type, .flags = sh->sh_flags};
		if (sh->sh_type == SHT_NOBITS)
			return true;
		if (ret->size > left)
			ret->size = left;
		ret->data = file_bytes(e, sh->sh_offset, ret->size);
		return true;
	}
	return false;
}

static bool code_segment(const struct elf *e, size_t i, struct elf_section *ret)
{
	for (size_t k = 0; k < e->segments.len; k++) {
		const struct elf_segment *g = &e->segments.data[k];

		if (!g->exec || i--)
			continue;
		*ret = (struct elf_section){.name = "", .vaddr = g->vaddr, .offset = g->offset, .size = g->filesz,
			.data = file_bytes(e, g->offset, g->filesz)};
		return true;
	}
	return false;
}

bool elf_code(const struct elf *e, size_t i, struct elf_section *ret)
{
	for (size_t k = 0; k < e->sections.len; k++) {
		const Elf64_Shdr *sh = &e->sections.data[k];

		if (!(sh->sh_flags & SHF_EXECINSTR) || i--)
			continue;
		*ret = (struct elf_section){.name = "", .vaddr = sh->sh_addr, .offset = sh->sh_offset,
			.size = sh->sh_size, .type = sh->sh_type, .flags = sh->sh_flags};
		if (sh->sh_type != SHT_NOBITS)
			ret->data = file_bytes(e, sh->sh_offset, sh->sh_size);
		return true;
	}
	return e->sections.len ? false : code_segment(e, i, ret);
}

bool elf_phdr(const struct elf *e, uint32_t type, struct elf_section *ret)
{
	for (size_t i = 0; i < e->phdrs.len; i++) {
		const Elf64_Phdr *ph = &e->phdrs.data[i];
		uint64_t left = ph->p_offset < e->size ? e->size - ph->p_offset : 0;

		if (ph->p_type != type)
			continue;
		*ret = (struct elf_section){"", ph->p_vaddr, ph->p_offset,
			ph->p_filesz < left ? ph->p_filesz : left, 0, NULL};
		ret->data = file_bytes(e, ph->p_offset, ret->size);
		return true;
	}
	return false;
}

bool elf_tls(const struct elf *e, uint64_t *ret_size, uint64_t *ret_align)
{
	for (size_t i = 0; i < e->phdrs.len; i++) {
		const Elf64_Phdr *ph = &e->phdrs.data[i];

		if (ph->p_type != PT_TLS)
			continue;
		*ret_size = ph->p_memsz;
		*ret_align = ph->p_align;
		return true;
	}
	return false;
}

bool elf_vaddr_to_offset(const struct elf *e, uint64_t vaddr, uint64_t *ret_offset)
{
	for (size_t i = 0; i < e->segments.len; i++) {
		const struct elf_segment *s = &e->segments.data[i];

		if (vaddr >= s->vaddr && vaddr - s->vaddr < s->filesz) {
			*ret_offset = s->offset + (vaddr - s->vaddr);
			return true;
		}
	}
	return false;
}

bool elf_offset_to_vaddr(const struct elf *e, uint64_t offset, uint64_t *ret_vaddr)
{
	for (size_t i = 0; i < e->segments.len; i++) {
		const struct elf_segment *s = &e->segments.data[i];

		if (offset >= s->offset && offset - s->offset < s->filesz) {
			*ret_vaddr = s->vaddr + (offset - s->offset);
			return true;
		}
	}
	return false;
}

const uint8_t *elf_at(const struct elf *e, uint64_t vaddr, size_t size)
{
	for (size_t i = 0; i < e->segments.len; i++) {
		const struct elf_segment *s = &e->segments.data[i];
		uint64_t in = vaddr - s->vaddr;

		if (vaddr >= s->vaddr && in < s->filesz && size <= s->filesz - in)
			return s->offset > e->size ? NULL : file_bytes(e, s->offset + in, size);
	}
	return NULL;
}

/* ---- notes ------------------------------------------------------------- */

static size_t build_id_of_notes(const uint8_t *p, size_t size, uint8_t ret[64])
{
	Elf64_Nhdr n;

	while (size >= sizeof(n)) {
		size_t name, desc, whole;

		memcpy(&n, p, sizeof(n));
		name = ((size_t)n.n_namesz + 3) & ~3ul;
		desc = ((size_t)n.n_descsz + 3) & ~3ul;
		whole = sizeof(n) + name + desc;
		if (whole > size)
			return 0;
		if (n.n_type == NT_GNU_BUILD_ID && n.n_namesz == 4 && n.n_descsz &&
			!memcmp(p + sizeof(n), "GNU", 4)) {
			size_t len = n.n_descsz < 64 ? n.n_descsz : 64;

			memcpy(ret, p + sizeof(n) + name, len);
			return len;
		}
		p += whole;
		size -= whole;
	}
	return 0;
}

size_t elf_build_id(const struct elf *e, uint8_t ret[64])
{
	size_t n = 0;

	for (size_t i = 0; !n && i < e->phdrs.len; i++) {
		const Elf64_Phdr *ph = &e->phdrs.data[i];
		const uint8_t *p = file_bytes(e, ph->p_offset, ph->p_filesz);

		if (ph->p_type == PT_NOTE && p)
			n = build_id_of_notes(p, ph->p_filesz, ret);
	}
	for (size_t i = 0; !n && i < e->sections.len; i++) {
		const Elf64_Shdr *sh = &e->sections.data[i];
		const uint8_t *p = file_bytes(e, sh->sh_offset, sh->sh_size);

		if (sh->sh_type == SHT_NOTE && p)
			n = build_id_of_notes(p, sh->sh_size, ret);
	}
	return n;
}

/* ---- dynamic section --------------------------------------------------- */

bool elf_dynamic_entry(const struct elf *e, size_t i, Elf64_Dyn *ret)
{
	struct elf_section dyn;
	size_t size = elf_dyn_size(e->is_32);

	if (i >= DYNAMIC_MAX || !elf_phdr(e, PT_DYNAMIC, &dyn) || !dyn.data || (i + 1) * size > dyn.size)
		return false;
	elf_dyn_read(e->is_32, dyn.data + i * size, ret);
	return ret->d_tag != DT_NULL;
}

static void add_paths(struct elf *e, const char *s)
{
	if (s && s[0])
		vec_push(&e->runpath, s);
}

static void read_dynamic(struct elf *e)
{
	uint64_t strs = 0, size = 0;
	const uint8_t *p;
	struct strings names = {};
	Elf64_Dyn d;

	if (e->dynamic_read)
		return;
	e->dynamic_read = true;
	for (size_t i = 0; elf_dynamic_entry(e, i, &d); i++) {
		if (d.d_tag == DT_STRTAB)
			strs = d.d_un.d_ptr;
		else if (d.d_tag == DT_STRSZ)
			size = d.d_un.d_val;
	}
	p = elf_at(e, strs, size);
	if (p)
		names = strings_at(e, p - e->data, size);
	for (size_t i = 0; elf_dynamic_entry(e, i, &d); i++) {
		const char *s = string(names, d.d_un.d_val);

		if (d.d_tag == DT_NEEDED && s && s[0])
			vec_push(&e->needed, s);
		else if (d.d_tag == DT_RUNPATH || d.d_tag == DT_RPATH)
			add_paths(e, s);
	}
	vec_push(&e->needed, NULL);
	vec_push(&e->runpath, NULL);
}

const char *const *elf_needed(struct elf *e)
{
	read_dynamic(e);
	return e->needed.data;
}

const char *const *elf_runpath(struct elf *e)
{
	read_dynamic(e);
	return e->runpath.data;
}

const char *elf_interp(const struct elf *e)
{
	struct elf_section s;

	if (!elf_phdr(e, PT_INTERP, &s))
		return NULL;
	return string(strings_at(e, s.offset, s.size), 0);
}
