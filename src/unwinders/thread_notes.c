// SPDX-License-Identifier: Apache-2.0
/* thread_notes.c - the memory that notes about threads are read from. unwinders.h explains each function. */
#include "thread_notes.h"

#include <stdlib.h>

#include "base/owner.h"
#include "lang.h"
#include "target/target.h"
#include "unwinders/host/walk.h"
#include "unwinders/procs/core.h"
#include "unwinders/unwinders.h"

enum {
	END_BYTES = 16384,    /* bytes at the end of a mapping that are searched for a struct pthread.. */
	PTHREAD_BYTES = 2048, /* ..which is longer than this, and has the kernel's tid in its first bytes */
};

static int read_memory(void *arg, uint64_t addr, void *buf, size_t size)
{
	struct host_memory *m = arg;

	return m->read(m, addr, buf, size);
}

/* ---- thread pointers ---- */

static void note_pthread(const uint32_t *words, size_t n, uint64_t at, struct thread_note *notes, size_t nnotes)
{
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < nnotes; k++)
			if ((uint32_t)notes[k].tid == words[i]) {
				notes[k].tp = at;
				return;
			}
}

/* Finds the struct pthreads at the end of a thread's stack. The first and the third word are the address of the
 * struct itself (x86_64, glibc and musl). */
static void search_end(struct host_memory *m, const struct proc_map *map, struct thread_note *notes, size_t n)
{
	uint64_t words[END_BYTES / 8];
	uint64_t start = map->end - sizeof(words);

	if (map->end - map->start < sizeof(words) || m->read(m, start, words, sizeof(words)))
		return;
	for (size_t i = 0; i + PTHREAD_BYTES / 8 <= ARRAY_SIZE(words); i++)
		if (words[i] == start + 8 * i && words[i + 2] == words[i])
			note_pthread((const uint32_t *)&words[i], PTHREAD_BYTES / 4, words[i], notes, n);
}

static void find_thread_pointers(struct target *t, int pid, struct host_memory *m, struct thread_note *notes, size_t n)
{
	_cleanup_(freep) struct proc_map *maps = NULL;
	ssize_t nmaps = proc_maps(t, pid, &maps);

	for (ssize_t i = 0; i < nmaps; i++)
		if (maps[i].write && !maps[i].inode)
			search_end(m, &maps[i], notes, n);
}

/* ---- notes ---- */

static bool lacks_tp(const struct thread_note *notes, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!notes[i].tp)
			return true;
	return false;
}

void thread_notes_fill(struct target *t, const struct process *p, struct core *c, struct host_pages *pages,
	struct thread_note *notes, size_t n)
{
	struct host_process process;

	host_process_init(&process, (int)p->pid);
	host_pages_init(pages, c ? core_memory(c) : &process.memory);
	for (unsigned i = 1; i < FRAME_LANGS; i++) {
		struct lang_process of = { .proc = p->lang[i].proc, .read = read_memory, .arg = &pages->memory };

		if (!of.proc || !langs[i]->threads)
			continue;
		if (!c && langs[i]->threads_need_tp && lacks_tp(notes, n))
			find_thread_pointers(t, (int)p->pid, &process.memory, notes, n);
		langs[i]->threads(&of, notes, n);
	}
}

bool unwinders_holds_lock(int pid, struct core *c, const struct thread_note *note)
{
	struct host_process process;
	struct host_memory *memory = c ? core_memory(c) : &process.memory;
	uint64_t word;

	host_process_init(&process, pid);
	return note->lock_at && !memory->read(memory, note->lock_at, &word, sizeof(word)) &&
		(word & note->lock_mask) == note->lock_value;
}

void thread_notes_free(struct thread_note *notes, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(notes[i].name);
	free(notes);
}
