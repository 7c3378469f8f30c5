// SPDX-License-Identifier: Apache-2.0
/* python.c - CPython's versions, a row each, and its addresses in a process.
 *
 * A row has the offsetof() of that version's headers, for builds with the GIL: at the tags v3.6.0, v3.7.0,
 * v3.8.0, v3.9.0, v3.10.0, v3.11.0, v3.12.0, v3.13.0, v3.14.0 and v3.15.0 of CPython,
 * Include/cpython/pystate.h (before 3.8 Include/pystate.h), Include/internal/pycore_runtime.h and
 * pycore_interp.h, Include/internal/pycore_frame.h (before 3.11 Include/frameobject.h),
 * Include/cpython/code.h, unicodeobject.h and bytesobject.h. Two versions that differ only in a size share a
 * macro, so that a row shows its differences. */
#include "python.h"

#include <elf.h>
#include <errno.h>
#include <string.h>

#include "base/log.h"
#include "base/owner.h"
#include "target/elf.h"

#define V(major, minor) ((major) << 8 | (minor))

#define STRINGS(ascii, compact)                                                          \
	.str_length = 16, .str_state = 32, .str_ascii = (ascii), .str_data = (compact),  \
	.str_kind_shift = 2, .bytes_size = 16, .bytes_data = 32, .ob_type = 8,           \
	.str_size = 40

/* Up to 3.10 a frame is an object, and each is an activation of the eval loop. */
#define FRAME_OBJECT                                                                     \
	.current_frame = 24, .frame_previous = 24, .frame_code = 32, .boundary_min = 0,  \
	.boundary_shown = 1, .instr_is_index = 1

#define INTERPRETERS(threads)                                                            \
	.interp_next = 0, .interp_threads = (threads), .tstate_next = 8, .tstate_interp = 16

#define CODE_36                                                                          \
	.code_argcount = 16, .code_flags = 32, .code_firstlineno = 36,                   \
	.code_filename = 96, .code_name = 104, .code_linetable = 112, .cookie = 88,      \
	.cookie_words = 4, .cookie_head = 16, .name_hash = 24, .code_size = 120
#define CODE_38                                                                          \
	.code_argcount = 16, .code_flags = 36, .code_firstlineno = 40,                   \
	.code_filename = 104, .code_name = 112, .code_linetable = 120,                   \
	.cookie = 96, .cookie_words = 4, .cookie_head = 16, .name_hash = 24,             \
	.code_size = 128

/* From 3.12 on a code object has a number of its own, co_version, at 92. */
#define CODE_312(bytecode)                                                               \
	.code_argcount = 52, .code_flags = 48, .code_firstlineno = 68,                   \
	.code_filename = 112, .code_name = 128, .code_linetable = 136,                   \
	.code_code = (bytecode), .cookie = 88, .cookie_words = 7, .cookie_head = 16,     \
	.code_size = 144
#define FRAME_312(owner, first_c)                                                        \
	.frame_code = 0, .frame_previous = 8, .frame_instr = 56, .instr_shift = 1,       \
	.frame_boundary = (owner), .boundary_min = (first_c)

struct python_row {
	unsigned version;
	uint16_t tstate_current; /* offset in _PyRuntime; 0: none */
	uint16_t tss_key;
	uint16_t interpreters;
	struct python_layout at;
};

