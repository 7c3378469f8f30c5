// SPDX-License-Identifier: Apache-2.0
/* names.c - names of functions in C: the tables of package.loaded, the registry's "_LOADED".
 *
 * Layouts of lua/lobject.h and lua/lstate.h (Table, Node, TString, global_State) of Lua v5.3.6 and v5.4.7, and of
 * luajit/src/lj_obj.h (GCtab, Node, GCstr, global_State) of LuaJIT 2.1.0-beta3 to 2.1.1761786044. */
#include "names.h"

#include <stdlib.h>
#include <string.h>

#include "base/owner.h"
#include "base/str.h"
#include "unwinders/idmap.h"

enum {
	NODES_MAX = 4096,    /* of one table */
	MODULES_MAX = 512,
	FUNCTIONS_MAX = 16384,
	TEXT_MAX = 64,       /* bytes of a key */
	NODE_MAX = 32,       /* bytes of a node of any version */
	JIT_SHIFT = 47,      /* LuaJIT: the type of a value is above */
	JIT_STRING = 0x1fffb, JIT_TABLE = 0x1fff4, JIT_FUNCTION = 0x1fff7,
};

#define JIT_VALUE ((1ULL << JIT_SHIFT) - 1)

/* Offsets and types of one kind of Lua. */
struct shape {
	uint16_t global, registry; /* lua_State: global_State; global_State: the registry's value */
	uint16_t node;             /* table: its nodes */
	uint16_t node_size, value_type, key, key_type; /* node; the value is at 0 */
};

static const struct shape shapes[] = {
	{ 0x18, 0x40, 24, 24, 8, 16, 9 },   /* Lua 5.4 */
	{ 0x18, 0x40, 24, 32, 8, 16, 24 },  /* Lua 5.3 */
	{ 0x10, 0x110, 0x28, 24, 0, 8, 0 }, /* LuaJIT: types are in the values */
};

enum kind { NONE, STRING, TABLE, FUNCTION, CLOSURE };

struct value {
	enum kind kind;
	uint64_t at;
};

struct lua_functions {
	struct idmap by_addr; /* char * */
	unsigned n;
};

struct scan {
	const struct lua_reader *r;
	const struct shape *shape;
	bool is_jit;
	struct lua_functions *out;
};

static bool read_at(const struct scan *s, uint64_t addr, void *buf, size_t size)
{
	return addr && !s->r->read(s->r->arg, addr, buf, size);
}

static uint64_t word_of(const uint8_t *p)
{
	uint64_t word;

	memcpy(&word, p, sizeof(word));
	return word;
}

/* LUA_T* with the variant; bit 0x40: collectable. */
static struct value value_of(const struct scan *s, uint64_t word, uint8_t type)
{
	uint32_t tag = (uint32_t)(word >> JIT_SHIFT);

	if (s->is_jit)
		return (struct value){ tag == JIT_STRING ? STRING : tag == JIT_TABLE ? TABLE :
			tag == JIT_FUNCTION ? CLOSURE : NONE, word & JIT_VALUE };
	switch (type) {
	case 0x44:
	case 0x54:
		return (struct value){ STRING, word };
	case 0x45:
		return (struct value){ TABLE, word };
	case 0x16:
		return (struct value){ FUNCTION, word };
	case 0x66:
		return (struct value){ CLOSURE, word };
	}
	return (struct value){ NONE, 0 };
}

/* Reads a string of at most TEXT_MAX - 1 bytes that a name can have. */
static bool read_text(const struct scan *s, uint64_t at, char text[TEXT_MAX])
{
	uint8_t head[24];
	size_t size;

	if (!read_at(s, at, head, sizeof(head)))
		return false;
	size = s->is_jit ? (uint32_t)(word_of(head + 16) >> 32) : (head[8] & 0x3f) == 4 ? head[11] : TEXT_MAX;
	if (!size || size >= TEXT_MAX || !read_at(s, at + sizeof(head), text, size))
		return false;
	text[size] = 0;
	return strlen(text) == size;
}

