// SPDX-License-Identifier: Apache-2.0
/* process.h - the processes' mappings, for the walk. */
#pragma once
#include <time.h>

#include "file.h"
#include "unwinders/unwinders.h"

struct process {
	uint32_t pid;
	bool dead;         /* exited: kept for names of its addresses */
	time_t gone;       /* time at which it was first found missing; 0: not yet */
	bool readable;     /* userspace could read memory that a walk could not */
	uint64_t known_at; /* CLOCK_MONOTONIC ns: its mappings are as new as this, or newer */
	bool reuses;       /* a mapping came to the place of another one */
	bool published;    /* the kernel half has it */
	bool changed;      /* the kernel half lacks its latest changes: see processes_publish() */
	bool begins;       /* it has mapped nothing since its exec */
	bool full;         /* it has more mappings than are kept; this was reported */
	bool recorded;     /* from a core: files are found by path */
	struct mapping *maps; /* executable mappings, sorted, disjoint */
	size_t nmaps, cap;
	uint32_t languages;   /* its languages: 1 << enum frame_lang */
	uint32_t native_file; /* its first file with a language of kind LANG_NATIVE; 0: none */
	uint64_t pcre_start, pcre_end; /* code of libpcre2; 0: not mapped */
	uint32_t mapped;      /* languages of all files that it has mapped, 1 << enum frame_lang: the kernel half
	                       * may have found them */
	const struct file *libc; /* see lang.libc(); NULL: none yet */
	struct {
		struct file *file;
		void *proc;   /* struct STEM_proc; NULL: it does not have the language, or its data cannot be read */
	} lang[FRAME_LANGS];
	struct perfmap *jit;  /* owned by processes */
	struct file *anonymous[8]; /* by terabyte, see files_anonymous() */
	unsigned nanonymous;
};

struct host_memory;
struct processes;
struct requests;

struct processes *processes_new(struct target *t, struct files *fs, struct walk_maps *maps);
void processes_free(struct processes *ps);

/* From now on rs gets all processes, at once those that are known; NULL: no longer. */
void processes_feed(struct processes *ps, struct requests *rs);

/* Ends processes whose end was not reported, and forgets all dead ones except the last n. */
void processes_forget(struct processes *ps, size_t n);
/* Reads processes again whose files have got their tables late: see files_make_up(). */
void processes_reread(struct processes *ps);
/* Marks the files that living processes have mapped. */
void processes_mark_files(const struct processes *ps);

/* Returns NULL for an unknown process; a dead one is known. */
struct process *processes_find(const struct processes *ps, uint32_t pid);
/* Reads /proc/PID/maps and publishes it. Returns 0 on success, -ESRCH if the process has ended,
 * -errno on other failures. */
int processes_add(struct processes *ps, uint32_t pid);
/* Adds a process from a core: its mappings of files (with any access; paths under the target's root) and
 * other executable memory. memory: the bytes that the core has. */
int processes_add_recorded(struct processes *ps, uint32_t pid, const struct proc_map *maps, size_t n,
	struct host_memory *memory);
/* Events. The kernel half gets the first three when the process is published: most processes of a build end
 * before that. Returns the file of a program's first mapping, or NULL if it is not the first one. */
struct file *processes_mmap(struct processes *ps, const struct process_mmap *m);
void processes_fork(struct processes *ps, uint32_t parent, uint32_t child);
void processes_exec(struct processes *ps, uint32_t pid);
void processes_exit(struct processes *ps, uint32_t pid);
/* Notes that some events were lost. */
void processes_lost(struct processes *ps);
/* Userspace has finished a walk that met unreadable memory in the kernel half. */
void processes_readable(struct processes *ps, uint32_t pid);
/* The lists of the JITs whose code is in the stack (RECORD_STACK of size bytes) are watched from now on: code that
 * takes the place of other code is in another file. */
void processes_watch(struct processes *ps, const struct stack_record *r, size_t size);
/* Publishes changes to the kernel half: of one process, of all. */
void processes_publish(struct processes *ps, uint32_t pid);
void processes_publish_all(struct processes *ps);

/* Returns the mapping that contains addr, or NULL. */
const struct mapping *process_mapping(const struct process *p, uint64_t addr);
/* Chunk number i for the kernel half. Returns false if there are fewer. */
bool process_chunk(const struct process *p, uint32_t i, struct mapping_chunk *ret);
size_t processes_count(const struct processes *ps);
