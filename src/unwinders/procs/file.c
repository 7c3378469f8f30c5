// SPDX-License-Identifier: Apache-2.0
/* file.c - the files with processes' code, by number.
 *
 * A known file is found by (device, inode), which /proc/PID/maps prints, without a system call. The inode
 * surely means the same file, because a known file remains mapped. A file under another name or in another
 * container is recognised by the key of its table: build id, owner and size. */
#include "file.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/allowance.h"
#include "base/arena.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/owner.h"
#include "base/regular.h"
#include "base/str.h"
#include "base/vec.h"
#include "target/elf.h"
#include "target/target.h"
#include "unwinders/idmap.h"
#include "unwinders/maps/maps.h"
#include "unwinders/native/cache.h"
#include "unwinders/native/inlines.h"
#include "unwinders/native/native.h"
#include "unwinders/procs/perfmap.h"
#include "unwinders/unwinders.h"

#define FRESH_MIN  (4 << 20) /* a check takes a millisecond, in which a process may come and go */
#define LOOK_NS     1000000000ull /* maximum time between two checks of the memory in use */
#define RELEASED_NS 2000000000ull /* maximum time after memory was released */
#define KEPT_NS     2000000000ull
#define VDSO_MAX   65536
#define SHORT_NS    5000000000ull /* after this time above the limit there are no more tables */
#define FILE_BYTES (64 << 10) /* measured bytes of a file in addition to its table: names, symbols, pages */

struct file_name { /* key of a table, to recognise the same file elsewhere */
	struct file_name *next;
	struct cache_key key;
	struct file *file;
};

struct files {
	struct target *target;
	struct walk_maps *maps; /* not owned */
	struct arena *arena;
	VEC(struct file *) files; /* by number; NULL: no file */
	struct idmap by_inode;
	struct idmap by_name;     /* hash -> struct file_name * */
	struct file *vdso;
	struct file *libc;         /* the first one found */
	struct file *stand_in;     /* the file that a path means, see files_stand_in() */
	const char *stand_in_path;
	struct files_stats stats;
	uint64_t cache_limit, memory_limit; /* 0: none */
	uint64_t fresh;            /* bytes of files since the last check of the memory */
	uint64_t due;              /* time of the next check, CLOCK_MONOTONIC ns */
	uint64_t over_since;       /* CLOCK_MONOTONIC ns; 0: the last check was below the limit */
	uint64_t in_use;           /* at the last check */
	bool full;                 /* no more tables are made */
	unsigned refused;          /* number of files without a table for that reason */
	uint64_t stored;           /* bytes stored since the last check of the cache's directory */
	uint64_t kernel;           /* bytes of tables in the kernel */
	uint32_t languages;        /* of all files so far: 1 << enum frame_lang */
	void (*on_table)(void *arg);
	void *on_table_arg;
};

struct files *files_new(struct target *t, struct walk_maps *maps)
{
	struct files *fs = calloc(1, sizeof(*fs));

	if (!fs)
		return NULL;
	fs->target = t;
	fs->maps = maps;
	fs->arena = arena_new();
	return fs;
}

static void drop_functions(struct file *f)
{
	eh_ranges_done(&f->functions);
	eh_ranges_done(&f->unframed);
	f->functions = f->unframed = (struct eh_ranges){};
	f->functions_read = f->unframed_read = false;
}

static void close_file(struct files *fs, struct file *f)
{
	fs->refused -= f->refused;
	f->refused = f->later = false;
	if (f->table.data)
		table_done(&f->table);
	drop_functions(f);
	for (unsigned i = 1; i < FRAME_LANGS; i++)
		if (f->opened[i])
			langs[i]->close(f->opened[i]);
	memset(f->opened, 0, sizeof(f->opened));
	f->asked = 0;
	inlines_close(f->inlines);
	f->inlines = NULL;
	f->inlines_sought = false;
	free(f->request);
	f->request = NULL;
	f->request_sought = false;
	elf_close(f->elf);
	f->elf = NULL;
}

void files_keep(struct files *fs)
{
	for (size_t i = 1; i < fs->files.len; i++)
		if (fs->files.data[i] && fs->files.data[i]->inlines)
			fs->stored += inlines_store(fs->files.data[i]->inlines);
	if (fs->stored && fs->cache_limit)
		cache_trim(target_cache_dir(fs->target), fs->cache_limit);
}