static const struct python_row rows[] = {
	{ V(3, 6), 0, 0, 0, { .tstate_thread_id = 152, .frame_instr = 120, .instr_shift = 1,
		FRAME_OBJECT, CODE_36, STRINGS(48, 72), .lines = PYTHON_LNOTAB } },
	{ V(3, 7), 1480, 1504, 24, { .tstate_thread_id = 176, .frame_instr = 104, .instr_shift = 1,
		INTERPRETERS(8), FRAME_OBJECT, CODE_36, STRINGS(48, 72), .lines = PYTHON_LNOTAB } },
	{ V(3, 8), 1368, 1392, 32, { .tstate_thread_id = 176, .frame_instr = 104, .instr_shift = 1,
		INTERPRETERS(8), FRAME_OBJECT, CODE_38, STRINGS(48, 72), .lines = PYTHON_LNOTAB } },
	{ V(3, 9), 568, 584, 32, { .tstate_thread_id = 176, .frame_instr = 104, .instr_shift = 1,
		INTERPRETERS(8), FRAME_OBJECT, CODE_38, STRINGS(48, 72), .lines = PYTHON_LNOTAB } },
	{ V(3, 10), 568, 584, 32, { .tstate_thread_id = 176, .tstate_entry = 48, .frame_instr = 96,
		INTERPRETERS(8), FRAME_OBJECT, CODE_38, STRINGS(48, 72), .lines = PYTHON_LINETABLE } },
	{ V(3, 11), 576, 592, 40, { .tstate_thread_id = 152, .tstate_cframe = 56, .current_frame = 8, .cframe_previous = 16,
		.tstate_entry = 56, INTERPRETERS(16),
		.frame_code = 32, .frame_previous = 48, .frame_instr = 56, .instr_shift = 1,
		.frame_boundary = 68, .boundary_min = 1, .boundary_shown = 1,
		.code_argcount = 56, .code_flags = 48, .code_firstlineno = 72,
		.code_filename = 112, .code_name = 128, .code_linetable = 136,
		.code_code = 184, .cookie = 96, .cookie_words = 6, .cookie_head = 16,
		.name_hash = 24, .code_size = 144,
		STRINGS(48, 72), .lines = PYTHON_LOCATIONS } },
	{ V(3, 12), 0, 1544, 0, { .tstate_thread_id = 136, .tstate_cframe = 56, .current_frame = 0,
		.cframe_previous = 8,
		INTERPRETERS(72), FRAME_312(70, 3), CODE_312(192), STRINGS(40, 56), .lines = PYTHON_LOCATIONS } },
	{ V(3, 13), 0, 2160, 0, { .tstate_thread_id = 152, .current_frame = 72,
		FRAME_312(70, 3), CODE_312(200), STRINGS(40, 56), .lines = PYTHON_LOCATIONS } },
	{ V(3, 14), 0, 2336, 0, { .tstate_thread_id = 152, .current_frame = 72, .code_tag = 3,
		FRAME_312(74, 3), CODE_312(208), STRINGS(40, 56), .lines = PYTHON_LOCATIONS } },
	{ V(3, 15), 0, 0, 0, { .tstate_thread_id = 176, .current_frame = 72, .code_tag = 3,
		FRAME_312(74, 3), CODE_312(208), STRINGS(40, 56), .lines = PYTHON_LOCATIONS } },
};

/* ---- the version of a file ---- */

/* Up to 3.10 the version is only in the result of Py_GetVersion(): a text "3.9.18" in .rodata, which the
 * linker may have made the tail of a longer one (a path). */
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

/* A version newer than the last gets the last row, if python_offsets() understands its own description. */
static const struct python_row *find_row(unsigned version)
{
	const struct python_row *last = &rows[ARRAY_SIZE(rows) - 1];

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (rows[i].version == version)
			return &rows[i];
	return version > last->version && version >> 8 == last->version >> 8 ? last : NULL;
}

/* ---- a process ---- */

/* Returns whether the file uses musl, by the program's interpreter, the library's dependencies, or a
 * symbol that is linked in. */
static bool uses_musl(struct elf *e)
{
	const char *interp = elf_interp(e);
	struct elf_symbol sym;

	if (interp)
		return strstr(interp, "/ld-musl-");
	for (const char *const *needed = elf_needed(e); needed && *needed; needed++)
		if (!strncmp(*needed, "libc.musl-", 10) || !strcmp(*needed, "libc.so"))
			return true;
	return elf_symbol_named(e, "__pthread_tsd_main", &sym);
}

#define PTHREAD_MAX 16384 /* maximum bytes of a struct pthread: the real ones have two thousand */

/* Sets the places of pthread_getspecific()'s values and of the modules' blocks, from the thread pointer. Seen
 * in glibc 2.36 to 2.43 (x86_64) and 2.36 (arm64, see python_libc()), and in musl 1.2.3. */
void python_tsd(struct elf *e, struct python_layout *at)
{
	bool arm = elf_machine(e) == EM_AARCH64, musl = uses_musl(e);

	at->has_tsd = 1;
	at->dtv = (int8_t)(!arm ? 8 : musl ? -8 : 0);
	at->dtv_shift = musl ? 3 : 4;
	if (musl) {
		at->tsd_blocks = arm ? -88 : 128;
		at->tsd_block_shift = 31;
		at->tsd_entry_shift = 3;
		return;
	}
	at->tsd_inline = 32;
	at->tsd_block_shift = 5;
	at->tsd_entry_shift = 4;
	at->tsd_value = 8;
	at->tsd_first = arm ? -1584 : 784;
	at->tsd_blocks = arm ? -1072 : 1296;
}

/* Reads one of glibc's nptl/td_db symbols: a size, or the bits, number and offset of a member. */
static bool thread_db(struct elf *libc, const char *name, size_t word, uint32_t *ret)
{
	struct elf_symbol sym;
	const uint8_t *p = elf_symbol_named(libc, name, &sym) ? elf_at(libc, sym.vaddr, (word + 1) * 4) : NULL;

	if (p)
		memcpy(ret, p + word * 4, 4);
	return p && *ret <= PTHREAD_MAX;
}

