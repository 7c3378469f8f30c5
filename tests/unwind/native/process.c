// SPDX-License-Identifier: Apache-2.0
/* process.c - the mappings and tables of a process, made from /proc for the walk. */
#include "process.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/owner.h"
#include "target/elf.h"
#include "target/target.h"
#include "unwinders/procs/file.h"

static struct mapping_chunk *get_chunk(struct host_tables *t, uint32_t pid, uint32_t chunk)
{
	struct test_process *p = (struct test_process *)t;

	return chunk < MAPPING_CHUNKS && p->chunk[chunk].n ? &p->chunk[chunk] : NULL;
}

static const void *get_table(struct host_tables *t, uint32_t file, size_t *ret_size)
{
	struct test_process *p = (struct test_process *)t;

	if (file <= p->first || file - p->first >= p->nfiles)
		return NULL;
	*ret_size = p->files[file - p->first].table.size;
	return p->files[file - p->first].table.data;
}

static const void *get_proc(struct host_tables *t, unsigned lang, uint32_t pid)
{
	struct test_process *p = (struct test_process *)t;

	return lang == FRAME_LANG_JS && p->v8.generation ? &p->v8 : NULL;
}

static struct test_file *add_file(struct test_process *p, const char *path)
{
	p->files = reallocarray(p->files, p->nfiles + 1, sizeof(*p->files));
	p->files[p->nfiles] = (struct test_file){.path = strdup(path)};
	return &p->files[p->nfiles++];
}

static void read_vdso(struct test_process *p, const struct proc_map *m, struct test_file *f)
{
	struct host_process memory;
	size_t size = m->end - m->start;

	host_process_init(&memory, p->pid);
	f->image = malloc(size);
	if (memory.memory.read(&memory.memory, m->start, f->image, size) == 0)
		elf_open_memory(f->image, size, &f->elf);
}

static uint32_t file_of(struct target *t, struct test_process *p, const struct proc_map *m)
{
	struct test_file *f;

	for (size_t i = 1; i < p->nfiles; i++)
		if (!strcmp(p->files[i].path, m->path))
			return i;
	f = add_file(p, m->path);
	if (!strcmp(m->path, "[vdso]")) {
		read_vdso(p, m, f);
	} else {
		_cleanup_(closep) int fd = proc_open_mapping(t, p->pid, m);

		if (fd >= 0)
			elf_open_fd(fd, &f->elf);
	}
	if (f->elf && table_make(f->elf, &f->table) < 0)
		abort();
	if (f->elf && ((const struct table_header *)f->table.data)->flags & TABLE_LANG(FRAME_LANG_JS)) {
		struct v8_layout layout;

		if (v8_layout(&(struct lang_file){.elf = f->elf, .dir = -1}, &layout))
			abort();
		p->v8 = layout.proc;
		p->v8.generation = 1;
	}
	return p->nfiles - 1;
}

static void add_mapping(struct target *t, struct test_process *p, const struct proc_map *m, size_t n)
{
	struct mapping_chunk *c = &p->chunk[n / MAPPINGS_PER_CHUNK];
	struct mapping *to = &c->map[n % MAPPINGS_PER_CHUNK];

	*to = (struct mapping){.start = m->start, .end = m->end, .flags = MAPPING_ANON};
	if (!strcmp(m->path, "[uprobes]"))
		to->flags = MAPPING_UPROBES;
	if (m->path[0] == '/' || !strcmp(m->path, "[vdso]")) {
		struct elf *e;
		uint32_t i = file_of(t, p, m);
		uint64_t bias;

		to->file = p->first + i;
		e = p->files[i].elf;
		to->flags = !strcmp(m->path, "[vdso]") ? MAPPING_VDSO : 0;
		if (!e || !file_bias(&(struct file){.elf = e}, m->start, m->offset, &bias)) {
			to->file = 0;
			to->flags = MAPPING_ANON;
		} else {
			to->bias = bias;
			to->flags |= MAPPING_LANGS(((const struct table_header *)p->files[i].table.data)->flags >>
				TABLE_LANGS_SHIFT);
		}
	}
	if (n % MAPPINGS_PER_CHUNK == 0)
		p->chunk[0].chunk_start[n / MAPPINGS_PER_CHUNK] = n ? m->start : 0;
	c->n++;
	p->chunk[0].chunks = n / MAPPINGS_PER_CHUNK + 1;
}

