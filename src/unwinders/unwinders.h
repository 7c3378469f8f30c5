// SPDX-License-Identifier: Apache-2.0
/* unwinders.h - the session's interface to the unwinders: follow processes, so that the kernel's walk finds
 * its tables; finish walks that it could not; and name frames.
 *
 * Files and processes are remembered until the end, so that names live longer than the process. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "bpf/walk/unwind.h"

struct target;
struct bpf_object;
struct unwinders;
struct requests;
struct walk_maps;
struct str;

/* Called before the object is loaded: sets the sizes of maps and constants (offsets in kernel structs), and
 * makes the maps for tables and processes; *ret writes them from now on, and must be freed. limit: maximum
 * number of frames of a stored stack. languages (1 << enum frame_lang): the maps of others are made when they are
 * needed. Returns 0 on success, -ENOENT if the object does not have the unwinder, or another -errno if the kernel
 * refuses such a map. */
int unwinders_prepare(struct target *t, struct bpf_object *obj, uint32_t limit, uint32_t languages,
	struct walk_maps **ret);
/* Sets the sizes and constants of another object, which shares the first one's maps. */
int unwinders_configure(struct target *t, struct bpf_object *obj, uint32_t limit);
/* All walks of the object want only these languages' frames, 1 << enum frame_lang; 0: no restriction. */
void unwinders_narrow(struct bpf_object *obj, uint32_t languages);

/* A language (1 << enum frame_lang) costs the verifier thousands of instructions, so an object has only those of files
 * that processes have mapped. Replaces the calls of other languages' functions in an ELF file that is not opened yet.
 * Returns 0 on success, -EINVAL if it is not such a file. */
int unwinders_leave_out(void *elf, size_t size, uint32_t languages);
/* Leaves out the instructions that cannot run when the section .rodata has these bytes. Returns 0 on success, -errno on
 * failure; then the file is of no use any more. */
int unwinders_trim(void *elf, size_t size, const void *rodata, size_t rodata_size);
/* Sets the constant by which the walk knows the languages that it has, and makes no maps for others. */
void unwinders_load_only(struct bpf_object *obj, uint32_t languages);
/* Returns the language of a map (enum frame_lang) by its name, or 0 if it is not a language's. */
unsigned unwinders_map_language(const char *name);

/* Makes maps for walks only on the host: writing to them does nothing. Returns 0 on success, -ENOMEM if there is no
 * memory. */
int walk_maps_memory(struct walk_maps **ret);

/* Takes the maps. */
int unwinders_new(struct target *t, struct walk_maps *maps, struct unwinders **ret);
void unwinders_free(struct unwinders *u);
/* Replaces unwinders_free() if the process ends now: the kernel unmaps and closes
 * everything in a tenth of the time. */
void unwinders_leave(struct unwinders *u);

/* Limits the bytes in this process and in the kernel's tables (memory), and those in the cache (cache); 0: no
 * limit. Above the limit, files that are no longer mapped are evicted with their tables, least recently used first. */
void unwinders_limit(struct unwinders *u, uint64_t cache, uint64_t memory);
/* Gives memory back if there is more than the limit, or more than base/allowance.h allows, as events of processes do,
 * too. ret_tables: bytes of tables in the kernel; ret_refused: files that have no table, because memory is short. */
void unwinders_save_memory(struct unwinders *u, uint64_t *ret_tables, unsigned *ret_refused);
/* Calls f after each table that was made or read. f runs within functions of the unwinders,
 * so it must not call them. */
void unwinders_on_table(struct unwinders *u, void (*f)(void *arg), void *arg);
/* From now on frames get the names and lines of their scripts' source maps. */
void unwinders_use_source_maps(struct unwinders *u);
/* Sets whether frames of native code that are named from now on have the inlined functions and lines of its debug
 * information; they have them by default. */
void unwinders_show_inlines(bool on);
/* Makes the table of a file, or reads it from the cache, before a process runs it. */
void unwinders_preload_file(struct unwinders *u, const char *path);
/* Called after some files, and once after the first processes: their tables are in the kernel when this returns. */
void unwinders_preload_done(struct unwinders *u);
/* Called when the probes are attached: prepares for tables of new files. */
void unwinders_settle(struct unwinders *u);
/* Reads the mappings of a living process, again at each call. Returns 0 on success, -ESRCH if the process has
 * ended, -errno on other failures. */
int unwinders_add_process(struct unwinders *u, int pid);

/* Events of PERF_RECORD_{MMAP2,FORK,EXIT,COMM(exec),LOST}, in the order of time. After some of them,
 * unwinders_publish() sends the changes to the kernel half. */
struct process_mmap {
	uint32_t pid;
	uint64_t start, len, offset;
	uint64_t inode;
	uint32_t dev_major, dev_minor;
	bool exec, write;
	const char *path;
	uint64_t known_at; /* CLOCK_MONOTONIC ns: earlier changes are passed on before the next publishing */
};
void unwinders_mmap(struct unwinders *u, const struct process_mmap *m);
/* The parent must be known; otherwise the child is read when it is first seen. */
void unwinders_fork(struct unwinders *u, uint32_t parent, uint32_t child);
/* Returns false if the process was never read. */
bool unwinders_knows(const struct unwinders *u, uint32_t pid);
void unwinders_exec(struct unwinders *u, uint32_t pid);
void unwinders_exit(struct unwinders *u, uint32_t pid);
void unwinders_lost(struct unwinders *u);
void unwinders_publish(struct unwinders *u);

