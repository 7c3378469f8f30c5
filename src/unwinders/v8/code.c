// SPDX-License-Identifier: Apache-2.0
/* code.c - code positions in JavaScript by frame: function, script, line and inlined functions.
 *
 * A code position is read from the process when the kernel half first sends it; if the code is gone by then,
 * only the record's function and file are known. V8 makes a function's table of lines only when a line in it
 * is needed (for an error's stack, a debugger, a profiler), and Maglev had no such table before node 24.20.
 * Without the table, only the line in which the function begins is known. */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/owner.h"
#include "base/str.h"
#include "scripts.h"
#include "sourcemap.h"
#include "unwinders/frame_store.h"
#include "unwinders/idmap.h"
#include "unwinders/texts.h"
#include "unwinders/unwinders.h"
#include "v8.h"
#include "vlq.h"
#include "wasm.h"

#define WASM_URL "wasm://" /* begins the names of the scripts of modules */
#define POSITIONS_MAX  64      /* a function, and those into which it was inlined */
#define CANDIDATES_MAX 4096
#define CODE_MAX    (1 << 20) /* bytes of instructions before a pc */

struct v8_codes {
	struct arena *arena;
	struct texts *texts;
	struct v8_scripts *scripts;
	struct v8_wasm *wasm;
	struct frame_store frames;
	struct idmap streams; /* process -> map (V8's type object) of its InstructionStreams */
};

struct v8_codes *v8_codes_new(void)
{
	struct v8_codes *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->arena = arena_new();
	frame_store_open(&c->frames);
	c->texts = texts_new();
	c->scripts = v8_scripts_new(c->texts);
	c->wasm = v8_wasm_new();
	if (!c->texts || !c->scripts || !c->wasm) {
		v8_codes_free(c);
		return NULL;
	}
	return c;
}

void v8_codes_use_source_maps(struct v8_codes *c, const struct sourcemap_files *files)
{
	v8_scripts_use_source_maps(c->scripts, files);
}

void v8_codes_free(struct v8_codes *c)
{
	if (!c)
		return;
	v8_scripts_free(c->scripts);
	v8_wasm_free(c->wasm);
	frame_store_done(&c->frames);
	idmap_done(&c->streams);
	texts_free(c->texts);
	arena_free(c->arena);
	free(c);
}

/* ---- lines ---- */

/* A column counts UTF-16 units, as V8's columns do. */
static void set_line(const struct v8_script *s, int32_t position, struct frame_name *ret)
{
	size_t lo = 0, hi = s->nends;
	int64_t line, column;

	if (position < 0)
		return;
	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (s->ends[mid] < position)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo >= s->nends)
		return;
	line = (int64_t)lo + s->first_line;
	column = lo ? (int64_t)position - s->ends[lo - 1] - 1 : (int64_t)position + s->first_column;
	if (line < 0)
		return;
	ret->line = (uint32_t)line + 1;
	ret->column = column < 0 ? 0 : (uint32_t)column + 1;
}

/* ---- positions ---- */

static int64_t zigzag(uint64_t v)
{
	return (int64_t)(v >> 1) ^ -(int64_t)(v & 1);
}

/* Reads a table of positions. An entry has the difference of the offset in the code (from 8 on it counts from
 * the function's entry, -1), and that of the position. Until 13 the first number is negative if the entry is
 * not a statement; later its two low bits have that. */
struct position_reader {
	uint8_t *data; /* free()d by the caller */
	struct bytes left;
	const struct v8_row *row;
	int64_t at, position;
};

static bool positions_open(const struct v8_heap *h, uint64_t table, struct position_reader *ret)
{
	size_t size = 0;

	*ret = (struct position_reader){ .data = v8_bytes(h, table, &size), .row = v8_row(h->at->version) };
	if (!ret->data)
		return false;
	ret->left = (struct bytes){ ret->data, ret->data + size };
	ret->at = ret->row->position_start;
	return true;
}

static bool positions_next(struct position_reader *r)
{
	uint64_t code, delta;

	if (!read_vlq(&r->left, &code) || !read_vlq(&r->left, &delta))
		return false;
	if (r->row->position_bits)
		r->at += (int64_t)(code >> 2);
	else
		r->at += zigzag(code) < 0 ? -(zigzag(code) + 1) : zigzag(code);
	r->position = (int64_t)((uint64_t)r->position + (uint64_t)zigzag(delta));
	return true;
}

