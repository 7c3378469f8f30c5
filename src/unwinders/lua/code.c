// SPDX-License-Identifier: Apache-2.0
/* code.c - Lua's functions by id: name, file and lines. All data comes from a process's memory: sizes are checked,
 * strings are cut.
 *
 * Lines of a Proto: lobject.h and ldebug.c (luaG_getfuncline()) of v5.4.4, lobject.h of v5.3.6; of a GCproto:
 * lj_debug_line() of luajit/src/lj_debug.c. */
#include <stdlib.h>
#include <string.h>

#include "base/owner.h"
#include "base/str.h"
#include "lua.h"
#include "names.h"
#include "unwinders/idmap.h"
#include "unwinders/unwinders.h"

enum {
	CODES_MAX = 1 << 20,
	READS_MAX = 1 << 12, /* searches for the names of functions in C */
	ABSOLUTE = -128,     /* ABSLINEINFO of ldebug.h: the line is in the next AbsLineInfo */
	TEXT_MAX = 40,       /* bytes of a chunk's text that are its name */
	LINES_MAX = 1 << 28,
};

struct lua_code {
	char *name, *file;
	uint32_t first_line, n;
	uint32_t *lines; /* by instruction; NULL: unknown */
};

struct lua_codes {
	struct idmap by_id; /* struct lua_code * */
	struct lua_sources *sources;
	/* Those of the process that was read last. */
	struct lua_functions *functions;
	uint32_t pid;
	unsigned reads;
};

/* ---- lines ---- */

struct place {
	int32_t at, line; /* AbsLineInfo */
};

static void fill_deltas(struct lua_code *c, const struct lua_code_record *r)
{
	const struct place *places = (const void *)r->places;
	const int8_t *deltas = (const void *)r->lines;
	int64_t line = c->first_line;
	uint32_t k = 0;

	for (uint32_t i = 0; i < c->n; i++) {
		if (deltas[i] != ABSOLUTE)
			line += deltas[i];
		else if (k < r->nplaces)
			line = places[k++].line;
		else
			return;
		if (line < 0 || line > LINES_MAX)
			return;
		c->lines[i] = (uint32_t)line;
	}
}

/* The first instruction begins the function. */
static void fill_jit(struct lua_code *c, const struct lua_code_record *r)
{
	uint32_t size = r->last_line < 256 ? 1 : r->last_line < 65536 ? 2 : 4;

	for (uint32_t i = 0; i < c->n; i++) {
		uint32_t line = 0;

		if (i)
			memcpy(&line, (const uint8_t *)r->lines + (size_t)size * (i - 1), size);
		c->lines[i] = c->first_line + line;
	}
}

static void fill_lines(struct lua_code *c, const struct lua_code_record *r)
{
	uint64_t size = r->lines_size;

	if (!size)
		return;
	if (r->kind == LUA_CODE_JIT)
		c->n = (uint32_t)(size / (r->last_line < 256 ? 1 : r->last_line < 65536 ? 2 : 4) + 1);
	else
		c->n = (uint32_t)(size == r->size ? size : size / 4);
	c->n = c->n < r->size ? c->n : r->size;
	c->lines = calloc(c->n + 1, sizeof(*c->lines));
	if (!c->lines)
		return;
	if (r->kind == LUA_CODE_JIT)
		fill_jit(c, r);
	else if (size == r->size)
		fill_deltas(c, r);
	else
		memcpy(c->lines, r->lines, 4 * (size_t)c->n);
}

/* ---- the store ---- */

struct lua_codes *lua_codes_new(void)
{
	struct lua_codes *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->sources = lua_sources_new();
	if (!c->sources) {
		free(c);
		return NULL;
	}
	return c;
}

void lua_codes_use_files(struct lua_codes *c, const struct sourcemap_files *files)
{
	lua_sources_use(c->sources, files);
}

static void code_free(struct lua_code *c)
{
	free(c->name);
	free(c->file);
	free(c->lines);
	free(c);
}