void test_process_read(struct target *t, struct test_process *p)
{
	struct proc_map *maps = NULL;
	ssize_t nmaps = proc_maps(t, p->pid, &maps);
	size_t n = 0;

	memset(p->chunk, 0, sizeof(p->chunk));
	for (ssize_t i = 0; i < nmaps && n < MAPPINGS_PER_CHUNK * MAPPING_CHUNKS; i++)
		if (maps[i].exec && strcmp(maps[i].path, "[vsyscall]") != 0)
			add_mapping(t, p, &maps[i], n++);
	free(maps);
	for (size_t i = 0; p->v8.generation && i < n; i++) {
		struct mapping *m = &p->chunk[i / MAPPINGS_PER_CHUNK].map[i % MAPPINGS_PER_CHUNK];

		if (m->flags & MAPPING_ANON)
			m->flags |= MAPPING_LANG(FRAME_LANG_JS);
	}
}

struct test_process *test_process_new(struct target *t, int pid)
{
	struct test_process *p = calloc(1, sizeof(*p));
	static uint32_t ids;

	p->first = ids;
	p->tables = (struct host_tables){.chunk = get_chunk, .table = get_table, .proc = get_proc};
	p->pid = pid;
	add_file(p, "");
	test_process_read(t, p);
	ids += p->nfiles - 1;
	return p;
}

void test_process_free(struct test_process *p)
{
	for (size_t i = 0; i < p->nfiles; i++) {
		free(p->files[i].path);
		elf_close(p->files[i].elf);
		free(p->files[i].image);
		table_done(&p->files[i].table);
	}
	free(p->files);
	free(p);
}

bool test_frame_address(const struct test_process *p, uint64_t frame, uint64_t *ret)
{
	uint32_t file = frame >> FRAME_FILE_SHIFT & 0xfffff;
	uint64_t vaddr = frame & FRAME_VADDR_MASK;

	if (frame >> FRAME_LANG_SHIFT == FRAME_LANG_ADDRESS) {
		*ret = FRAME_ADDRESS(frame);
		return true;
	}
	for (size_t i = 0; frame >> FRAME_LANG_SHIFT == FRAME_LANG_NATIVE && file && i < MAPPING_CHUNKS; i++)
		for (size_t k = 0; k < p->chunk[i].n; k++) {
			const struct mapping *m = &p->chunk[i].map[k];

			if (m->file != file || vaddr + m->bias < m->start || vaddr + m->bias >= m->end)
				continue;
			*ret = vaddr + m->bias;
			return true;
		}
	return false;
}

const struct mapping *test_mapping(const struct test_process *p, uint64_t pc)
{
	for (size_t i = 0; i < MAPPING_CHUNKS; i++)
		for (size_t k = 0; k < p->chunk[i].n; k++)
			if (pc - p->chunk[i].map[k].start < p->chunk[i].map[k].end - p->chunk[i].map[k].start)
				return &p->chunk[i].map[k];
	return NULL;
}

bool test_is_v8(const struct test_process *p, uint64_t pc)
{
	const struct mapping *m = p->v8.generation ? test_mapping(p, pc) : NULL;

	return m && (m->flags & MAPPING_LANG(FRAME_LANG_JS) || pc - m->bias - p->v8.builtins < p->v8.builtins_size);
}

void test_frame_name(struct test_process *p, uint64_t frame, char *ret, size_t size)
{
	uint32_t file = frame >> FRAME_FILE_SHIFT & 0xfffff;
	const struct elf_symbol *s = NULL;

	ret[0] = '\0';
	if (file > p->first && file - p->first < p->nfiles && p->files[file - p->first].elf)
		s = elf_symbol_at(p->files[file - p->first].elf, frame & FRAME_VADDR_MASK);
	if (!s)
		return;
	snprintf(ret, size, "%s", s->name);
	/* _ZN6deeperD2Ev */
	if (strstr(ret, "6deeperD"))
		snprintf(ret, size, "deeper");
	if (ret[0] != '.')
		ret[strcspn(ret, ".@")] = '\0';
}
