// SPDX-License-Identifier: Apache-2.0
/* chains_test.c - known functions and lines come back as they were kept, or not at all. */
#include "unwinders/native/chains.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "target/elf.h"
#include "unwinders/native/cache.h"

static const struct cache_key key = {"table-id-0102030405060708-0-1-1.1-1"};
static const struct elf_identity source = {1, 2, 3, 4}, other = {1, 2, 3, 5};
enum { START = 0x1000, END = 0x1100 };

/* A function with two inlined ones, and two single addresses. */
static void fill(struct chains *c)
{
	struct inline_chain one = {.n = 2, .start = 0x1ff0, .at = {{"leaf", "l.c", 7, 1}, {"root", "r.c", 8, 0}}};
	uint32_t mid, leaf;

	CHECK(chains_begin(c, START, END, START, "outer", 4));
	mid = chains_level(c, &(struct inline_function){"mid", "o.c", 11, 2}, 0);
	leaf = chains_level(c, &(struct inline_function){"leaf", "m.c", 12, 3}, mid);
	chains_part(c, 0, 0, &(struct inline_function){NULL, "o.c", 10, 0});
	chains_part(c, 0x10, leaf, &(struct inline_function){NULL, "l.c", 13, 0});
	chains_part(c, 0x20, mid, &(struct inline_function){NULL, "m.c", 14, 0});
	chains_part(c, 0x30, 0, &(struct inline_function){NULL, NULL, 0, 0});
	chains_add(c, 0x2000, &one);
	chains_add(c, 0x800, NULL);
	CHECK(!chains_begin(c, END - 1, END + 1, END, "overlaps", 1));
	CHECK(!chains_begin(c, 0, START + 1, 0, "overlaps", 1));
}

static void check_filled(const struct chains *c)
{
	struct inline_chain at;

	CHECK(chains_find(c, START + 0x1f, &at) && at.n == 3 && at.start == START);
	CHECK_STR(at.at[0].name, "leaf");
	CHECK_STR(at.at[0].file, "l.c");
	CHECK(at.at[0].line == 13 && at.at[1].line == 12 && at.at[1].column == 3 && at.at[2].line == 11);
	CHECK_STR(at.at[1].name, "mid");
	CHECK_STR(at.at[1].file, "m.c");
	CHECK_STR(at.at[2].name, "outer");
	CHECK(chains_find(c, START, &at) && at.n == 1 && at.at[0].line == 10);
	CHECK(chains_find(c, END - 1, &at) && at.n == 1 && !at.at[0].line && !at.at[0].file);
	CHECK(!chains_find(c, END, &at) && !chains_find(c, START - 1, &at));
	CHECK(chains_find(c, 0x2000, &at) && at.n == 2 && at.at[1].line == 8 && at.start == 0x1ff0);
	CHECK_STR(at.at[0].name, "leaf");
	CHECK_STR(at.at[1].name, "root");
	CHECK(chains_find(c, 0x800, &at) && !at.n);
}

static int load(struct chains **ret, int dir, const struct elf_identity *of, const char *path)
{
	*ret = chains_new();
	return chains_load(*ret, dir, &key, of, path);
}

static void comes_back(int dir)
{
	struct chains *c = chains_new();

	fill(c);
	check_filled(c);
	CHECK(chains_store(c, dir, &key, &source, "/p", false) > 0);
	CHECK(chains_store(c, dir, &key, &source, "/p", false) == 0); /* nothing is new */
	chains_free(c);
	CHECK(!load(&c, dir, &source, "/q"));
	check_filled(c);
	chains_add(c, 0x3000, NULL);
	CHECK(chains_store(c, dir, &key, &source, "/p", true) > 0);
	chains_free(c);
	CHECK(!load(&c, dir, &source, "/p"));
	check_filled(c);
	chains_free(c);
	CHECK(load(&c, dir, &source, "/q") < 0); /* the same file, but its parts are elsewhere */
	chains_free(c);
	CHECK(load(&c, dir, &other, "/p") < 0); /* another file with the same build ID */
	CHECK(!chains_find(c, START, &(struct inline_chain){}));
	chains_free(c);
}

static void use(struct chains *c)
{
	static const uint64_t at[] = {0, 0x800, START, START + 0x1f, END - 1, 0x2000, 0x3000, UINT64_MAX};
	struct inline_chain chain;
	volatile size_t length = 0;

	for (size_t i = 0; i < sizeof(at) / sizeof(*at); i++)
		for (size_t k = 0; chains_find(c, at[i], &chain) && k < chain.n; k++)
			length += (chain.at[k].name ? strlen(chain.at[k].name) : 0) +
				(chain.at[k].file ? strlen(chain.at[k].file) : 0);
}

/* Someone who could write to the directory may also compute the checksum. Each spoiled file is refused, or is as good
 * as any other: no read goes out of bounds. */
static void planted(int dir)
{
	static const uint8_t bits[] = {0x01, 0x80, 0xff};
	struct cached_data d;
	struct chains *c;
	unsigned refused = 0;
	char *data;
	size_t size;

	CHECK(!cache_load_data(dir, &key, "inlines", &d));
	size = d.size;
	data = malloc(size);
	memcpy(data, d.data, size);
	cached_data_done(&d);
	for (size_t i = 0; i < size * sizeof(bits); i++) {
		data[i / sizeof(bits)] ^= (char)bits[i % sizeof(bits)];
		CHECK(!cache_store_note(dir, &key, "inlines", data, size));
		data[i / sizeof(bits)] ^= (char)bits[i % sizeof(bits)];
		refused += load(&c, dir, &source, "/p") < 0;
		use(c);
		chains_free(c);
	}
	CHECK(refused > size / 4);
	for (size_t cut = 8; cut < size; cut += 8) { /* truncated, with the right checksum */
		CHECK(!cache_store_note(dir, &key, "inlines", data, size - cut));
		CHECK(load(&c, dir, &source, "/p") < 0);
		chains_free(c);
	}
	free(data);
}

/* The name of the file in the directory. */
static void spoil(int dir, off_t size, mode_t owner)
{
	char name[300];
	struct chains *c = chains_new();

	fill(c);
	CHECK(chains_store(c, dir, &key, &source, NULL, false) > 0);
	chains_free(c);
	snprintf(name, sizeof(name), "inlines-%s", key.name);
	CHECK(!load(&c, dir, &source, NULL));
	chains_free(c);
	if (size)
		CHECK(!ftruncate(openat(dir, name, O_RDWR | O_CLOEXEC), size));
	if (owner)
		CHECK(!fchownat(dir, name, owner, owner, 0));
	CHECK(load(&c, dir, &source, NULL) < 0);
	chains_free(c);
	unlinkat(dir, name, 0);
}

int main(void)
{
	char path[] = "/tmp/strata-chains-XXXXXX";
	int dir = mkdtemp(path) ? open(path, O_DIRECTORY | O_RDONLY | O_CLOEXEC) : -1;

	CHECK(dir >= 0);
	comes_back(dir);
	planted(dir);
	spoil(dir, 100, 0);
	if (!geteuid())
		spoil(dir, 0, 65534); /* another user's file */
	rmdir(path);
	return failed;
}
