// SPDX-License-Identifier: Apache-2.0
/* file.c - files that processes run code from, by number.
 *
 * Found by (device, inode) as /proc/PID/maps prints them: no system call for a file
 * that is known. That the inode means the same file is sure, for a known file is kept
 * mapped. A file met by another name or in another container is known by what names
 * its table: build id, owner and size. */
#include "file.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>

#include "base/arena.h"
#include "base/log.h"
#include "base/owner.h"
#include "base/regular.h"
#include "base/str.h"
#include "base/vec.h"
#include "cache.h"
#include "idmap.h"
#include "native.h"
#include "python.h"
#include "pclntab.h"
#include "target/elf.h"
#include "target/target.h"
#include "unwinder.h"

#define VDSO_MAX 65536

struct file_name { /* of a table, to find the same file elsewhere */
	struct file_name *next;
	char key[192];
	struct file *file;
};

struct files {
	struct target *target;
	struct unwind_sink *sink; /* not owned */
	struct arena *arena;
	VEC(struct file *) files; /* NULL: no file, as number 0, and rooms not taken */
	struct idmap by_inode;
	struct idmap by_name;     /* hash -> struct file_name * */
	struct file *vdso;
	struct file *libc;         /* the first one met */
	struct file *stand_in;     /* what a path means, see files_stand_in() */
	const char *stand_in_path;
	struct files_stats stats;
};

struct files *files_new(struct target *t, struct unwind_sink *sink)
{
	struct files *fs = calloc(1, sizeof(*fs));

	if (!fs)
		return NULL;
	fs->target = t;
	fs->sink = sink;
	fs->arena = arena_new();
	while (fs->files.len < ROOM_FILES)
		vec_push(&fs->files, NULL);
	return fs;
}

void files_free(struct files *fs)
{
	if (!fs)
		return;
	for (size_t i = 1; i < fs->files.len; i++) {
		if (!fs->files.data[i])
			continue;
		if (fs->files.data[i]->table.data)
			table_done(&fs->files.data[i]->table);
		pclntab_close(fs->files.data[i]->go);
		elf_close(fs->files.data[i]->elf);
	}
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

/* table_size: as far as known, for a number whose table is there at once. */
static struct file *new_file(struct files *fs, const char *path, size_t table_size)
{
	uint32_t id = table_size ? fs->sink->take_room(fs->sink, table_size) : 0;
	struct file *f;

	if (!id && fs->files.len >= FILES_MAX)
		return NULL;
	f = arena_new_obj(fs->arena, struct file);
	f->id = id ? id : (uint32_t)fs->files.len;
	f->path = arena_strdup(fs->arena, path);
	if (id)
		fs->files.data[id] = f;
	else
		vec_push(&fs->files, f);
	fs->stats.files++;
	return f;
}

/* ---- tables ---- */

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

static void tell_loop(const struct file *f)
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

static void read_v8(struct files *fs, struct file *f, int fd)
{
	struct v8_layout *l = arena_new_obj(fs->arena, struct v8_layout);
	int err = v8_layout(target_cache_dir(fs->target), f->elf, fd, l);

	if (err) {
		log_info("%s: what its V8 is cannot be read", f->path);
		return;
	}
	f->v8 = l;
	if (l->compressed)
		log_warn("%s: its V8 compresses pointers, as Electron's and Chromium's: JavaScript functions are <js>",
			f->path);
	else if (l->proc.opaque)
		log_warn("%s: its V8 was built without constants for debuggers, as node's are: JavaScript functions are <js>",
			f->path);
}

/* Takes the elf. The table comes first: its size decides on the file's number. */
static struct file *file_with_table(struct files *fs, struct elf *elf, int fd, const char *path)
{
	uint64_t start = now_ns();
	struct table table = {};
	bool cached = false;
	struct file *f;

	if (native_table(target_cache_dir(fs->target), elf, fd, &table, &cached))
		table = (struct table){};
	f = new_file(fs, path, table.size);
	if (!f) {
		if (table.data)
			table_done(&table);
		elf_close(elf);
		return NULL;
	}
	f->elf = elf;
	f->table = table;
	f->libc = python_libc(elf, &(struct python_layout){});
	if (file_has_v8(f))
		read_v8(fs, f, fd);
	if (!table.data || fs->sink->set_table(fs->sink, f->id, table.data, table.size))
		fs->stats.failed++;
	fs->stats.ns += now_ns() - start;
	fs->stats.bytes += table.size;
	fs->stats.tables += !!table.data;
	fs->stats.cached += cached;
	if (table.data && ((const struct table_header *)table.data)->nranges)
		tell_loop(f);
	return f;
}

/* ---- by what is in it ---- */

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

	while (n && strcmp(n->key, key))
		n = n->next;
	return n ? n->file : NULL;
}

static void add_name(struct files *fs, const char *key, struct file *f)
{
	struct file_name *n = arena_new_obj(fs->arena, struct file_name);

	n->next = idmap_pointer(&fs->by_name, hash_text(key));
	n->file = f;
	strcpy(n->key, key);
	idmap_set(&fs->by_name, hash_text(key), (uintptr_t)n);
}

/* Takes the elf. */
static struct file *add_elf(struct files *fs, struct elf *elf, int fd, const char *path)
{
	struct cache_key key;
	struct file *f;

