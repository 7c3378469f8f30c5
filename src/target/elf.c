// SPDX-License-Identifier: Apache-2.0
/* elf.c - an ELF file mapped into memory; nothing in it is trusted.
 *
 * Only <elf.h>'s structs are needed, so they are read here, by memcpy (offsets of
 * a hostile file are not aligned) and behind one check: file_bytes(). A string
 * table is cut after its last NUL, after which every offset in it is a string. */
#include "elf.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/owner.h"
#include "base/regular.h"
#include "base/str.h"
#include "base/vec.h"
#include "debugfile.h"
#include "filemap.h"
#include "zip.h"

#define PHDRS_MAX    4096
#define SECTIONS_MAX (1u << 17)
#define SYMBOLS_MAX  (1u << 23)
#define SYMTABS_MAX  4
#define DYNAMIC_MAX  4096

#ifndef NT_GNU_BUILD_ID
#define NT_GNU_BUILD_ID 3
#endif

struct strings { /* a string table; its last byte is a NUL */
	const char *data;
	size_t size;
};

struct elf {
	const uint8_t *data;
	size_t size, map_size;
	const uint8_t *map; /* by elf_open(), of map_size; NULL: data is not ours */
	Elf64_Ehdr head;
	VEC(Elf64_Phdr) phdrs;
	VEC(struct elf_segment) segments;
	VEC(Elf64_Shdr) sections;
	struct strings section_names;

	bool symbols_read;
	struct elf *debug; /* the separate debug file: owns the names of its symbols */
	VEC(struct elf_symbol) symbols;
	uint64_t *end;   /* of each; 0: not a function */
	uint64_t *reach; /* of symbols[0..i]: the highest end */

	bool dynamic_read;
	VEC(const char *) needed, runpath;
};

static const uint8_t *file_bytes(const struct elf *e, uint64_t offset, uint64_t size)
{
	if (offset > e->size || size > e->size - offset)
		return NULL;
	return e->data + offset;
}

static struct strings strings_at(const struct elf *e, uint64_t offset, uint64_t size)
{
	const uint8_t *p = file_bytes(e, offset, size);
	const uint8_t *last = p && size ? memrchr(p, 0, size) : NULL;

	return last ? (struct strings){(const char *)p, last - p + 1} : (struct strings){};
}

static const char *string(struct strings s, uint64_t offset)
{
	return offset < s.size ? s.data + offset : NULL;
}

/* ---- open and close ---------------------------------------------------- */

static bool read_section_header(const struct elf *e, uint64_t i, Elf64_Shdr *ret)
{
	const uint8_t *p;

	if (e->head.e_shoff > e->size || e->head.e_shentsize != sizeof(*ret))
		return false;
	p = file_bytes(e, e->head.e_shoff + i * sizeof(*ret), sizeof(*ret));
	if (p)
		memcpy(ret, p, sizeof(*ret));
	return p;
}

