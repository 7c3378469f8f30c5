// SPDX-License-Identifier: Apache-2.0
/* cache_test.c - the cache returns a table exactly as it was stored, or not at all. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "child.h"
#include "target/elf.h"
#include "unwinders/native/cache.h"
#include "unwinders/native/native.h"

static void flip(int dir, const char *name, off_t at)
{
	int fd = openat(dir, name, O_RDWR);
	char c;

	if (pread(fd, &c, 1, at) != 1)
		abort();
	c ^= 1;
	if (pwrite(fd, &c, 1, at) != 1)
		abort();
	close(fd);
}

static int loads(int dir, const struct cache_key *key)
{
	struct table t;

	if (cache_load(dir, key, &t) < 0)
		return 0;
	table_done(&t);
	return 1;
}

/* Flips a bit in each byte of the header except its padding, and in some bytes of the table. */
static int refuses_flips(int dir, const struct cache_key *key, size_t size)
{
	int good = 1;

	for (size_t at = 0; at < size; at += at < 31 ? 1 : at < 64 ? 64 - at : 997) {
		flip(dir, key->name, at);
		good &= !loads(dir, key);
		flip(dir, key->name, at);
	}
	return good && loads(dir, key);
}

int main(int argc, char **argv)
{
	char path[] = "/tmp/strata-cache-XXXXXX";
	int dir, fd = open("/proc/self/exe", O_RDONLY);
	struct table made, again;
	struct cache_key key;
	struct elf *e;
	bool cached;

	if (!mkdtemp(path) || elf_open_fd(fd, &e) < 0 || table_make(e, &made))
		return 1;
	dir = open(path, O_DIRECTORY | O_RDONLY);
	cache_key(e, fd, &key);
	ok(native_table(dir, e, &key, &again, &cached) == 0 && !cached && again.map, "/cache",
		"made when absent, and mapped");
	table_done(&again);
	ok(native_table(dir, e, &key, &again, &cached) == 0 && cached && again.size == made.size &&
		!memcmp(again.data, made.data, made.size), "/cache", "comes back the same");
	table_done(&again);
	ok(refuses_flips(dir, &key, 64 + made.size), "/cache", "a flipped bit is refused");
	flip(dir, key.name, 100);
	ok(native_table(dir, e, &key, &again, &cached) == 0 && !cached && loads(dir, &key), "/cache",
		"a broken file is made anew");
	table_done(&again);
	if (ftruncate(openat(dir, key.name, O_RDWR), 80) < 0)
		abort();
	ok(!loads(dir, &key), "/cache", "a short file is refused");
	unlinkat(dir, key.name, 0);
	if (symlinkat("elsewhere", dir, key.name) < 0)
		abort();
	ok(cache_store(dir, &key, &made) == 0 && loads(dir, &key), "/cache", "a link is replaced");
	if (renameat(dir, key.name, dir, "elsewhere") < 0 || symlinkat("elsewhere", dir, key.name) < 0)
		abort();
	ok(!loads(dir, &key), "/cache", "a link is not followed");
	unlinkat(dir, key.name, 0);
	unlinkat(dir, "elsewhere", 0);
	rmdir(path);
	table_done(&made);
	elf_close(e);
	return plan();
}
