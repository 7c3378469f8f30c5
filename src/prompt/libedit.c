// SPDX-License-Identifier: Apache-2.0
/* libedit.c - loads libedit. */
#include "libedit.h"

#include <stdbool.h>
#include <stddef.h>

#include "base/library.h"

static bool load(struct libedit *el)
{
	void *library = library_open("libedit.so.2"); /* Debian, Ubuntu */
	bool ok;

	if (!library)
		library = library_open("libedit.so.0"); /* Fedora, Arch, Alpine */
	ok = library;
#define F(name) ok = ok && (el->name = library_symbol(library, #name));
	LIBEDIT(F)
#undef F
	return ok;
}

const struct libedit *libedit(void)
{
	static struct libedit el;
	static bool tried, ok;

	if (!tried)
		ok = load(&el);
	tried = true;
	return ok ? &el : NULL;
}
