// SPDX-License-Identifier: Apache-2.0
/* slim.c - copies from a core file and its program only the parts that walks and names need:
 *
 *     slim core CORE EXE NEW      the notes, and the memory that walks of its threads read
 *     slim exe EXE NEW            the tables of a Go program, and the code that strata reads to
 *                                 make its own
 *     slim files DIRECTORY CORE...  the parts that walks and names read of all files that these cores
 *                                 of node or Java have mapped, at their paths below DIRECTORY
 *
 * Other memory is absent from the new core. The rest of a file is zeros, so that offsets stay
 * the same; compress the files. */
#include <elf.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/owner.h"
#include "base/str.h"
#include "base/vec.h"
#include "target/elf.h"
#include "target/pclntab.h"
#include "target/target.h"
#include "unwinders/hotspot/hotspot.h"
#include "unwinders/procs/core.h"
#include "unwinders/unwinders.h"
#include "unwinders/v8/v8.h"

#define LINE 64ull /* kept memory begins and ends at multiples of this */

struct range {
	uint64_t start, end;
};
static VEC(struct range) kept;

static _Noreturn void die(const char *what)
{
	fprintf(stderr, "slim: %s\n", what);
	exit(1);
}

static void keep(uint64_t start, uint64_t size)
{
	vec_push(&kept, (struct range){ start, start + size });
}

