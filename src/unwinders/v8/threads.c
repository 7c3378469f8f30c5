// SPDX-License-Identifier: Apache-2.0
/* threads.c - the numbers of Node's workers, as worker_threads.threadId gives them.
 *
 * A worker's thread runs a function whose argument is its Worker; the C library keeps the argument in its struct
 * pthread. A Worker has the number that pthread_create() returned, and after it its threadId and an address of
 * the thread's stack, next to each other (node_worker.h of Node, v20.0.0 to v26.0.0). Those three, and its virtual
 * functions, identify it, whatever its other members are. All data is untrusted: the search has limits. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "unwinders/lang.h"
#include "unwinders/unwinders.h"
#include "v8.h"

enum {
	BEFORE = 2048, AFTER = 2304, /* bytes around the thread pointer that have the argument */
	WORKER_WORDS = 192,          /* words of a Worker that are searched */
	NUMBER_AFTER = 48,           /* maximum distance of the threadId from the thread's number, in words */
	NUMBER_MAX = 1 << 20,
	FILE_MAX = 1 << 30,          /* bytes of the file with Node's code */
	STACK_MIN = 256 << 10, STACK_MAX = 64 << 20, /* bytes of a worker's stack */
};

static bool read_at(const struct lang_process *p, uint64_t addr, void *buf, size_t size)
{
	return addr && !p->read(p->arg, addr, buf, size);
}

/* A worker leaves 192 KiB of its stack to C++; the base is the end of the rest. */
static bool is_stack_base(const struct lang_process *p, uint64_t base, uint64_t thread)
{
	uint64_t word;

	return base < thread && thread - base > STACK_MIN && thread - base < STACK_MAX &&
		read_at(p, base, &word, sizeof(word)) && read_at(p, base + (thread - base) / 2, &word, sizeof(word));
}

/* Returns whether an address may be that of a class's virtual functions: they are in the same file. */
static bool is_vtable(const struct lang_process *p, uint64_t addr)
{
	uint64_t functions[3], byte;

	if (addr & 7 || !read_at(p, addr, functions, sizeof(functions)))
		return false;
	for (size_t i = 0; i < 3; i++)
		if (functions[i] == addr || addr - functions[i] + FILE_MAX > 2 * (uint64_t)FILE_MAX ||
			!read_at(p, functions[i], &byte, 1))
			return false;
	return true;
}

/* Returns the threadId of a Worker that runs the thread, or 0 if this is not one. */
static unsigned worker_number(const struct lang_process *p, uint64_t object, uint64_t thread)
{
	uint64_t words[WORKER_WORDS];
	size_t n = WORKER_WORDS, at = 0;

	for (; n >= WORKER_WORDS / 4 && !read_at(p, object, words, 8 * n); n /= 2)
		;
	if (n < WORKER_WORDS / 4)
		return 0;
	if (!is_vtable(p, words[0]))
		return 0;
	while (at < n && words[at] != thread)
		at++;
	for (size_t i = at + 1; i + 1 < n && i < at + NUMBER_AFTER; i++)
		if (words[i] && words[i] < NUMBER_MAX && is_stack_base(p, words[i + 1], thread))
			return (unsigned)words[i];
	return 0;
}

static unsigned number_of(const struct lang_process *p, uint64_t thread)
{
	uint64_t words[(BEFORE + AFTER) / 8], start = thread - BEFORE;
	unsigned number;

	if (!read_at(p, start, words, sizeof(words)))
		return 0;
	for (size_t i = 0; i < sizeof(words) / 8; i++) {
		if (words[i] & 7 || words[i] < 4096 || words[i] - start < sizeof(words))
			continue;
		number = worker_number(p, words[i], thread);
		if (number)
			return number;
	}
	return 0;
}

void v8_threads(const struct lang_process *p, struct thread_note *notes, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		unsigned number = notes[i].tp && !notes[i].name ? number_of(p, notes[i].tp) : 0;

		if (number && asprintf(&notes[i].name, "worker %u", number) < 0)
			notes[i].name = NULL;
	}
}