void files_free(struct files *fs)
{
	if (!fs)
		return;
	files_keep(fs);
	for (size_t i = 1; i < fs->files.len; i++)
		if (fs->files.data[i])
			close_file(fs, fs->files.data[i]);
	vec_done(&fs->files);
	idmap_done(&fs->by_inode);
	idmap_done(&fs->by_name);
	arena_free(fs->arena);
	free(fs);
}

struct file *files_get(const struct files *fs, uint32_t id)
{
	return id < fs->files.len ? fs->files.data[id] : NULL;
}

const struct files_stats *files_stats(const struct files *fs)
{
	return &fs->stats;
}

/* table_size: the expected size, for a number whose table is available at once. */
static struct file *new_file(struct files *fs, const char *path, size_t table_size)
{
	uint32_t id = fs->maps->number_file(fs->maps, table_size);
	struct file *f;

	if (id >= FILES_MAX)
		return NULL;
	f = arena_new_obj(fs->arena, struct file);
	f->id = id;
	f->path = arena_strdup(fs->arena, path);
	while (fs->files.len <= id)
		vec_push(&fs->files, NULL);
	fs->files.data[id] = f;
	fs->stats.files++;
	return f;
}

/* ---- tables ---- */

static void log_loop(const struct file *f)
{
	const struct table_header *h = f->table.data;
	struct str sizes = {};

	for (uint32_t i = 0; i < h->nranges; i++)
		str_addf(&sizes, "%s%u", i ? " + " : "", h->range[i].end - h->range[i].start);
	log_info("%s: the interpreter's loop has %s bytes%s%s%s%s", f->path, sizes.data,
		h->flags & TABLE_BY_JUMPS ? ", found by jumps" : "",
		h->flags & TABLE_BY_NAMES ? ", found by names" : "",
		h->flags & TABLE_BY_SIZE ? ", found by size" : "",
		h->flags & TABLE_DISPATCHES ? "" : "; no dispatch jumps are known in it");
	str_done(&sizes);
}

static void open_langs(struct files *fs, struct file *f, const struct cache_key *key)
{
	uint32_t languages = file_languages(f);

	for (unsigned i = 1; i < FRAME_LANGS; i++) {
		struct lang_file of = { .elf = f->elf, .path = f->path, .dir = target_cache_dir(fs->target), .key = key };

		if (!(languages >> i & 1) || lang_kind(i) == LANG_NATIVE || !langs[i]->open)
			continue;
		f->asked |= 1U << i;
		langs[i]->open(&of, &f->opened[i]);
	}
	if (languages)
		elf_release_pages(f->elf); /* gives back 60 MB of node, if it has its symbols */
}

/* Returns whether the file shows the places of a thread's values. */
static bool is_libc(struct elf *e)
{
	bool ret = false;

	for (unsigned i = 1; !ret && i < FRAME_LANGS; i++) {
		_cleanup_(freep) void *proc = langs[i]->libc ? calloc(1, langs[i]->proc_size) : NULL;

		ret = proc && langs[i]->libc(e, proc);
	}
	return ret;
}

/* The kernel has a copy of a table. */
static uint64_t memory_of(const struct file *f)
{
	return f->jit ? perfmap_over(f->jit) : FILE_BYTES + 2 * f->table.size;
}

/* The first table of a run means that the directory was not checked yet. */
static void count_stored(struct files *fs, uint64_t size)
{
	bool due = !fs->stored || fs->stored > fs->cache_limit / 8;

	fs->stored = due ? size : fs->stored + size;
	if (due && fs->cache_limit)
		cache_trim(target_cache_dir(fs->target), fs->cache_limit);
}

/* Takes the elf. */
static void fill_file(struct files *fs, struct file *f, struct elf *elf, const struct table *table)
{
	f->elf = elf;
	f->table = *table;
	f->refused = fs->full;
	fs->refused += f->refused;
	if (f->refused)
		return;
	fs->languages |= file_languages(f);
	if (!table->data || fs->maps->set_table(fs->maps, f->id, table->data, table->size))
		fs->stats.failed++;
	fs->fresh += memory_of(f);
	fs->kernel += table->size;
}

void files_on_table(struct files *fs, void (*f)(void *arg), void *arg)
{
	fs->on_table = f;
	fs->on_table_arg = arg;
}

