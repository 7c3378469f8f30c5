// SPDX-License-Identifier: Apache-2.0
/* maps.h - the maps that the walk reads, as an interface for the rest of src/unwinders/: BPF maps (bpf.c, see
 * unwinders_prepare()), or nothing if walks are only on the host (memory.c). */
#pragma once
#include <stddef.h>
#include <stdbool.h>
#include <stdint.h>

#include "bpf/walk/unwind.h"

struct bpf_object;

/* Functions return 0 or -errno. lang: enum frame_lang; its values have proc_size bytes, see lang.h. */
struct walk_maps {
	int (*set_table)(struct walk_maps *m, uint32_t file, const void *table, size_t size);
	/* Gives back the kernel's memory of a table; set_table() may follow later. */
	void (*drop_table)(struct walk_maps *m, uint32_t file);
	/* Returns a number, from 1, for a file whose table is expected to have this size (0: unknown): if
	 * possible, one whose table will be available at once. No number is returned twice. */
	uint32_t (*number_file)(struct walk_maps *m, size_t size);
	int (*set_chunk)(struct walk_maps *m, uint32_t pid, uint32_t chunk,
		const struct mapping_chunk *value); /* NULL: delete */
	/* Sets a process's struct STEM_proc; NULL deletes it. */
	int (*set_proc)(struct walk_maps *m, unsigned lang, uint32_t pid, const void *value);
	/* Sets a file's struct STEM_proc, with the file's own addresses. */
	int (*set_file)(struct walk_maps *m, unsigned lang, uint32_t file, const void *value);
	/* Returns the generation that the kernel half gave the process (LANG_BY_KERNEL), or 0 if there is none. */
	uint32_t (*generation)(struct walk_maps *m, unsigned lang, uint32_t pid);
	/* Sets data by which the kernel finds a mapping's file itself, for a file whose table is
	 * there; NULL deletes them. */
	int (*set_inode)(struct walk_maps *m, const struct inode_key *key,
		const struct inode_file *value);
	/* Puts all tables into the kernel's map. Before the first flush() it does nothing, and returns false. */
	bool (*put_tables)(struct walk_maps *m);
	/* When this returns, all tables and mappings are there. Mappings wait for the first call. */
	int (*flush)(struct walk_maps *m);
	/* The start is over: from now on tables of new files come one by one, and shall be available at once. */
	void (*settle)(struct walk_maps *m);
	/* Lets another object, not loaded yet, use these maps, and those of its languages (1 << enum frame_lang). */
	int (*share)(struct walk_maps *m, struct bpf_object *obj, uint32_t languages);
	void (*free)(struct walk_maps *m);
};
