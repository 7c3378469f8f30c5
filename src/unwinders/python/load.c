// SPDX-License-Identifier: Apache-2.0
/* python_load.c - what a file says of CPython: where its eval loop is.
 *
 * A file is CPython's by what it defines, whatever it is called: a program, libpython, or
 * a program that has CPython built in. With tail calls (3.14 on, --with-tail-call-interp)
 * each instruction is a function that jumps to the next one's; the loop's function then
 * only begins, but it stays on the stack, one for each activation: all that is asked. */
#include <errno.h>

#include "python.h"
#include "unwinders/native/fragments.h"

static int python_load(struct elf *e, struct table_header *hdr)
{
	static const char *const names[] = {"_PyEval_EvalFrameDefault", NULL};
	int err;

	if (!python_version(e))
		return -ENOENT;
	err = parts_load(e, names, hdr);
	if (!err)
		hdr->flags |= TABLE_PYTHON;
	return err;
}

const struct unwinder unwinder_python = {
	.name = "python",
	.version = 2,
	.load = python_load,
};
