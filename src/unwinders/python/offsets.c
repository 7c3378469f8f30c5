// SPDX-License-Identifier: Apache-2.0
/* offsets.c - CPython's description of its own layout, from 3.13 on.
 *
 * _PyRuntime begins with a struct _Py_DebugOffsets: a cookie, the version, and 64-bit sizes and offsets in
 * groups. The place of a member changes with each minor version, so there is a row for each:
 * Include/internal/pycore_runtime.h at v3.13.0, pycore_debug_offsets.h at v3.14.0 and v3.15.0. A version
 * newer than all rows is tried with the last row. The values are right for builds without a GIL and for debug
 * builds, too. The file is untrusted: values beyond the kernel half's reads are rejected. */
#include <errno.h>
#include <string.h>

#include "base/owner.h"
#include "python.h"

#define COOKIE     "xdebugpy"
#define STATE_MAX  184 /* bytes of a thread state that the kernel half reads */
#define OBJECT_MAX 1024 /* bytes of objects in a thread state */
#define FRAME_MAX  120  /* FRAME_BYTES of bpf/lang/python.bpf.c, less a word */
#define CODE_MAX   248
#define STR_MAX    56
#define SIZE_NEAR  64

/* Members, in 8-byte words from the struct's start. */
struct offsets_row {
	unsigned version;
	uint8_t interp_next, interp_threads;
	uint8_t tstate_next, tstate_interp, current_frame, thread_id;
	uint8_t previous, executable, instr_ptr, owner, tlbc_index;
	uint8_t filename, name, qualname, linetable, firstlineno, argcount, code, tlbc;
	uint8_t ob_type;
	uint8_t bytes_size, bytes_data;
	uint8_t str_state, str_length, str_ascii;
	uint8_t interp_size;
	/* Not in the description: PyInterpreterState.func_state.next_version, in a build with the GIL whose struct has
	 * about that size. Include/internal/pycore_interp.h at v3.13.0, pycore_interp_structs.h at v3.14.0, v3.15.0 */
	uint16_t next_version;
	uint32_t size;
};

/* Groups begin at these words in Include/internal/pycore_runtime.h (3.13) and pycore_debug_offsets.h. */
#define INTERP_AT(g) .interp_size = (g), .interp_next = (g) + 2, .interp_threads = (g) + 3
#define TSTATE_AT(g) .tstate_next = (g) + 2, .tstate_interp = (g) + 3
#define FRAME_AT(g)  .previous = (g) + 1, .executable = (g) + 2, .instr_ptr = (g) + 3, .owner = (g) + 5
#define CODE_AT(g)                                                                       \
	.filename = (g) + 1, .name = (g) + 2, .qualname = (g) + 3, .linetable = (g) + 4, \
	.firstlineno = (g) + 5, .argcount = (g) + 6, .code = (g) + 9
#define BYTES_AT(g)  .bytes_size = (g) + 1, .bytes_data = (g) + 2
#define STR_AT(g)    .str_state = (g) + 1, .str_length = (g) + 2, .str_ascii = (g) + 3

static const struct offsets_row rows[] = {
	{ 0x030d, INTERP_AT(6), TSTATE_AT(19), .current_frame = 23, .thread_id = 24, FRAME_AT(28), CODE_AT(34),
		.ob_type = 45, BYTES_AT(64), STR_AT(67),
		.next_version = 17000, .size = 194976 },
	{ 0x030e, INTERP_AT(6), TSTATE_AT(22), .current_frame = 26, .thread_id = 27, FRAME_AT(31), .tlbc_index = 38,
		CODE_AT(39), .tlbc = 49, .ob_type = 51, BYTES_AT(74), STR_AT(77),
		.next_version = 14256, .size = 225864 },
	{ 0x030f, INTERP_AT(6), TSTATE_AT(22), .current_frame = 26, .thread_id = 30, FRAME_AT(39), .tlbc_index = 46,
		CODE_AT(47), .tlbc = 57, .ob_type = 59, BYTES_AT(86), STR_AT(89),
		.next_version = 14264, .size = 226240 },
};

struct given {
	uint8_t data[PYTHON_OFFSETS_SIZE];
	bool bad;
};

/* Returns a member's value; 0 if the version does not have the member. */
static uint16_t get(struct given *g, unsigned word, uint64_t max)
{
	uint64_t v = 0;

	if (word && 8 * word + 8 <= sizeof(g->data))
		memcpy(&v, g->data + 8 * word, 8);
	g->bad |= v > max;
	return (uint16_t)v;
}

