// SPDX-License-Identifier: Apache-2.0
/* sink_memory.c - for walks on the host, which read files' tables and processes'
 * mappings where they are: nothing needs to be written anywhere. */
#include <errno.h>
#include <stdlib.h>

#include "unwinders/unwinders.h"

static int set_table(struct unwind_sink *s, uint32_t file, const void *table, size_t size)
{
	return 0;
}

static void drop_table(struct unwind_sink *s, uint32_t file)
{
}

static uint32_t take_room(struct unwind_sink *s, size_t size)
{
	return 0;
}

static int set_chunk(struct unwind_sink *s, uint32_t pid, uint32_t chunk,
	const struct mapping_chunk *value)
{
	return 0;
}

static int set_python(struct unwind_sink *s, uint32_t pid, const void *value, size_t size)
{
	return 0;
}

static int set_v8(struct unwind_sink *s, uint32_t pid, const void *value, size_t size)
{
	return 0;
}

static int set_python_file(struct unwind_sink *s, uint32_t file, const void *value, size_t size)
{
	return 0;
}

static uint32_t v8_born(struct unwind_sink *s, uint32_t pid)
{
	return 0;
}

static int set_v8_file(struct unwind_sink *s, uint32_t file, const void *value, size_t size)
{
	return 0;
}

static int set_inode(struct unwind_sink *s, const struct inode_key *key,
	const struct inode_file *value)
{
	return 0;
}

static int flush(struct unwind_sink *s)
{
	return 0;
}

static void sink_free(struct unwind_sink *s)
{
	free(s);
}

int unwind_sink_memory(struct unwind_sink **ret)
{
	struct unwind_sink *s = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	*s = (struct unwind_sink){ set_table, drop_table, take_room, set_chunk, set_python,
		set_v8, v8_born, set_python_file, set_v8_file, set_inode, flush,
		sink_free };
	*ret = s;
	return 0;
}
