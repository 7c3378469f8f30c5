// SPDX-License-Identifier: Apache-2.0
/* requesting.c - see requesting.h. */
#include "requesting.h"

#include <string.h>

#include "target/elf.h"
#include "unwinders/requests/requests.h"
#include "unwinders/requests/tls.h"

/* The dynamic linker of musl is its C library. */
static bool is_musl(const struct file *f)
{
	const char *interp = elf_interp(f->elf);

	return interp && strstr(interp, "/ld-musl-");
}

void requesting_file(struct requests *rs, const struct process *p, struct file *f, uint64_t bias)
{
	if (!rs || !f->elf)
		return;
	if (!f->request_sought && !tls_find(f->elf, REQUEST_VARIABLE, &f->request))
		f->request.kind = TLS_NONE;
	f->request_sought = true;
	if (f->request.kind != TLS_NONE)
		requests_file(rs, p->pid, &f->request, bias);
	if (is_musl(f))
		requests_musl(rs, p->pid);
}

void requesting_process(struct requests *rs, const struct process *p, const struct files *fs)
{
	for (size_t i = 0; i < p->nmaps; i++) {
		struct file *f = p->maps[i].flags & MAPPING_ANON ? NULL : files_get(fs, p->maps[i].file);

		if (f)
			requesting_file(rs, p, f, p->maps[i].bias);
	}
	requests_process(rs, p->pid);
}
