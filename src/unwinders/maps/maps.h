// SPDX-License-Identifier: Apache-2.0
/* maps.h - the maps that the walk reads, as the rest of src/unwinders/ writes them: BPF maps
 * (bpf.c, see unwinders_prepare()), or nothing where walks are on the host alone (memory.c). */
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "bpf/walk/unwind.h"

/* Each: 0 or -errno. lang: enum frame_lang; values of proc_size bytes of that, see lang.h. */
struct walk_maps {
	int (*set_table)(struct walk_maps *m, uint32_t file, const void *table, size_t size);
	/* Gives back what the kernel has of it; set_table() may come again. */
	void (*drop_table)(struct walk_maps *m, uint32_t file);
	/* A number, from 1, for a file whose table is of this size as far as is known (0: it is
	 * not): if it can be, one whose table will be there at once. None comes twice. */
	uint32_t (*number_file)(struct walk_maps *m, size_t size);
	int (*set_chunk)(struct walk_maps *m, uint32_t pid, uint32_t chunk,
		const struct mapping_chunk *value); /* NULL: delete */
	/* A process' struct STEM_proc; NULL: delete. */
	int (*set_proc)(struct walk_maps *m, unsigned lang, uint32_t pid, const void *value);
	/* The same of a file, with the file's own addresses. */
	int (*set_file)(struct walk_maps *m, unsigned lang, uint32_t file, const void *value);
	/* The generation that the kernel half gave the process (LANG_BY_KERNEL); 0: it has not. */
	uint32_t (*generation)(struct walk_maps *m, unsigned lang, uint32_t pid);
	/* Where the kernel may look a mapping up by itself; of a file that has its table. NULL:
	 * delete. */
	int (*set_inode)(struct walk_maps *m, const struct inode_key *key,
		const struct inode_file *value);
	/* What was set is there when this returns. Mappings wait for the first one. */
	int (*flush)(struct walk_maps *m);
	void (*free)(struct walk_maps *m);
};
