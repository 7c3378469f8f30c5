// SPDX-License-Identifier: Apache-2.0
/* cache.c - tables kept from one run to the next.
 *
 * Each table has a file: a head, then the table's bytes as the kernel gets them; each note has one, too. A
 * file is written under a temporary name and renamed, so it is whole or absent. A checksum and every offset
 * are checked before use, so a broken file counts as absent. */
#include "cache.h"

#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/owner.h"
#include "base/regular.h"
#include "base/vec.h"
#include "target/elf.h"
#include "unwinders/lang.h"

#define CACHE_MAGIC   0x6c62617461727473ull /* "stratabl" */
#define CACHE_VERSION 12 /* version of the code that makes tables, in addition to TABLE_VERSION */

#define USED_SECONDS 600     /* precision of a file's time of last use */
#define TEMPORARY_SECONDS 60 /* a file that is not renamed by then belongs to a dead run */

struct head {
	uint64_t magic;
	uint32_t version, languages;
	uint64_t size, sum;
	uint64_t pad[4];
};
_Static_assert(sizeof(struct head) == 64, "the table begins aligned");

/* Goes up with each language's method of reading files. */
static uint32_t languages_version(void)
{
	uint32_t v = 0;

	for (unsigned i = 1; i < FRAME_LANGS; i++)
		v = v * 31 + langs[i]->version + 1;
	return v;
}

static uint64_t word(const uint8_t *data, size_t i)
{
	uint64_t w;

	memcpy(&w, data + 8 * i, sizeof(w)); /* contents of a file may be at any address */
	return w;
}

enum { LANES = 8 };

/* The bytes after the last whole word do not count. Computed in lanes, because the latency of
 * multiplications dominates. */
static uint64_t checksum(const void *data, size_t size)
{
	const uint8_t *w = data;
	size_t n = size / 8, i = 0;
	uint64_t lane[LANES], sum = size;

	for (int k = 0; k < LANES; k++)
		lane[k] = STACK_HASH_SEED + k;
	for (; i + LANES <= n; i += LANES)
		for (int k = 0; k < LANES; k++)
			lane[k] = STACK_HASH(lane[k], word(w, i + k));
	for (; i < n; i++)
		lane[0] = STACK_HASH(lane[0], word(w, i));
	for (int k = 0; k < LANES; k++)
		sum = STACK_HASH(sum, lane[k]);
	return sum;
}

/* Hashes the FDEs' search table: each function's start and the place of its rules. It differs between builds
 * of a program whose build id is set by hand. */
static uint64_t functions_hash(const struct elf *e)
{
	struct elf_section hdr;

	return elf_phdr(e, PT_GNU_EH_FRAME, &hdr) && hdr.data ? checksum(hdr.data, hdr.size) : 0;
}

void cache_key(const struct elf *e, int fd, struct cache_key *ret)
{
	struct stat st = {.st_uid = (uid_t)-1};
	uint8_t id[64];
	size_t n = elf_build_id(e, id);
	char *s = ret->name;

	s[0] = '\0';
	if ((fd >= 0 && fstat(fd, &st) < 0) || (fd < 0 && n < 8))
		return;
	if (n < 8) {
		snprintf(s, sizeof(ret->name), "table-file-%llx-%llx-%llx-%llx.%lx", (unsigned long long)st.st_dev,
			(unsigned long long)st.st_ino, (unsigned long long)st.st_size,
			(unsigned long long)st.st_mtim.tv_sec, (unsigned long)st.st_mtim.tv_nsec);
		return;
	}
	s += sprintf(s, "table-id-");
	for (size_t i = 0; i < n; i++)
		s += sprintf(s, "%02x", id[i]);
	sprintf(s, "-%x-%llx-%llx.%lx-%llx", st.st_uid, (unsigned long long)st.st_size,
		(unsigned long long)st.st_mtim.tv_sec, (unsigned long)st.st_mtim.tv_nsec,
		(unsigned long long)functions_hash(e));
}

static bool head_valid(const struct head *h, size_t size)
{
	return h->magic == CACHE_MAGIC && h->version == CACHE_VERSION &&
		h->languages == languages_version() && h->size == size - sizeof(*h) &&
		h->sum == checksum(h + 1, h->size);
}

/* Maps a whole file, to be munmap()ed. */
static int map_file(int dir, const char *name, struct head **ret, size_t *ret_size)
{
	_cleanup_(closep) int fd = -1;
	struct stat st;
	void *map;

	fd = regular_open(dir, name, O_NOFOLLOW);
	if (fd < 0 || fstat(fd, &st) < 0)
		return fd < 0 ? fd : -errno;
	if (st.st_uid != geteuid() || st.st_size < (off_t)sizeof(struct head))
		return -EINVAL;
	map = mmap(NULL, st.st_size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, fd, 0); /* all of it is read */
	if (map == MAP_FAILED)
		return -errno;
	if (time(NULL) - st.st_mtime > USED_SECONDS)
		futimens(fd, NULL); /* marks it as used: see cache_trim() */
	if (!head_valid(map, st.st_size)) {
		munmap(map, st.st_size);
		return -EINVAL;
	}
	*ret = map;
	*ret_size = st.st_size;
	return 0;
}

