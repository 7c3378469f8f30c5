// SPDX-License-Identifier: Apache-2.0
/* unwinders.h - what the session asks of the unwinders: follow processes so that the
 * kernel's walk finds its tables, finish walks it could not, and name frames.
 *
 * Files and processes are remembered until the end: names survive the process. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "bpf/walk/unwind.h"

struct target;
struct bpf_object;
struct unwinders;
struct walk_maps;
struct str;

/* Before the object is loaded: sizes maps, sets constants (offsets in kernel
 * structs), and makes the maps that tables and processes go to, and what writes them, from
 * now on; to be freed. limit: of the stacks that are stored. 0 or -errno: -ENOENT: the
 * unwinder is not in the object; else the kernel makes no such map. */
int unwinders_prepare(struct target *t, struct bpf_object *obj, uint32_t limit,
	struct walk_maps **ret);
/* The same of another object, but for those maps: it is to share the first one's. */
int unwinders_configure(struct target *t, struct bpf_object *obj, uint32_t limit);
/* All walks of the object are of those languages' frames alone, 1 << enum frame_lang; 0: they are not. */
void unwinders_narrow(struct bpf_object *obj, uint32_t languages);
/* For walks on the host alone: nothing is written anywhere. 0 or -ENOMEM. */
int walk_maps_memory(struct walk_maps **ret);

/* Takes the maps. */
int unwinders_new(struct target *t, struct walk_maps *maps, struct unwinders **ret);
void unwinders_free(struct unwinders *u);
/* In its place where the process ends now: what is mapped and open goes with the process, in a tenth of the time. */
void unwinders_leave(struct unwinders *u);

/* Tables and files that nothing has mapped any more are evicted, those that were not used for
 * longest first, where memory bytes are in use in this process and for tables in the kernel; and
 * from the cache, where that has cache bytes. 0: no limit. */
void unwinders_limit(struct unwinders *u, uint64_t cache, uint64_t memory);
/* Called after each table that was made or read, in the middle of what needs it: it calls nothing here. */
void unwinders_on_table(struct unwinders *u, void (*f)(void *arg), void *arg);
/* From now on frames are named as the source maps of their scripts say. */
void unwinders_use_source_maps(struct unwinders *u);
/* Make (or fetch from the cache) the table of a file, before anyone runs it. */
void unwinders_preload_file(struct unwinders *u, const char *path);
/* After some of those, and once after the first processes: they are in the kernel when this returns. */
void unwinders_preload_done(struct unwinders *u);
/* Read the mappings of a living process; 0 or -errno (-ESRCH: gone). Again when
 * called again. */
int unwinders_add_process(struct unwinders *u, int pid);

/* What PERF_RECORD_{MMAP2,FORK,EXIT,COMM(exec),LOST} said, in the order of time; and after some of them: the
 * kernel half learns of it. */
struct process_mmap {
	uint32_t pid;
	uint64_t start, len, offset;
	uint64_t inode;
	uint32_t dev_major, dev_minor;
	bool exec, write;
	const char *path;
};
void unwinders_mmap(struct unwinders *u, const struct process_mmap *m);
/* The parent must be known; else the child is read when it is first seen. */
void unwinders_fork(struct unwinders *u, uint32_t parent, uint32_t child);
/* False: it was never read. */
bool unwinders_knows(const struct unwinders *u, uint32_t pid);
void unwinders_exec(struct unwinders *u, uint32_t pid);
void unwinders_exit(struct unwinders *u, uint32_t pid);
void unwinders_lost(struct unwinders *u);
void unwinders_publish(struct unwinders *u);

/* Records of the ring buffer that are the unwinders': RECORD_STACK, _WALK, _MISS, _LANG. size: of the
 * whole record; untrusted beyond its head. */
void unwinders_record(struct unwinders *u, const struct record *r, size_t size);

/* The frames of a stack by its id (provisional ones too): count and end, frames
 * owned by u. -ENOENT when never seen. */
ssize_t unwinders_stack(struct unwinders *u, uint64_t id, const uint64_t **ret_frames,
	enum unwind_end *ret_end);
/* The id that a provisional id means; other ids are themselves. */
uint64_t unwinders_real_id(struct unwinders *u, uint64_t id);

/* Stacks that nothing mentions any more are forgotten, in steps, where they take much memory:
 * renew, and have the kernel send all stacks again that it meets from then on; when no record of
 * before is on its way any more, keep those whose ids are stored somewhere; forget the others. */
bool unwinders_stacks_due(const struct unwinders *u);
void unwinders_renew_stacks(struct unwinders *u);
void unwinders_keep_stack(struct unwinders *u, uint64_t id);
void unwinders_forget_stacks(struct unwinders *u);

/* A frame in words. Strings are owned by u and live until unwinders_free(). */
struct frame_name {
	const char *name;   /* demangled function, or NULL */
	uint64_t offset;    /* bytes into the function: native; also of one without a name, 0: not known */
	const char *file;   /* source file, or NULL */
	uint32_t line;      /* 0: not known */
	uint32_t begins;    /* where line is 0: the function begins in that line; 0: not known either */
	uint32_t column;    /* in line or begins; from 1 on; 0: not known, or the language has none */
	const char *module; /* path of the ELF file or "[vdso]", "[anon]"; NULL */
	uint64_t vaddr;     /* native: ELF vaddr, of no known or no file the address; else 0 */
	enum frame_lang lang;
	bool wrapper;       /* made by the compiler; not shown below another frame */
	const struct frame_name *caller; /* it was inlined into that one; NULL: it was not */
};
void unwinders_name(struct unwinders *u, uint64_t frame, struct frame_name *ret);
/* The frames of those stacks are about to be asked for. Of many at once less memory and time are spent. */
void unwinders_name_stacks(struct unwinders *u, const uint64_t *ids, size_t n);
/* An address of a process, as usym() and ustack's raw mode need it. */
void unwinders_name_address(struct unwinders *u, uint32_t pid, uint64_t addr,
	struct frame_name *ret);
/* 20 bytes at most; 0: the file has none. For ustack(build_id). */
size_t unwinders_build_id(struct unwinders *u, uint64_t frame, uint8_t ret[64]);

/* Walks a thread that is stopped, as the kernel would, and gives its stack's id. filter: of struct stack_req. The
 * process' mappings are read with its first thread, and again when a walk comes to an address of none. */
struct host_regs;
int unwinders_walk(struct unwinders *u, int pid, const struct host_regs *regs,
	uint32_t filter, uint32_t limit, uint64_t *ret_id);

/* A recorded process, and then its threads. exe: a file on this machine that is what the
 * program was, whatever that was called; or NULL. */
struct core;
int unwinders_add_core(struct unwinders *u, struct core *c, const char *exe);
int unwinders_walk_core(struct unwinders *u, struct core *c, size_t thread, uint32_t filter,
	uint32_t limit, uint64_t *ret_id);

const char *unwind_end_text(enum unwind_end e);

/* Stacks that could not be walked to their end so far. */
unsigned unwinders_incomplete(const struct unwinders *u);
/* Counters for -v: what was asked, what was made, how long it took. */
void unwinders_stats(const struct unwinders *u, struct str *out);
