// SPDX-License-Identifier: Apache-2.0
/* heap.c - objects of V8, read from a process that continues: they may have changed since they were found, or
 * have another type than expected. Each object's type is checked before use, and lengths are limited. Strings
 * and ScopeInfos: src/objects/string.h, scope-info.tq and instance-type.h of V8 7.8.279 to 14.6.202. */
#include <stdlib.h>
#include <string.h>

#include "base/owner.h"
#include "base/str.h"
#include "base/vec.h"
#include "v8.h"

#define DEPTH_MAX  64        /* levels of a string's parts */
#define PARTS_MAX  4096      /* parts of a string: each may be many parts of others */
#define BYTES_MAX  (4 << 20)
#define LINES_MAX  (4 << 20)
#define SOURCE_MAX (64 << 20)
#define SLOTS_MAX  4096      /* local variables of a scope */

/* ORDER of V8's objects/instance-type.h: the low bits of a string's instance type */
enum {
	SHAPE_SEQUENTIAL = 0, SHAPE_CONS = 1, SHAPE_EXTERNAL = 2, SHAPE_SLICED = 3, SHAPE_THIN = 5,
	SHAPE_MASK = 7,
	ONE_BYTE = 8,
	UNCACHED = 16,      /* external: its address is not in the string */
};

static bool is_object(uint64_t tagged)
{
	return (tagged & 3) == 1;
}

static bool read_at(const struct v8_heap *h, uint64_t addr, void *buf, size_t size)
{
	return !h->read(h->arg, addr, buf, size);
}

bool v8_word(const struct v8_heap *h, uint64_t object, int64_t offset, uint64_t *ret)
{
	return is_object(object) && read_at(h, object - 1 + (uint64_t)offset, ret, sizeof(*ret));
}

bool v8_int(const struct v8_heap *h, uint64_t object, int64_t offset, int32_t *ret)
{
	return is_object(object) && read_at(h, object - 1 + (uint64_t)offset, ret, sizeof(*ret));
}

bool v8_smi(const struct v8_heap *h, uint64_t object, int64_t offset, int32_t *ret)
{
	uint64_t word;

	if (!v8_word(h, object, offset, &word) || (uint32_t)word)
		return false;
	*ret = (int32_t)(word >> 32);
	return true;
}

int v8_type(const struct v8_heap *h, uint64_t object)
{
	uint64_t map;
	uint16_t type;

	if (!v8_word(h, object, 0, &map) || !is_object(map) ||
		!read_at(h, map - 1 + h->at->proc.map_type, &type, sizeof(type)))
		return -1;
	return type;
}

/* ---- strings ---- */

static int string_type(const struct v8_heap *h, uint64_t object)
{
	int type = v8_type(h, object);

	return type < v8_row(h->at->version)->strings ? type : -1;
}

/* Unpaired surrogates become U+FFFD. */
static void add_utf16(struct str *out, const uint8_t *p, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		uint16_t unit, low = 0;
		uint32_t c;

		memcpy(&unit, p + 2 * i, 2);
		if (i + 1 < n)
			memcpy(&low, p + 2 * i + 2, 2);
		c = unit;
		if (unit >= 0xd800 && unit < 0xdc00 && low >= 0xdc00 && low < 0xe000) {
			c = 0x10000 + ((uint32_t)(unit - 0xd800) << 10) + (low - 0xdc00u);
			i++;
		}
		str_add_char(out, c);
	}
}

void v8_text(const struct v8_text *t, struct str *out)
{
	size_t n = t->size < V8_TEXT_MAX ? t->size : V8_TEXT_MAX;

	for (size_t i = 0; !t->wide && i < n; i++)
		str_add_char(out, t->chars[i]);
	if (t->wide)
		add_utf16(out, t->chars, n / 2);
}

/* The ends of a text's lines, while its parts arrive: at \n, \r, both, U+2028 and U+2029. */
struct lines {
	VEC(int32_t) ends;
	int32_t at;
	bool cr; /* the last character was \r */
};

static void add_lines(struct lines *l, const uint8_t *p, size_t n, size_t unit)
{
	uint16_t c;

	for (; n-- && l->ends.len < LINES_MAX; p += unit, l->at++) {
		c = *p;
		if (unit == 2)
			memcpy(&c, p, 2);
		if (l->cr && c != '\n')
			vec_push(&l->ends, l->at - 1);
		l->cr = c == '\r';
		if (c == '\n' || c == 0x2028 || c == 0x2029)
			vec_push(&l->ends, l->at);
	}
}

