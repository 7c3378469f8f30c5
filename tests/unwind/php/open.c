// SPDX-License-Identifier: Apache-2.0
/* open.c - prints the results of php_open() for files: the version, whether the globals and the frameless
 * functions exist, the rule of compiled code, and the number of fragments of the interpreter's loop. */
#include <stdio.h>

#include "target/elf.h"
#include "unwinders/native/fragments.h"
#include "unwinders/php/php.h"

static int look(const char *path)
{
	struct php_proc proc;
	struct fragments loop;
	struct elf *e;
	unsigned version;

	if (elf_open(path, &e)) {
		fprintf(stderr, "%s: no ELF file\n", path);
		return 1;
	}
	version = php_version(e);
	if (php_open(e, &proc) || fragments_find(e, php_loop, &loop)) {
		printf("%s: not PHP\n", path);
		elf_close(e);
		return 1;
	}
	printf("%u.%u globals %d frameless %d ", version >> 8, version & 0xff, !!proc.globals, !!proc.frameless);
	printf("rule %d cfa %d fragments %u\n", (int)RULE_KIND(proc.jit_rule), (int)RULE_OFFSET(proc.jit_rule), loop.n);
	elf_close(e);
	return 0;
}

int main(int argc, char **argv)
{
	int failed = 0;

	for (int i = 1; i < argc; i++)
		failed |= look(argv[i]);
	return failed;
}
