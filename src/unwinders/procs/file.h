// SPDX-License-Identifier: Apache-2.0
/* file.h - the files with processes' code, by number. They are kept until the end: a number never changes its
 * meaning, and the ELF file remains mapped for its names. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "unwinders/native/ehframe.h"
#include "unwinders/lang.h"
#include "unwinders/native/table.h"

struct cache_key;
struct elf;
struct files;
struct inlines;
struct perfmap;
struct proc_map;
struct request_file;
struct target;
struct walk_maps;

#define FILES_MAX (1u << 20)

struct file_inode { /* place of a file */
	struct file_inode *next;
	uint64_t inode;
	uint32_t major, minor;
};

struct file {
	uint32_t id;
	const char *path;    /* the path when first seen; "[vdso]", "[anon]" */
	const struct cache_key *key; /* of the cache; NULL: not an ELF file, or unknown */
	struct elf *elf;     /* NULL: not an ELF file */
	struct table table;  /* data NULL: none */
	struct eh_ranges functions; /* ranges of the FDEs, after the first request for them */
	struct eh_ranges unframed;  /* functions that no FDE covers, after the first request for them */
	bool functions_read, unframed_read;
	struct inlines *inlines; /* its debug information, after the first request for it; NULL: none */
	bool inlines_sought, inlines_cut; /* cut: see inlines_are_cut() */
	void *opened[FRAME_LANGS]; /* result of lang.open(); NULL: none, or not requested yet */
	uint32_t asked;      /* languages for which lang.open() was called: 1 << enum frame_lang */
	struct perfmap *jit; /* anonymous: names of one process's code */
	uint64_t jit_base;   /* anonymous: base of its vaddrs */
	uint32_t jit_before; /* its code was replaced at that time, see perfmap_poll(); 0: it was not */
	struct file *jit_next; /* anonymous: the file of the code that is there now; NULL: this one */
	bool closure_done;   /* the libraries that it needs were preloaded */
	bool leaving;        /* it will be evicted */
	bool refused;        /* it has no table, because memory is short: see files_make_up() */
	bool large;          /* ..for the time in which the table is made */
	bool later;          /* it gets its table when it is mapped again */
	bool evicted;        /* elf and table were given back; opening the same file restores them */
	uint8_t build_id[64], build_id_size; /* build id of an evicted file */
	bool mapped;         /* a living process has mapped it: see files_choose() */
	uint64_t used;       /* time of its last mapping, CLOCK_MONOTONIC ns */
	struct file_inode *inodes;
	struct request_file *request; /* NULL: not sought yet, or the file has nothing */
	bool request_sought;
	bool libc;           /* it shows the places of a thread's values, see lang.libc() */
};

struct files *files_new(struct target *t, struct walk_maps *maps);
void files_free(struct files *fs);
/* Stores names and lines in the cache for later runs, and trims the cache after that. files_free() calls it. */
void files_keep(struct files *fs);

/* Returns the file of a mapping if it was opened, or NULL. */
struct file *files_known(struct files *fs, const struct proc_map *m);
/* Returns the file of a mapping of pid, and opens it if it is new; NULL if it cannot be opened. */
struct file *files_of_mapping(struct files *fs, int pid, const struct proc_map *m);
struct file *files_of_path(struct files *fs, const char *path);
/* From now on the path means this file; fd remains the caller's. */
void files_stand_in(struct files *fs, const char *path, int fd);
struct file *files_vdso(struct files *fs);
/* Returns the file for anonymous code: one per process and terabyte, because vaddrs have 40 bits. name:
 * "[anon]", or "[v8]" in a process with V8. */
struct file *files_anonymous(struct files *fs, struct perfmap *jit, uint64_t base, const char *name);
/* Returns NULL if there is no such number. */
struct file *files_get(const struct files *fs, uint32_t id);

/* Returns the languages of all files so far, 1 << enum frame_lang. */
uint32_t files_languages(const struct files *fs);
/* Returns the languages in the file's table: 1 << enum frame_lang. */
uint32_t file_languages(const struct file *f);
/* Makes the argument of the language's functions; f must have the language. */
struct lang_file file_of_lang(struct file *f, unsigned lang);
/* Fills a process's struct STEM_proc, of proc_size bytes, only from this file, at the file's own
 * addresses. libc: the C library of the process, or NULL. Returns false if the language has no such
 * struct, or the file does not suffice. */
bool file_lang_proc(struct file *f, unsigned lang, const struct file *libc, void *ret);
/* Finds the start of the function that contains vaddr, for code without symbols: by its FDE, or by following the
 * code. Returns false if there is none. */
bool file_function(struct file *f, uint64_t vaddr, uint64_t *ret_start);
/* Computes pc - vaddr for a mapping of the file. Returns false if the mapping has no segment of it. */
bool file_bias(const struct file *f, uint64_t start, uint64_t offset, uint64_t *ret);

/* See unwinders_on_table(). */
void files_on_table(struct files *fs, void (*f)(void *arg), void *arg);

/* ---- memory ---- */

/* Limits in bytes: of the cache; of the memory of this process and of the tables in the kernel, which may become less
 * later (base/allowance.h). */
void files_limit(struct files *fs, uint64_t cache, uint64_t memory);
/* Returns whether enough data has arrived since the last check of the memory in use. */
bool files_due(const struct files *fs);
/* Gives back pages that can be read again. Returns the number of bytes that must be evicted (0: none). */
uint64_t files_excess(struct files *fs);
/* Chooses the least recently used files that are not `mapped` (and clears the marks), until they have this many
 * bytes together. Returns their number and a list that the caller frees. The caller first names the frames of these
 * files. */
size_t files_choose(struct files *fs, uint64_t excess, struct file ***ret);
void files_evict(struct files *fs, struct file *f);
/* Returns the bytes of tables in the kernel. */
uint64_t files_kernel(const struct files *fs);
/* A unit of the agent that has more than its part for some seconds, whatever it gives back, makes no more tables: walks
 * through new files follow frame pointers. Returns the number of these files. */
unsigned files_refused(const struct files *fs);
/* Makes their tables, of those that are `mapped` (and clears the marks), if there is room again. Returns whether some
 * were made. */
bool files_make_up(struct files *fs);

struct files_stats {
	unsigned files, tables, cached, failed, evicted;
	uint64_t ns, bytes;
};
const struct files_stats *files_stats(const struct files *fs);
