// SPDX-License-Identifier: Apache-2.0
/* layout.c FILE - prints the places of the numbers of collections in a process of Ruby, by its file. For layout.py. */
#include <stdio.h>

#include "target/elf.h"
#include "unwinders/ruby/ruby.h"

int main(int argc, char **argv)
{
	struct ruby_proc proc;
	struct elf *e;

	if (argc != 2 || elf_open(argv[1], &e)) {
		fprintf(stderr, "layout: no such ELF file\n");
		return 1;
	}
	if (ruby_open(e, &proc)) {
		fprintf(stderr, "layout: not a file of Ruby\n");
		return 1;
	}
	printf("%llu %u %u %u %u %d\n", proc.vm, proc.heap, proc.gc_flags, proc.gc_counts, proc.at.major, RUBY_COUNTS);
	elf_close(e);
	return 0;
}
