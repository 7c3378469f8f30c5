// SPDX-License-Identifier: Apache-2.0
/* php.h - the userspace half of bpf/lang/php.bpf.c: PHP's row (lang.c), where things are in a file
 * (php.c), names of functions (code.c). */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/lang/php.h"

struct elf;
struct frame_name;
struct php_codes;

/* The functions that are the interpreter's loop; NULL-terminated. */
extern const char *const php_loop[];

/* 0x0802 for 8.2; 0: the file does not define PHP. */
unsigned php_version(struct elf *e);
/* Where things are, by the file's own addresses. Of a version or a build that is not known, as one
 * for threads (ZTS), there are no globals. 0, or -ENOENT: it is not PHP. */
int php_open(struct elf *e, struct php_proc *ret);

/* Reads memory of a process: all of size bytes: 0; or -errno. */
typedef int (*php_read_fn)(void *arg, uint64_t addr, void *buf, size_t size);

struct php_codes *php_codes_new(void);
void php_codes_free(struct php_codes *c);
/* A record of size bytes; untrusted. */
void php_codes_record(struct php_codes *c, const struct php_code_record *r, size_t size);
/* For a record that the kernel could not read: at is of the process. */
void php_codes_read(struct php_codes *c, const struct php_code_record *r, const struct php_layout *at,
	php_read_fn read, void *arg);
/* false: unknown function. Strings live as long as c. */
bool php_codes_name(const struct php_codes *c, uint64_t frame, struct frame_name *ret);
