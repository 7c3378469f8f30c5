// SPDX-License-Identifier: Apache-2.0
/* lang.c - Lua's row. */
#include "unwinders/lang.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lua.h"
#include "unwinders/native/ehframe.h"

static int table(struct elf *e, struct table_header *hdr)
{
	struct eh_range loop;
	struct lua_proc proc;
	int err = lua_open(e, &proc, &loop);

	if (err)
		return err;
	if (loop.start >= loop.end || loop.start < hdr->base || loop.end - hdr->base > UINT32_MAX)
		return -ENOENT;
	hdr->flags |= TABLE_LANG(FRAME_LANG_LUA);
	hdr->nranges = 1;
	hdr->range[0].start = (uint32_t)(loop.start - hdr->base);
	hdr->range[0].end = (uint32_t)(loop.end - hdr->base);
	return 0;
}

static int rules(struct elf *e, struct eh_rows *rows)
{
	return luajit_rules(e, rows);
}

static int find(struct elf *e, void *ret)
{
	struct eh_range loop;

	return lua_open(e, ret, &loop);
}

static int open_file(const struct lang_file *f, void **ret)
{
	return lang_open_proc(f, &lang_lua, find, ret);
}

static int attach(const struct lang_file *f, const struct mapping *m, bool is_first, void *proc)
{
	if (!f->opened)
		return -ENOENT;
	if (is_first)
		memcpy(proc, f->opened, sizeof(struct lua_proc));
	return 0;
}

/* LuaJIT's traces are in anonymous memory, which perf names "//anon". The kernel half checks each frame. */
static bool compiles(const char *path)
{
	return true;
}

static void *names_new(void)
{
	return lua_codes_new();
}

static void names_free(void *names)
{
	lua_codes_free(names);
}

static bool record(void *names, const struct lang_record *head, size_t size, const struct lang_process *p)
{
	return lua_codes_record(names, (const void *)head, size, p ? p->read : NULL, p ? p->arg : NULL);
}

static void use_files(void *names, const struct sourcemap_files *files)
{
	lua_codes_use_files(names, files);
}

static bool name(const void *names, uint64_t frame, struct frame_name *ret)
{
	return lua_codes_name(names, frame, ret);
}

const struct lang lang_lua = {
	.name = "lua",
	.program = "lua",
	.version = 6,
	.proc_size = sizeof(struct lua_proc),
	.table = table,
	.rules = rules,
	.open = open_file,
	.close = free,
	.attach = attach,
	.compiles = compiles,
	.names_new = names_new,
	.names_free = names_free,
	.use_files = use_files,
	.record = record,
	.name_frame = name,
};