/* Finds the last position at or before an offset in the code. */
static bool position_at(const struct v8_heap *h, uint64_t table, int64_t offset, int64_t *ret)
{
	struct position_reader r;
	bool found = false;

	if (!positions_open(h, table, &r))
		return false;
	while (positions_next(&r) && r.at <= offset) {
		*ret = r.position;
		found = true;
	}
	free(r.data);
	return found;
}

/* bit 0: not in a script; 30 bits: 1 + offset in the script; 16 bits: 1 + number of the inlining */
static int32_t script_offset(int64_t position)
{
	return position & 1 ? -1 : (int32_t)(position >> 1 & 0x3fffffff) - 1;
}

static int32_t inlining(int64_t position)
{
	return (int32_t)(position >> 31 & 0xffff) - 1;
}

/* ---- functions ---- */

/* Finds a function's name before compilation: the map has it at the name, which is right before the
 * parameters, or before "=" or " = " of an arrow function; a call's name is not used, because it is in
 * another function's line. */
static const char *name_before(const struct v8_script *script, int32_t start, uint32_t name_len)
{
	static const uint32_t between[] = { 0, 1, 3 };
	struct frame_name at = {};
	struct mapped_position source;

	set_line(script, start, &at);
	for (size_t i = 0; name_len && i < ARRAY_SIZE(between); i++)
		if (at.column > name_len + between[i] &&
			sourcemap_find(script->map, at.line, at.column - name_len - between[i], &source) &&
			source.exact && source.name && *source.name)
			return source.name;
	return NULL;
}

static void map_place(struct v8_codes *c, const struct v8_script *script, int32_t start, size_t name_len,
	struct frame_name *ret)
{
	const char *name = name_before(script, start, (uint32_t)name_len);
	struct mapped_position source;

	if (name)
		ret->name = texts_keep(c->texts, name);
	if (!sourcemap_find(script->map, ret->line, ret->column, &source))
		return;
	ret->file = texts_keep(c->texts, source.file);
	ret->line = source.line;
	ret->column = source.column;
}

/* Prefers the name that the kernel half read while the function ran, because its string may have moved since.
 * A name that was cut is read again. */
static void function_name(const struct v8_heap *h, const struct v8_record *r, uint64_t shared,
	struct str *name, int32_t *start)
{
	struct str kept = {};

	v8_function_name(h, shared, name, start);
	if (shared == r->shared && r->name.size < V8_TEXT_MAX)
		v8_text(&r->name, &kept);
	if (kept.len) {
		str_clear(name);
		str_addn(name, kept.data, kept.len);
	}
	str_done(&kept);
}

/* Makes the line the one in which the function begins, because the present line is unknown. */
static void begins_there(struct frame_name *f)
{
	f->begins = f->line;
	f->line = 0;
}

/* Functions without a name get the names that V8 uses in errors. position -1: unknown. */
static void name_position(struct v8_codes *c, const struct v8_heap *h, const struct v8_record *r,
	uint64_t shared, int32_t position, struct frame_name *ret)
{
	const struct v8_script *script;
	struct str name = {};
	uint64_t word;
	int32_t start;

	function_name(h, r, shared, &name, &start);
	ret->lang = FRAME_LANG_JS;
	script = v8_word(h, shared, h->at->shared_script, &word) ?
		v8_script_of(c->scripts, h, r->head.pid, word) : NULL;
	if (name.len)
		ret->name = texts_keep(c->texts, name.data);
	else
		ret->name = script && !script->name ? "eval" : "<anonymous>";
	if (script) { /* otherwise a builtin */
		ret->file = script->name ? script->name : "<anonymous>";
		if (!strncmp(ret->file, WASM_URL, sizeof(WASM_URL) - 1)) /* an export has a number as its name */
			ret->name = "<js-to-wasm>";
		set_line(script, position >= 0 ? position : start, ret);
		if (script->map)
			map_place(c, script, start, name.len, ret);
		if (position < 0)
			begins_there(ret);
	}
	str_done(&name);
}

/* ---- compiled code ---- */

/* Finds the Code of a pc, by searching backwards for the map of the object that contains instructions. The
 * map is recognised by the instance type once, and by its address later. */
