// SPDX-License-Identifier: Apache-2.0
/* python.h - the userspace half of bpf/lang/python.bpf.c: where a file's eval loop is (lang.c),
 * where things are in a process (python.c) by what CPython says (offsets.c) and does (tls.c),
 * names of code objects (code.c). */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "bpf/lang/python.h"

struct elf;
struct frame_name;
struct python_codes;

/* Where CPython is, by the file's own addresses. 0 or -errno: -ENOTSUP: a version nobody has
 * described. */
int python_open(struct elf *e, struct python_proc *ret);
/* The same in a process that has mapped the file at bias. */
void python_attach(const struct python_proc *file, uint64_t bias, struct python_proc *ret);
/* Where the C library keeps a thread's specific values, by its symbols for debuggers: glibc's
 * struct pthread grows with its versions, and on arm64 lies below the thread pointer. false:
 * it is not glibc, or has no such symbols. */
bool python_libc(struct elf *libc, struct python_layout *at);
/* 0x030b for 3.11; 0: not to be found. */
unsigned python_version(struct elf *e);

/* The start of _PyRuntime, as far as it is there; sets in at what it says. 0; 1: by
 * the rules of an older version, or -errno: -ENOENT: it says nothing; -EINVAL: nonsense. */
#define PYTHON_OFFSETS_SIZE 1024
int python_offsets(const void *data, size_t size, unsigned version, struct python_layout *at);
/* The thread-local variable that a function returns, by the file's addresses. */
bool python_tls(struct elf *e, const char *function, struct python_tls *ret);
/* The static int that a function has the C library look up. */
bool python_tss_key(struct elf *e, const char *function, uint64_t *ret);

/* Reads memory of a process: all of size bytes: 0; or -errno. */
typedef int (*python_read_fn)(void *arg, uint64_t addr, void *buf, size_t size);

struct python_codes *python_codes_new(void);
void python_codes_free(struct python_codes *c);
/* A RECORD_PYTHON of size bytes; untrusted. */
void python_codes_record(struct python_codes *c, const struct python_code_record *r, size_t size);
/* For a record that the kernel could not read, or not whole: at is of the process. */
void python_codes_read(struct python_codes *c, const struct python_code_record *r,
	const struct python_layout *at, python_read_fn read, void *arg);
/* false: unknown code object. Strings live as long as c. */
bool python_codes_name(const struct python_codes *c, uint64_t frame, struct frame_name *ret);
