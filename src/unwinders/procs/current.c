// SPDX-License-Identifier: Apache-2.0
#include "current.h"

#include "bpf/walk/unwind.h"
#include "target/target.h"
#include "unwinders/procs/file.h"

#define NOT_FILES (MAPPING_ANON | MAPPING_VDSO | MAPPING_UPROBES)

void current_read(struct current *c, struct target *t, uint32_t pid)
{
	ssize_t n = proc_maps(t, (int)pid, &c->maps);

	c->n = n < 0 ? 0 : (size_t)n;
}

/* Returns the mapping that contains the address, or NULL. *from: the place in c->maps where the search begins. */
static const struct proc_map *mapping_at(const struct current *c, uint64_t addr, size_t *from)
{
	while (*from < c->n && c->maps[*from].end <= addr)
		++*from;
	return *from < c->n && c->maps[*from].start <= addr ? &c->maps[*from] : NULL;
}

void current_only(const struct current *c, struct mapping_chunk *chunk)
{
	size_t from = 0;

	for (uint32_t i = 0; c->maps && i < chunk->n; i++) {
		struct mapping *m = &chunk->map[i];
		const struct proc_map *now = mapping_at(c, m->start, &from);
		const struct file *f = now ? files_known(c->files, now) : NULL;

		if (m->file && !(m->flags & NOT_FILES) && (!f || f->id != m->file))
			m->end = m->start;
	}
}
