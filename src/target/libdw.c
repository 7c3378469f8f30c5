// SPDX-License-Identifier: Apache-2.0
/* libdw.c - loads elfutils' libdw. */
#include "libdw.h"

#include <stdbool.h>

#include "base/library.h"
#include "base/memory.h"

/* Loads libelf's functions through libdw, which uses them: so both use one libelf. */
static bool load(struct libdw *dw)
{
	void *library = library_open("libdw.so.1");
	bool ok = library;

#define F(name) ok = ok && (dw->name = library_symbol(library, "dwarf_" #name));
	LIBDW_DWARF(F)
#undef F
#define F(name) ok = ok && (dw->elf_##name = library_symbol(library, "elf_" #name));
	LIBDW_ELF(F)
#undef F
	return ok && dw->elf_version(EV_CURRENT) != EV_NONE;
}

const struct libdw *libdw(void)
{
	static struct libdw dw;
	static bool tried, ok;

	if (!tried)
		ok = load(&dw);
	tried = true;
	return ok ? &dw : NULL;
}

Dwarf *libdw_begin(const struct libdw *dw, Elf *elf)
{
	Dwarf *dwarf = dw->begin_elf(elf, DWARF_C_READ, NULL);

	if (dwarf)
		dw->new_oom_handler(dwarf, (Dwarf_OOM)out_of_memory);
	return dwarf;
}