static void get_table(struct files *fs, struct elf *elf, const struct cache_key *key, struct table *ret)
{
	bool cached = false;
	int err;

	*ret = (struct table){};
	if (fs->full)
		return;
	err = native_table(target_cache_dir(fs->target), elf, key, ret, &cached);
	if (fs->on_table)
		fs->on_table(fs->on_table_arg);
	if (err == -ENOMEM)
		log_memory_short("stacks end early, and functions have no names");
	if (err) {
		*ret = (struct table){};
		return;
	}
	if (!cached) {
		count_stored(fs, ret->size);
		elf_release_pages(elf);
	}
	fs->stats.bytes += ret->size;
	fs->stats.tables++;
	fs->stats.cached += cached;
}

/* Takes the elf. The table is made first, because its size decides on the file's number. */
static struct file *file_with_table(struct files *fs, struct elf *elf, const char *path,
	const struct cache_key *key)
{
	uint64_t start = clock_ns(CLOCK_MONOTONIC);
	struct table table;
	struct file *f;

	get_table(fs, elf, key, &table);
	f = new_file(fs, path, table.size);
	if (!f) {
		if (table.data)
			table_done(&table);
		elf_close(elf);
		return NULL;
	}
	fill_file(fs, f, elf, &table);
	f->libc = is_libc(elf);
	open_langs(fs, f, key);
	fs->stats.ns += clock_ns(CLOCK_MONOTONIC) - start;
	if (table.data && ((const struct table_header *)table.data)->nranges)
		log_loop(f);
	return f;
}

/* Takes the elf. */
static void revive(struct files *fs, struct file *f, struct elf *elf, const struct cache_key *key)
{
	struct table table;

	get_table(fs, elf, key, &table);
	f->evicted = false;
	fill_file(fs, f, elf, &table);
	open_langs(fs, f, key);
}

/* ---- files by contents ---- */

static uint64_t hash_text(const char *s)
{
	uint64_t h = 0xcbf29ce484222325ULL;

	while (*s)
		h = (h ^ (uint8_t)*s++) * 0x100000001b3ULL;
	return h | 1;
}

static struct file *find_name(const struct files *fs, const char *key)
{
	struct file_name *n = idmap_pointer(&fs->by_name, hash_text(key));

	while (n && strcmp(n->key.name, key))
		n = n->next;
	return n ? n->file : NULL;
}

static void add_name(struct files *fs, const struct cache_key *key, struct file *f)
{
	struct file_name *n = arena_new_obj(fs->arena, struct file_name);

	n->next = idmap_pointer(&fs->by_name, hash_text(key->name));
	n->file = f;
	n->key = *key;
	f->key = &n->key;
	idmap_set(&fs->by_name, hash_text(key->name), (uintptr_t)n);
}

/* Takes the elf. */
static struct file *add_elf(struct files *fs, struct elf *elf, int fd, const char *path)
{
	struct cache_key key;
	struct file *f;

	cache_key(elf, fd, &key);
	f = key.name[0] ? find_name(fs, key.name) : NULL;
	if (f && f->evicted) {
		revive(fs, f, elf, &key);
		return f;
	}
	if (f) {
		elf_close(elf);
		return f;
	}
	f = file_with_table(fs, elf, path, &key);
	if (f && key.name[0])
		add_name(fs, &key, f);
	return f;
}

/* Looks for a debug file next to the file, in the root of its process. pid: 0: in our root. */
static void set_path(struct files *fs, struct elf *elf, int pid, const char *path)
{
	char full[PATH_MAX];

	if (*path != '/')
		return;
	if (pid)
		snprintf(full, sizeof(full), "/proc/%d/root%s", pid, path);
	else
		snprintf(full, sizeof(full), "%s", target_path(fs->target, path));
	elf_has_path(elf, full);
}

/* A file that is not ELF may still hold code, such as a JIT's memory file. pid: the process of the path; 0: ours. */
static struct file *add_fd(struct files *fs, int pid, int fd, const char *path)
{
	struct elf *elf = NULL;
	int r = elf_open_fd(fd, &elf);

	if (r == -ENOMEM)
		log_memory_short("stacks end early, and functions have no names");
	if (!r && elf_is_32(elf)) { /* stacks of 32-bit processes are not walked */
		elf_close(elf);
		elf = NULL;
	}
	if (!elf)
		return new_file(fs, path, 0);
	set_path(fs, elf, pid, path);
	return add_elf(fs, elf, fd, path);
}

/* ---- files by inode ---- */

static uint64_t inode_key(uint32_t major, uint32_t minor, uint64_t inode)
{
	return idmap_hash(idmap_hash(inode, (uint64_t)major << 32 | minor), 7) | 1;
}

