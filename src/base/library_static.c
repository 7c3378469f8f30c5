// SPDX-License-Identifier: Apache-2.0
/* library_static.c - one table of the functions of all libraries that are linked into the program. A
 * statically linked program must not load shared libraries, since they would load a second C library. */
#include "library.h"

#include <stddef.h>
#include <string.h>

const bool libraries_are_linked = true;

#define SYMBOLS(X)                                                                           \
	X(cs_open) X(cs_close) X(cs_option) X(cs_malloc) X(cs_free) X(cs_disasm_iter)        \
	X(json_tokener_new) X(json_tokener_free) X(json_tokener_parse_ex) X(json_tokener_reset) \
	X(json_object_object_get_ex) X(json_object_is_type) X(json_object_get_string)        \
	X(json_object_get_string_len) X(json_object_get_int64) X(json_object_get_uint64)     \
	X(json_object_get_boolean) X(json_object_get_object) X(json_object_array_length)                               \
	X(json_object_array_get_idx) X(json_object_put)                                      \
	X(dwarf_attr) X(dwarf_attr_integrate) X(dwarf_begin_elf)           \
	X(dwarf_child) X(dwarf_diecu) X(dwarf_diename) X(dwarf_end) X(dwarf_entrypc)         \
	X(dwarf_filesrc) X(dwarf_formaddr) X(dwarf_formstring) X(dwarf_getsrcfiles)          \
	X(dwarf_setalt) X(elf_memory)                                                        \
	X(dwarf_formflag) X(dwarf_formref_die) X(dwarf_formudata)         \
	X(dwarf_get_units) X(dwarf_getlocation) X(dwarf_getlocation_addr)                    \
	X(dwarf_getsrclines) X(dwarf_lineaddr) X(dwarf_linecol) X(dwarf_lineendsequence)     \
	X(dwarf_lineno) X(dwarf_linesrc) X(dwarf_new_oom_handler) X(dwarf_onesrcline) \
	X(dwarf_ranges) X(dwarf_siblingof) X(dwarf_srclang)       \
	X(dwarf_tag) X(elf_begin) X(elf_cntl) X(elf_end) X(elf_rawfile)    \
	X(elf_version)                                                                       \
	X(el_init) X(el_end) X(el_gets) X(el_set) X(el_get) X(el_line) X(el_insertstr)       \
	X(el_deletestr) X(el_cursor) X(el_resize) X(el_reset)                                \
	X(history_init) X(history_end) X(history)                                            \
	X(__cxa_demangle)

/* The table only needs addresses; the caller knows the types. */
#define DECLARE(name) extern char name[];
SYMBOLS(DECLARE)

static const struct {
	const char *name;
	void *at;
} symbols[] = {
#define ROW(name) { #name, name },
	SYMBOLS(ROW)
};

void *library_open(const char *soname)
{
	return (void *)symbols;
}

void *library_symbol(void *library, const char *name)
{
	for (size_t i = 0; i < sizeof(symbols) / sizeof(symbols[0]); i++)
		if (!strcmp(symbols[i].name, name))
			return symbols[i].at;
	return NULL;
}

void library_close(void *library)
{
}
