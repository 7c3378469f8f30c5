// SPDX-License-Identifier: Apache-2.0
/* libdw.h - elfutils' libdw and libelf, loaded at the first use. Only files that read
 * debug information include this. */
#pragma once
#include <dwarf.h>
#include <elfutils/libdw.h>

/* dwarf_NAME() is libdw()->NAME(). */
#define LIBDW_DWARF(F)                                                                               \
	F(attr) F(attr_integrate) F(begin_elf) F(child) F(cu_info) F(diecu) F(diename) F(dieoffset) F(end) \
	F(entrypc) F(filesrc) F(formaddr) F(formflag) F(formref_die) F(formstring) F(formudata) F(get_units) \
	F(getlocation) F(getlocation_addr) F(getsrcfiles) F(getsrclines) F(lineaddr) F(linecol) \
	F(lineendsequence) F(lineno) F(linesrc) F(new_oom_handler) F(onesrcline) F(ranges) F(setalt) F(siblingof) \
	F(srclang) F(tag)

/* elf_NAME() is libdw()->elf_NAME(). */
#define LIBDW_ELF(F) F(begin) F(cntl) F(end) F(memory) F(rawfile) F(version)

struct libdw {
#define F(name) __typeof__(dwarf_##name) *name;
	LIBDW_DWARF(F)
#undef F
#define F(name) __typeof__(elf_##name) *elf_##name;
	LIBDW_ELF(F)
#undef F
};

/* Returns NULL if the library is not installed. It is loaded once and never unloaded. */
const struct libdw *libdw(void);
/* Opens the debug information of a file. Returns NULL without any; the caller ends it with end(). Running out of
 * memory in it ends the program as everywhere: libdw's own handler names neither the error nor the limit. */
Dwarf *libdw_begin(const struct libdw *dw, Elf *elf);