int cache_load(int dir, const struct cache_key *key, struct table *ret)
{
	struct head *h;
	size_t size;
	int err;

	if (!key->name[0])
		return -ENOENT;
	err = map_file(dir, key->name, &h, &size);
	if (err)
		return err;
	if (!table_valid(h + 1, h->size)) {
		munmap(h, size);
		return -EINVAL;
	}
	*ret = (struct table){h + 1, h->size, h, size};
	return 0;
}

static int write_all(int fd, const void *data, size_t size)
{
	const char *p = data;

	while (size) {
		ssize_t n = write(fd, p, size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -EIO;
		p += n;
		size -= n;
	}
	return 0;
}

static int write_file(int dir, const char *name, const void *data, size_t size)
{
	_cleanup_(closep) int fd = -1;
	struct head h = {CACHE_MAGIC, CACHE_VERSION, languages_version(), size,
		checksum(data, size), {}};
	char tmp[NAME_MAX + 1];
	int err;

	snprintf(tmp, sizeof(tmp), ".%s.%d", name, getpid());
	unlinkat(dir, tmp, 0); /* left by a run that died with our pid */
	fd = openat(dir, tmp, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	err = write_all(fd, &h, sizeof(h));
	if (!err)
		err = write_all(fd, data, size);
	if (!err && renameat(dir, tmp, dir, name) < 0)
		err = -errno;
	if (err)
		unlinkat(dir, tmp, 0);
	return err;
}

int cache_store(int dir, const struct cache_key *key, const struct table *t)
{
	return key->name[0] ? write_file(dir, key->name, t->data, t->size) : -ENOENT;
}

static void note_name(const struct cache_key *key, const char *kind, char *ret, size_t size)
{
	snprintf(ret, size, "%s-%s", kind, key->name);
}

int cache_load_data(int dir, const struct cache_key *key, const char *kind, struct cached_data *ret)
{
	char name[NAME_MAX + 1];
	struct head *h;
	size_t mapped;
	int err;

	if (!key->name[0])
		return -ENOENT;
	note_name(key, kind, name, sizeof(name));
	err = map_file(dir, name, &h, &mapped);
	if (!err)
		*ret = (struct cached_data){h + 1, h->size, h, mapped};
	return err;
}

void cached_data_done(struct cached_data *d)
{
	munmap(d->map, d->map_size);
}

int cache_load_note(int dir, const struct cache_key *key, const char *kind, void *ret, size_t size)
{
	struct cached_data d;
	int err = cache_load_data(dir, key, kind, &d);

	if (err)
		return err;
	if (d.size == size)
		memcpy(ret, d.data, size);
	err = d.size == size ? 0 : -EINVAL;
	cached_data_done(&d);
	return err;
}

int cache_store_note(int dir, const struct cache_key *key, const char *kind, const void *note,
	size_t size)
{
	char name[NAME_MAX + 1];

	if (!key->name[0])
		return -ENOENT;
	note_name(key, kind, name, sizeof(name));
	return write_file(dir, name, note, size);
}

/* ---- limit -------------------------------------------------------------- */

struct kept {
	char *name;
	time_t used;
	uint64_t size;
};

struct kept_list {
	struct kept *data;
	size_t len, cap;
	uint64_t size;
};

/* Returns whether cache_key(), note_name(), write_file() or target/btf.c make such names: the directory may hold
 * files that are not strata's. */
static bool is_ours(const char *name)
{
	const char *key = strstr(name, "table-id-");

	if (!strncmp(name, "btf-", 4))
		return strspn(name + 4, "0123456789abcdef") == 32 && !name[36];
	key = key ? key : strstr(name, "table-file-");
	return key && (key == name || (key == name + 1 && *name == '.') || key[-1] == '-');
}

static void add_kept(int dir, const char *name, struct kept_list *l)
{
	struct stat st;

	if (!is_ours(name) || fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) || !S_ISREG(st.st_mode))
		return;
	if (name[0] == '.') {
		if (time(NULL) - st.st_mtime > TEMPORARY_SECONDS)
			unlinkat(dir, name, 0);
		return;
	}
	vec_push(l, (struct kept){ strdup(name), st.st_mtime, (uint64_t)st.st_blocks * 512 });
	l->size += (uint64_t)st.st_blocks * 512;
}

static int read_kept(int dir, struct kept_list *l)
{
	int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd >= 0 ? fdopendir(fd) : NULL;
	struct dirent *e;

	if (!d) {
		closep(&fd);
		return -errno;
	}
	while ((e = readdir(d)))
		add_kept(dir, e->d_name, l);
	closedir(d);
	return 0;
}

static int oldest_first(const void *pa, const void *pb)
{
	const struct kept *a = pa, *b = pb;

	return (a->used > b->used) - (a->used < b->used);
}

void cache_trim(int dir, uint64_t limit)
{
	struct kept_list l = {};

	if (dir < 0 || read_kept(dir, &l))
		return;
	if (l.size > limit) {
		qsort(l.data, l.len, sizeof(*l.data), oldest_first);
		for (size_t i = 0; i < l.len && l.size > limit / 10 * 9; i++)
			if (l.data[i].name && !unlinkat(dir, l.data[i].name, 0))
				l.size -= l.data[i].size;
	}
	for (size_t i = 0; i < l.len; i++)
		free(l.data[i].name);
	vec_done(&l);
}