/* Publishes the languages of a process that is not published yet, using only this file and the first C
 * library that was found. Returns false if the kernel half lacks a language's data. */
static bool publish_langs(struct files *fs, struct file *f)
{
	uint32_t languages = file_languages(f);

	for (unsigned i = 1; i < FRAME_LANGS; i++) {
		_cleanup_(freep) void *proc = calloc(1, langs[i]->proc_size + 1);

		if (!(languages >> i & 1) || !langs[i]->proc_size)
			continue;
		if (!proc || !file_lang_proc(f, i, fs->libc, proc) || fs->maps->set_file(fs->maps, i, f->id, proc))
			return false;
	}
	return true;
}

static void first_libc(struct files *fs, struct file *libc)
{
	fs->libc = libc;
	for (size_t i = 0; i < fs->files.len; i++)
		if (fs->files.data[i] && fs->files.data[i]->elf)
			publish_langs(fs, fs->files.data[i]);
}

/* A file is left out if the kernel half lacks data for one of its languages: its walk would take that
 * language's code for native code. */
static void publish_inode(struct files *fs, struct file *f, uint32_t major, uint32_t minor,
	uint64_t inode)
{
	const struct inode_key key = { .inode = inode, .dev = major << 20 | minor };
	struct inode_file value = { .file = f->id, .languages = (uint16_t)file_languages(f) };
	const struct elf_segment *s;
	size_t n = f->elf ? elf_segments(f->elf, &s) : 0;

	if (!f->table.data || !publish_langs(fs, f))
		return;
	for (size_t i = 0; i < n; i++) {
		if (!s[i].exec)
			continue;
		if (value.n == INODE_SEGMENTS)
			return;
		value.segment[value.n].offset = s[i].offset & ~4095ULL;
		value.segment[value.n].end = s[i].offset + s[i].filesz;
		value.segment[value.n++].delta = s[i].vaddr - s[i].offset;
	}
	fs->maps->set_inode(fs->maps, &key, &value);
}

/* From now on the file is found by its inode. */
static void known_by_inode(struct files *fs, struct file *f, uint32_t major, uint32_t minor,
	uint64_t inode)
{
	struct file_inode *at = arena_new_obj(fs->arena, struct file_inode);

	*at = (struct file_inode){ f->inodes, inode, major, minor };
	f->inodes = at;
	f->used = clock_ns(CLOCK_MONOTONIC_COARSE);
	idmap_set(&fs->by_inode, inode_key(major, minor, inode), (uintptr_t)f);
	if (f->libc && !fs->libc)
		first_libc(fs, f);
	publish_inode(fs, f, major, minor, inode);
}

static void restore(struct files *fs, struct file *f)
{
	struct table table;

	get_table(fs, f->elf, f->key, &table);
	fill_file(fs, f, f->elf, &table);
	open_langs(fs, f, f->key);
	for (const struct file_inode *at = f->inodes; at; at = at->next)
		publish_inode(fs, f, at->major, at->minor, at->inode);
}

static void comes_back(struct files *fs, struct file *f)
{
	f->later = false;
	f->refused = fs->full;
	fs->refused += fs->full;
	if (!fs->full)
		restore(fs, f);
}

struct file *files_known(struct files *fs, const struct proc_map *m)
{
	return m->inode ? idmap_pointer(&fs->by_inode, inode_key(m->dev_major, m->dev_minor, m->inode)) : NULL;
}

struct file *files_of_mapping(struct files *fs, int pid, const struct proc_map *m)
{
	struct file *f = files_known(fs, m);
	_cleanup_(closep) int fd = -1;

	if (f && f->later)
		comes_back(fs, f);
	if (f) {
		f->used = clock_ns(CLOCK_MONOTONIC_COARSE);
		return f;
	}
	fd = proc_open_mapping(fs->target, pid, m);
	if (fd < 0)
		return NULL;
	f = add_fd(fs, pid, fd, m->path);
	if (f && m->inode)
		known_by_inode(fs, f, m->dev_major, m->dev_minor, m->inode);
	return f;
}

static struct file *files_of_fd(struct files *fs, int fd, const char *path)
{
	struct file *f;
	struct stat st;
	uint64_t key;

