// SPDX-License-Identifier: Apache-2.0
/* code.c - Lua's functions by id: name, file and lines. All data comes from a process's memory: sizes are checked,
 * strings are cut.
 *
 * Lines of a Proto: lobject.h and ldebug.c (luaG_getfuncline()) of v5.4.4, lobject.h of v5.3.6; of a GCproto:
 * lj_debug_line() of src/lj_debug.c. */
#include <stdlib.h>
#include <string.h>

#include "base/owner.h"
#include "base/str.h"
#include "lua.h"
#include "unwinders/idmap.h"
#include "unwinders/unwinders.h"

enum {
	CODES_MAX = 1 << 20,
	POSITIONS_MAX = 1 << 18, /* instructions whose lines are kept */
	PLACES_MAX = 1 << 16,
	ABSOLUTE = -128,     /* ABSLINEINFO of ldebug.h: the line is in the next AbsLineInfo */
	TEXT_MAX = 40,       /* bytes of a chunk's text that are its name */
	LINE_MAX = 1 << 28,
	JIT_LINES = 0x4c,    /* GCproto: numline, lineinfo */
	JIT_LINEINFO = 0x50,
};

struct lua_code {
	char *name, *file;
	uint32_t first_line, n;
	uint32_t *lines; /* by instruction; NULL: unknown */
};

struct lua_codes {
	struct idmap by_id; /* struct lua_code * */
};

struct reader {
	const struct lua_layout *at;
	lua_read_fn read;
	void *arg;
};

static bool read_at(const struct reader *r, uint64_t addr, void *buf, size_t size)
{
	return addr && !r->read(r->arg, addr, buf, size);
}

/* ---- lines ---- */

struct place {
	int32_t at, line; /* AbsLineInfo */
};

static void fill_deltas(struct lua_code *c, const int8_t *deltas, const struct place *places, uint32_t nplaces)
{
	int64_t line = c->first_line;
	uint32_t k = 0;

	for (uint32_t i = 0; i < c->n; i++) {
		if (deltas[i] != ABSOLUTE)
			line += deltas[i];
		else if (k < nplaces)
			line = places[k++].line;
		if (line < 0 || line > LINE_MAX)
			return;
		c->lines[i] = (uint32_t)line;
	}
}

static void read_deltas(const struct reader *r, uint64_t proto, uint64_t at, struct lua_code *c)
{
	_cleanup_(freep) struct place *places = NULL;
	_cleanup_(freep) int8_t *deltas = malloc(c->n);
	uint64_t from = 0;
	uint32_t n = 0;

	if (!deltas || !read_at(r, at, deltas, c->n) || !read_at(r, proto + r->at->places_size, &n, 4) ||
		n > PLACES_MAX || !read_at(r, proto + r->at->places, &from, 8))
		return;
	places = calloc(n + 1, sizeof(*places));
	if (places && (!n || read_at(r, from, places, n * sizeof(*places))))
		fill_deltas(c, deltas, places, n);
}

static void read_lines(const struct reader *r, uint64_t proto, struct lua_code *c)
{
	uint32_t n = 0;
	uint64_t at = 0;

	if (!read_at(r, proto + r->at->lines_size, &n, 4) || n < c->n || !read_at(r, proto + r->at->lines, &at, 8))
		return; /* without debug information the size is 0 */
	if (r->at->places)
		read_deltas(r, proto, at, c);
	else
		read_at(r, at, c->lines, 4 * (size_t)c->n);
}

static void read_jit_lines(const struct reader *r, uint64_t proto, struct lua_code *c)
{
	_cleanup_(freep) uint8_t *info = NULL;
	uint64_t at = 0;
	uint32_t lines = 0, size;

	if (!read_at(r, proto + JIT_LINES, &lines, 4) || !read_at(r, proto + JIT_LINEINFO, &at, 8) || !at)
		return;
	size = lines < 256 ? 1 : lines < 65536 ? 2 : 4;
	info = calloc(c->n, size);
	if (!info || !read_at(r, at, info, (size_t)size * (c->n - 1)))
		return;
	for (uint32_t i = 0; i < c->n; i++) {
		uint32_t line = 0;

		if (i)
			memcpy(&line, info + (size_t)size * (i - 1), size);
		c->lines[i] = c->first_line + line;
	}
}

/* ---- the store ---- */

struct lua_codes *lua_codes_new(void)
{
	return calloc(1, sizeof(struct lua_codes));
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

static char *function_name(const struct lua_code *c)
{
	struct str s = {};

	if (!c->first_line)
		return strdup("main chunk");
	str_addf(&s, "function <%s:%u>", c->file ? c->file : "?", c->first_line);
	return s.data;
}

static struct lua_code *make_code(const struct lua_code_record *r, const struct reader *reader)
{
	struct lua_code *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	if (r->kind >= LUA_CODE_PUC_C) {
		c->name = strdup("[C]");
		return c;
	}
	c->file = chunk_name((const char *)r->name, r->name_size);
	c->first_line = r->first_line < LINE_MAX ? r->first_line : 0;
	c->name = function_name(c);
	c->n = r->size < POSITIONS_MAX ? r->size : POSITIONS_MAX;
	c->lines = c->n && reader->read ? calloc(c->n, sizeof(*c->lines)) : NULL;
	if (!c->lines)
		c->n = 0;
	else if (r->kind == LUA_CODE_JIT)
		read_jit_lines(reader, r->addr, c);
	else
		read_lines(reader, r->addr, c);
	return c;
}

void lua_codes_record(struct lua_codes *c, const struct lua_code_record *r, size_t size, const struct lua_layout *at,
	lua_read_fn read, void *arg)
{
	size_t head = offsetof(struct lua_code_record, name);
	struct reader reader = { at, at ? read : NULL, arg };
	struct lua_code *code;

	if (size < head || (r->flags & LUA_UNREADABLE) || r->kind >= LUA_CODE_KINDS || r->name_size > size - head ||
		!r->code || idmap_pointer(&c->by_id, r->code) || c->by_id.n >= CODES_MAX)
		return;
	code = make_code(r, &reader);
	if (code)
		idmap_set(&c->by_id, r->code, (uintptr_t)code);
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
	return true;
}
