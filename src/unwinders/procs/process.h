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
	bool published;    /* the kernel's half has it */
	bool recorded;     /* of a core: files are found by path */
	struct mapping *maps; /* executable ones, sorted, no overlap */
	size_t nmaps, cap;
	bool has_python;
	uint32_t languages;   /* 1 << enum frame_lang, of those that tables tell of */
	uint32_t go_file;     /* the first that has Go; 0: none */
	struct python_proc python;
	const struct file *libc; /* see python_libc(); NULL: none yet */
	const struct v8_layout *v8; /* its file's; NULL: no V8 */
	uint32_t v8_born;     /* these: see struct v8_proc */
	uint64_t v8_epoch;
	struct perfmap *jit;  /* owned by processes */
	struct file *anonymous[8]; /* by terabyte, see files_anonymous() */
	unsigned nanonymous;
};

struct processes;

struct processes *processes_new(struct target *t, struct files *fs, struct unwind_sink *sink);
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
void processes_mmap(struct processes *ps, const struct process_mmap *m);
void processes_fork(struct processes *ps, uint32_t parent, uint32_t child);
void processes_exec(struct processes *ps, uint32_t pid);
void processes_exit(struct processes *ps, uint32_t pid);

/* The mapping that holds addr; NULL. */
const struct mapping *process_mapping(const struct process *p, uint64_t addr);
/* Chunk number i as the kernel's half has it; false: there are fewer. */
bool process_chunk(const struct process *p, uint32_t i, struct mapping_chunk *ret);
size_t processes_count(const struct processes *ps);
