// SPDX-License-Identifier: Apache-2.0
/* python.c - CPython's versions, a row each, and where one is in a process.
 *
 * A row is what `offsetof` says of that version's headers, for builds with the GIL.
 * Two versions that differ in nothing but a size share a macro, so that a row shows
 * what is new in it. */
#include "python.h"

#include <elf.h>
#include <errno.h>
#include <string.h>

#include "base/owner.h"
#include "target/elf.h"

#define V(major, minor) ((major) << 8 | (minor))

#define STRINGS(ascii, compact)                                                          \
	.str_length = 16, .str_state = 32, .str_ascii = (ascii), .str_data = (compact),  \
	.str_kind_shift = 2, .bytes_size = 16, .bytes_data = 32, .ob_type = 8

/* Up to 3.10 a frame is an object, and each is an activation of the eval loop. */
#define FRAME_OBJECT                                                                     \
	.current_frame = 24, .frame_previous = 24, .frame_code = 32, .boundary_min = 0,  \
	.boundary_shown = 1, .instr_is_index = 1

#define CODE_36                                                                          \
	.code_argcount = 16, .code_flags = 32, .code_firstlineno = 36,                   \
	.code_filename = 96, .code_name = 104, .code_linetable = 112, .cookie = 88,      \
	.cookie_words = 4, .name_hash = 24
#define CODE_38                                                                          \
	.code_argcount = 16, .code_flags = 36, .code_firstlineno = 40,                   \
	.code_filename = 104, .code_name = 112, .code_linetable = 120,                   \
	.cookie = 96, .cookie_words = 4, .name_hash = 24

/* From 3.12 on a code object has a number of its own, co_version, at 92. */
#define CODE_312(bytecode)                                                               \
	.code_argcount = 52, .code_flags = 48, .code_firstlineno = 68,                   \
	.code_filename = 112, .code_name = 128, .code_linetable = 136,                   \
	.code_code = (bytecode), .cookie = 88, .cookie_words = 7
#define FRAME_312(owner, first_c)                                                        \
	.frame_code = 0, .frame_previous = 8, .frame_instr = 56, .instr_shift = 1,       \
	.frame_boundary = (owner), .boundary_min = (first_c)

struct python_row {
	unsigned version;
	uint16_t tstate_current; /* in _PyRuntime; 0: there is none */
	uint16_t tss_key;
	struct python_layout at;
};

static const struct python_row rows[] = {
	{ V(3, 6), 0, 0, { .tstate_thread_id = 152, .frame_instr = 120, .instr_shift = 1,
		FRAME_OBJECT, CODE_36, STRINGS(48, 72), .lines = PYTHON_LNOTAB } },
	{ V(3, 7), 1480, 1504, { .tstate_thread_id = 176, .frame_instr = 104, .instr_shift = 1,
		FRAME_OBJECT, CODE_36, STRINGS(48, 72), .lines = PYTHON_LNOTAB } },
	{ V(3, 8), 1368, 1392, { .tstate_thread_id = 176, .frame_instr = 104, .instr_shift = 1,
		FRAME_OBJECT, CODE_38, STRINGS(48, 72), .lines = PYTHON_LNOTAB } },
	{ V(3, 9), 568, 584, { .tstate_thread_id = 176, .frame_instr = 104, .instr_shift = 1,
		FRAME_OBJECT, CODE_38, STRINGS(48, 72), .lines = PYTHON_LNOTAB } },
	{ V(3, 10), 568, 584, { .tstate_thread_id = 176, .frame_instr = 96,
		FRAME_OBJECT, CODE_38, STRINGS(48, 72), .lines = PYTHON_LINETABLE } },
	{ V(3, 11), 576, 592, { .tstate_thread_id = 152, .tstate_cframe = 56, .current_frame = 8,
		.frame_code = 32, .frame_previous = 48, .frame_instr = 56, .instr_shift = 1,
		.frame_boundary = 68, .boundary_min = 1, .boundary_shown = 1,
		.code_argcount = 56, .code_flags = 48, .code_firstlineno = 72,
		.code_filename = 112, .code_name = 128, .code_linetable = 136,
		.code_code = 184, .cookie = 96, .cookie_words = 6, .name_hash = 24,
		STRINGS(48, 72), .lines = PYTHON_LOCATIONS } },
	{ V(3, 12), 0, 1544, { .tstate_thread_id = 136, .tstate_cframe = 56, .current_frame = 0,
		FRAME_312(70, 3), CODE_312(192), STRINGS(40, 56), .lines = PYTHON_LOCATIONS } },
	{ V(3, 13), 0, 2160, { .tstate_thread_id = 152, .current_frame = 72,
		FRAME_312(70, 3), CODE_312(200), STRINGS(40, 56), .lines = PYTHON_LOCATIONS } },
	{ V(3, 14), 0, 2336, { .tstate_thread_id = 152, .current_frame = 72, .code_tag = 3,
		FRAME_312(74, 3), CODE_312(208), STRINGS(40, 56), .lines = PYTHON_LOCATIONS } },
};