	if (fd < 0 || fstat(fd, &st) || !S_ISREG(st.st_mode))
		return NULL;
	key = inode_key(major(st.st_dev), minor(st.st_dev), st.st_ino);
	f = idmap_pointer(&fs->by_inode, key);
	if (f)
		return f;
	f = add_fd(fs, 0, fd, path);
	if (f)
		known_by_inode(fs, f, major(st.st_dev), minor(st.st_dev), st.st_ino);
	return f;
}

struct file *files_of_path(struct files *fs, const char *path)
{
	_cleanup_(closep) int fd = -1;

	if (fs->stand_in && !strcmp(fs->stand_in_path, path))
		return fs->stand_in;
	fd = regular_open(AT_FDCWD, target_path(fs->target, path), 0);
	return files_of_fd(fs, fd, path);
}

void files_stand_in(struct files *fs, const char *path, int fd)
{
	fs->stand_in = files_of_fd(fs, fd, path);
	fs->stand_in_path = path;
}

/* The kernel gives all processes the same vDSO, so ours is used. Its size is that of its segments and
 * headers, all within about two pages. */
struct file *files_vdso(struct files *fs)
{
	const Elf64_Ehdr *h = (const void *)getauxval(AT_SYSINFO_EHDR);
	struct elf *elf = NULL;
	size_t size;

	if (fs->vdso || !h)
		return fs->vdso;
	size = h->e_shoff + (size_t)h->e_shentsize * h->e_shnum;
	if (size > VDSO_MAX || elf_open_memory(h, size, &elf))
		return NULL;
	fs->vdso = add_elf(fs, elf, -1, "[vdso]");
	return fs->vdso;
}

struct file *files_anonymous(struct files *fs, struct perfmap *jit, uint64_t base, const char *name)
{
	struct file *f = new_file(fs, name, 0);

	if (f) {
		f->jit = jit;
		f->jit_base = base;
	}
	return f;
}

/* ---- memory ---- */

void files_limit(struct files *fs, uint64_t cache, uint64_t memory)
{
	fs->cache_limit = cache;
	fs->memory_limit = memory;
}

/* Returns the limit at present; 0: none. */
static uint64_t limit_of(const struct files *fs)
{
	uint64_t allowed = allowance();

	return allowed && (!fs->memory_limit || allowed < fs->memory_limit) ? allowed : fs->memory_limit;
}

bool files_due(const struct files *fs)
{
	uint64_t limit = limit_of(fs);

	return limit && (fs->fresh > FRESH_MIN + limit / 16 || clock_ns(CLOCK_MONOTONIC_COARSE) > fs->due);
}

uint64_t files_kernel(const struct files *fs)
{
	return fs->kernel;
}

/* Returns the bytes of this process in RAM. */
static uint64_t resident(void)
{
	_cleanup_(fclosep) FILE *f = fopen("/proc/self/statm", "re");
	unsigned long long size, pages;

	return f && fscanf(f, "%llu %llu", &size, &pages) == 2 ?
		pages * (uint64_t)sysconf(_SC_PAGESIZE) : 0;
}

static void release(struct files *fs)
{
	for (size_t i = 1; i < fs->files.len; i++) {
		struct file *f = fs->files.data[i];

		if (!f || !f->elf)
			continue;
		eh_ranges_done(&f->functions); /* f->unframed is kept: it is small, and to find it takes far more memory */
		f->functions = (struct eh_ranges){};
		f->functions_read = false;
		if (f->inlines)
			inlines_release(f->inlines);
		elf_release(f->elf);
		if (f->table.map)
			madvise(f->table.map, f->table.map_size, MADV_DONTNEED);
	}
	malloc_trim(0);
}

/* Decides whether tables are made. Without the agent the limit only makes strata give memory back. */
static void look_for_room(struct files *fs, uint64_t in_use, uint64_t limit)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC);
	bool was_full = fs->full;

	fs->in_use = in_use;
	fs->over_since = in_use <= limit ? 0 : fs->over_since ? fs->over_since : now;
	fs->full = allowance() && fs->over_since && now - fs->over_since > SHORT_NS;
	if (fs->full && !was_full)
		log_warn("memory: %llu MiB are in use, and %llu allowed: new programs get no tables, and their stacks may "
			"end early", (unsigned long long)in_use >> 20, (unsigned long long)limit >> 20);
}