/* Checked first, because a search for a missing symbol takes 10 ms in a large program. */
static bool needs_libc(struct elf *e)
{
	const char *const *needed = elf_needed(e);

	while (needed && *needed && strncmp(*needed, "libc.", 5))
		needed++;
	return needed && *needed;
}

bool python_libc(struct elf *libc, struct python_layout *at)
{
	uint32_t size, blocks;

	if (at->has_tsd && !at->tsd_inline) /* a Python built for musl */
		return false;
	if (needs_libc(libc) || !thread_db(libc, "_thread_db_sizeof_pthread", 0, &size) ||
		!thread_db(libc, "_thread_db_pthread_specific", 2, &blocks))
		return false;
	if (elf_machine(libc) != EM_AARCH64) /* the thread pointer points to struct pthread */
		size = 0;
	at->tsd_blocks = (int16_t)(blocks - size);
	at->tsd_first = (int16_t)(at->tsd_blocks - (at->tsd_inline << at->tsd_entry_shift));
	return true;
}

/* Sets a thread-local variable, from 3.12 on. */
static void set_tls(struct elf *e, const char *const *functions, struct python_tls *ret)
{
	while (*functions && !python_tls(e, *functions, ret))
		functions++;
}

static void set_thread_state(struct elf *e, unsigned version, struct python_proc *p)
{
	static const char *const attached[] = { "_PyThreadState_GetCurrent", "PyThreadState_GetUnchecked",
		"_PyThreadState_UncheckedGet", NULL };
	static const char *const own[] = { "PyGILState_GetThisThreadState", NULL };
	uint64_t key;

	if (version >= V(3, 12))
		set_tls(e, attached, &p->attached);
	if (version >= V(3, 15))
		set_tls(e, own, &p->own);
	if (version == V(3, 6) && python_tss_key(e, own[0], &key)) {
		p->tss_key = key;
		p->at.tss_bare = 1;
	}
}

/* Sets the layout. The file's own description replaces the row's values. */
static int set_layout(struct elf *e, uint64_t runtime, unsigned version, const struct python_row *row,
	struct python_layout *at)
{
	size_t size = PYTHON_OFFSETS_SIZE;
	const uint8_t *p = NULL;
	int err;

	*at = row->at;
	if (version < V(3, 13))
		return 0;
	for (; !p && size >= PYTHON_OFFSETS_SIZE / 4; size /= 2)
		p = elf_at(e, runtime, size);
	err = p ? python_offsets(p, 2 * size, version, at) : -ENOENT;
	if (err > 0)
		log_info("Python 3.%u is newer than this strata: taken for 3.%u", version & 0xff,
			row->version & 0xff);
	else if (err && version != row->version)
		log_info("Python 3.%u is newer than this strata, and not like 3.%u", version & 0xff,
			row->version & 0xff);
	/* Rows are for builds with the GIL. A build without a description, or with an invalid one, has the GIL. */
	return err < 0 && version != row->version ? -ENOTSUP : 0;
}

int python_open(struct elf *e, struct python_proc *ret)
{
	unsigned version = python_version(e);
	const struct python_row *row = find_row(version);
	struct elf_symbol sym;
	uint64_t runtime = 0;
	int err;

	if (!row)
		return -ENOTSUP;
	*ret = (struct python_proc){};
	if (elf_symbol_named(e, "_PyRuntime", &sym))
		runtime = sym.vaddr;
	else if (row->version > V(3, 6))
		return -ENOENT;
	err = set_layout(e, runtime, version, row, &ret->at);
	if (err)
		return err;
	if (elf_symbol_named(e, "_PyThreadState_Current", &sym))
		ret->tstate_current = sym.vaddr;
	if (row->tstate_current)
		ret->tstate_current = runtime + row->tstate_current;
	if (row->tss_key)
		ret->tss_key = runtime + row->tss_key;
	if (row->interpreters)
		ret->interpreters = runtime + row->interpreters;
	if (elf_symbol_named(e, "PyCode_Type", &sym))
		ret->code_type = sym.vaddr;
	ret->runtime = runtime;
	ret->at.version = (uint16_t)version;
	python_tsd(e, &ret->at);
	set_thread_state(e, version, ret);
	return 0;
}

void python_attach(const struct python_proc *file, uint64_t bias, struct python_proc *ret)
{
	__u64 *const addresses[] = { &ret->tstate_current, &ret->tss_key, &ret->interpreters, &ret->code_type,
		&ret->runtime };
	struct python_tls *const tls[] = { &ret->attached, &ret->own };

	*ret = *file;
	for (size_t i = 0; i < ARRAY_SIZE(addresses); i++)
		*addresses[i] += *addresses[i] ? bias : 0;
	for (size_t i = 0; i < ARRAY_SIZE(tls); i++)
		tls[i]->at += tls[i]->kind > PYTHON_TLS_OFFSET ? bias : 0;
}