void lua_codes_free(struct lua_codes *c)
{
	if (!c)
		return;
	for (size_t i = 0; i < c->by_id.cap; i++)
		if (c->by_id.slot[i].key)
			code_free((void *)(uintptr_t)c->by_id.slot[i].value);
	idmap_done(&c->by_id);
	lua_functions_free(c->functions);
	lua_sources_free(c->sources);
	free(c);
}

/* Returns the name of a chunk as Lua's messages have it, to be free()d. */
static char *chunk_name(const char *text, size_t size)
{
	size_t line = 0;
	struct str s = {};

	if (size && (*text == '@' || *text == '='))
		return strndup(text + 1, size - 1);
	while (line < size && line < TEXT_MAX && text[line] && text[line] != '\n')
		line++;
	str_add(&s, "[string \"");
	str_addn(&s, text, line);
	str_add(&s, line < size ? "...\"]" : "\"]");
	return s.data;
}

static char *function_name(struct lua_codes *codes, const struct lua_code *c, const struct lua_code_record *r)
{
	struct str s = {};
	char *name;

	if (!c->first_line)
		return strdup("main chunk");
	name = lua_sources_name(codes->sources, (int)r->head.pid, (const char *)r->name, r->name_size, c->first_line);
	if (name)
		return name;
	str_addf(&s, "function <%s:%u>", c->file ? c->file : "?", c->first_line);
	return s.data;
}

/* Returns the name of a function in C, to be free()d: that of its module. */
static char *c_name(struct lua_codes *c, const struct lua_code_record *r, const struct lua_reader *reader)
{
	const char *name = c->pid == r->head.pid ? lua_functions_name(c->functions, r->addr) : NULL;

	if (!name && reader->read && c->reads < READS_MAX) {
		c->reads++;
		lua_functions_free(c->functions);
		c->functions = lua_functions_read(reader, r);
		c->pid = r->head.pid;
		name = lua_functions_name(c->functions, r->addr);
	}
	return strdup(name ? name : "[C]");
}

static struct lua_code *make_code(struct lua_codes *codes, const struct lua_code_record *r,
	const struct lua_reader *reader)
{
	struct lua_code *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	if (r->kind >= LUA_CODE_PUC_C) {
		c->name = c_name(codes, r, reader);
		return c;
	}
	c->file = chunk_name((const char *)r->name, r->name_size);
	c->first_line = r->first_line < LINES_MAX ? r->first_line : 0;
	c->name = function_name(codes, c, r);
	fill_lines(c, r);
	return c;
}

bool lua_codes_record(struct lua_codes *c, const struct lua_code_record *r, size_t size, lua_read_fn read, void *arg)
{
	size_t head = offsetof(struct lua_code_record, lines);
	struct lua_reader reader = { read, arg };
	unsigned reads = c->reads;
	struct lua_code *code;

	if (size < head || (r->flags & LUA_UNREADABLE) || r->kind >= LUA_CODE_KINDS || r->name_size > LUA_NAME_MAX ||
		r->lines_size > size - head || r->nplaces > LUA_PLACES_MAX || !r->code ||
		idmap_pointer(&c->by_id, r->code) || c->by_id.n >= CODES_MAX)
		return false;
	code = make_code(c, r, &reader);
	if (code)
		idmap_set(&c->by_id, r->code, (uintptr_t)code);
	return c->reads != reads;
}

bool lua_codes_name(const struct lua_codes *c, uint64_t frame, struct frame_name *ret)
{
	uint64_t id = frame >> 20 & ((1ULL << LUA_CODE_BITS) - 1), at = frame & LUA_AT_MAX;
	const struct lua_code *code = idmap_pointer(&c->by_id, id);

	*ret = (struct frame_name){ .lang = FRAME_LANG_LUA };
	if (!code)
		return false;
	ret->name = code->name;
	ret->file = code->file;
	ret->line = code->lines && at < code->n ? code->lines[at] : 0;
	ret->begins = ret->line ? 0 : code->first_line;
	ret->lacks_inlined = frame & LUA_HIDES;
	return true;
}