	cache_key(elf, fd, &key);
	f = key.name[0] ? find_name(fs, key.name) : NULL;
	if (f) {
		elf_close(elf);
		return f;
	}
	f = file_with_table(fs, elf, fd, path);
	if (f && key.name[0])
		add_name(fs, key.name, f);
	return f;
}

/* A file that is not ELF may still hold code: a JIT's memory file. */
static struct file *add_fd(struct files *fs, int fd, const char *path)
{
	struct elf *elf = NULL;

	if (elf_open_fd(fd, &elf))
		return new_file(fs, path, 0);
	return add_elf(fs, elf, fd, path);
}

/* ---- by where it is ---- */

static uint64_t inode_key(uint32_t major, uint32_t minor, uint64_t inode)
{
	return idmap_hash(idmap_hash(inode, (uint64_t)major << 32 | minor), 7) | 1;
}

/* What a process that is not known yet has of Python, by this file alone; its C library is
 * taken for the first that was met. */
static bool tell_python(struct files *fs, const struct file *f)
{
	struct python_proc at;

	if (python_attach(f->elf, 0, &at))
		return false;
	if (fs->libc)
		python_libc(fs->libc->elf, &at.at);
	return !fs->sink->set_python_file(fs->sink, f->id, &at, sizeof(at));
}

static bool tell_v8(struct files *fs, const struct file *f)
{
	struct v8_proc at;

	if (!f->v8)
		return false;
	at = f->v8->proc;
	at.epoch = f->v8->epoch;
	return !fs->sink->set_v8_file(fs->sink, f->id, &at, sizeof(at));
}

static void first_libc(struct files *fs, struct file *libc)
{
	fs->libc = libc;
	for (size_t i = 0; i < fs->files.len; i++)
		if (fs->files.data[i] && file_has_python(fs->files.data[i]))
			tell_python(fs, fs->files.data[i]);
}

/* A file with a language that the kernel cannot be told of is left out: its walk would take
 * the language's code for native code. */
static void publish_inode(struct files *fs, const struct file *f, uint32_t major, uint32_t minor,
	uint64_t inode)
{
	const struct inode_key key = { .inode = inode, .dev = major << 20 | minor };
	struct inode_file value = { .file = f->id,
		.has_v8 = file_has_v8(f) };
	const struct elf_segment *s;
	size_t n = f->elf ? elf_segments(f->elf, &s) : 0;

	if (!f->table.data || (file_has_v8(f) && !tell_v8(fs, f)) || (file_has_python(f) && !tell_python(fs, f)))
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
	fs->sink->set_inode(fs->sink, &key, &value);
}

/* Known from now on by where it is. */
static void known_by_inode(struct files *fs, struct file *f, uint32_t major, uint32_t minor,
	uint64_t inode)
{
	idmap_set(&fs->by_inode, inode_key(major, minor, inode), (uintptr_t)f);
	if (f->libc && !fs->libc)
		first_libc(fs, f);
	publish_inode(fs, f, major, minor, inode);
}

struct file *files_of_mapping(struct files *fs, int pid, const struct proc_map *m)
{
	uint64_t key = inode_key(m->dev_major, m->dev_minor, m->inode);
	struct file *f = m->inode ? idmap_pointer(&fs->by_inode, key) : NULL;
	_cleanup_(closep) int fd = -1;

	if (f)
		return f;
	fd = proc_open_mapping(fs->target, pid, m);
	if (fd < 0)
		return NULL;
	f = add_fd(fs, fd, m->path);
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
	f = add_fd(fs, fd, path);
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

/* The kernel gives all processes the same one: ours. Its size is that of its segments
 * and headers, all within two pages or so. */
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

struct file *files_anonymous(struct files *fs, struct perfmap *jit, uint64_t base)
{
	struct file *f = new_file(fs, "[anon]", 0);

	if (f) {
		f->jit = jit;
		f->jit_base = base;
	}
	return f;
}

/* ---- questions ---- */

bool file_has_python(const struct file *f)
{
	const struct table_header *h = f->table.data;

	return h && (h->flags & TABLE_PYTHON);
}

bool file_has_go(const struct file *f)
{
	const struct table_header *h = f->table.data;

	return h && (h->flags & TABLE_GO);
}

bool file_has_v8(const struct file *f)
{
	const struct table_header *h = f->table.data;

	return h && (h->flags & TABLE_V8);
}

const struct pclntab *file_pclntab(struct file *f)
{
	if (!f->go && file_has_go(f) && f->elf)
		pclntab_open(f->elf, &f->go);
	return f->go;
}

/* By the segment that the mapping's bytes belong to: segments may lie at different
 * distances from their place in the file. */
bool file_bias(const struct file *f, uint64_t start, uint64_t offset, uint64_t *ret)
{
	const struct elf_segment *s;
	size_t n = elf_segments(f->elf, &s);

	for (size_t i = 0; i < n; i++) {
		uint64_t first = s[i].offset & ~4095ULL;

		if (!s[i].exec || offset < first || offset >= s[i].offset + s[i].filesz)
			continue;
		*ret = start - (s[i].vaddr + (offset - s[i].offset));
		return true;
	}
	return false;
}
