// SPDX-License-Identifier: Apache-2.0
/* ids.h - programs, maps and links that are in the kernel. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum id_kind { ID_PROG, ID_MAP, ID_LINK, ID_KINDS };

struct ids {
	uint32_t *id[ID_KINDS];
	size_t n[ID_KINDS];
};

/* All ids of the machine; those that this process has open. Free them with ids_done(). */
void ids_all(struct ids *ret);
void ids_open(struct ids *ret);
void ids_done(struct ids *ids);
bool ids_has(const struct ids *ids, enum id_kind kind, uint32_t id);
/* Return the number of IDs of b that are not in a, or that are in a. print: print the first few as comments. */
size_t ids_new(const struct ids *a, const struct ids *b, bool print);
size_t ids_both(const struct ids *a, const struct ids *b, bool print);
/* Returns whether another process has programs or maps open. */
bool ids_elsewhere(void);
