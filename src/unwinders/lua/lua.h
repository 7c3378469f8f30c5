/* SPDX-License-Identifier: Apache-2.0 */
/* lua.h - the userspace half of bpf/lang/lua.bpf.c: Lua's row (lang.c), the interpreter's loop in a file (lua.c for
 * PUC's Lua, luajit.c), names and lines of functions (code.c). */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/lang/lua.h"

struct eh_range;
struct eh_rows;
struct elf;
struct frame_name;
struct lua_codes;
struct sourcemap_files;

/* Returns the place of a text in the file's constants, or NULL. */
const uint8_t *lua_text(const struct elf *e, const char *text);
/* Sets the layout of a file's Lua, and its loop's code (empty: not found). Returns 0, or -ENOENT if the file does not
 * define Lua. */
int lua_open(struct elf *e, struct lua_proc *ret, struct eh_range *loop);
/* The same for LuaJIT only. */
int luajit_open(struct elf *e, struct lua_proc *ret, struct eh_range *loop);

/* Makes the rules of the VM exact where it saves and restores registers; .eh_frame has one for all of it. Returns 0 on
 * success, -errno on failure. */
int luajit_rules(struct elf *e, struct eh_rows *rows);

/* Reads all of size bytes of a process's memory. Returns 0 on success, -errno on failure. */
typedef int (*lua_read_fn)(void *arg, uint64_t addr, void *buf, size_t size);

struct lua_codes *lua_codes_new(void);
void lua_codes_free(struct lua_codes *c);
/* Source files may be read. files is copied. */
void lua_codes_use_files(struct lua_codes *c, const struct sourcemap_files *files);
/* Takes a record of size bytes, which is untrusted. read NULL: the process has ended. Returns whether it read the
 * process. */
bool lua_codes_record(struct lua_codes *c, const struct lua_code_record *r, size_t size, lua_read_fn read, void *arg);
/* Returns false for an unknown function. Strings live as long as c. */
bool lua_codes_name(const struct lua_codes *c, uint64_t frame, struct frame_name *ret);