/* Returns the address by which records name a function in C: PUC's function; LuaJIT's, or its number. */
static uint64_t function_of(const struct scan *s, struct value v)
{
	uint8_t words[48];
	uint64_t f = 0;

	if (v.kind == FUNCTION)
		return v.at;
	if (!s->is_jit)
		return read_at(s, v.at + 24, &f, sizeof(f)) ? f : 0;
	if (!read_at(s, v.at, words, sizeof(words)))
		return 0;
	return words[10] == 1 ? word_of(words + 40) : words[10];
}

/* Calls f for each element of a table with a key that is a string. */
static void each(const struct scan *s, uint64_t table, void (*f)(const struct scan *s, const char *key, struct value v,
	void *arg), void *arg)
{
	_cleanup_(freep) uint8_t *nodes = NULL;
	uint8_t head[0x38];
	uint64_t n;

	if (!read_at(s, table, head, sizeof(head)))
		return;
	n = s->is_jit ? (word_of(head + 0x30) >> 32) + 1 : 1ULL << (head[11] & 31);
	if (n > NODES_MAX)
		return;
	nodes = malloc(n * NODE_MAX);
	if (!nodes || !read_at(s, word_of(head + s->shape->node), nodes, n * s->shape->node_size))
		return;
	for (uint64_t i = 0; i < n; i++) {
		const uint8_t *p = nodes + i * s->shape->node_size;
		struct value v = value_of(s, word_of(p), p[s->shape->value_type]);
		struct value key = value_of(s, word_of(p + s->shape->key), p[s->shape->key_type] | 0x40);
		char text[TEXT_MAX];

		if (v.kind && key.kind == STRING && read_text(s, key.at, text))
			f(s, text, v, arg);
	}
}

static void add_function(const struct scan *s, const char *key, struct value v, void *module)
{
	struct str name = {};
	uint64_t addr;

	if ((v.kind != FUNCTION && v.kind != CLOSURE) || s->out->n >= FUNCTIONS_MAX)
		return;
	addr = function_of(s, v);
	if (!addr || idmap_pointer(&s->out->by_addr, addr))
		return;
	if (strcmp(module, "_G") != 0)
		str_addf(&name, "%s.", (const char *)module);
	str_add_safe(&name, key, strlen(key));
	idmap_set(&s->out->by_addr, addr, (uintptr_t)name.data);
	s->out->n++;
}

static void add_module(const struct scan *s, const char *key, struct value v, void *arg)
{
	unsigned *n = arg;
	char name[TEXT_MAX];

	if (v.kind != TABLE || ++*n > MODULES_MAX)
		return;
	strcpy(name, key);
	each(s, v.at, add_function, name);
}

static void find_loaded(const struct scan *s, const char *key, struct value v, void *arg)
{
	uint64_t *loaded = arg;

	if (v.kind == TABLE && !strcmp(key, "_LOADED"))
		*loaded = v.at;
}

struct lua_functions *lua_functions_read(const struct lua_reader *r, const struct lua_code_record *of)
{
	struct scan s = { .r = r, .is_jit = of->kind == LUA_CODE_JIT || of->kind == LUA_CODE_JIT_C };
	uint64_t global = 0, registry = 0, loaded = 0;
	unsigned modules = 0;

	s.shape = &shapes[s.is_jit ? 2 : of->size == 3];
	s.out = calloc(1, sizeof(*s.out));
	if (!s.out || !r->read || !read_at(&s, of->state + s.shape->global, &global, 8) ||
		!read_at(&s, global + s.shape->registry, &registry, 8))
		return s.out;
	each(&s, s.is_jit ? registry & JIT_VALUE : registry, find_loaded, &loaded);
	if (loaded)
		each(&s, loaded, add_module, &modules);
	return s.out;
}

const char *lua_functions_name(const struct lua_functions *f, uint64_t addr)
{
	return f ? idmap_pointer(&f->by_addr, addr) : NULL;
}

void lua_functions_free(struct lua_functions *f)
{
	if (!f)
		return;
	for (size_t i = 0; i < f->by_addr.cap; i++)
		if (f->by_addr.slot[i].key)
			free((void *)(uintptr_t)f->by_addr.slot[i].value);
	idmap_done(&f->by_addr);
	free(f);
}