/* ---- the version of a file ---- */

/* Up to 3.10 the version is only in what Py_GetVersion() gives out: a text "3.9.18"
 * in .rodata, which the linker may have made the tail of a longer one (a path). */
static unsigned version_in_text(struct elf *e)
{
	struct elf_section s;
	const uint8_t *p, *end;

	if (!elf_section(e, ".rodata", &s) || !s.data)
		return 0;
	end = s.data + s.size;
	for (p = s.data + 1; end - p > 8 && (p = memmem(p, (size_t)(end - p - 8), "3.", 2)); p++) {
		char text[9] = {}, rest;
		unsigned minor, micro;

		memcpy(text, p, 8);
		if (p[-1] != '.' && (p[-1] < '0' || p[-1] > '9') && strlen(text) < 8 &&
			sscanf(text, "3.%2u.%2u%c", &minor, &micro, &rest) == 2 &&
			minor >= 6 && minor <= 10)
			return V(3, minor);
	}
	return 0;
}

unsigned python_version(struct elf *e)
{
	struct elf_symbol sym;
	const uint8_t *p;
	uint32_t hex;

	if (!elf_symbol_named(e, "Py_Version", &sym))
		return version_in_text(e);
	p = elf_at(e, sym.vaddr, sizeof(hex));
	if (!p)
		return 0;
	memcpy(&hex, p, sizeof(hex));
	return hex >> 16;
}

static const struct python_row *find_row(unsigned version)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (rows[i].version == version)
			return &rows[i];
	return NULL;
}

/* ---- a process ---- */

/* Where the C library keeps pthread_getspecific()'s values, from the thread pointer. */
static void set_tsd(struct python_layout *at, uint16_t machine, bool musl)
{
	if (musl && machine != EM_AARCH64)
		return; /* not described: the GIL's holder only */
	at->has_tsd = 1;
	if (musl) {
		at->tsd_blocks = -88;
		at->tsd_block_shift = 31;
		at->tsd_entry_shift = 3;
		return;
	}
	at->tsd_inline = 32;
	at->tsd_block_shift = 5;
	at->tsd_entry_shift = 4;
	at->tsd_value = 8;
	at->tsd_first = machine == EM_AARCH64 ? -1584 : 784;
	at->tsd_blocks = machine == EM_AARCH64 ? -1072 : 1296;
}

int python_attach(struct elf *e, uint64_t bias, bool musl, struct python_proc *ret)
{
	const struct python_row *row = find_row(python_version(e));
	struct elf_symbol sym;
	uint64_t runtime = 0;

	if (!row)
		return -ENOTSUP;
	*ret = (struct python_proc){ .at = row->at };
	if (elf_symbol_named(e, "_PyRuntime", &sym))
		runtime = sym.vaddr + bias;
	else if (row->version > V(3, 6))
		return -ENOENT;
	if (elf_symbol_named(e, "_PyThreadState_Current", &sym))
		ret->tstate_current = sym.vaddr + bias;
	if (runtime && row->tstate_current)
		ret->tstate_current = runtime + row->tstate_current;
	if (runtime && row->tss_key)
		ret->tss_key = runtime + row->tss_key;
	if (elf_symbol_named(e, "PyCode_Type", &sym))
		ret->code_type = sym.vaddr + bias;
	set_tsd(&ret->at, elf_machine(e), musl);
	return 0;
}