struct stream {
	struct v8_code found;
	uint64_t map;        /* that map; 0: unknown */
	unsigned candidates; /* number of objects checked */
};

static bool is_stream(const struct v8_heap *h, uint64_t at, uint64_t map, uint64_t pc,
	struct stream *ret)
{
	uint64_t code, start;
	int32_t size, flags, table;

	if ((map & 3) != 1 || map >> V8_ADDRESS_BITS || (ret->map && map != ret->map) ||
		ret->candidates++ >= CANDIDATES_MAX)
		return false;
	if (!ret->map && v8_type(h, at + 1) != h->at->stream_type)
		return false;
	code = at + 1;
	start = at + (uint64_t)h->at->stream_first;
	if (h->at->code_start && (!v8_word(h, at + 1, 8, &code) ||
					 !v8_word(h, code, h->at->code_start, &start)))
		return false;
	if (v8_type(h, code) != h->at->code_type ||
		!v8_int(h, code, h->at->code_size, &size) ||
		!v8_int(h, code, h->at->code_flags, &flags))
		return false;
	if (start != at + (uint64_t)h->at->stream_first || size < 0 || pc - start >= (uint64_t)size)
		return false;
	table = size;
	if (h->at->code_safepoints && (!v8_int(h, code, h->at->code_safepoints, &table) || table < 0))
		table = size;
	flags = v8_row(h->at->version)->one_optimised ? 0 : flags & 15;
	*ret = (struct stream){ { code, start, start + (uint64_t)table, (uint32_t)flags }, map, 0 };
	return true;
}

static bool look_back(const struct v8_heap *h, uint64_t pc, struct stream *ret)
{
	uint64_t words[512], top = (pc & ~7ULL) + 8;

	for (uint64_t back = 0; back < CODE_MAX && top > sizeof(words); back += sizeof(words)) {
		top = back ? top & ~4095ULL : top;
		uint64_t low = back ? top - sizeof(words) : (top - 1) & ~4095ULL;
		size_t n = (top - low) / 8;

		if (h->read(h->arg, low, words, n * 8))
			return false;
		while (n--)
			if (is_stream(h, low + 8 * n, words[n], pc, ret))
				return true;
		top = low;
	}
	return false;
}

static bool find_code(struct v8_codes *c, const struct v8_heap *h, uint32_t pid, uint64_t pc,
	struct v8_code *ret)
{
	uint64_t *known = idmap_find(&c->streams, pid);
	struct stream s = { .map = known ? *known : 0 };

	if (look_back(h, pc, &s))
		goto found;
	if (!known)
		return false;
	s = (struct stream){}; /* the process runs another program or isolate now */
	if (!look_back(h, pc, &s))
		return false;
found:
	idmap_set(&c->streams, pid, s.map);
	*ret = s.found;
	return true;
}

/* Sparkplug's table has the size of machine code that each bytecode became; the bytecodes' sizes then give
 * the offset in the bytecode. The first four bytecodes make the next one's operands wide, or twice as wide
 * (with a breakpoint, too). */
static int64_t baseline_offset(const struct v8_heap *h, uint64_t bytecode, uint64_t table, int64_t pc)
{
	_cleanup_(freep) uint8_t *deltas = NULL, *code = NULL;
	size_t ndeltas, ncode, at = 0;
	uint64_t delta;
	int64_t here = 0;
	struct bytes b;
	int32_t length;

	deltas = v8_bytes(h, table, &ndeltas);
	if (!deltas || !h->at->bytecode_sizes || v8_type(h, bytecode) != h->at->proc.bytecode_type ||
		!v8_smi(h, bytecode, 8, &length) || length <= 0 || length > CODE_MAX)
		return -1;
	ncode = (size_t)length;
	code = malloc(ncode);
	if (!code || h->read(h->arg, bytecode - 1 + h->at->proc.bytecode_first, code, ncode))
		return -1;
	b = (struct bytes){ deltas, deltas + ndeltas };
	if (!read_vlq(&b, &delta)) /* the prologue */
		return -1;
	here = (int64_t)delta;
	while (at < ncode && pc >= here) {
		unsigned scale = code[at] > 3 ? 0 : 1 + (code[at] & 1);
		size_t op = at + !!scale, size;

		if (op >= ncode || code[op] >= h->at->bytecodes || !read_vlq(&b, &delta))
			return -1;
		here = (int64_t)((uint64_t)here + delta);
		if (pc < here)
			return (int64_t)at;
		size = h->at->bytecode_sizes[scale * h->at->bytecodes + code[op]];
		if (!size)
			return -1;
		at = op + size;
	}
	return 0;
}

