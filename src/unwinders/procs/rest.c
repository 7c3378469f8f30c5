// SPDX-License-Identifier: Apache-2.0
/* rest.c - see rest.h. */
#include "rest.h"

#include <errno.h>
#include <string.h>

#include "target/elf.h"

/* Maximum distance of the rest of the stack above the copy. */
#define STACK_MAX (1ULL << 30)

int rest_read(struct host_memory *m, uint64_t addr, void *buf, size_t size)
{
	struct rest_memory *r = (struct rest_memory *)m;
	const struct mapping *map = r->mapped ? process_mapping(r->mapped, addr) : NULL;
	const struct file *f;
	const uint8_t *data;

	if (r->stack && !map && (r->anywhere || (addr + size > r->stack && addr + size - r->stack < STACK_MAX))) {
		r->beyond = true;
		if (r->refuse)
			return -EFAULT;
	}
	if (!r->first->read(r->first, addr, buf, size))
		return 0;
	f = map ? files_get(r->files, map->file) : NULL;
	data = f && f->elf ? elf_at(f->elf, addr - map->bias, size) : NULL;
	if (!data)
		return -EFAULT;
	memcpy(buf, data, size);
	return 0;
}