/* The destination of a string's characters: one of the first two. */
struct text {
	struct str *out;
	struct lines *lines;
	unsigned parts; /* number of parts so far */
};

static bool flat_string(const struct v8_heap *h, uint64_t chars, size_t unit, size_t n,
	const struct text *to)
{
	_cleanup_(freep) uint8_t *buf = malloc(unit * n + 1);

	if (!buf || !read_at(h, chars, buf, unit * n))
		return false;
	if (to->lines)
		add_lines(to->lines, buf, n, unit);
	for (size_t i = 0; to->out && unit == 1 && i < n; i++)
		str_add_char(to->out, buf[i]);
	if (to->out && unit == 2)
		add_utf16(to->out, buf, n);
	return true;
}

static uint64_t external_chars(const struct v8_heap *h, uint64_t object, int type)
{
	uint64_t at = 0;

	if (!(type & UNCACHED))
		return v8_word(h, object, 24, &at) ? at : 0;
	/* resource is a C++ object; in node and V8 itself, the characters' address follows its vtable */
	return v8_word(h, object, 16, &at) && read_at(h, at + 8, &at, sizeof(at)) ? at : 0;
}

/* Adds [from, from + n) of a string. */
static bool add_string(const struct v8_heap *h, uint64_t object, size_t from, size_t n, int depth,
	struct text *to)
{
	int type = string_type(h, object);
	int32_t length, first, offset = 0;
	uint64_t part, rest;
	size_t unit = type & ONE_BYTE ? 1 : 2;

	if (type < 0 || depth > DEPTH_MAX || to->parts++ >= PARTS_MAX ||
		!v8_int(h, object, 12, &length) || length < 0 || from > (size_t)length)
		return false;
	if (n > (size_t)length - from)
		n = (size_t)length - from;
	if (!n)
		return true;
	switch (type & SHAPE_MASK) {
	case SHAPE_SEQUENTIAL:
		return flat_string(h, object - 1 + 16 + from * unit, unit, n, to);
	case SHAPE_EXTERNAL:
		part = external_chars(h, object, type);
		return part && flat_string(h, part + from * unit, unit, n, to);
	case SHAPE_THIN:
		return v8_word(h, object, 16, &part) && add_string(h, part, from, n, depth + 1, to);
	case SHAPE_SLICED:
		return v8_word(h, object, 16, &part) && v8_smi(h, object, 24, &offset) && offset >= 0 &&
			add_string(h, part, from + (size_t)offset, n, depth + 1, to);
	case SHAPE_CONS:
		if (!v8_word(h, object, 16, &part) || !v8_word(h, object, 24, &rest) ||
			!v8_int(h, part, 12, &first) || first < 0)
			return false;
		if (from < (size_t)first && !add_string(h, part, from, n, depth + 1, to))
			return false;
		if (from + n <= (size_t)first)
			return true;
		n = from < (size_t)first ? n - ((size_t)first - from) : n;
		from = from < (size_t)first ? 0 : from - (size_t)first;
		return add_string(h, rest, from, n, depth + 1, to);
	}
	return false;
}

bool v8_string(const struct v8_heap *h, uint64_t object, size_t max, struct str *out)
{
	return add_string(h, object, 0, max, 0, &(struct text){ .out = out });
}

/* ---- arrays ---- */

uint8_t *v8_bytes(const struct v8_heap *h, uint64_t object, size_t *ret_size)
{
	_cleanup_(freep) uint8_t *bytes = NULL;
	int32_t n;

	if (!v8_smi(h, object, 8, &n) || n <= 0 || n > BYTES_MAX)
		return NULL;
	bytes = malloc((size_t)n);
	if (!bytes || !read_at(h, object - 1 + 16, bytes, (size_t)n))
		return NULL;
	*ret_size = (size_t)n;
	return TAKE(bytes);
}

/* Reads V8's own array, a FixedArray of Smis, which exists after somebody has asked for a line. */
static int32_t *known_line_ends(const struct v8_heap *h, uint64_t array, size_t *ret_n)
{
	_cleanup_(freep) uint64_t *words = NULL;
	_cleanup_(freep) int32_t *ends = NULL;
	int32_t n;

	if (!v8_smi(h, array, 8, &n) || n <= 0 || n > LINES_MAX)
		return NULL;
	words = malloc((size_t)n * sizeof(*words));
	ends = malloc((size_t)n * sizeof(*ends));
	if (!words || !ends || !read_at(h, array - 1 + 16, words, (size_t)n * sizeof(*words)))
		return NULL;
	for (int32_t i = 0; i < n; i++) {
		if ((uint32_t)words[i])
			return NULL;
		ends[i] = (int32_t)(words[i] >> 32);
	}
	*ret_n = (size_t)n;
	return TAKE(ends);
}

