// SPDX-License-Identifier: Apache-2.0
/* layout.c FILE - prints the address of _PyRuntime in a file of CPython, and the place in an interpreter of the number
 * of the next code object. For layout.py. */
#include <stdio.h>

#include "target/elf.h"
#include "unwinders/python/python.h"

int main(int argc, char **argv)
{
	struct python_proc proc;
	struct elf *e;

	if (argc != 2 || elf_open(argv[1], &e)) {
		fprintf(stderr, "layout: no such ELF file\n");
		return 1;
	}
	if (python_open(e, &proc)) {
		fprintf(stderr, "layout: not a file of CPython\n");
		return 1;
	}
	printf("%llu %u\n", proc.runtime, proc.at.interp_version);
	elf_close(e);
	return 0;
}
