// SPDX-License-Identifier: Apache-2.0
/* memory.c - maps for walks on the host, which read files' tables and processes' mappings in place:
 * nothing needs to be written. */
#include <errno.h>
#include <stdlib.h>

#include "maps.h"
#include "unwinders/unwinders.h"

struct maps_memory {
	struct walk_maps maps;
	uint32_t given; /* highest number given */
};

static int set_table(struct walk_maps *m, uint32_t file, const void *table, size_t size)
{
	return 0;
}

static void drop_table(struct walk_maps *m, uint32_t file)
{
}

static uint32_t number_file(struct walk_maps *m, size_t size)
{
	return ++((struct maps_memory *)m)->given;
}

static int set_chunk(struct walk_maps *m, uint32_t pid, uint32_t chunk, const struct mapping_chunk *value)
{
	return 0;
}

static int set_lang(struct walk_maps *m, unsigned lang, uint32_t key, const void *value)
{
	return 0;
}

static uint32_t generation(struct walk_maps *m, unsigned lang, uint32_t pid)
{
	return 0;
}

static int set_inode(struct walk_maps *m, const struct inode_key *key, const struct inode_file *value)
{
	return 0;
}

static bool put_tables(struct walk_maps *m)
{
	return false;
}

static int flush(struct walk_maps *m)
{
	return 0;
}

static void settle(struct walk_maps *m)
{
}

static int share(struct walk_maps *m, struct bpf_object *obj, uint32_t languages)
{
	return -ENOENT; /* there are none */
}

static void maps_free(struct walk_maps *m)
{
	free(m);
}

int walk_maps_memory(struct walk_maps **ret)
{
	struct maps_memory *s = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	s->maps = (struct walk_maps){ set_table, drop_table, number_file, set_chunk, set_lang, set_lang, generation,
		set_inode, put_tables, flush, settle, share, maps_free };
	*ret = &s->maps;
	return 0;
}