uint64_t files_excess(struct files *fs)
{
	uint64_t in_use = resident() + fs->kernel, limit = limit_of(fs);
	bool released = in_use > limit;

	if (released) {
		release(fs);
		in_use = resident() + fs->kernel;
	}
	look_for_room(fs, in_use, limit);
	fs->fresh = 0;
	fs->due = clock_ns(CLOCK_MONOTONIC_COARSE) + (released ? RELEASED_NS : LOOK_NS);
	return in_use > limit ? in_use - limit / 4 * 3 : 0;
}

unsigned files_refused(const struct files *fs)
{
	return fs->refused;
}

bool files_make_up(struct files *fs)
{
	bool made = false;

	for (size_t i = 1; i < fs->files.len; i++) {
		struct file *f = fs->files.data[i];

		if (f && f->refused && f->key && !fs->full &&
			(!f->mapped || fs->in_use + fs->fresh < limit_of(fs) / 4 * 3)) {
			fs->refused--;
			f->refused = false;
			f->later = !f->mapped;
			made |= f->mapped;
			if (f->mapped)
				restore(fs, f);
		}
		if (f)
			f->mapped = false;
	}
	return made;
}

static int least_used_first(const void *pa, const void *pb)
{
	const struct file *const *a = pa, *const *b = pb;

	return ((*a)->used > (*b)->used) - ((*a)->used < (*b)->used);
}

/* The vDSO has no inode. A file that was opened just now will be mapped, or its process has ended and its
 * records are still to come. */
static bool is_kept(const struct files *fs, const struct file *f, uint64_t now)
{
	if (f && f->jit)
		return f->mapped || !perfmap_over(f->jit);
	return !f || !f->elf || f->mapped || !f->inodes || f == fs->libc || f == fs->stand_in ||
		now - f->used < KEPT_NS;
}

size_t files_choose(struct files *fs, uint64_t excess, struct file ***ret)
{
	struct file **list = calloc(fs->files.len + 1, sizeof(*list));
	uint64_t bytes = 0, now = clock_ns(CLOCK_MONOTONIC_COARSE);
	size_t n = 0, chosen = 0;

	for (size_t i = 1; list && i < fs->files.len; i++) {
		struct file *f = fs->files.data[i];

		if (!is_kept(fs, f, now))
			list[n++] = f;
		if (f)
			f->mapped = false;
	}
	if (n)
		qsort(list, n, sizeof(*list), least_used_first);
	while (chosen < n && bytes < excess)
		bytes += memory_of(list[chosen++]);
	*ret = list;
	return chosen;
}

void files_evict(struct files *fs, struct file *f)
{
	f->leaving = false;
	if (f->jit) {
		perfmap_drop(f->jit);
		return;
	}
	for (const struct file_inode *at = f->inodes; at; at = at->next) {
		const struct inode_key key = { .inode = at->inode, .dev = at->major << 20 | at->minor };

		idmap_remove(&fs->by_inode, inode_key(at->major, at->minor, at->inode));
		fs->maps->set_inode(fs->maps, &key, NULL);
	}
	f->inodes = NULL;
	fs->maps->drop_table(fs->maps, f->id);
	fs->kernel -= f->table.size;
	f->build_id_size = (uint8_t)elf_build_id(f->elf, f->build_id);
	if (f->inlines)
		fs->stored += inlines_store(f->inlines);
	close_file(fs, f);
	f->table = (struct table){};
	f->evicted = true;
	fs->stats.evicted++;
}

/* ---- questions ---- */

uint32_t files_languages(const struct files *fs)
{
	return fs->languages;
}

uint32_t file_languages(const struct file *f)
{
	const struct table_header *h = f->table.data;

	return h ? h->flags >> TABLE_LANGS_SHIFT & ((1U << FRAME_LANGS) - 1) : 0;
}

struct lang_file file_of_lang(struct file *f, unsigned lang)
{
	struct lang_file ret = { .elf = f->elf, .path = f->path, .dir = -1 };

	if (!(f->asked >> lang & 1) && f->elf && langs[lang]->open) {
		f->asked |= 1U << lang;
		langs[lang]->open(&ret, &f->opened[lang]);
	}
	ret.opened = f->opened[lang];
	return ret;
}

bool file_lang_proc(struct file *f, unsigned lang, const struct file *libc, void *ret)
{
	const struct lang *l = langs[lang];
	struct lang_file of;

	if (!l->attach || !f->elf)
		return false;
	of = file_of_lang(f, lang);
	if (l->attach(&of, NULL, true, ret))
		return false;
	if (libc && l->libc)
		l->libc(libc->elf, ret);
	return true;
}