static void read_phdrs(struct elf *e, const Elf64_Shdr *first)
{
	uint64_t n = e->head.e_phnum;

	if (n == PN_XNUM && first)
		n = first->sh_info;
	if (e->head.e_phentsize != sizeof(Elf64_Phdr) || e->head.e_phoff > e->size)
		return;
	for (uint64_t i = 0; i < n && i < PHDRS_MAX; i++) {
		const uint8_t *p = file_bytes(e, e->head.e_phoff + i * sizeof(Elf64_Phdr),
			sizeof(Elf64_Phdr));
		Elf64_Phdr ph;

		if (!p)
			break;
		memcpy(&ph, p, sizeof(ph));
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
	if (size >= sizeof(e->head))
		memcpy(&e->head, data, sizeof(e->head));
	if (memcmp(e->head.e_ident, ELFMAG, SELFMAG) || e->head.e_ident[EI_CLASS] != ELFCLASS64 ||
		e->head.e_ident[EI_DATA] != ELFDATA2LSB) {
		free(e);
		return -ENOEXEC;
	}
	has_sections = e->head.e_shoff && read_section_header(e, 0, &first);
	read_phdrs(e, has_sections ? &first : NULL);
	if (has_sections)
		read_sections(e, &first);
	*ret = e;
	return 0;
}

/* member: of the archive that the file is; NULL: the file itself. */
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

uint64_t elf_start(const struct elf *e)
{
	return e->map ? (uint64_t)(e->data - e->map) : 0;
}

int elf_open(const char *path, struct elf **ret)
{
	_cleanup_(closep) int fd = regular_open(AT_FDCWD, path, 0);

	return fd < 0 ? fd : elf_open_fd(fd, ret);
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
	vec_done(&e->symbols);
	vec_done(&e->needed);
	vec_done(&e->runpath);
	free(e->end);
	free(e->reach);
	free(e);
}

void elf_release(struct elf *e)
{
	if (e->debug)
		elf_release(e->debug);
	if (e->map)
		madvise((void *)e->map, e->map_size, MADV_DONTNEED);
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

/* ---- symbols ----------------------------------------------------------- */

struct symtab {
	const uint8_t *data;
	size_t n;
	struct strings names;
};

static bool symtab_of(const struct elf *e, const Elf64_Shdr *sh, struct symtab *ret)
{
	if ((sh->sh_type != SHT_SYMTAB && sh->sh_type != SHT_DYNSYM) || sh->sh_link >= e->sections.len)
		return false;
	ret->data = file_bytes(e, sh->sh_offset, sh->sh_size);
	ret->n = sh->sh_size / sizeof(Elf64_Sym);
	ret->names = strings_at(e, e->sections.data[sh->sh_link].sh_offset,
		e->sections.data[sh->sh_link].sh_size);
	return ret->data && ret->n <= SYMBOLS_MAX;
}

static uint64_t symtab_size_by_gnu_hash(const struct elf *e, uint64_t vaddr)
{
	const uint8_t *p = elf_at(e, vaddr, 16), *chain;
	uint32_t h[4], last = 0, v;

	if (!p)
		return 0;
	memcpy(h, p, sizeof(h)); /* buckets, first symbol, bloom words, shift */
	vaddr += 16 + 8ull * h[2];
	for (uint64_t i = 0; i < h[0] && (p = elf_at(e, vaddr + 4 * i, 4)); i++) {
		memcpy(&v, p, 4);
		last = v > last ? v : last;
	}
	if (last < h[1])
		return h[1];
	vaddr += 4ull * h[0];
	while ((chain = elf_at(e, vaddr + 4ull * (last - h[1]), 4))) {
		memcpy(&v, chain, 4);
		last++;
		if ((v & 1) || last == UINT32_MAX)
			break;
	}
	return last;
}

static bool dynamic_entry(const struct elf *e, size_t i, Elf64_Dyn *ret)
{
	struct elf_section dyn;

	if (i >= DYNAMIC_MAX || !elf_phdr(e, PT_DYNAMIC, &dyn) || !dyn.data ||
		(i + 1) * sizeof(*ret) > dyn.size)
		return false;
	memcpy(ret, dyn.data + i * sizeof(*ret), sizeof(*ret));
	return ret->d_tag != DT_NULL;
}

/* A file without section headers still has its dynamic symbols: images read from
 * memory, and packed files. */
static bool symtab_dynamic(const struct elf *e, struct symtab *ret)
{
	uint64_t syms = 0, strs = 0, strsize = 0, hash = 0;
	const uint8_t *names;
	Elf64_Dyn d;

	for (size_t i = 0; dynamic_entry(e, i, &d); i++) {
		if (d.d_tag == DT_SYMTAB)
			syms = d.d_un.d_ptr;
		else if (d.d_tag == DT_STRTAB)
			strs = d.d_un.d_ptr;
		else if (d.d_tag == DT_STRSZ)
			strsize = d.d_un.d_val;
		else if (d.d_tag == DT_GNU_HASH)
			hash = d.d_un.d_ptr;
	}
	if (!syms || !strs || !hash)
		return false;
	ret->n = symtab_size_by_gnu_hash(e, hash);
	ret->data = ret->n <= SYMBOLS_MAX ? elf_at(e, syms, ret->n * sizeof(Elf64_Sym)) : NULL;
	names = elf_at(e, strs, strsize);
	if (!ret->data || !names)
		return false;
	ret->names = strings_at(e, names - e->data, strsize);
	return true;
}

static bool in_code(const struct elf *e, uint64_t vaddr)
{
	for (size_t i = 0; i < e->segments.len; i++) {
		const struct elf_segment *s = &e->segments.data[i];

		if (s->exec && vaddr >= s->vaddr && vaddr - s->vaddr < s->memsz)
			return true;
	}
	return false;
}

static bool symbol_at(const struct symtab *t, size_t i, struct elf_symbol *ret)
{
	Elf64_Sym s;

	memcpy(&s, t->data + i * sizeof(s), sizeof(s));
	*ret = (struct elf_symbol){string(t->names, s.st_name), s.st_value, s.st_size,
		ELF64_ST_BIND(s.st_info), ELF64_ST_TYPE(s.st_info)};
	/* Absolute symbols are no addresses, but versions and sizes. */
	return s.st_shndx != SHN_UNDEF && s.st_shndx != SHN_ABS && ret->name && ret->name[0];
}

static bool is_function(const struct elf_symbol *s)
{
	return s->type == STT_FUNC || s->type == STT_GNU_IFUNC || s->type == STT_NOTYPE;
}

/* Assembler often gives no type: such a symbol is a function if it lies in code. */
static bool wanted(const struct elf *e, const struct elf_symbol *s)
{
	if (s->type == STT_NOTYPE)
		return in_code(e, s->vaddr) && s->name[0] != '$' && s->name[0] != '.';
	return s->type == STT_FUNC || s->type == STT_GNU_IFUNC || s->type == STT_OBJECT;
}

static void add_symbols(struct elf *e, const struct symtab *t)
{
	struct elf_symbol s;

	for (size_t i = 1; i < t->n && e->symbols.len < SYMBOLS_MAX; i++)
		if (symbol_at(t, i, &s) && wanted(e, &s))
			vec_push(&e->symbols, s);
}

static bool add_symtabs(struct elf *e, const struct elf *from)
{
	struct symtab t;
	int n = 0;

	for (size_t i = 0; i < from->sections.len && n < SYMTABS_MAX; i++)
		if (symtab_of(from, &from->sections.data[i], &t)) {
			add_symbols(e, &t);
			n++;
		}
	return n > 0;
}

static int bind_rank(const struct elf_symbol *s)
{
	return s->bind == STB_LOCAL ? 2 : s->bind == STB_WEAK;
}

static int symbol_cmp(const void *va, const void *vb)
{
	const struct elf_symbol *a = va, *b = vb;

	if (a->vaddr != b->vaddr)
		return a->vaddr < b->vaddr ? -1 : 1;
	if (bind_rank(a) != bind_rank(b))
		return bind_rank(a) - bind_rank(b);
	if (a->name != b->name && strcmp(a->name, b->name) != 0)
		return strcmp(a->name, b->name);
	return a->size < b->size ? 1 : a->size > b->size ? -1 : 0;
}

static void drop_duplicates(struct elf *e)
{
	struct elf_symbol *s = e->symbols.data;
	size_t n = 0;

	for (size_t i = 0; i < e->symbols.len; i++)
		if (!n || s[i].vaddr != s[n - 1].vaddr || strcmp(s[i].name, s[n - 1].name) != 0)
			s[n++] = s[i];
	e->symbols.len = n;
}

static uint64_t segment_end(const struct elf *e, uint64_t vaddr)
{
	for (size_t k = 0; k < e->segments.len; k++) {
		const struct elf_segment *g = &e->segments.data[k];

		if (vaddr >= g->vaddr && vaddr - g->vaddr < g->memsz)
			return g->vaddr + g->memsz;
	}
	return vaddr;
}

/* Ends of functions: by size, or by the start of the next symbol, or of the
 * segment; and how far the functions up to here reach, which bounds a search. */
/* A function without a size ends with its section: _init is not the PLT behind it. */
static uint64_t within_section(const struct elf *e, uint64_t vaddr, uint64_t end)
{
	for (size_t i = 0; i < e->sections.len; i++) {
		const Elf64_Shdr *sh = &e->sections.data[i];

		if (sh->sh_flags & SHF_EXECINSTR && vaddr >= sh->sh_addr && vaddr - sh->sh_addr < sh->sh_size &&
			sh->sh_size < end - sh->sh_addr)
			return sh->sh_addr + sh->sh_size;
	}
	return end;
}

static void index_symbols(struct elf *e)
{
	const struct elf_symbol *s = e->symbols.data;
	uint64_t next = 0, reach = 0;

	e->end = calloc(e->symbols.len + 1, sizeof(*e->end));
	e->reach = calloc(e->symbols.len + 1, sizeof(*e->reach));
	if (!e->end || !e->reach)
		abort();
	for (size_t i = e->symbols.len; i-- > 0;) {
		if (i + 1 == e->symbols.len)
			next = segment_end(e, s[i].vaddr);
		else if (s[i + 1].vaddr != s[i].vaddr)
			next = s[i + 1].vaddr;
		if (is_function(&s[i]))
			e->end[i] = !s[i].size ? within_section(e, s[i].vaddr, next) :
				s[i].vaddr + s[i].size < s[i].vaddr ? UINT64_MAX : s[i].vaddr + s[i].size;
	}
	for (size_t i = 0; i < e->symbols.len; i++) {
		reach = e->end[i] > reach ? e->end[i] : reach;
		e->reach[i] = reach;
	}
}

static void open_debug(struct elf *e)
{
	_cleanup_(freep) char *path = debugfile_find(e, NULL);

	if (path)
		elf_open(path, &e->debug);
}

static void read_symbols(struct elf *e)
{
	struct symtab t;

	if (e->symbols_read)
		return;
	e->symbols_read = true;
	if (!add_symtabs(e, e) && symtab_dynamic(e, &t))
		add_symbols(e, &t);
	open_debug(e);
	if (e->debug)
		add_symtabs(e, e->debug);
	if (e->symbols.len)
		qsort(e->symbols.data, e->symbols.len, sizeof(*e->symbols.data), symbol_cmp);
	drop_duplicates(e);
	index_symbols(e);
}

size_t elf_symbols(struct elf *e, const struct elf_symbol **ret)
{
	read_symbols(e);
	*ret = e->symbols.data;
	return e->symbols.len;
}

const struct elf_symbol *elf_symbol_at(struct elf *e, uint64_t vaddr)
{
	size_t lo = 0, hi, best;

	read_symbols(e);
	hi = e->symbols.len;
	while (lo < hi) { /* the first symbol above vaddr */
		size_t mid = (lo + hi) / 2;

		if (e->symbols.data[mid].vaddr <= vaddr)
			lo = mid + 1;
		else
			hi = mid;
	}
	for (best = lo; best-- > 0 && e->reach[best] > vaddr;) {
		if (e->end[best] <= vaddr)
			continue;
		for (size_t k = best; k-- > 0 && e->symbols.data[k].vaddr == e->symbols.data[best].vaddr;)
			if (e->end[k] > vaddr)
				best = k; /* the first of the aliases */
		return &e->symbols.data[best];
	}
	return NULL;
}

struct wanted { /* symbols by name */
	const char *const *names;
	size_t nnames;
	bool starting; /* a name is the beginning of theirs */
	struct elf_symbol *ret;
	size_t n, max;
};

static bool is_wanted(const struct wanted *w, const char *name)
{
	for (size_t i = 0; i < w->nnames; i++) {
		const char *a = name, *b = w->names[i]; /* most differ in the first few bytes */

		while (*b && *a == *b)
			a++, b++;
		if (!*b && (w->starting || !*a))
			return true;
	}
	return false;
}

static void find_in(const struct symtab *t, struct wanted *w)
{
	for (size_t i = 1; i < t->n && w->n < w->max; i++) {
		struct elf_symbol s;

		if (symbol_at(t, i, &s) && is_wanted(w, s.name))
			w->ret[w->n++] = s;
	}
}

/* .dynsym first: it is the shorter. */
static size_t find_symbols(struct elf *e, struct wanted w)
{
	static const uint32_t types[] = {SHT_DYNSYM, SHT_SYMTAB};
	struct symtab t;
	int n = 0;

	for (size_t k = 0; k < ARRAY_SIZE(types); k++)
		for (size_t i = 0; i < e->sections.len && n < SYMTABS_MAX && w.n < w.max; i++) {
			const Elf64_Shdr *sh = &e->sections.data[i];

			if (sh->sh_type != types[k] || !symtab_of(e, sh, &t))
				continue;
			n++;
			find_in(&t, &w);
		}
	if (!n && symtab_dynamic(e, &t))
		find_in(&t, &w);
	return w.n;
}

bool elf_symbol_named(struct elf *e, const char *name, struct elf_symbol *ret)
{
	return find_symbols(e, (struct wanted){&name, 1, false, ret, 0, 1}) == 1;
}

size_t elf_symbols_starting(struct elf *e, const char *const *prefixes, size_t n,
	struct elf_symbol *ret, size_t max)
{
	return find_symbols(e, (struct wanted){prefixes, n, true, ret, 0, max});
}

/* ---- dynamic section --------------------------------------------------- */

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
	for (size_t i = 0; dynamic_entry(e, i, &d); i++) {
		if (d.d_tag == DT_STRTAB)
			strs = d.d_un.d_ptr;
		else if (d.d_tag == DT_STRSZ)
			size = d.d_un.d_val;
	}
	p = elf_at(e, strs, size);
	if (p)
		names = strings_at(e, p - e->data, size);
	for (size_t i = 0; dynamic_entry(e, i, &d); i++) {
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
