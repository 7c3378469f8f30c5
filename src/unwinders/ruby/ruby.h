// SPDX-License-Identifier: Apache-2.0
/* ruby.h - the userspace half of bpf/lang/ruby.bpf.c: Ruby's row (lang.c), the addresses in a file (ruby.c), names and
 * lines of code objects (code.c), the code that makes frames (push.c), the garbage collector (gc.c). */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/lang/ruby.h"

struct eh_ranges;
struct elf;
struct frame_name;
struct ruby_codes;
struct table_header;

/* Returns 0x0301 for 3.1, or 0 if the file does not define Ruby. */
unsigned ruby_version(struct elf *e);
/* Sets the layout and the file's own addresses. An unknown version has no ec. Returns 0, or -ENOENT if the file is not
 * Ruby's. */
int ruby_open(struct elf *e, struct ruby_proc *ret);
/* Finds the interpreter's loop, vm_exec_core(), for table(). Returns 0, -ENOENT if it is not found, or -errno. */
int ruby_loop(struct elf *e, struct table_header *hdr);
/* Sets ret->pushes and ret->push[], if the file's functions make frames as 2.7 does. */
void ruby_find_pushes(struct elf *e, const struct eh_ranges *ranges, struct ruby_proc *ret);

/* Sets ret->vm, if the collections can be counted, and the members with it. */
void ruby_find_gc(struct elf *e, struct ruby_proc *ret);

/* Reads all of size bytes of a process's memory. Returns 0 on success, -errno on failure. */
typedef int (*ruby_read_fn)(void *arg, uint64_t addr, void *buf, size_t size);

struct ruby_codes *ruby_codes_new(void);
void ruby_codes_free(struct ruby_codes *c);
/* Takes a record of size bytes, which is untrusted, and reads the lines from the process; read NULL: it has ended. */
void ruby_codes_record(struct ruby_codes *c, const struct ruby_code_record *r, size_t size,
	const struct ruby_layout *at, ruby_read_fn read, void *arg);
/* Returns false for an unknown code object. Strings live as long as c. */
bool ruby_codes_name(const struct ruby_codes *c, uint64_t frame, struct frame_name *ret);
