// SPDX-License-Identifier: Apache-2.0
#include "thread_names.h"

#include <stdlib.h>
#include <string.h>

#include "base/owner.h"
#include "base/vec.h"
#include "target/target.h"
#include "unwinders/unwinders.h"
#include "values/show.h"

struct process_notes {
	int pid;
	struct thread_note *notes;
	size_t n;
};

struct thread_names {
	const struct show *show;
	VEC(struct process_notes) processes;
};

struct thread_names *thread_names_new(const struct show *s)
{
	struct thread_names *t = s->unwinders ? calloc(1, sizeof(*t)) : NULL;

	if (t)
		t->show = s;
	return t;
}

void thread_names_free(struct thread_names *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < t->processes.len; i++)
		thread_notes_free(t->processes.data[i].notes, t->processes.data[i].n);
	vec_done(&t->processes);
	free(t);
}

/* Returns the thread's process (proc(5), status: Tgid), or 0 if it has ended. */
static int process_of(const struct thread_names *t, int tid)
{
	_cleanup_(freep) char *text = proc_read(t->show->target, tid, "status", NULL);
	const char *line = text ? strstr(text, "\nTgid:") : NULL;

	return line ? atoi(line + strlen("\nTgid:")) : 0;
}

static void read_process(struct thread_names *t, int pid)
{
	struct unwinders *u = t->show->unwinders;
	struct process_notes p = {.pid = pid};
	_cleanup_(freep) int *tids = NULL;
	ssize_t n = proc_threads(t->show->target, pid, &tids);

	p.notes = n > 0 ? calloc((size_t)n, sizeof(*p.notes)) : NULL;
	p.n = p.notes ? (size_t)n : 0;
	for (size_t i = 0; i < p.n; i++)
		p.notes[i].tid = tids[i];
	if (p.n && (unwinders_knows(u, (uint32_t)pid) || !unwinders_add_process(u, pid)))
		unwinders_note_threads(u, pid, NULL, p.notes, p.n);
	vec_push(&t->processes, p);
}

const char *thread_names_get(struct thread_names *t, int tid)
{
	int pid = t ? process_of(t, tid) : 0;
	size_t i = 0;

	if (!pid)
		return NULL;
	while (i < t->processes.len && t->processes.data[i].pid != pid)
		i++;
	if (i == t->processes.len)
		read_process(t, pid);
	for (size_t k = 0; k < t->processes.data[i].n; k++)
		if (t->processes.data[i].notes[k].tid == tid)
			return t->processes.data[i].notes[k].name;
	return NULL;
}