static int64_t baseline_position(const struct v8_heap *h, const struct v8_record *r,
	const struct v8_code *s)
{
	uint64_t table, positions;
	int64_t offset, position;

	if (!v8_word(h, s->code, h->at->code_positions, &table))
		return -1;
	offset = baseline_offset(h, r->bytecode, table, (int64_t)(r->pc - s->start));
	if (offset < 0 || !v8_word(h, r->bytecode, h->at->bytecode_positions, &positions) ||
		!position_at(h, positions, offset, &position))
		return -1;
	return position;
}

/* ---- inlined functions ---- */

/* Reads the deoptimisation data, an array: inlined functions are among its literals, and the inlinings are
 * items of {position of the call, function, -}. */
static bool inlined_at(const struct v8_heap *h, uint64_t deopt, int32_t id, uint64_t *shared,
	int64_t *position)
{
	uint64_t table, literals;
	int32_t function, n;
	uint64_t at;

	if (!v8_word(h, deopt, 16 + 8 * h->at->deopt_inlined, &table) ||
		!v8_word(h, deopt, 16 + 8 * h->at->deopt_literals, &literals) ||
		!v8_smi(h, table, 8, &n) || id >= n / 16 ||
		!v8_word(h, table, 16 + 16 * id, &at) || !v8_int(h, table, 24 + 16 * id, &function) ||
		!v8_smi(h, literals, 8, &n) || function < 0 || function >= n ||
		!v8_word(h, literals, 16 + 8ll * function, shared) ||
		v8_type(h, *shared) != h->at->proc.shared_type)
		return false;
	*position = (int64_t)at;
	return true;
}

/* A function and an offset in its script; position -1: not in a script, a builtin. */
struct code_position {
	uint64_t shared;
	int32_t position;
};

/* Lists functions from the innermost inlined one to the compiled one, by the positions of calls in the code.
 * pc: in the call or after it. */
static size_t positions_by_position(const struct v8_heap *h, const struct v8_record *r,
	const struct v8_code *s, uint64_t pc, struct code_position positions[POSITIONS_MAX])
{
	uint64_t table, deopt;
	int64_t position, call;
	size_t n = 0;

	if (!v8_word(h, s->code, h->at->code_positions, &table) ||
		!v8_word(h, s->code, h->at->code_deopt, &deopt) ||
		!position_at(h, table, (int64_t)(pc - s->start), &position))
		return 0;
	while (n < POSITIONS_MAX - 1 && inlining(position) >= 0 &&
		inlined_at(h, deopt, inlining(position), &positions[n].shared, &call)) {
		positions[n++].position = script_offset(position);
		position = call;
	}
	positions[n++] = (struct code_position){ r->shared, script_offset(position) };
	return n;
}

/* Finds a function's BytecodeArray: it is the function's data, or its first field, or that of
 * the Code from Sparkplug. */
static bool bytecode_of(const struct v8_heap *h, uint64_t shared, uint64_t *ret)
{
	if (!v8_word(h, shared, h->at->shared_data, ret))
		return false;
	for (size_t i = 0; v8_type(h, *ret) != h->at->proc.bytecode_type; i++) {
		int32_t field = v8_type(h, *ret) == h->at->code_type ? h->at->code_deopt : 8;

		if (i == 2 || !v8_word(h, *ret, field, ret))
			return false;
	}
	return true;
}

/* Returns the offset in the script of an offset in a function's bytecode, or -1. */
static int32_t bytecode_position(const struct v8_heap *h, uint64_t shared, int32_t offset)
{
	uint64_t bytecode, table;
	int64_t position;

	if (!bytecode_of(h, shared, &bytecode) ||
		!v8_word(h, bytecode, h->at->bytecode_positions, &table) ||
		!position_at(h, table, offset, &position))
		return -1;
	return script_offset(position);
}

/* V8 itself describes an optimised frame by its deoptimisation data, which is the only place with inlined
 * builtins. If a function has no table of positions, the code's own serves as well. */