static int by_start(const void *a, const void *b)
{
	const struct range *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

static void merge_kept(void)
{
	size_t n = 0;

	qsort(kept.data, kept.len, sizeof(*kept.data), by_start);
	for (size_t i = 0; i < kept.len; i++) {
		struct range x = kept.data[i], *last = n ? &kept.data[n - 1] : NULL;

		if (!last || x.start > last->end)
			kept.data[n++] = x;
		else if (x.end > last->end)
			last->end = x.end;
	}
	kept.len = n;
}

static void write_at(FILE *f, uint64_t at, const void *data, size_t size)
{
	if (fseek(f, (long)at, SEEK_SET) || fwrite(data, 1, size, f) != size)
		die("cannot write");
}

/* ---- a core ---- */

static int (*read_core)(struct host_memory *m, uint64_t addr, void *buf, size_t size);

static int read_and_keep(struct host_memory *m, uint64_t addr, void *buf, size_t size)
{
	int err = read_core(m, addr, buf, size);
	uint64_t start = addr & ~(LINE - 1);

	if (!err)
		keep(start, ((addr + size + LINE - 1) & ~(LINE - 1)) - start);
	return err;
}

/* A read that the core does not satisfy; it may be one of a mapped file. */
struct need {
	const char *path; /* NULL: not known yet, and at is an address */
	uint64_t at, size; /* offset in the file; size 0: of code, a vaddr */
	bool is_text;      /* it ends at a zero */
};
static VEC(struct need) needs;

static int read_and_need(struct host_memory *m, uint64_t addr, void *buf, size_t size)
{
	int err = read_core(m, addr, buf, size);

	if (err)
		vec_push(&needs, (struct need){ NULL, addr, size, false });
	return err;
}

static void need_code(struct unwinders *u, uint64_t stack)
{
	const uint64_t *frames;
	struct frame_name name;
	enum unwind_end end;
	ssize_t n = unwinders_stack(u, stack, &frames, &end);

	for (ssize_t i = 0; i < n; i++) {
		unwinders_name(u, frames[i], &name);
		if (name.module && name.module[0] == '/' && frames[i] >> FRAME_LANG_SHIFT == FRAME_LANG_NATIVE)
			vec_push(&needs, (struct need){ strdup(name.module), name.vaddr, 0, false });
	}
}

/* Keeps memory at the registers of a thread, for walks that look for more than the walk of today. */
static void keep_top(const struct host_regs *r)
{
	keep((r->pc - 128) & ~(LINE - 1), 384);
	keep((r->lr - 64) & ~(LINE - 1), 128);
	keep(r->sp & ~(LINE - 1), 512);
	keep((r->fp - 64) & ~(LINE - 1), 192);
}

static void walk_all(struct core *c, const char *exe,
	int (*read)(struct host_memory *m, uint64_t addr, void *buf, size_t size))
{
	struct target *t = target_open("/");
	struct walk_maps *maps = NULL;
	struct unwinders *u = NULL;
	uint64_t id;

	read_core = core_memory(c)->read;
	core_memory(c)->read = read;
	if (!t || walk_maps_memory(&maps) || unwinders_new(t, maps, &u) || unwinders_add_core(u, c, exe))
		die("cannot set up the walk");
	for (size_t i = 0; i < core_threads(c); i++) {
		keep_top(core_regs(c, i));
		if (unwinders_walk_core(u, c, i, 0, UNWIND_LIMIT_MAX, &id))
			die("a thread cannot be walked");
		need_code(u, id);
	}
	unwinders_free(u);
	target_close(t);
}

struct plan {
	VEC(Elf64_Phdr) phdrs;
	VEC(const uint8_t *) from;
};

static void add_phdr(struct plan *p, Elf64_Phdr ph, const uint8_t *from)
{
	vec_push(&p->phdrs, ph);
	vec_push(&p->from, from);
}

/* Writes a segment's runs of kept bytes; of a code segment at least its header. */
static void plan_segment(struct plan *p, const struct elf *e, const struct elf_segment *s)
{
	Elf64_Phdr ph = { .p_type = PT_LOAD, .p_flags = PF_R | (s->write ? PF_W : 0) };

	for (size_t i = 0; i < kept.len; i++) {
		uint64_t start = kept.data[i].start, end = kept.data[i].end, last = s->vaddr + s->filesz;

		start = start > s->vaddr ? start : s->vaddr;
		end = end < last ? end : last;
		if (start >= end)
			continue;
		ph.p_vaddr = start;
		ph.p_filesz = ph.p_memsz = end - start;
		add_phdr(p, ph, elf_at(e, start, end - start));
	}
	if (s->exec) {
		ph = (Elf64_Phdr){ .p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_vaddr = s->vaddr,
			.p_memsz = s->memsz };
		add_phdr(p, ph, NULL);
	}
}

static void write_core(const struct plan *p, const struct elf *e, FILE *f)
{
	const uint8_t *data;
	uint64_t at;
	Elf64_Ehdr h;
	size_t size;

	data = elf_data(e, &size);
	memcpy(&h, data, sizeof(h));
	h.e_phoff = sizeof(h);
	h.e_phnum = (Elf64_Half)p->phdrs.len;
	h.e_shoff = h.e_shnum = h.e_shstrndx = 0;
	write_at(f, 0, &h, sizeof(h));
	at = sizeof(h) + p->phdrs.len * sizeof(Elf64_Phdr);
	for (size_t i = 0; i < p->phdrs.len; i++) {
		Elf64_Phdr ph = p->phdrs.data[i];

		ph.p_offset = at;
		write_at(f, sizeof(h) + i * sizeof(ph), &ph, sizeof(ph));
		if (ph.p_filesz)
			write_at(f, at, p->from.data[i], ph.p_filesz);
		at += ph.p_filesz;
	}
}

static struct core *open_core(const char *path, struct elf **ret_elf)
{
	struct core *c = NULL;

	if (elf_open(path, ret_elf) || !elf_is_core(*ret_elf) || core_open(*ret_elf, &c))
		die("not a core file");
	return c;
}

static void slim_core(const char *path, const char *exe, FILE *f)
{
	struct elf *e;
	struct core *c = open_core(path, &e);
	const struct elf_segment *s;
	struct elf_section notes;
	struct plan plan = {};
	size_t n;

	if (!elf_phdr(e, PT_NOTE, &notes))
		die("a core without notes");
	walk_all(c, exe, read_and_keep);
	merge_kept();
	add_phdr(&plan, (Elf64_Phdr){ .p_type = PT_NOTE, .p_filesz = notes.size, .p_align = 4 }, notes.data);
	n = elf_segments(e, &s);
	for (size_t i = 0; i < n; i++)
		plan_segment(&plan, e, &s[i]);
	write_core(&plan, e, f);
	vec_done(&plan.phdrs);
	vec_done(&plan.from);
	core_close(c);
}

/* ---- a program ---- */

static void keep_vaddr(struct elf *e, uint64_t vaddr, uint64_t size)
{
	uint64_t offset;

	if (elf_vaddr_to_offset(e, vaddr, &offset))
		keep(offset, size);
}

static void keep_section(struct elf *e, const char *name)
{
	struct elf_section s;

	if (elf_section(e, name, &s) && s.data)
		keep(s.offset, s.size);
}

/* Up to Go 1.25 the module data is in .data, and the trees of inlined functions in .rodata. */
static void keep_module(struct elf *e)
{
	struct elf_symbol module, start, end;

	if (elf_symbol_named(e, "runtime.firstmoduledata", &module))
		keep_vaddr(e, module.vaddr, module.size);
	if ((elf_symbol_named(e, "go.func.*", &start) || elf_symbol_named(e, "go:func.*", &start)) &&
		elf_symbol_named(e, "runtime.gcbits.*", &end) && end.vaddr > start.vaddr)
		keep_vaddr(e, start.vaddr, end.vaddr - start.vaddr);
}

/* The ELF headers, and the names of the sections. */
static void keep_headers(struct elf *e, const uint8_t *data)
{
	Elf64_Ehdr h;

	memcpy(&h, data, sizeof(h));
	keep(0, sizeof(h));
	keep(h.e_phoff, (uint64_t)h.e_phnum * sizeof(Elf64_Phdr));
	keep(h.e_shoff, (uint64_t)h.e_shnum * sizeof(Elf64_Shdr));
	keep_section(e, ".shstrtab");
}

/* src/unwinders/go/go.c reads the code of assembler functions; on arm64, it reads only the bounds of others. */
static void keep_code(struct elf *e)
{
	struct pclntab *t = NULL;
	struct pcln_function f;

	if (pclntab_open(e, &t))
		die("not a Go program");
	for (size_t i = 0; i < pclntab_functions(t); i++)
		if (pclntab_function(t, i, &f) &&
			(f.flags & PCLN_ASM || !strcmp(f.name, "runtime.goroutineheader")))
			keep_vaddr(e, f.start, f.end - f.start);
	pclntab_close(t);
}

static void slim_exe(const char *path, FILE *f)
{
	static const char *const sections[] = { ".gopclntab", ".go.buildinfo", ".go.module", ".eh_frame",
		".eh_frame_hdr", ".rela", ".rela.dyn", ".note.go.buildid", ".note.gnu.build-id" };
	struct elf *e = NULL;
	const uint8_t *data;
	size_t size;

	if (elf_open(path, &e))
		die("not a program");
	data = elf_data(e, &size);
	keep_headers(e, data);
	for (size_t i = 0; i < sizeof(sections) / sizeof(*sections); i++)
		keep_section(e, sections[i]);
	if (elf_section(e, ".eh_frame", &(struct elf_section){})) { /* cgo: names of C functions are in .symtab */
		keep_section(e, ".symtab");
		keep_section(e, ".strtab");
	}
	keep_module(e);
	keep_code(e);
	merge_kept();
	for (size_t i = 0; i < kept.len; i++)
		write_at(f, kept.data[i].start, data + kept.data[i].start, kept.data[i].end - kept.data[i].start);
	write_at(f, size - 1, data + size - 1, 1);
	elf_close(e);
}

/* ---- files that cores have mapped ---- */

/* Converts addresses of a core to offsets in its files. */
static void locate_needs(struct core *c, size_t from)
{
	const struct proc_map *maps;
	size_t n = core_maps(c, &maps), kept_needs = from;

	for (size_t i = from; i < needs.len; i++) {
		struct need need = needs.data[i];

		for (size_t k = 0; k < n && !need.path; k++)
			if (maps[k].path[0] == '/' && need.at >= maps[k].start && need.at < maps[k].end) {
				need.path = strdup(maps[k].path);
				need.at += maps[k].offset - maps[k].start;
			}
		if (need.path)
			needs.data[kept_needs++] = need;
	}
	needs.len = kept_needs;
}

/* Returns the address of a variable of a mapped file, or 0. */
static uint64_t variable_at(struct core *c, const char *path, struct elf *e, uint64_t vaddr)
{
	const struct proc_map *maps;
	size_t n = core_maps(c, &maps);
	uint64_t offset;

	if (!elf_vaddr_to_offset(e, vaddr, &offset))
		return 0;
	for (size_t i = 0; i < n; i++)
		if (!strcmp(maps[i].path, path) && offset - maps[i].offset < maps[i].end - maps[i].start)
			return maps[i].start + offset - maps[i].offset;
	return 0;
}

/* The texts of a table in memory are in the file: up to three words of an entry have addresses of texts. */
static void need_texts(struct core *c, uint64_t variable, size_t size, size_t texts)
{
	struct host_memory *m = core_memory(c);
	uint64_t entry[3] = {}, at;

	if (!variable || m->read(m, variable, &at, sizeof(at)))
		return;
	for (; !m->read(m, at, entry, texts * sizeof(*entry)) && entry[0]; at += size)
		for (size_t i = 0; i < texts; i++)
			vec_push(&needs, (struct need){ NULL, entry[i], 1, true });
}

/* The tables in which a Java virtual machine describes itself: see src/unwinders/hotspot/tables.c. */
static void need_tables(struct core *c)
{
	const struct proc_map *maps;
	size_t n = core_maps(c, &maps);
	struct hotspot_variables v;

	for (size_t i = 0; i < n; i++) {
		const char *path = maps[i].path;
		struct elf *e = NULL;

		if (maps[i].offset || path[0] != '/' || elf_open(path, &e))
			continue;
		if (!hotspot_variables(e, &v)) {
			need_texts(c, variable_at(c, path, e, v.structs), 48, 3);
			need_texts(c, variable_at(c, path, e, v.types), 40, 1);
			need_texts(c, variable_at(c, path, e, v.ints), 16, 1);
		}
		elf_close(e);
	}
}

static uint64_t read_u32(const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

/* Keeps an entry of .eh_frame. The other entries become zeros, which readers skip. */
static void keep_entry(const struct elf_section *frames, uint64_t at)
{
	if (at + 4 <= frames->size)
		keep(frames->offset + at, 4 + read_u32(frames->data + at));
}

/* Keeps the FDE of vaddr and its CIE. Pointers are relative and of 4 bytes, as compilers write them. */
static void keep_fde(struct elf *e, uint64_t vaddr)
{
	struct elf_section f;
	uint64_t size;

	if (!elf_section(e, ".eh_frame", &f) || !f.data)
		return;
	for (uint64_t at = 0; at + 16 <= f.size; at += 4 + size) {
		const uint8_t *p = f.data + at;
		uint64_t start = f.vaddr + at + 8 + (uint64_t)(int32_t)read_u32(p + 8);

		size = read_u32(p);
		if (!size || !read_u32(p + 4) || vaddr - start >= read_u32(p + 12))
			continue;
		keep_entry(&f, at);
		keep_entry(&f, at + 4 - read_u32(p + 4));
	}
}

static bool describes(const char *name)
{
	if (!strncmp(name, "gHotSpotVM", strlen("gHotSpotVM")))
		return true;
	for (size_t i = 0; v8_symbols[i]; i++)
		if (!strncmp(name, v8_symbols[i], strlen(v8_symbols[i])))
			return true;
	return false;
}

/* Keeps the symbols at one of these positions, and the symbols that describe V8 or HotSpot with their data. */
static void keep_symbols(struct elf *e, const char *table, const char *strings, const struct range *at, size_t n)
{
	struct elf_section t, names;

	if (!elf_section(e, table, &t) || !elf_section(e, strings, &names) || !t.data || !names.data)
		return;
	for (uint64_t i = 0; i + sizeof(Elf64_Sym) <= t.size; i += sizeof(Elf64_Sym)) {
		const char *name;
		bool wanted;
		Elf64_Sym s;

		memcpy(&s, t.data + i, sizeof(s));
		name = (const char *)names.data + s.st_name;
		wanted = describes(name);
		if (wanted && s.st_size <= 4096)
			keep_vaddr(e, s.st_value, s.st_size ? s.st_size : 8);
		for (size_t k = 0; k < n && !wanted; k++)
			wanted = s.st_shndx != SHN_UNDEF && s.st_value == at[k].start;
		if (!wanted)
			continue;
		keep(t.offset + i, sizeof(s));
		keep(names.offset + s.st_name, strlen(name) + 1);
	}
}

static void keep_needs(struct elf *e, const char *path)
{
	VEC(struct range) at = {};
	const uint8_t *data;
	size_t size;

	data = elf_data(e, &size);

	for (size_t i = 0; i < needs.len; i++) {
		const struct need *n = &needs.data[i];
		const struct elf_symbol *s;

		if (strcmp(n->path, path))
			continue;
		if (n->is_text) {
			if (n->at < size)
				keep(n->at, strnlen((const char *)data + n->at, size - n->at) + 1);
			continue;
		}
		if (n->size) {
			keep(n->at & ~(LINE - 1), n->size + LINE);
			continue;
		}
		keep_fde(e, n->at);
		s = elf_symbol_at(e, n->at);
		if (s)
			vec_push(&at, (struct range){ s->vaddr, 0 });
	}
	keep_symbols(e, ".symtab", ".strtab", at.data, at.len);
	keep_symbols(e, ".dynsym", ".dynstr", at.data, at.len);
	vec_done(&at);
}

static FILE *open_below(const char *directory, const char *path)
{
	struct str s = {};
	FILE *f;

	str_addf(&s, "%s%s", directory, path);
	for (char *p = s.data + strlen(directory) + 1; (p = strchr(p, '/')); p++) {
		*p = 0;
		mkdir(s.data, 0755);
		*p = '/';
	}
	f = fopen(s.data, "we");
	if (!f)
		die("cannot write");
	str_done(&s);
	return f;
}

/* Removes the build id: a table made from this file must not be cached as the whole file's. */
static void slim_file(const char *directory, const char *path)
{
	struct elf *e = NULL;
	const uint8_t *data;
	size_t size;
	FILE *f;

	if (elf_open(path, &e))
		return;
	data = elf_data(e, &size);
	kept.len = 0;
	keep_headers(e, data);
	keep_needs(e, path);
	merge_kept();
	f = open_below(directory, path);
	for (size_t i = 0; i < kept.len; i++) {
		uint64_t start = kept.data[i].start, end = kept.data[i].end < size ? kept.data[i].end : size;

		if (start < end)
			write_at(f, start, data + start, end - start);
	}
	write_at(f, size - 1, data + size - 1, 1);
	if (fclose(f))
		die("cannot write");
	elf_close(e);
}

static void slim_files(const char *directory, char **cores)
{
	for (; *cores; cores++) {
		struct elf *e;
		struct core *c = open_core(*cores, &e);
		size_t before = needs.len;

		walk_all(c, NULL, read_and_need);
		need_tables(c);
		locate_needs(c, before);
		core_close(c);
	}
	for (size_t i = 0; i < needs.len; i++) {
		size_t k = 0;

		while (strcmp(needs.data[k].path, needs.data[i].path))
			k++;
		if (k == i)
			slim_file(directory, needs.data[i].path);
	}
}

int main(int argc, char **argv)
{
	bool is_core = argc == 5 && !strcmp(argv[1], "core");
	FILE *f;

	if (argc > 3 && !strcmp(argv[1], "files")) {
		slim_files(argv[2], argv + 3);
		return 0;
	}
	if (!is_core && (argc != 4 || strcmp(argv[1], "exe")))
		die("core CORE EXE NEW, exe EXE NEW, or files DIRECTORY CORE...");
	f = fopen(argv[argc - 1], "we");
	if (!f)
		die("cannot write");
	if (is_core)
		slim_core(argv[2], argv[3], f);
	else
		slim_exe(argv[2], f);
	if (fclose(f))
		die("cannot write");
	vec_done(&kept);
	return 0;
}
