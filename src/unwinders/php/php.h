// SPDX-License-Identifier: Apache-2.0
/* php.h - the userspace half of bpf/lang/php.bpf.c: PHP's row (lang.c), the addresses in a file (php.c),
 * names of functions (code.c). */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/lang/php.h"

struct elf;
struct frame_name;
struct php_codes;

/* The functions of the interpreter's loop; NULL-terminated. */
extern const char *const php_loop[];

/* Returns 0x0802 for 8.2, or 0 if the file does not define PHP. */
unsigned php_version(struct elf *e);
/* Sets the layout and the file's own addresses. An unknown version or build, such as one for threads (ZTS),
 * has no globals. Returns 0, or -ENOENT if the file is not PHP's. */
int php_open(struct elf *e, struct php_proc *ret);

/* Reads all of size bytes of a process's memory. Returns 0 on success, -errno on failure. */
typedef int (*php_read_fn)(void *arg, uint64_t addr, void *buf, size_t size);

struct php_codes *php_codes_new(void);
void php_codes_free(struct php_codes *c);
/* Takes a record of size bytes, which is untrusted. */
void php_codes_record(struct php_codes *c, const struct php_code_record *r, size_t size);
/* Takes a record that the kernel could not read: reads the process's memory, with the layout `at`. */
void php_codes_read(struct php_codes *c, const struct php_code_record *r, const struct php_layout *at,
	php_read_fn read, void *arg);
/* Returns false for an unknown function. Strings live as long as c. */
bool php_codes_name(const struct php_codes *c, uint64_t frame, struct frame_name *ret);
