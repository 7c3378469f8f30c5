// SPDX-License-Identifier: Apache-2.0
/* lang.c - Ruby's row. */
#include "unwinders/lang.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ruby.h"
#include "unwinders/python/python.h"

static int table(struct elf *e, struct table_header *hdr)
{
	int err;

	if (!ruby_version(e))
		return -ENOENT;
	err = ruby_loop(e, hdr);
	if (!err)
		hdr->flags |= TABLE_LANG(FRAME_LANG_RUBY);
	return err;
}

static int find(struct elf *e, void *ret)
{
	return ruby_open(e, ret);
}

static int open_file(const struct lang_file *f, void **ret)
{
	return lang_open_proc(f, &lang_ruby, find, ret);
}

static int attach(const struct lang_file *f, const struct mapping *m, bool is_first, void *proc)
{
	struct ruby_proc *p = proc;

	if (!f->opened)
		return -ENOENT;
	if (!is_first)
		return 0;
	memcpy(p, f->opened, sizeof(*p));
	p->ec_at += p->ec_kind > PYTHON_TLS_OFFSET && m ? m->bias : 0;
	p->symbols += p->symbols && m ? m->bias : 0;
	p->vm += p->vm && m ? m->bias : 0;
	p->pushes += p->pushes && m ? m->bias : 0;
	for (int i = 0; i < RUBY_EXEC_PARTS; i++)
		p->exec[i] += p->exec[i] && m ? m->bias : 0;
	return 0;
}

static void *names_new(void)
{
	return ruby_codes_new();
}

static void names_free(void *names)
{
	ruby_codes_free(names);
}

/* Lines are read from the process while it lives. */
static bool record(void *names, const struct lang_record *head, size_t size, const struct lang_process *p)
{
	const struct ruby_proc *proc = p ? p->proc : NULL;

	ruby_codes_record(names, (const void *)head, size, proc ? &proc->at : NULL, proc ? p->read : NULL,
		proc ? p->arg : NULL);
	return false;
}

static bool name(const void *names, uint64_t frame, struct frame_name *ret)
{
	return ruby_codes_name(names, frame, ret);
}

const struct lang lang_ruby = {
	.name = "ruby",
	.program = "ruby",
	.version = 14,
	.proc_size = sizeof(struct ruby_proc),
	.table = table,
	.open = open_file,
	.close = free,
	.attach = attach,
	.names_new = names_new,
	.names_free = names_free,
	.record = record,
	.name_frame = name,
};
