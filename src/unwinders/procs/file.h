// SPDX-License-Identifier: Apache-2.0
/* file.h - files that processes run code from, by number. Remembered until the end:
 * a number's meaning never changes, and the ELF file stays mapped for its names. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "unwinders/native/ehframe.h"
#include "unwinders/lang.h"
#include "unwinders/native/table.h"

struct elf;
struct files;
struct perfmap;
struct proc_map;
struct target;
struct walk_maps;

#define FILES_MAX (1u << 20)

struct file_inode { /* where a file is */
	struct file_inode *next;
	uint64_t inode;
	uint32_t major, minor;
};

struct file {
	uint32_t id;
	const char *path;    /* as first seen; "[vdso]", "[anon]" */
	struct elf *elf;     /* NULL: not an ELF file */
	struct table table;  /* data NULL: none */
	struct eh_ranges functions; /* of its FDEs, once they were asked for */
	bool functions_read;
	void *opened[FRAME_LANGS]; /* what lang.open() gave; NULL: nothing, or not asked yet.. */
	uint32_t asked;      /* ..1 << enum frame_lang */
	struct perfmap *jit; /* anonymous: names of one process' code.. */
	uint64_t jit_base;   /* ..and what its vaddrs count from */
	bool closure_done;   /* what it needs was preloaded */
	bool leaving;        /* it is about to be.. */
	bool evicted;        /* ..elf and table were given back; the same file has them again */
	uint8_t build_id[64], build_id_size; /* of an evicted one */
	bool mapped;         /* by a living process: see files_choose() */
	uint64_t used;       /* when it was mapped last, CLOCK_MONOTONIC ns */
	struct file_inode *inodes;
	bool libc;           /* it says where a thread's values are, see lang.libc() */
};

struct files *files_new(struct target *t, struct walk_maps *maps);
void files_free(struct files *fs);
/* A part of that: where tables were stored. */
void files_trim_cache(const struct files *fs);

/* The file of a mapping of pid, which is opened when it was not seen before; NULL
 * when it cannot be had. */
struct file *files_of_mapping(struct files *fs, int pid, const struct proc_map *m);
struct file *files_of_path(struct files *fs, const char *path);
/* From now on the path means that file; fd stays the caller's. */
void files_stand_in(struct files *fs, const char *path, int fd);
struct file *files_vdso(struct files *fs);
/* One per process and terabyte: vaddrs have 40 bits. */
struct file *files_anonymous(struct files *fs, struct perfmap *jit, uint64_t base);
/* NULL: no such number. */
struct file *files_get(const struct files *fs, uint32_t id);

/* Of its table: 1 << enum frame_lang. */
uint32_t file_languages(const struct file *f);
/* For the language's functions; f has the language. */
struct lang_file file_of_lang(struct file *f, unsigned lang);
/* A process' struct STEM_proc as this file alone says it, at its own addresses: proc_size bytes. libc: the
 * C library that it is taken to have; or NULL. False: the language has none, or cannot say. */
bool file_lang_proc(struct file *f, unsigned lang, const struct file *libc, void *ret);
/* Where the function that holds vaddr begins, as its FDE says; for what has no symbols.
 * false: there is none. */
bool file_function(struct file *f, uint64_t vaddr, uint64_t *ret_start);
/* pc - bias = vaddr, for a mapping of the file; false: no segment of it is there. */
bool file_bias(const struct file *f, uint64_t start, uint64_t offset, uint64_t *ret);

/* See unwinders_on_table(). */
void files_on_table(struct files *fs, void (*f)(void *arg), void *arg);

/* ---- memory ---- */

/* Bytes of the cache, and of memory: of this process and of the tables in the kernel. */
void files_limit(struct files *fs, uint64_t cache, uint64_t memory);
/* Whether enough has come since the last time to look at how much memory is in use. */
bool files_due(const struct files *fs);
/* Gives back pages that can be read again; then says how many bytes must go (0: none). */
uint64_t files_excess(struct files *fs);
/* Those to evict: not `mapped` (the marks are cleared), not used for longest, of that many bytes
 * together. Their number; the list is the caller's, who gives the frames of these files their
 * names first. */
size_t files_choose(struct files *fs, uint64_t excess, struct file ***ret);
void files_evict(struct files *fs, struct file *f);

struct files_stats {
	unsigned files, tables, cached, failed, evicted;
	uint64_t ns, bytes;
};
const struct files_stats *files_stats(const struct files *fs);