static size_t positions_by_deopt(const struct v8_heap *h, const struct v8_virtual *frames,
	size_t nframes, struct code_position *positions, size_t n)
{
	struct code_position own[POSITIONS_MAX];
	size_t from = 0;

	for (size_t i = 0; i < nframes; i++) {
		bool builtin = frames[i].offset < 0;

		own[i] = (struct code_position){ frames[i].shared, -1 };
		if (!builtin)
			own[i].position = bytecode_position(h, frames[i].shared, frames[i].offset);
		if (!builtin && from < n && positions[from].shared == frames[i].shared && own[i].position < 0)
			own[i].position = positions[from].position;
		from += !builtin;
	}
	if (!nframes)
		return n;
	memcpy(positions, own, nframes * sizeof(*own));
	return nframes;
}

/* Finds the frames of a check among the instructions of one inlining. */
static size_t checks_of_inlining(const struct v8_heap *h, const struct v8_code *s, int32_t id,
	struct v8_virtual *frames)
{
	struct position_reader r;
	uint64_t table, from = 0; /* start of inlined instructions; 0: outside of them */
	size_t n = 0;

	if (!v8_word(h, s->code, h->at->code_positions, &table) || !positions_open(h, table, &r))
		return 0;
	while (!n && positions_next(&r)) {
		uint64_t here = s->start + (uint64_t)r.at;

		if (from && inlining(r.position) != id) {
			n = v8_check_frames(h, s, from, here, frames, POSITIONS_MAX);
			from = 0;
		} else if (!from && inlining(r.position) == id) {
			from = here;
		}
	}
	free(r.data);
	return n;
}

/* For the place of an inlined call Maglev takes its last position, which may be the loop's end. The
 * deoptimisation data of the inlined code has the right place; without it, the line is unknown. */
static void mend_calls(const struct v8_heap *h, const struct v8_code *s, uint64_t pc,
	struct code_position *positions, size_t n)
{
	struct v8_virtual frames[POSITIONS_MAX];
	int64_t position;
	uint64_t table;
	size_t nframes = 0;

	if (v8_word(h, s->code, h->at->code_positions, &table) &&
		position_at(h, table, (int64_t)(pc - s->start), &position))
		nframes = checks_of_inlining(h, s, inlining(position), frames);
	for (size_t i = 0, k = 0; i < n; i++, k++) {
		while (k < nframes && frames[k].offset < 0) /* builtins are not in the table */
			k++;
		if (k < nframes && frames[k].shared != positions[i].shared)
			nframes = 0;
		if (i)
			positions[i].position = k < nframes ?
				bytecode_position(h, frames[k].shared, frames[k].offset) : -1;
	}
}

static void name_optimized(struct v8_codes *c, const struct v8_heap *h, const struct v8_record *r,
	const struct v8_code *s, struct frame_name *ret)
{
	struct v8_virtual frames[POSITIONS_MAX];
	struct code_position positions[POSITIONS_MAX];
	uint64_t back = r->pc + 1; /* a return address is looked up at the call before it */
	size_t nframes = v8_deopt_frames(h, s, &back, frames, POSITIONS_MAX);
	size_t n = positions_by_position(h, r, s, nframes ? back - 1 : r->pc, positions);

	if (!nframes && n > 1 && (int32_t)s->kind == h->at->kind_baseline + 1)
		mend_calls(h, s, r->pc, positions, n);
	n = positions_by_deopt(h, frames, nframes, positions, n);
	if (!n)
		positions[n++] = (struct code_position){ r->shared, -1 };
	for (size_t i = 0; i < n; i++) {
		struct frame_name *caller;

		name_position(c, h, r, positions[i].shared, positions[i].position, ret);
		if (i + 1 == n)
			break;
		caller = arena_new_obj(c->arena, struct frame_name);
		ret->caller = caller;
		ret = caller;
	}
}

/* Returns whether the code may contain inlined functions: code of the first compiler, which keeps the interpreter's
 * words, is sent by its place in the bytecode. */
static bool is_optimized(const struct v8_record *r)
{
	return r->compiled && r->pc && !r->wasm;
}

static void name_compiled(struct v8_codes *c, const struct v8_heap *h, const struct v8_record *r,
	struct frame_name *ret)
{
	struct v8_code s;
	int64_t position;