static void get_frame(struct given *g, const struct offsets_row *r, struct python_layout *at)
{
	at->current_frame = get(g, r->current_frame, STATE_MAX);
	at->tstate_thread_id = get(g, r->thread_id, STATE_MAX);
	at->frame_previous = get(g, r->previous, FRAME_MAX);
	at->frame_code = get(g, r->executable, FRAME_MAX);
	at->frame_instr = get(g, r->instr_ptr, FRAME_MAX);
	at->frame_boundary = get(g, r->owner, FRAME_MAX);
	at->frame_tlbc = get(g, r->tlbc_index, FRAME_MAX);
	at->interp_next = get(g, r->interp_next, UINT16_MAX);
	at->interp_threads = get(g, r->interp_threads, UINT16_MAX);
	at->tstate_next = get(g, r->tstate_next, STATE_MAX);
	at->tstate_interp = get(g, r->tstate_interp, STATE_MAX);
	g->bad |= !at->current_frame || !at->tstate_thread_id || !at->frame_previous ||
		  at->frame_previous == at->frame_code || !at->frame_instr || !at->frame_boundary;
}

static void get_code(struct given *g, const struct offsets_row *r, struct python_layout *at)
{
	at->code_filename = get(g, r->filename, CODE_MAX);
	at->code_name = get(g, r->qualname, CODE_MAX);
	at->code_linetable = get(g, r->linetable, CODE_MAX);
	at->code_firstlineno = get(g, r->firstlineno, CODE_MAX);
	at->code_argcount = get(g, r->argcount, CODE_MAX);
	at->code_code = get(g, r->code, CODE_MAX);
	at->code_tlbc = get(g, r->tlbc, CODE_MAX);
	/* The cookie is co_version and the next words, up to the line table. */
	g->bad |= at->code_filename < 24 || at->code_linetable != at->code_filename + 24 ||
		  at->code_code < at->code_linetable || !at->frame_tlbc != !at->code_tlbc;
	at->cookie = (uint16_t)(at->code_filename - 24);
	at->cookie_words = 7;
	at->code_size = (uint8_t)(at->code_linetable + 8);
}

static void get_objects(struct given *g, const struct offsets_row *r, struct python_layout *at)
{
	at->ob_type = get(g, r->ob_type, STR_MAX);
	at->bytes_size = get(g, r->bytes_size, STR_MAX);
	at->bytes_data = get(g, r->bytes_data, STR_MAX);
	at->str_state = get(g, r->str_state, STR_MAX);
	at->str_length = get(g, r->str_length, STR_MAX);
	at->str_ascii = get(g, r->str_ascii, STR_MAX);
	at->str_data = (uint16_t)(at->str_ascii + 16); /* utf8_length and utf8 */
	at->str_size = (uint8_t)(at->str_state + 8);
	at->cookie_head = at->bytes_size; /* ob_size of any object */
	g->bad |= (at->ob_type != 8 && at->ob_type != 24) || at->str_size > STR_MAX ||
		  at->bytes_size < at->ob_type || at->str_length < at->ob_type ||
		  at->bytes_size + 8 > at->str_size;
}

static void get_next_version(const struct given *g, const struct offsets_row *r, bool has_gil, struct python_layout *at)
{
	uint64_t size;

	memcpy(&size, g->data + 8 * r->interp_size, 8);
	if (has_gil && size + SIZE_NEAR - r->size <= 2 * SIZE_NEAR)
		at->interp_version = r->next_version;
}

static const struct offsets_row *find_row(unsigned version)
{
	const struct offsets_row *last = &rows[ARRAY_SIZE(rows) - 1];

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (rows[i].version == version)
			return &rows[i];
	return version > last->version && version >> 8 == last->version >> 8 ? last : NULL;
}

int python_offsets(const void *data, size_t size, unsigned version, struct python_layout *at)
{
	const struct offsets_row *row = find_row(version);
	struct given g = {};
	struct python_layout out = *at;
	uint64_t given, without_gil;

	if (!row || size < 24 || memcmp(data, COOKIE, 8))
		return -ENOENT;
	memcpy(g.data, data, size < sizeof(g.data) ? size : sizeof(g.data));
	memcpy(&given, g.data + 8, 8);
	memcpy(&without_gil, g.data + 16, 8);
	if (given >> 16 != version)
		return -ENOENT;
	get_frame(&g, row, &out);
	get_code(&g, row, &out);
	get_objects(&g, row, &out);
	/* str's `interned` has its own byte in these builds, so that it is changed atomically. */
	if (without_gil && version >= 0x030e)
		out.str_kind_shift = 8;
	if (row->version == version)
		get_next_version(&g, row, !without_gil, &out);
	if (g.bad)
		return -EINVAL;
	*at = out;
	return row->version == version ? 0 : 1;
}
