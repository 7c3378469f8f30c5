// SPDX-License-Identifier: Apache-2.0
/* sdt.c - reads the notes of USDT probes. */
#include "sdt.h"

#include <elf.h>
#include <string.h>

#include "elf.h"

enum { NT_STAPSDT = 3 };

bool sdt_open(const struct elf *e, struct sdt_notes *ret)
{
	struct elf_section notes, base;

	*ret = (struct sdt_notes){};
	if (elf_is_32(e) || !elf_section(e, ".note.stapsdt", &notes) || !notes.data)
		return false;
	ret->at = notes.data;
	ret->left = notes.size;
	if (elf_section(e, ".stapsdt.base", &base))
		ret->base = base.vaddr;
	return true;
}

static const char *take_string(const uint8_t **at, size_t *left)
{
	const uint8_t *end = memchr(*at, 0, *left), *start = *at;

	if (!end)
		return NULL;
	*left -= (size_t)(end + 1 - start);
	*at = end + 1;
	return (const char *)start;
}

static bool read_desc(const struct sdt_notes *n, const uint8_t *desc, size_t size, struct sdt_note *ret)
{
	uint64_t addresses[3]; /* location, base, semaphore */
	uint64_t moved;

	if (size < sizeof(addresses))
		return false;
	memcpy(addresses, desc, sizeof(addresses));
	desc += sizeof(addresses);
	size -= sizeof(addresses);
	ret->provider = take_string(&desc, &size);
	ret->name = ret->provider ? take_string(&desc, &size) : NULL;
	ret->args = ret->name ? take_string(&desc, &size) : NULL;
	if (!ret->args || !*ret->provider || !*ret->name)
		return false;
	moved = n->base ? n->base - addresses[1] : 0;
	ret->vaddr = addresses[0] + moved;
	ret->semaphore = addresses[2] ? addresses[2] + moved : 0;
	return true;
}

bool sdt_next(struct sdt_notes *n, struct sdt_note *ret)
{
	Elf64_Nhdr head;

	while (n->left >= sizeof(head)) {
		const uint8_t *note = n->at;
		size_t name, desc, whole;

		memcpy(&head, note, sizeof(head));
		name = ((size_t)head.n_namesz + 3) & ~3ul;
		desc = ((size_t)head.n_descsz + 3) & ~3ul;
		whole = sizeof(head) + name + desc;
		if (whole > n->left) /* the last note may lack its padding */
			whole = sizeof(head) + name + head.n_descsz;
		if (whole > n->left)
			break;
		n->at += whole;
		n->left -= whole;
		if (head.n_type == NT_STAPSDT && head.n_namesz == sizeof("stapsdt") &&
			!memcmp(note + sizeof(head), "stapsdt", sizeof("stapsdt")) &&
			read_desc(n, note + sizeof(head) + name, head.n_descsz, ret))
			return true;
	}
	n->left = 0;
	return false;
}
