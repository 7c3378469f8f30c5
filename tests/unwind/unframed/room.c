// SPDX-License-Identifier: Apache-2.0
/* room.c - reads rules as a unit of strata agent with so much room for memory. Usage: room FILE BYTES. Prints whether
 * large pieces of code were left out, and the number of rules. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/allowance.h"
#include "target/elf.h"
#include "unwinders/native/ehframe.h"
#include "unwinders/native/unframed.h"

static bool become_unit(uint64_t room)
{
	int fd = memfd_create("room", 0);
	struct allowances *a;

	if (dup2(fd, ALLOWANCE_NUMBER) < 0 || ftruncate(fd, sizeof(*a)))
		return false;
	a = mmap(NULL, sizeof(*a), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (a == MAP_FAILED)
		return false;
	a->limit = a->room = room;
	setenv(ALLOWANCE_FD, "4", 1);
	setenv(ALLOWANCE_AT, "0", 1);
	allowance_open();
	return allowance_is_unit();
}

int main(int argc, char **argv)
{
	struct eh_rows rows;
	struct elf *e;
	bool complete;

	if (argc < 3 || !become_unit(strtoull(argv[2], NULL, 10)) || elf_open(argv[1], &e) || ehframe_read(e, &rows))
		return 1;
	complete = unframed_rows(e, &rows, NULL);
	printf("%s %zu\n", complete ? "all" : "cut", (size_t)rows.len);
	eh_rows_done(&rows);
	elf_close(e);
	return 0;
}
