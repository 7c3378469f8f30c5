/* SPDX-License-Identifier: Apache-2.0 */
/* files_priv.h - shared by file.c and file_memory.c. */
#pragma once
#include "base/vec.h"
#include "file.h"
#include "unwinders/idmap.h"
#include "unwinders/native/cache.h"
#include "unwinders/procs/perfmap.h"

#define FILE_BYTES (64 << 10) /* measured bytes of a file in addition to its table: names, symbols, pages */

struct file_name { /* key of a table, to recognise the same file elsewhere */
	struct file_name *next;
	struct cache_key key;
	struct file *file;
};

struct files { /* see file.h */
	struct target *target;
	struct walk_maps *maps; /* not owned */
	struct arena *arena;
	VEC(struct file *) files; /* by number; NULL: no file */
	struct idmap by_inode;
	struct idmap by_name;     /* hash -> struct file_name * */
	struct file *vdso;
	struct file *libc;         /* the first one found */
	struct file *stand_in;     /* the file that a path means, see files_stand_in() */
	const char *stand_in_path;
	struct files_stats stats;
	uint64_t cache_limit, memory_limit; /* 0: none */
	uint64_t fresh;            /* bytes of files since the last check of the memory */
	uint64_t due;              /* time of the next check, CLOCK_MONOTONIC ns */
	uint64_t over_since;       /* CLOCK_MONOTONIC ns; 0: the last check was below the limit */
	uint64_t in_use;           /* at the last check */
	uint64_t released;         /* CLOCK_MONOTONIC ns of the last release() */
	bool full;                 /* no more tables are made */
	bool makes_up;             /* within files_make_up() */
	unsigned refused;          /* number of files without a table for that reason */
	uint64_t stored;           /* bytes stored since the last check of the cache's directory */
	uint64_t kernel;           /* bytes of tables in the kernel */
	uint32_t languages;        /* of all files so far: 1 << enum frame_lang */
	void (*on_table)(void *arg);
	void *on_table_arg;
};

static inline uint64_t inode_key(uint32_t major, uint32_t minor, uint64_t inode)
{
	return idmap_hash(idmap_hash(inode, (uint64_t)major << 32 | minor), 7) | 1;
}

/* The kernel has a copy of a table. */
static inline uint64_t memory_of(const struct file *f)
{
	return f->jit ? perfmap_over(f->jit) : FILE_BYTES + 2 * f->table.size;
}

/* Gives back the file's memory, but for its number. */
void file_close(struct files *fs, struct file *f);
/* Makes the table of a file that has none. */
void file_restore(struct files *fs, struct file *f);
/* Gives memory back, unless this was done just now. Returns whether it was. */
bool files_make_room(struct files *fs);
