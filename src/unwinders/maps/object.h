/* SPDX-License-Identifier: Apache-2.0 */
/* object.h - the sections of a BPF object in memory, which is changed before libbpf reads it. */
#pragma once
#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A section of the file, within its bounds. */
struct part {
	char *at;
	size_t size;
};

struct object {
	char *elf;
	size_t size;
	Elf64_Shdr *sections;
	unsigned n, names; /* section of the sections' names */
};

bool object_open(struct object *o, void *elf, size_t size);
/* Returns an empty part if the section has no bytes here, or these are not aligned to 8 bytes. */
struct part object_part(const struct object *o, unsigned section);
/* Returns an empty part if the section does not end with NUL. */
struct part object_strings(const struct object *o, unsigned section);
/* Returns the number of the section, or 0 if there is none. */
unsigned object_section(const struct object *o, const char *name);