static int32_t *count_line_ends(const struct v8_heap *h, uint64_t script, size_t *ret_n)
{
	struct lines lines = {};
	uint64_t source;

	if (!v8_word(h, script, h->at->script_source, &source) || string_type(h, source) < 0 ||
		!add_string(h, source, 0, SOURCE_MAX, 0, &(struct text){ .lines = &lines }) || !lines.at) {
		vec_done(&lines.ends);
		return NULL;
	}
	if (lines.cr)
		vec_push(&lines.ends, lines.at - 1);
	vec_push(&lines.ends, lines.at); /* the last line's, which may be empty */
	*ret_n = lines.ends.len;
	return lines.ends.data;
}

int32_t *v8_line_ends(const struct v8_heap *h, uint64_t script, size_t *ret_n)
{
	int32_t *ends = NULL;
	uint64_t array;

	if (v8_type(h, script) != h->at->script_type)
		return NULL;
	if (v8_word(h, script, h->at->script_line_ends, &array) && is_object(array))
		ends = known_line_ends(h, array, ret_n);
	return ends ? ends : count_line_ends(h, script, ret_n);
}

/* ---- functions ---- */

static bool is_uncompiled(const struct v8_heap *h, uint64_t object)
{
	int type = v8_type(h, object);

	return type >= 0 && type >= h->at->uncompiled_first && type <= h->at->uncompiled_last;
}

/* The used slots of a ScopeInfo: flags, parameters, n, (from 12.8 on its start and end), n names (or a table
 * of them), n descriptions, then, depending on flags, a class's variable, the function's name and its
 * variable, the inferred name, before 12.8 its start and end. A string in these last slots is a name. */
#define TAIL 6

/* Returns whether the object is the outer scope, which is in the last slot, or the map that the next object in the heap
 * begins with. Only the map of maps is its own. */
static bool is_behind_scope(const struct v8_heap *h, uint64_t object)
{
	uint64_t map, of;

	return v8_type(h, object) == h->at->scope_type ||
		(v8_word(h, object, 0, &map) && v8_word(h, map, 0, &of) && of == map);
}

static int32_t names_and_descriptions(const struct v8_heap *h, uint64_t scope, int32_t first,
	int32_t n)
{
	uint64_t name;
	bool hashed;

	hashed = n >= V8_SCOPE_HASHED && v8_word(h, scope, first, &name) && string_type(h, name) < 0;
	return hashed ? n + 1 : 2 * n;
}

static void scope_name(const struct v8_heap *h, uint64_t scope, struct str *name, int32_t *start)
{
	int32_t first = h->at->scope_slots, at = h->at->first_vars, n, a, b;
	uint64_t slot;

	if (!v8_smi(h, scope, first + 16, &n) || n < 0 || n > SLOTS_MAX)
		return;
	if (at >= 5 && v8_smi(h, scope, first + 24, &a))
		*start = a;
	at += names_and_descriptions(h, scope, first + 8 * at, n);
	for (int i = 0; i < TAIL; i++, at++) {
		if (!v8_word(h, scope, first + 8 * at, &slot))
			return;
		if (is_object(slot) && is_behind_scope(h, slot))
			return;
		if (is_object(slot) && !name->len)
			v8_string(h, slot, 512, name);
		if (*start < 0 && v8_smi(h, scope, first + 8 * at, &a) &&
			v8_smi(h, scope, first + 8 * at + 8, &b) && a >= 0 && a < b)
			*start = a;
	}
}

void v8_function_name(const struct v8_heap *h, uint64_t shared, struct str *name, int32_t *start)
{
	uint64_t word, data;

	*start = -1;
	if (v8_word(h, shared, h->at->shared_name, &word) && is_object(word)) {
		if (string_type(h, word) >= 0)
			v8_string(h, word, 512, name);
		else if (v8_type(h, word) == h->at->scope_type)
			scope_name(h, word, name, start);
	}
	if (v8_word(h, shared, h->at->shared_data, &data) && is_uncompiled(h, data)) {
		if (!name->len && v8_word(h, data, h->at->inferred_name, &word))
			v8_string(h, word, 512, name);
		v8_int(h, data, h->at->start_position, start);
	}
}
