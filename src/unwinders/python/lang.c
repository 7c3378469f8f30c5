// SPDX-License-Identifier: Apache-2.0
/* lang.c - Python's row, and the place of CPython's eval loop in a file.
 *
 * A file is CPython's by its symbols, whatever its name: a program, libpython, or a program with CPython
 * built in. With tail calls (3.14 on, --with-tail-call-interp) each instruction is a function that jumps to
 * the next one's. The loop's function is then only the beginning, but it remains on the stack, once for each
 * activation, which suffices. */
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>

#include "python.h"
#include "target/elf.h"
#include "unwinders/lang.h"
#include "unwinders/native/fragments.h"

static int table(struct elf *e, struct table_header *hdr)
{
	static const char *const names[] = {"_PyEval_EvalFrameDefault", NULL};
	struct elf_symbol loop;
	int err;

	/* Look for the symbol first: a version may be among the text constants of any file. */
	if (!elf_symbol_named(e, names[0], &loop) || !python_version(e))
		return -ENOENT;
	err = fragments_load(e, names, hdr);
	if (!err)
		hdr->flags |= TABLE_LANG(FRAME_LANG_PYTHON);
	return err;
}

static int find(struct elf *e, void *ret)
{
	return python_open(e, ret);
}

static int open_file(const struct lang_file *f, void **ret)
{
	return lang_open_proc(f, &lang_python, find, ret);
}

static int attach(const struct lang_file *f, const struct mapping *m, bool is_first, void *proc)
{
	if (!f->opened)
		return -ENOENT;
	if (is_first)
		python_attach(f->opened, m ? m->bias : 0, proc);
	return 0;
}

static bool libc(struct elf *libc, void *proc)
{
	return python_libc(libc, &((struct python_proc *)proc)->at);
}

static void *names_new(void)
{
	return python_codes_new();
}

static void names_free(void *names)
{
	python_codes_free(names);
}

/* Reads pages that are not resident, and the longest line tables, from the process while it lives. */
static bool record(void *names, const struct lang_record *head, size_t size, const struct lang_process *p)
{
	const struct python_code_record *r = (const void *)head;
	const struct python_proc *proc = p ? p->proc : NULL;
	bool unreadable;

	if (size < offsetof(struct python_code_record, linetable))
		return false;
	unreadable = r->flags & PYTHON_UNREADABLE;
	if (proc && (unreadable || r->linetable_size > PYTHON_LINETABLE_MAX))
		python_codes_read(names, r, &proc->at, p->read, p->arg);
	python_codes_record(names, r, size); /* no effect if it was just read */
	return unreadable;
}

static bool name(const void *names, uint64_t frame, struct frame_name *ret)
{
	return python_codes_name(names, frame, ret);
}

const struct lang lang_python = {
	.name = "python",
	.program = "python",
	.version = 6,
	.proc_size = sizeof(struct python_proc),
	.table = table,
	.open = open_file,
	.close = free,
	.attach = attach,
	.libc = libc,
	.names_new = names_new,
	.names_free = names_free,
	.record = record,
	.name_frame = name,
	.threads = python_threads,
};
