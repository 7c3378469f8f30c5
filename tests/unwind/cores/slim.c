// SPDX-License-Identifier: Apache-2.0
/* slim.c - of a core file and a Go program what walks and names need:
 *
 *     slim core CORE EXE NEW      notes, and the memory that a walk of any thread reads
 *     slim exe EXE NEW            the tables, and the code that the tables' making looks at
 *
 * What is left out of a core is not there; what is left out of a program is zeros, so that
 * all stays in its place. Both are to be compressed. */
#include <elf.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/owner.h"
#include "base/vec.h"
#include "target/elf.h"
#include "target/target.h"
#include "unwinders/core.h"
#include "unwinders/pclntab.h"
#include "unwinders/unwinder.h"

#define LINE 64ull /* what is kept of memory begins and ends at such bytes */

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

static void walk_all(struct core *c, const char *exe)
{
	struct target *t = target_open("/");
	struct unwind_sink *sink = NULL;
	struct unwinders *u = NULL;
	uint64_t id;

	if (!t || unwind_sink_memory(&sink) || unwinders_new(t, sink, &u) || unwinders_add_core(u, c, exe))
		die("cannot set up the walk");
	read_core = core_memory(c)->read;
	core_memory(c)->read = read_and_keep;
	for (size_t i = 0; i < core_threads(c); i++)
		if (unwinders_walk_core(u, c, i, WANT_ALL, UNWIND_LIMIT_MAX, &id))
			die("a thread cannot be walked");
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

/* A segment's runs of bytes that are kept; of code also that it was there. */
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

static void slim_core(const char *path, const char *exe, FILE *f)
{
	struct elf *e = NULL;
	struct core *c = NULL;
	const struct elf_segment *s;
	struct elf_section notes;
	struct plan plan = {};
	size_t n;

	if (elf_open(path, &e) || !elf_is_core(e) || !elf_phdr(e, PT_NOTE, &notes) || core_open(e, &c))
		die("not a core file");
	walk_all(c, exe);
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

/* Up to Go 1.25 data has the module, read-only data what functions are inlined where. */
static void keep_module(struct elf *e)
{
	struct elf_symbol module, start, end;

	if (elf_symbol_named(e, "runtime.firstmoduledata", &module))
		keep_vaddr(e, module.vaddr, module.size);
	if ((elf_symbol_named(e, "go.func.*", &start) || elf_symbol_named(e, "go:func.*", &start)) &&
		elf_symbol_named(e, "runtime.gcbits.*", &end) && end.vaddr > start.vaddr)
		keep_vaddr(e, start.vaddr, end.vaddr - start.vaddr);
}

/* Headers; of sections also their names. */
static void keep_headers(struct elf *e, const uint8_t *data)
{
	Elf64_Ehdr h;

	memcpy(&h, data, sizeof(h));
	keep(0, sizeof(h));
	keep(h.e_phoff, (uint64_t)h.e_phnum * sizeof(Elf64_Phdr));
	keep(h.e_shoff, (uint64_t)h.e_shnum * sizeof(Elf64_Shdr));
	keep_section(e, ".shstrtab");
}

/* go.c looks at the assembler's functions (arm64: of others their bounds alone). */
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
	if (elf_section(e, ".eh_frame", &(struct elf_section){})) { /* C's functions have names there */
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

int main(int argc, char **argv)
{
	bool is_core = argc == 5 && !strcmp(argv[1], "core");
	FILE *f;

	if (!is_core && (argc != 4 || strcmp(argv[1], "exe")))
		die("core CORE EXE NEW, or exe EXE NEW");
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
