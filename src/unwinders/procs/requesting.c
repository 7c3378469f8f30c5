// SPDX-License-Identifier: Apache-2.0
/* requesting.c - see requesting.h. */
#include "requesting.h"

#include <stdlib.h>
#include <string.h>

#include "target/elf.h"
#include "unwinders/requests/requests.h"

/* The dynamic linker of musl is its C library. */
static bool is_musl(const struct file *f)
{
	const char *interp = elf_interp(f->elf);

	return interp && strstr(interp, "/ld-musl-");
}

static void look(struct file *f)
{
	struct request_file found;

	f->request_sought = true;
	if (!request_file_find(f->elf, &found))
		return;
	f->request = malloc(sizeof(found));
	if (f->request)
		*f->request = found;
}

void requesting_file(struct requests *rs, const struct process *p, struct file *f, uint64_t bias)
{
	if (!rs || !f || !f->elf)
		return;
	if (!f->request_sought)
		look(f);
	if (f->request)
		requests_file(rs, p->pid, f->request, bias);
	if (is_musl(f))
		requests_musl(rs, p->pid);
}

void requesting_process(struct requests *rs, const struct process *p, const struct files *fs)
{
	for (size_t i = 0; i < p->nmaps; i++) {
		struct file *f = p->maps[i].flags & MAPPING_ANON ? NULL : files_get(fs, p->maps[i].file);

		requesting_file(rs, p, f, p->maps[i].bias);
	}
	requests_process(rs, p->pid);
}
