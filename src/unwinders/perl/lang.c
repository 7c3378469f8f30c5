// SPDX-License-Identifier: Apache-2.0
/* lang.c - Perl's row. */
#include "unwinders/lang.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "perl.h"
#include "unwinders/python/python.h"

static int table(struct elf *e, struct table_header *hdr)
{
	int err = perl_loops(e, hdr);

	if (!err)
		hdr->flags |= TABLE_LANG(FRAME_LANG_PERL);
	return err;
}

static int find(struct elf *e, void *ret)
{
	return perl_open(e, ret);
}

static int open_file(const struct lang_file *f, void **ret)
{
	return lang_open_proc(f, &lang_perl, find, ret);
}

static int attach(const struct lang_file *f, const struct mapping *m, bool is_first, void *proc)
{
	struct perl_proc *p = proc;

	if (!f->opened)
		return -ENOENT;
	if (!is_first)
		return 0;
	memcpy(p, f->opened, sizeof(*p));
	perl_move(p, m ? m->bias : 0);
	return 0;
}

static bool libc(struct elf *libc, void *proc)
{
	struct perl_tsd *tsd = &((struct perl_proc *)proc)->tsd;
	struct python_layout at = { .has_tsd = 1, .tsd_inline = tsd->inlined, .tsd_entry_shift = tsd->entry_shift };

	if (!python_libc(libc, &at))
		return false;
	tsd->first = at.tsd_first;
	tsd->blocks = at.tsd_blocks;
	return true;
}

static void *names_new(void)
{
	return perl_codes_new();
}

static void names_free(void *names)
{
	perl_codes_free(names);
}

static bool record(void *names, const struct lang_record *head, size_t size, const struct lang_process *p)
{
	perl_codes_record(names, (const void *)head, size);
	return false;
}

static bool name(const void *names, uint64_t frame, struct frame_name *ret)
{
	return perl_codes_name(names, frame, ret);
}

const struct lang lang_perl = {
	.name = "perl",
	.program = "perl",
	.version = 3,
	.proc_size = sizeof(struct perl_proc),
	.table = table,
	.open = open_file,
	.close = free,
	.attach = attach,
	.libc = libc,
	.names_new = names_new,
	.names_free = names_free,
	.record = record,
	.name_frame = name,
};
