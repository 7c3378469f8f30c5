// SPDX-License-Identifier: Apache-2.0
/* memory.h - handles running out of memory. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Ends the program with status 1, after an error that names the limit. Nothing is freed. */
_Noreturn void out_of_memory(void);
/* Writes the limit that was hit, for a message: "ulimit -v is 200000 KiB". Returns false if strata has no limit. */
bool memory_limit(char *ret, size_t size);
/* Returns the bytes of this process in RAM. */
uint64_t memory_resident(void);
/* Asks the kernel for huge pages for memory that will be filled completely. Without them, the kernel is entered for
 * each 4 KiB. Does nothing for less than 4 MiB. */
void memory_use_huge_pages(void *p, size_t size);
