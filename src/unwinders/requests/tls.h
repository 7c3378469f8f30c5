// SPDX-License-Identifier: Apache-2.0
/* tls.h - finds thread-local variables by their names in ELF files. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "bpf/lib/request.h"

struct elf;

/* Finds the variable's place, by the file's own addresses, which tls_move() changes to those of a process. Returns
 * false if the file neither defines the variable nor has a relocation for it. */
bool tls_find(struct elf *e, const char *name, struct tls_place *ret);
/* bias: address in the process - address in the file. */
void tls_move(struct tls_place *p, uint64_t bias);
