// SPDX-License-Identifier: Apache-2.0
/* query.c - prints the functions and lines of addresses, for comparisons with other programs. Usage: query FILE
 * [BATCH [CACHE]] < ADDRESSES. The addresses are hexadecimal and sorted; BATCH: number of addresses per question (0:
 * all); CACHE: a directory in which answers are kept. Output for each address: the address, then a name and a place per
 * function, as addr2line -a -i -f does; at the end, the time. */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/clock.h"
#include "base/vec.h"
#include "target/elf.h"
#include "unwinders/native/cache.h"
#include "unwinders/native/inlines.h"

struct answer {
	char *text;
	size_t size;
};

static struct answer *answers;

static void take(void *arg, size_t i, const struct inline_chain *c)
{
	const size_t *first = arg;
	struct answer *a = &answers[*first + i];
	FILE *f = open_memstream(&a->text, &a->size);

	for (size_t k = 0; k < c->n; k++)
		fprintf(f, "%s\n%s:%u\n", c->at[k].name ? c->at[k].name : "??", c->at[k].file ? c->at[k].file : "??",
			c->at[k].line);
	fclose(f);
}

static long resident_kb(const char *what)
{
	char line[256];
	FILE *f = fopen("/proc/self/status", "re");
	long kb = 0;

	while (f && fgets(line, sizeof(line), f))
		if (!strncmp(line, what, strlen(what)))
			kb = atol(line + strlen(what));
	if (f)
		fclose(f);
	return kb;
}

int main(int argc, char **argv)
{
	VEC(uint64_t) vaddrs = {};
	struct inlines *in;
	struct cache_key key;
	struct elf *e;
	int dir;
	uint64_t vaddr, start;
	size_t batch, first;

	while (scanf("%" SCNx64, &vaddr) == 1)
		vec_push(&vaddrs, vaddr);
	batch = argc > 2 && atol(argv[2]) ? (size_t)atol(argv[2]) : vaddrs.len;
	dir = argc > 3 ? open(argv[3], O_RDONLY | O_DIRECTORY) : -1;
	answers = calloc(vaddrs.len + 1, sizeof(*answers));
	start = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	if (argc < 2 || elf_open(argv[1], &e) || !(cache_key(e, open(argv[1], O_RDONLY), &key), key.name[0]) ||
		inlines_open(e, dir, &key, &in)) {
		fprintf(stderr, "%s: no debug information\n", argv[1]);
		return 1;
	}
	for (first = 0; first < vaddrs.len; first += batch)
		inlines_find(in, vaddrs.data + first, batch < vaddrs.len - first ? batch : vaddrs.len - first, take,
			&first);
	fprintf(stderr, "%s, %.3f s, %ld KB anonymous, %ld KB of files\n",
		inlines_are_read(in) ? "read" : "from the cache",
		(double)(clock_ns(CLOCK_PROCESS_CPUTIME_ID) - start) / 1e9, resident_kb("RssAnon:"),
		resident_kb("RssFile:"));
	for (size_t i = 0; i < vaddrs.len; i++)
		printf("0x%" PRIx64 "\n%s", vaddrs.data[i], answers[i].text ? answers[i].text : "??\n??:0\n");
	inlines_store(in);
	inlines_close(in);
	elf_close(e);
	return 0;
}
