// SPDX-License-Identifier: Apache-2.0
/* fragments.c - prints where the interpreter's loop of each file is:
 *
 *     fragments [--by jumps|names|size] [--name SYMBOL] [--ranges] FILE...
 *
 *     FILE MACHINE MAIN+FRAGMENT.. way DISPATCHES MILLISECONDS   sizes in bytes; the least of five times
 *     FILE: error
 *
 * With --ranges it prints START-END.. in hex instead of the sizes. */
#include <elf.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/owner.h"
#include "target/elf.h"
#include "unwinders/native/fragments.h"

static const char *names[2] = {"_PyEval_EvalFrameDefault"};
static unsigned want = TABLE_BY_JUMPS | TABLE_BY_NAMES | TABLE_BY_SIZE;
static bool ranges;

static const struct {
	const char *name;
	unsigned flag;
} ways[] = {{"jumps", TABLE_BY_JUMPS}, {"names", TABLE_BY_NAMES}, {"size", TABLE_BY_SIZE}};

static double now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1e3 + ts.tv_nsec / 1e6;
}

static int find(const char *path, struct fragments *ret, uint16_t *ret_machine, double *ret_ms)
{
	_cleanup_(elf_closep) struct elf *e = NULL;
	double start;
	int err = elf_open(path, &e);

	if (err)
		return err;
	*ret_machine = elf_machine(e);
	start = now_ms();
	err = fragments_find_by(e, names, want, ret);
	*ret_ms = now_ms() - start;
	return err;
}

static bool show(const char *path)
{
	uint16_t machine;
	double best = 1e9, ms;
	struct fragments p;

	for (int i = 0; i < 5; i++) {
		int err = find(path, &p, &machine, &ms);

		if (err) {
			printf("%s: %s\n", path, strerror(-err));
			return false;
		}
		best = ms < best ? ms : best;
	}
	printf("%s %s ", path, machine == EM_X86_64 ? "x86_64" : machine == EM_AARCH64 ? "arm64" : "?");
	for (unsigned i = 0; i < p.n; i++)
		if (ranges)
			printf("%s%lx-%lx", i ? "," : "", p.fragment[i].start, p.fragment[i].end);
		else
			printf("%s%lu", i ? "+" : "", p.fragment[i].end - p.fragment[i].start);
	printf(" %s", p.found ? "" : "whole");
	for (size_t i = 0, n = 0; i < ARRAY_SIZE(ways); i++)
		if (p.found & ways[i].flag)
			printf("%s%s", n++ ? "," : "", ways[i].name);
	printf(" %u %.2f\n", p.dispatches, best);
	return true;
}

int main(int argc, char **argv)
{
	bool ok = true;

	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--ranges")) {
			ranges = true;
		} else if (!strcmp(argv[i], "--name") && argv[i + 1]) {
			names[0] = argv[++i];
		} else if (!strcmp(argv[i], "--by") && argv[i + 1]) {
			want = 0;
			i++;
			for (size_t k = 0; k < ARRAY_SIZE(ways); k++)
				want |= strcmp(argv[i], ways[k].name) ? 0 : ways[k].flag;
		} else {
			ok &= show(argv[i]);
		}
	}
	return !ok;
}
