// SPDX-License-Identifier: Apache-2.0
/* python.h - the userspace half of bpf/lang/python.bpf.c: the place of a file's eval loop (lang.c); the
 * addresses in a process (python.c), from CPython's own description (offsets.c) and its code (tls.c); names
 * of code objects (code.c). */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "bpf/lang/python.h"

struct elf;
struct frame_name;
struct python_codes;

/* Finds CPython's data, by the file's own addresses. Returns 0 on success, -ENOTSUP if the version is
 * unknown, -errno on other failures. */
int python_open(struct elf *e, struct python_proc *ret);
/* Makes the data for a process that has mapped the file at bias. */
void python_attach(const struct python_proc *file, uint64_t bias, struct python_proc *ret);
/* Sets the places of a thread's specific values, and of the modules' blocks, for the C library that the file uses. */
void python_tsd(struct elf *e, struct python_layout *at);
/* Finds the C library's place of a thread's specific values, by its symbols for debuggers: glibc's struct
 * pthread grows from version to version, and on arm64 it is below the thread pointer. Returns false if this
 * is not glibc, or it has no such symbols. */
bool python_libc(struct elf *libc, struct python_layout *at);
/* Returns 0x030b for 3.11, or 0 if it is not found. */
unsigned python_version(struct elf *e);

/* data: the start of _PyRuntime, as far as the file has it. Sets `at` from its description. Returns 0 on success,
 * 1 if the row of an older version was used, -ENOENT if there is no description, or -EINVAL if it is invalid. */
#define PYTHON_OFFSETS_SIZE 1024
int python_offsets(const void *data, size_t size, unsigned version, struct python_layout *at);
/* Finds the thread-local variable that a function returns, by the file's addresses. */
bool python_tls(struct elf *e, const char *function, struct python_tls *ret);
/* Finds the static int that a function passes to the C library. */
bool python_tss_key(struct elf *e, const char *function, uint64_t *ret);

/* Reads all of size bytes of a process's memory. Returns 0 on success, -errno on failure. */
typedef int (*python_read_fn)(void *arg, uint64_t addr, void *buf, size_t size);

/* Reads a str of at most max characters, as UTF-8, to be free()d. Returns NULL if it is not a readable str. */
char *python_str(const struct python_layout *at, python_read_fn read, void *arg, uint64_t str, uint32_t max);

/* Names threads, and finds the words that say who holds the GIL: threads() of lang.h, for 3.8 on. */
struct lang_process;
struct thread_note;
void python_threads(const struct lang_process *p, struct thread_note *notes, size_t n);

struct python_codes *python_codes_new(void);
void python_codes_free(struct python_codes *c);
/* Takes a RECORD_LANG of size bytes, which is untrusted. */
void python_codes_record(struct python_codes *c, const struct python_code_record *r, size_t size);
/* Takes a record that the kernel could not read completely: reads the process's memory, with the layout `at`. */
void python_codes_read(struct python_codes *c, const struct python_code_record *r,
	const struct python_layout *at, python_read_fn read, void *arg);
/* Returns false for an unknown code object. Strings live as long as c. */
bool python_codes_name(const struct python_codes *c, uint64_t frame, struct frame_name *ret);
