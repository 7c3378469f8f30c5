// SPDX-License-Identifier: Apache-2.0
/* luacode.c - any bytes as the record of a Lua function from the ring buffer, and as the memory of its process, in
 * which the names of functions in C are searched: tables, nodes, strings. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "unwinders/lua/lua.h"
#include "unwinders/unwinders.h"

enum { HEAD = offsetof(struct lua_code_record, places), READS_MAX = 20000 };

struct memory {
	const uint8_t *data;
	size_t size;
	unsigned reads;
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Each address is valid: the bytes repeat. */
static int read_memory(void *arg, uint64_t addr, void *buf, size_t size)
{
	struct memory *m = arg;
	uint8_t *out = buf;

	if (!m->size || ++m->reads > READS_MAX)
		return -1;
	for (size_t i = 0; i < size; i++)
		out[i] = m->data[(addr + i) % m->size];
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t whole = offsetof(struct lua_code_record, lines) + size % 600;
	struct memory memory = { data, size, 0 };
	struct lua_codes *c = lua_codes_new();
	struct lua_code_record *r;
	struct frame_name n;

	/* Exactly the record's size, so that the sanitizer reports reads after it. */
	r = calloc(1, whole);
	memcpy(r, data, size < HEAD ? size : HEAD);
	r->flags &= 1;
	r->kind &= 7;
	r->name_size &= 2047;
	r->lines_size &= 1023;
	r->nplaces &= 127;
	if (size > HEAD)
		memcpy(r->name, data + HEAD, size - HEAD < LUA_NAME_MAX ? size - HEAD : LUA_NAME_MAX);
	if (size > HEAD)
		memcpy(r->lines, data + HEAD, size - HEAD < size % 600 ? size - HEAD : size % 600);
	lua_codes_record(c, r, whole, read_memory, &memory);
	if (lua_codes_name(c, FRAME_LUA(r->code & ((1ULL << LUA_CODE_BITS) - 1), size), &n) &&
		(!n.name || strlen(n.name) > 2 * LUA_NAME_MAX || (n.file && strlen(n.file) > LUA_NAME_MAX + 16)))
		abort();
	free(r);
	lua_codes_free(c);
	return 0;
}
