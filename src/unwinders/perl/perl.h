/* SPDX-License-Identifier: Apache-2.0 */
/* perl.h - the userspace half of bpf/lang/perl.bpf.c: Perl's row (lang.c), the addresses in a file (perl.c), names of
 * subs (code.c). */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/lang/perl.h"

struct elf;
struct frame_name;
struct perl_codes;
struct table_header;

/* Sets the file's own addresses. An unknown version has no info. Returns 0, or -ENOENT if the file is not Perl's. */
int perl_open(struct elf *e, struct perl_proc *ret);
/* Finds the functions that run operations, and S_docatch(), for table(). Returns 0, or -ENOENT if the file is not
 * Perl's. */
int perl_loops(struct elf *e, struct table_header *hdr);
/* Adds bias to the addresses of a file. */
void perl_move(struct perl_proc *p, uint64_t bias);

struct perl_codes *perl_codes_new(void);
void perl_codes_free(struct perl_codes *c);
/* Takes a record of size bytes, which is untrusted. */
void perl_codes_record(struct perl_codes *c, const struct perl_code_record *r, size_t size);
/* Returns false for an unknown sub. Strings live as long as c. */
bool perl_codes_name(const struct perl_codes *c, uint64_t frame, struct frame_name *ret);
