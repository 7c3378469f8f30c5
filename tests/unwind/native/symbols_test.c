// SPDX-License-Identifier: Apache-2.0
/* symbols_test.c - finds symbols of many addresses in one pass, and functions by the search table. Both must equal
 * the results for one address at a time, and by the list of all FDEs. The files are those that this program has
 * mapped, and the arguments. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "target/elf.h"
#include "target/fde.h"
#include "unwinders/native/ehframe.h"

static unsigned cases, failed;

static void check(bool ok, const char *path, const char *what, size_t n, size_t wrong)
{
	cases++;
	failed += !ok;
	printf("%s %u - %s: %s, %zu (%zu wrong)\n", ok ? "ok" : "not ok", cases, path, what, n, wrong);
}

static int ascending(const void *pa, const void *pb)
{
	const uint64_t *a = pa, *b = pb;

	return (*a > *b) - (*a < *b);
}

struct addresses {
	VEC(uint64_t) list;
};

/* The addresses of the first and last byte of each symbol, and of the byte after it, sorted. */
static void add_symbols(struct elf *e, struct addresses *a)
{
	const struct elf_symbol *s;
	size_t n = elf_symbols(e, &s);

	for (size_t i = 0; i < n; i++) {
		vec_push(&a->list, s[i].vaddr);
		vec_push(&a->list, s[i].vaddr + s[i].size);
		vec_push(&a->list, s[i].vaddr + s[i].size / 2 + 1);
		if (s[i].size)
			vec_push(&a->list, s[i].vaddr + s[i].size - 1);
	}
	if (n)
		qsort(a->list.data, a->list.len, sizeof(*a->list.data), ascending);
}

static bool same(const struct elf_symbol *a, const struct elf_symbol *b)
{
	return a ? b->name && a->vaddr == b->vaddr && a->size == b->size && !strcmp(a->name, b->name) : !b->name;
}

static void check_symbols(const char *path, struct elf *all, struct elf *fresh)
{
	struct addresses a = {};
	struct elf_symbol *found;
	size_t wrong = 0;

	add_symbols(all, &a);
	found = calloc(a.list.len + 1, sizeof(*found));
	if (!found)
		abort();
	elf_symbols_at(fresh, a.list.data, a.list.len, found);
	for (size_t i = 0; i < a.list.len; i++) {
		bool ok = same(elf_symbol_at(all, a.list.data[i]), &found[i]);

		if (!ok && !wrong++)
			printf("# %#llx: %s\n", (unsigned long long)a.list.data[i],
				found[i].name ? found[i].name : "none");
	}
	check(!wrong, path, "symbols", a.list.len, wrong);
	free(found);
	vec_done(&a.list);
}

static void check_at(struct elf *e, uint64_t vaddr, uint64_t want, size_t *wrong)
{
	uint64_t start = 0;
	int r = fde_find_function(e, vaddr, &start);

	*wrong += r != (want != 0) || start != want;
}

static void check_functions(const char *path, struct elf *e)
{
	struct eh_ranges r;
	size_t wrong = 0;
	uint64_t start;

	if (ehframe_ranges(e, &r))
		abort();
	for (size_t i = 0; i < r.len; i++) {
		uint64_t next = i + 1 < r.len ? r.data[i + 1].start : UINT64_MAX;

		check_at(e, r.data[i].start, r.data[i].start, &wrong);
		check_at(e, r.data[i].end - 1, r.data[i].start, &wrong);
		if (next > r.data[i].end)
			check_at(e, r.data[i].end, 0, &wrong);
	}
	wrong += r.len && fde_find_function(e, r.data[0].start - 1, &start) != 0;
	check(r.len && !wrong, path, "functions", r.len, wrong);
	eh_ranges_done(&r);
}

static void check_file(const char *path)
{
	struct elf *all, *fresh;

	if (elf_open(path, &all) || elf_open(path, &fresh)) {
		check(false, path, "opened", 0, 1);
		return;
	}
	check_symbols(path, all, fresh);
	check_functions(path, all);
	elf_close(all);
	elf_close(fresh);
}

int main(int argc, char **argv)
{
	char line[4096], path[4096], mode[8];
	FILE *f = fopen("/proc/self/maps", "r");

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "%*s %7s %*s %*s %*s %4095s", mode, path) == 2 && mode[2] == 'x' && path[0] == '/')
			check_file(path);
	if (f)
		fclose(f);
	for (int i = 1; i < argc; i++)
		check_file(argv[i]);
	printf("1..%u\n", cases);
	return failed || cases < 6;
}