	if (!r->compiled || !find_code(c, h, r->head.pid, r->pc, &s)) {
		name_position(c, h, r, r->shared, -1, ret);
		ret->lacks_inlined = is_optimized(r);
	} else if ((int32_t)s.kind == h->at->kind_baseline) {
		position = baseline_position(h, r, &s);
		name_position(c, h, r, r->shared, position < 0 ? -1 : script_offset(position), ret);
	} else {
		name_optimized(c, h, r, &s, ret);
	}
}

static void name_interpreted(struct v8_codes *c, const struct v8_heap *h, const struct v8_record *r,
	struct frame_name *ret)
{
	uint64_t table;
	int64_t position;
	int32_t at = -1;

	if (v8_type(h, r->bytecode) == h->at->proc.bytecode_type &&
		v8_word(h, r->bytecode, h->at->bytecode_positions, &table) &&
		position_at(h, table, (int64_t)(r->frame & 0xfffff), &position))
		at = script_offset(position);
	name_position(c, h, r, r->shared, at, ret);
}

static void name_wasm(struct v8_codes *c, const struct v8_heap *h, const struct v8_record *r, struct frame_name *ret)
{
	struct str name = {}, url = {};

	*ret = (struct frame_name){ .lang = FRAME_LANG_JS, .name = "<wasm>" };
	if (h && v8_wasm_name(c->wasm, h, r, &name, &url)) {
		ret->name = texts_keep(c->texts, str_text(&name));
		ret->file = url.len ? texts_keep(c->texts, url.data) : NULL;
	}
	str_done(&name);
	str_done(&url);
}

/* The process has ended: uses the kernel half's record. */
static void name_by_record(struct v8_codes *c, const struct v8_record *r, struct frame_name *ret)
{
	struct str name = {}, file = {};

	v8_text(&r->name, &name);
	v8_text(&r->file, &file);
	*ret = (struct frame_name){ .lang = FRAME_LANG_JS };
	ret->name = name.len ? texts_keep(c->texts, name.data) : "<anonymous>";
	if (file.len)
		ret->file = texts_keep(c->texts, strncmp(file.data, "file:///", 8) ? file.data : file.data + 7);
	str_done(&name);
	str_done(&file);
}

/* Returns whether the function is still the one that was sent: it may have been collected, and another one may be in
 * its place. */
static bool is_same(const struct v8_heap *h, const struct v8_record *r)
{
	const struct v8_proc *p = &h->at->proc;
	uint64_t flags, script, id;
	int32_t unique;

	if (v8_type(h, r->shared) != p->shared_type || !v8_word(h, r->shared, p->shared_flags, &flags) ||
		flags >> 32 != r->flags >> 32)
		return false;
	if (p->shared_unique)
		return v8_int(h, r->shared, p->shared_unique, &unique) && (uint32_t)unique == r->unique;
	return v8_word(h, r->shared, p->shared_script, &script) && v8_word(h, script, p->script_id, &id) &&
		id == r->unique;
}

/* ---- the store ---- */

void v8_codes_record(struct v8_codes *c, const struct v8_record *r, const struct v8_heap *h)
{
	bool known;
	struct frame_name *name = frame_store_add(&c->frames, r->frame, &known);

	if (!name || known)
		return;
	if (r->wasm)
		name_wasm(c, h, r, name);
	else if (h && r->pc)
		name_compiled(c, h, r, name);
	else if (h)
		name_interpreted(c, h, r, name);
	if (!r->wasm && (!h || !is_same(h, r))) {
		*name = (struct frame_name){};
		name_by_record(c, r, name);
		name->lacks_inlined = is_optimized(r);
	}
}

bool v8_codes_name(const struct v8_codes *c, uint64_t frame, struct frame_name *ret)
{
	static const struct {
		uint64_t frame;
		const char *name;
	} named[] = { { V8_WASM, "<wasm>" }, { V8_OPAQUE, "<js>" }, { V8_TO_WASM, "<js-to-wasm>" },
		{ V8_FROM_WASM, "<wasm-to-js>" } };
	const struct frame_name *known = frame_store_find(&c->frames, frame);

	for (size_t i = 0; i < ARRAY_SIZE(named); i++)
		if (frame == named[i].frame) {
			*ret = (struct frame_name){ .lang = FRAME_LANG_JS, .name = named[i].name };
			return true;
		}
	*ret = known ? *known : (struct frame_name){ .lang = FRAME_LANG_JS, .name = NULL };
	return known;
}
