// SPDX-License-Identifier: Apache-2.0
/* python.h - the userspace half of bpf/python.bpf.c, in three parts: what a file says
 * (python_load.c), where things are in a process (python.c), names of code objects
 * (python_code.c). */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "../../bpf/python.h"
#include "unwinder_row.h"

struct elf;
struct frame_name;
struct python_codes;

/* The row of rows.c: finds the eval loop. */
extern const struct unwinder unwinder_python;

/* Where CPython is in a process that has mapped e at bias. musl: by its C library.
 * 0 or -errno: -ENOTSUP: a version nobody has described. */
int python_attach(struct elf *e, uint64_t bias, bool musl, struct python_proc *ret);
/* 0x030b for 3.11; 0: not to be found. */
unsigned python_version(struct elf *e);

/* Reads memory of a process: bytes read or -errno. */
typedef ssize_t (*python_read_fn)(void *arg, uint64_t addr, void *buf, size_t size);

struct python_codes *python_codes_new(void);
void python_codes_free(struct python_codes *c);
/* A RECORD_PYTHON of size bytes; untrusted. */
void python_codes_record(struct python_codes *c, const struct python_code_record *r, size_t size);
/* For a record that the kernel could not read, or not whole: at is of the process. */
void python_codes_read(struct python_codes *c, const struct python_code_record *r,
	const struct python_layout *at, python_read_fn read, void *arg);
/* false: a code object nobody has told of. Strings live as long as c. */
bool python_codes_name(const struct python_codes *c, uint64_t frame, struct frame_name *ret);
