// SPDX-License-Identifier: Apache-2.0
/* process.h - what is mapped where in which process, as the walk needs it. */
#pragma once
#include <time.h>

#include "file.h"
#include "unwinders/unwinders.h"

struct process {
	uint32_t pid;
	bool dead;         /* exited: kept for its addresses' names */
	time_t gone;       /* when it was first seen to have gone; 0: it was not */
	bool readable;     /* what a walk could not read was there for userspace */
	bool published;    /* the kernel's half has it.. */
	bool changed;      /* ..but not what has changed since: see processes_publish() */
	bool begins;       /* nothing is mapped since its exec */
	bool full;         /* it has more mappings than are kept, which was reported */
	bool recorded;     /* of a core: files are found by path */
	struct mapping *maps; /* executable ones, sorted, no overlap */
	size_t nmaps, cap;
	uint32_t languages;   /* 1 << enum frame_lang, of those that it has */
	uint32_t native_file; /* the first with a language of kind LANG_NATIVE; 0: none */
	uint32_t mapped;      /* 1 << enum frame_lang, of all files that it has had: the kernel's half may
	                       * have found them */
	const struct file *libc; /* see lang.libc(); NULL: none yet */
	struct {
		struct file *file;
		void *proc;   /* struct STEM_proc; NULL: it has not the language, or nothing is read of it */
	} lang[FRAME_LANGS];
	struct perfmap *jit;  /* owned by processes */
	struct file *anonymous[8]; /* by terabyte, see files_anonymous() */
	unsigned nanonymous;
};

struct processes;

struct processes *processes_new(struct target *t, struct files *fs, struct walk_maps *maps);
void processes_free(struct processes *ps);

/* Those that have ended unnoticed end now; of the dead, all but the last n are forgotten. */
void processes_forget(struct processes *ps, size_t n);
/* Marks the files that living processes have mapped. */
void processes_mark_files(const struct processes *ps);

/* NULL: not known; a dead one counts as known. */
struct process *processes_find(const struct processes *ps, uint32_t pid);
/* Reads /proc/PID/maps and publishes it; 0 or -errno, -ESRCH: gone. */
int processes_add(struct processes *ps, uint32_t pid);
/* A process that was recorded: its mappings of files (of any access; paths under the
 * target's root) and of other executable memory. */
int processes_add_recorded(struct processes *ps, uint32_t pid, const struct proc_map *maps,
	size_t n);
/* Events. The kernel's half learns of the first three when it is published: most processes of a build end
 * before. The file of a program's first mapping; NULL: it is another one. */
struct file *processes_mmap(struct processes *ps, const struct process_mmap *m);
void processes_fork(struct processes *ps, uint32_t parent, uint32_t child);
void processes_exec(struct processes *ps, uint32_t pid);
void processes_exit(struct processes *ps, uint32_t pid);
/* Some were lost. */
void processes_lost(struct processes *ps);
/* A walk that the kernel's half could not read on was finished. */
void processes_readable(struct processes *ps, uint32_t pid);
/* The kernel's half gets what has changed: of one process, of all. */
void processes_publish(struct processes *ps, uint32_t pid);
void processes_publish_all(struct processes *ps);

/* The mapping that holds addr; NULL. */
const struct mapping *process_mapping(const struct process *p, uint64_t addr);
/* Chunk number i as the kernel's half has it; false: there are fewer. */
bool process_chunk(const struct process *p, uint32_t i, struct mapping_chunk *ret);
size_t processes_count(const struct processes *ps);
