// SPDX-License-Identifier: Apache-2.0
/* copy_test.c - a walk's reads of a stack's copy: bytes in it, holes, and bytes around it. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "child.h"
#include "unwinders/host/walk.h"

enum { PIECES = 4, SIZE = PIECES * WALK_PIECE, START = 64 * WALK_PIECE, SP = START + 100 };

/* A process whose memory is one byte repeated, by piece. */
struct repeated {
	struct host_memory memory;
	uint8_t byte[PIECES + 2]; /* the first is below the copy, the last after it */
	bool gone;
};

static int read_repeated(struct host_memory *m, uint64_t addr, void *buf, size_t size)
{
	const struct repeated *r = (const struct repeated *)m;

	if (r->gone)
		return -ESRCH;
	for (size_t i = 0; i < size; i++)
		((uint8_t *)buf)[i] = r->byte[(addr + i - START) / WALK_PIECE + 1];
	return 0;
}

/* Pieces 1, 2, 3, 4; the third was not in memory, and the process now has 7 there. */
static struct walk_record *record(void)
{
	struct walk_record *r = calloc(1, sizeof(*r) + SIZE);

	r->sp = SP;
	r->size = SIZE;
	r->holes = 1 << 2;
	for (int i = 0; i < PIECES; i++)
		memset((uint8_t *)r->stack + i * WALK_PIECE, i + 1, WALK_PIECE);
	return r;
}

static const struct repeated process = { { read_repeated }, { 1, 1, 2, 7, 4, 5 }, false };

static bool reads(struct host_copy *c, uint64_t addr, size_t size, uint8_t first, uint8_t last)
{
	uint8_t buf[SIZE];

	return !c->memory.read(&c->memory, addr, buf, size) && buf[0] == first && buf[size - 1] == last;
}

static void test_reading(struct walk_record *r)
{
	struct repeated rest = process;
	struct host_copy c;

	host_copy_init(&c, r, &rest.memory);
	ok(reads(&c, SP, 2 * WALK_PIECE - 100, 1, 2) && !c.late && !c.zeros, "copy", "what is there");
	ok(reads(&c, START - 8, 16, 0, 1), "copy", "below it is nothing");
	ok(reads(&c, START + SIZE - 8, 16, 4, 5), "copy", "behind it is the process");
	rest.byte[3] = 0;
	ok(reads(&c, START + WALK_PIECE, 3 * WALK_PIECE, 2, 4) && !c.late && !c.zeros, "hole",
		"nobody has written to it");
	rest.byte[3] = 7;
	ok(reads(&c, START + WALK_PIECE, WALK_PIECE + 8, 2, 7) && c.late, "hole", "written to since");
	rest.gone = true;
	c.late = false;
	ok(reads(&c, START + 3 * WALK_PIECE - 8, 16, 0, 4) && c.zeros && !c.late, "hole", "the process has gone");
	rest.gone = c.zeros = false;
	c.refuse = true;
	ok(reads(&c, START + 2 * WALK_PIECE, 8, 0, 0) && c.zeros && !c.late, "hole", "the process is refused");
}

static void test_changes(struct walk_record *r)
{
	struct repeated now = process;
	struct host_copy c;

	host_copy_init(&c, r, NULL);
	ok(!host_copy_has_changed(&c, &now.memory, SP, true), "changes", "none; a hole is not looked at");
	now.byte[1] = 9;
	ok(host_copy_has_changed(&c, &now.memory, SP, true), "changes", "the innermost piece");
	ok(!host_copy_has_changed(&c, &now.memory, START + WALK_PIECE, true), "changes", "below the stack pointer");
	now.gone = true;
	ok(host_copy_has_changed(&c, &now.memory, SP, false), "changes", "a process that has gone");
}

int main(void)
{
	struct walk_record *r = record();

	test_reading(r);
	test_changes(r);
	free(r);
	return plan();
}
