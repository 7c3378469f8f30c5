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
#include "unwinders/maps/maps.h"
#include "unwinders/native/cache.h"
#include "unwinders/native/inlines.h"
#include "unwinders/native/native.h"
#include "unwinders/procs/files_priv.h"
#include "unwinders/procs/perfmap.h"

#define VDSO_MAX 65536

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

void file_close(struct files *fs, struct file *f)
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
			file_close(fs, fs->files.data[i]);
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

/* The first table of a run means that the directory was not checked yet. */
static void count_stored(struct files *fs, uint64_t size)
{
	bool due = !fs->stored || fs->stored > fs->cache_limit / 8;

	fs->stored = due ? size : fs->stored + size;
	if (due && fs->cache_limit)
		cache_trim(target_cache_dir(fs->target), fs->cache_limit);
}

/* Takes the elf. err: the result of get_table(). */
static void fill_file(struct files *fs, struct file *f, struct elf *elf, const struct table *table, int err)
{
	f->elf = elf;
	f->table = *table;
	f->refused = err == -EAGAIN;
	f->large = f->refused && !fs->full;
	fs->refused += f->refused;
	if (f->refused)
		return;
	fs->languages |= file_languages(f);
	if (!table->data || fs->maps->set_table(fs->maps, f->id, table->data, table->size))
		fs->stats.failed++;
	fs->fresh += memory_of(f);
	fs->kernel += table->size;
	allowance_take((int64_t)table->size);
	if (table->map && allowance_is_unit()) /* the kernel has a copy */
		madvise(table->map, table->map_size, MADV_DONTNEED);
}

void files_on_table(struct files *fs, void (*f)(void *arg), void *arg)
{
	fs->on_table = f;
	fs->on_table_arg = arg;
}

/* Returns -EAGAIN if memory is short, and the table is to be made later. */
static int get_table(struct files *fs, struct elf *elf, const struct cache_key *key, struct table *ret)
{
	bool cached = false;
	int err;

	*ret = (struct table){};
	if (fs->full)
		return -EAGAIN;
	err = native_table(target_cache_dir(fs->target), elf, key, ret, &cached);
	if (err == -EAGAIN && files_make_room(fs))
		err = native_table(target_cache_dir(fs->target), elf, key, ret, &cached);
	if (fs->on_table)
		fs->on_table(fs->on_table_arg);
	if (err == -ENOMEM)
		log_memory_short("stacks end early, and functions have no names");
	if (err == -EAGAIN && !fs->refused)
		log_warn("memory: a table takes up to %llu MiB while it is made, and so much is not free: new programs "
			"get no tables until it is", (unsigned long long)table_needs(elf) >> 20);
	if (err) {
		*ret = (struct table){};
		return err;
	}
	if (!cached) {
		count_stored(fs, ret->size);
		elf_release_pages(elf);
	}
	fs->stats.bytes += ret->size;
	fs->stats.tables++;
	fs->stats.cached += cached;
	return 0;
}

/* Takes the elf. The table is made first, because its size decides on the file's number. */
static struct file *file_with_table(struct files *fs, struct elf *elf, const char *path,
	const struct cache_key *key)
{
	uint64_t start = clock_ns(CLOCK_MONOTONIC);
	struct table table;
	struct file *f;
	int err = get_table(fs, elf, key, &table);

	f = new_file(fs, path, table.size);
	if (!f) {
		if (table.data)
			table_done(&table);
		elf_close(elf);
		return NULL;
	}
	fill_file(fs, f, elf, &table, err);
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
	int err = get_table(fs, elf, key, &table);

	f->evicted = false;
	fill_file(fs, f, elf, &table, err);
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

void file_restore(struct files *fs, struct file *f)
{
	struct table table;
	int err = get_table(fs, f->elf, f->key, &table);

	fill_file(fs, f, f->elf, &table, err);
	if (err == -EAGAIN)
		return;
	open_langs(fs, f, f->key);
	for (const struct file_inode *at = f->inodes; at; at = at->next)
		publish_inode(fs, f, at->major, at->minor, at->inode);
}

static void comes_back(struct files *fs, struct file *f)
{
	f->later = false;
	file_restore(fs, f);
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
