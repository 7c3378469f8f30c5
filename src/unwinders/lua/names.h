/* SPDX-License-Identifier: Apache-2.0 */
/* names.h - names of functions: those in C by the tables of a process's modules (names.c), those in Lua by the line of
 * their source that defines them (source.c). All data is untrusted. */
#pragma once
#include <stdint.h>

#include "lua.h"

/* Reads a process. */
struct lua_reader {
	lua_read_fn read; /* NULL: it has ended */
	void *arg;
};

/* Names of functions in C of one process. */
struct lua_functions;

/* Reads the modules (package.loaded) of the process that sent the record, as debug.traceback() does. Returns NULL on
 * failure. */
struct lua_functions *lua_functions_read(const struct lua_reader *r, const struct lua_code_record *of);
/* Returns the name, such as "string.gsub", or NULL. */
const char *lua_functions_name(const struct lua_functions *f, uint64_t addr);
void lua_functions_free(struct lua_functions *f);

/* Texts of source files. */
struct lua_sources;
struct sourcemap_files;

struct lua_sources *lua_sources_new(void);
void lua_sources_free(struct lua_sources *s);
void lua_sources_use(struct lua_sources *s, const struct sourcemap_files *files);
/* Returns the name that the line gives to its function, such as "M.price", to be free()d. NULL: none, or more than one
 * function begins there. chunk: the chunk's name of size bytes. */
char *lua_sources_name(struct lua_sources *s, int pid, const char *chunk, size_t size, uint32_t line);
