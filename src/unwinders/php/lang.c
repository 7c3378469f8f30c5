// SPDX-License-Identifier: Apache-2.0
/* lang.c - PHP's row. */
#include "unwinders/lang.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "php.h"
#include "unwinders/native/fragments.h"

static int table(struct elf *e, struct table_header *hdr)
{
	int err;

	if (!php_version(e))
		return -ENOENT;
	err = fragments_load(e, php_loop, hdr);
	if (!err)
		hdr->flags |= TABLE_LANG(FRAME_LANG_PHP);
	return err;
}

static int find(struct elf *e, void *ret)
{
	return php_open(e, ret);
}

static int open_file(const struct lang_file *f, void **ret)
{
	return lang_open_proc(f, &lang_php, find, ret);
}

static int attach(const struct lang_file *f, const struct mapping *m, bool is_first, void *proc)
{
	struct php_proc *p = proc;
	uint64_t bias = m ? m->bias : 0;

	if (!f->opened)
		return -ENOENT;
	if (!is_first)
		return 0;
	memcpy(p, f->opened, sizeof(*p));
	p->globals += p->globals ? bias : 0;
	p->frameless += p->frameless ? bias : 0;
	return 0;
}

/* opcache shares its JIT buffer with the processes that php-fpm forks: anonymous memory, to which
 * the kernel gives this name. */
static bool compiles(const char *path)
{
	return !strcmp(path, "/dev/zero") || !strcmp(path, "/dev/zero (deleted)");
}

static void *names_new(void)
{
	return php_codes_new();
}

static void names_free(void *names)
{
	php_codes_free(names);
}

/* Reads pages that are not resident from the process while it lives. */
static bool record(void *names, const struct lang_record *head, size_t size, const struct lang_process *p)
{
	const struct php_code_record *r = (const void *)head;
	const struct php_proc *proc = p ? p->proc : NULL;
	bool unreadable;

	if (size < offsetof(struct php_code_record, file))
		return false;
	unreadable = r->flags & PHP_UNREADABLE;
	if (proc && unreadable)
		php_codes_read(names, r, &proc->at, p->read, p->arg);
	php_codes_record(names, r, size); /* no effect if it was just read */
	return unreadable;
}

static bool name(const void *names, uint64_t frame, struct frame_name *ret)
{
	return php_codes_name(names, frame, ret);
}

const struct lang lang_php = {
	.name = "php",
	.program = "php",
	.version = 1,
	.proc_size = sizeof(struct php_proc),
	.table = table,
	.open = open_file,
	.close = free,
	.attach = attach,
	.compiles = compiles,
	.names_new = names_new,
	.names_free = names_free,
	.record = record,
	.name_frame = name,
};
