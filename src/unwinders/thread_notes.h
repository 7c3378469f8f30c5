/* SPDX-License-Identifier: Apache-2.0 */
/* thread_notes.h - what languages know about the threads of a process. */
#pragma once
#include <stddef.h>

#include "unwinders/procs/process.h"

struct core;
struct host_pages;
struct target;
struct thread_note;

/* Fills in the notes by the languages of the process, which lives (c NULL) or is in a core. pages: room. */
void thread_notes_fill(struct target *t, const struct process *p, struct core *c, struct host_pages *pages,
	struct thread_note *notes, size_t n);