/* Returns the languages of all files that were seen so far, 1 << enum frame_lang. */
uint32_t unwinders_languages(const struct unwinders *u);
/* Returns the languages that a program with this path usually has, 1 << enum frame_lang. No file is read. */
uint32_t unwinders_usual_languages(const char *path);
/* Lets an object, not loaded yet, use the maps that the unwinders write. Returns 0 on success, -errno on failure. */
int unwinders_share_maps(struct unwinders *u, struct bpf_object *obj, uint32_t languages);

/* From now on rs gets all processes (requests/requests.h); NULL: no longer. */
void unwinders_feed(struct unwinders *u, struct requests *rs);

/* Takes the unwinders' records of the ring buffer: RECORD_STACK, _WALK, _MISS, _LANG. size: bytes of
 * the whole record, of which only the head is trusted. */
void unwinders_record(struct unwinders *u, const struct record *r, size_t size);
/* Returns the time up to which process events must have been passed on before unwinders_record(): a walk is finished,
 * and a language's frames are named, with the state at that time, not that after a later exec or exit. 0: none. */
uint64_t unwinders_record_time(const struct record *r, size_t size);
/* Returns whether handling the record may make tables, which takes long. */
bool unwinders_record_is_slow(const struct record *r);

/* Returns the number of frames of a stack and their end, by an id, which may be provisional, or -ENOENT if
 * the id was never seen. u owns the frames. */
ssize_t unwinders_stack(struct unwinders *u, uint64_t id, const uint64_t **ret_frames,
	enum unwind_end *ret_end);
/* Returns the final id of a provisional one; other ids are unchanged. */
uint64_t unwinders_real_id(struct unwinders *u, uint64_t id);

/* To save memory, stacks that nothing refers to are forgotten, in steps: call renew, and have the kernel send
 * all stacks again when it meets them; when no older record is on its way, call keep for the ids that are
 * stored somewhere; then forget the others. */
bool unwinders_stacks_due(const struct unwinders *u);
void unwinders_renew_stacks(struct unwinders *u);
void unwinders_keep_stack(struct unwinders *u, uint64_t id);
void unwinders_forget_stacks(struct unwinders *u);

/* The name of a frame. u owns the strings, which live until unwinders_free(). */
struct frame_name {
	const char *name;   /* demangled function, or NULL */
	uint64_t offset;    /* native: bytes from the function's start, also in a function without a name; 0: unknown */
	const char *file;   /* source file, or NULL */
	uint32_t line;      /* 0: unknown */
	uint32_t begins;    /* if line is 0: line in which the function begins; 0: unknown */
	uint32_t column;    /* in line or begins, from 1 on; 0: unknown, or the language has none */
	const char *module; /* path of the ELF file or "[vdso]", "[anon]"; NULL */
	uint64_t vaddr;     /* native: ELF vaddr, or the address if there is no known file; else 0 */
	enum frame_lang lang;
	bool wrapper;       /* made by the compiler; not shown below another frame */
	bool lacks_inlined; /* functions that were inlined there could not be read */
	const struct frame_name *caller; /* the function into which it was inlined; NULL: none */
};
void unwinders_name(struct unwinders *u, uint64_t frame, struct frame_name *ret);
/* Makes the CPU load where a stack is found; near: and then its frames. Returns at once. */
void unwinders_expect_stack(const struct unwinders *u, uint64_t id, bool near);
/* Names all frames of these stacks. This needs less memory and time than naming them one by one. */
void unwinders_name_stacks(struct unwinders *u, const uint64_t *ids, size_t n);
/* Does the same for the frames of one stack, before unwinders_name(). */
void unwinders_name_stack(struct unwinders *u, const uint64_t *frames, size_t n);
/* Names an address of a process, for usym() and ustack's raw mode. */
void unwinders_name_address(struct unwinders *u, uint32_t pid, uint64_t addr,
	struct frame_name *ret);
/* Returns the size, at most 20 bytes, or 0 if the file has no build id. For ustack(build_id). */
size_t unwinders_build_id(struct unwinders *u, uint64_t frame, uint8_t ret[64]);

/* Walks a stopped thread like the kernel, and returns its stack's id. filter: struct stack_req's. The
 * process's mappings are read with its first thread, and again when a walk meets an address without mapping. */
struct host_regs;
int unwinders_walk(struct unwinders *u, int pid, const struct host_regs *regs,
	uint32_t filter, uint32_t limit, uint64_t *ret_id);

/* Adds a process from a core; then its threads can be walked. exe: a file on this machine that is the
 * process's program, whatever its name was; or NULL. */
struct core;
int unwinders_add_core(struct unwinders *u, struct core *c, const char *exe);
int unwinders_walk_core(struct unwinders *u, struct core *c, size_t thread, uint32_t filter,
	uint32_t limit, uint64_t *ret_id);

/* What a language knows about a thread of a process. Begin with tid and tp. */
struct thread_note {
	int tid;
	uint64_t tp;    /* thread pointer; 0: unknown, then it is looked for if a language needs it */
	char *name;     /* name in the language ("worker 1"), or NULL */
	/* The thread holds the lock of its interpreter while the word at lock_at, masked, is lock_value. 0: unknown */
	uint64_t lock_at, lock_mask, lock_value;
};
/* Fills in the notes of a living process, or of the core that was added (c). */
void unwinders_note_threads(struct unwinders *u, int pid, struct core *c, struct thread_note *notes, size_t n);
/* Returns whether the thread holds the lock of its interpreter (the GIL) now. */
bool unwinders_holds_lock(int pid, struct core *c, const struct thread_note *note);
void thread_notes_free(struct thread_note *notes, size_t n);

const char *unwind_end_text(enum unwind_end e);

/* Returns the number of stacks that could not be walked to their end so far. */
unsigned unwinders_incomplete(const struct unwinders *u);
/* Appends counters for -v: requests, tables and times. */
void unwinders_stats(const struct unwinders *u, struct str *out);
