// SPDX-License-Identifier: Apache-2.0
/* goid_test.c - finds the offsets of g, m.curg and goid in the code of several compilers. The files
 * (fuzz/go/corpus) state a wrong version, for which goid has another offset: goid_test FOLDER */
#include <stdio.h>

#include "target/elf.h"
#include "target/pclntab.h"
#include "unwinders/go/goid.h"

static const struct {
	const char *name;
	struct goid want; /* by DWARF; curg on arm64: by version */
} files[] = {
	{ "goid-x86-1.19", { .tls = -8, .curg = 192, .goid = 152 } },
	{ "goid-x86-1.27", { .tls = -8, .curg = 184, .goid = 152 } },
	{ "goid-arm64-1.23", { .tls = 16, .curg = 184, .goid = 160 } },
	{ "goid-arm64-1.27", { .tls = 16, .curg = 192, .goid = 152 } },
};

#define COUNT (sizeof(files) / sizeof(*files))

static struct goid look(const char *folder, const char *name)
{
	struct pclntab *t = NULL;
	struct elf *e = NULL;
	struct goid g = {};
	char path[4096];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	if (elf_open(path, &e))
		return g;
	if (!pclntab_open(e, &t))
		g = goid_find(e, t);
	pclntab_close(t);
	elf_close(e);
	return g;
}

int main(int argc, char **argv)
{
	int failed = 0;

	printf("1..%zu\n", COUNT);
	for (size_t i = 0; argc == 2 && i < COUNT; i++) {
		struct goid g = look(argv[1], files[i].name), want = files[i].want;
		int bad = g.tls != want.tls || g.curg != want.curg || g.goid != want.goid;

		printf("%sok %zu - %s\n", bad ? "not " : "", i + 1, files[i].name);
		if (bad)
			printf("# g at %d, curg %u, goid %u\n", g.tls, g.curg, g.goid);
		failed |= bad;
	}
	return failed;
}
