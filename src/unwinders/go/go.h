// SPDX-License-Identifier: Apache-2.0
/* go.h - Go's code: rules by address, from the linker's table of functions. See lang.h. */
#pragma once
#include "bpf/lang/go.h"

struct eh_rows;
struct elf;
struct table_header;

int go_rules(struct elf *e, struct eh_rows *rows);
/* Sets the range of Go's code, from the first function to the end of the last, and the
 * place of goroutines' numbers. */
int go_table(struct elf *e, struct table_header *hdr);
