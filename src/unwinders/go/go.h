// SPDX-License-Identifier: Apache-2.0
/* go.h - Go's code: rules by address, from what its linker says of each function. See lang.h. */
#pragma once
#include "bpf/lang/go.h"

struct eh_rows;
struct elf;
struct table_header;

int go_rules(struct elf *e, struct eh_rows *rows);
/* Its code, from the first function to the end of the last, and where goroutines' numbers are. */
int go_table(struct elf *e, struct table_header *hdr);
