// SPDX-License-Identifier: Apache-2.0
/* object.c - see object.h. ELF: System V gABI. */
#include "object.h"

#include <string.h>

bool object_open(struct object *o, void *elf, size_t size)
{
	const Elf64_Ehdr *h = elf;

	*o = (struct object){.elf = elf, .size = size};
	if (size < sizeof(*h) || memcmp(h->e_ident, ELFMAG, SELFMAG) || h->e_ident[EI_CLASS] != ELFCLASS64 ||
		h->e_shentsize != sizeof(Elf64_Shdr) || h->e_shoff > size || h->e_shoff % 8 ||
		h->e_shnum > (size - h->e_shoff) / sizeof(Elf64_Shdr))
		return false;
	o->sections = (void *)(o->elf + h->e_shoff);
	o->n = h->e_shnum;
	o->names = h->e_shstrndx;
	return true;
}

struct part object_part(const struct object *o, unsigned section)
{
	const Elf64_Shdr *s = section < o->n ? &o->sections[section] : NULL;

	if (!s || s->sh_type == SHT_NOBITS || s->sh_offset > o->size || s->sh_size > o->size - s->sh_offset ||
		s->sh_offset % 8)
		return (struct part){};
	return (struct part){o->elf + s->sh_offset, s->sh_size};
}

/* Strings may begin at any address. */
struct part object_strings(const struct object *o, unsigned section)
{
	const Elf64_Shdr *s = section < o->n ? &o->sections[section] : NULL;

	if (!s || s->sh_offset > o->size || s->sh_size > o->size - s->sh_offset || !s->sh_size ||
		o->elf[s->sh_offset + s->sh_size - 1])
		return (struct part){};
	return (struct part){o->elf + s->sh_offset, s->sh_size};
}

unsigned object_section(const struct object *o, const char *name)
{
	struct part names = object_strings(o, o->names);

	for (unsigned i = 1; i < o->n; i++)
		if (o->sections[i].sh_name < names.size && !strcmp(names.at + o->sections[i].sh_name, name))
			return i;
	return 0;
}
