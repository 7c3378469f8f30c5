// SPDX-License-Identifier: Apache-2.0
/* code.c - code objects by id: name, file, and lines by instruction.
 *
 * All data comes from a process's memory: sizes are checked, strings are cut, and an invalid
 * line table gives no line. */
#include <stdlib.h>
#include <string.h>

#include "base/owner.h"
#include "base/str.h"
#include "python.h"
#include "unwinders/unwinders.h"

#define BUCKETS   4096
#define CODES_MAX (1 << 20)

#define LINETABLE_READ_MAX (1 << 20)

struct python_code {
	struct python_code *next;
	uint64_t id;
	char *name, *file;
	uint8_t lines; /* enum python_lines */
	uint32_t firstlineno, linetable_size;
	uint8_t linetable[];
};

struct python_codes {
	struct python_code *bucket[BUCKETS];
	size_t n;
};

/* ---- lines ---- */

struct bytes {
	const uint8_t *p, *end;
};

/* 6 bits per byte, the low ones first; bit 6: more follow. */
static uint32_t read_varint(struct bytes *b)
{
	uint32_t v = 0, shift = 0;

	while (b->p < b->end && shift < 30) {
		uint8_t byte = *b->p++;

		v |= (uint32_t)(byte & 63) << shift;
		shift += 6;
		if (!(byte & 64))
			break;
	}
	return v;
}

static int32_t read_svarint(struct bytes *b)
{
	uint32_t v = read_varint(b);

	return v & 1 ? -(int32_t)(v >> 1) : (int32_t)(v >> 1);
}

/* An entry is 1 | code (4 bits) | length - 1 (3 bits), then columns; bit 7 marks the next entry. Code 15 has
 * no line; the running line remains. */
static uint32_t line_by_locations(const struct python_code *c, uint32_t lasti)
{
	struct bytes b = { c->linetable, c->linetable + c->linetable_size };
	int64_t line = c->firstlineno, shown = line;
	uint32_t at = 0;

	while (b.p < b.end && at <= lasti) {
		uint8_t first = *b.p++;
		unsigned code = first >> 3 & 15;

		if (code == 10 || code == 11 || code == 12)
			line += code - 10;
		else if (code == 13 || code == 14)
			line += read_svarint(&b);
		shown = code == 15 ? 0 : line;
		at += (first & 7) + 1u;
		while (b.p < b.end && !(*b.p & 0x80))
			b.p++;
	}
	/* the table may have been cut */
	return at > lasti && shown > 0 ? (uint32_t)shown : 0;
}

/* The table has pairs: bytes of code, and the change of line before them; -128: no line. */
static uint32_t line_by_ranges(const struct python_code *c, uint32_t lasti)
{
	int64_t line = c->firstlineno;
	uint32_t end = 0;

	for (uint32_t i = 0; i + 1 < c->linetable_size; i += 2) {
		int8_t delta = (int8_t)c->linetable[i + 1];

		end += c->linetable[i];
		if (delta != -128)
			line += delta;
		if (lasti * 2 < end)
			return delta != -128 && line > 0 ? (uint32_t)line : 0;
	}
	return 0;
}

/* The table has pairs: bytes of code before which the line is valid, and the change of line. */
static uint32_t line_by_lnotab(const struct python_code *c, uint32_t lasti)
{
	int64_t line = c->firstlineno;
	uint32_t at = 0;

	for (uint32_t i = 0; i + 1 < c->linetable_size; i += 2) {
		at += c->linetable[i];
		if (at > lasti * 2)
			break;
		line += (int8_t)c->linetable[i + 1];
	}
	return line > 0 ? (uint32_t)line : 0;
}

static uint32_t line_by_table(const struct python_code *c, uint32_t lasti)
{
	switch ((enum python_lines)c->lines) {
	case PYTHON_LOCATIONS:
		return line_by_locations(c, lasti);
	case PYTHON_LINETABLE:
		return line_by_ranges(c, lasti);
	case PYTHON_LNOTAB:
		return line_by_lnotab(c, lasti);
	}
	return 0;
}

/* Returns 0 if the line is unknown, or the instruction has none. A function that has not begun is at its
 * first line, which CPython shows, too: the first instruction may have no line. */
static uint32_t line_of(const struct python_code *c, uint32_t lasti)
{
	uint32_t line = line_by_table(c, lasti);

	return line || lasti || !c->linetable_size ? line : c->firstlineno;
}

/* ---- strings ---- */

/* Decodes characters of 1, 2 or 4 bytes. A surrogate that stands for a byte of a file's name
 * ("surrogateescape") becomes that byte again. */
static char *decode(const void *data, uint32_t size, unsigned kind)
{
	const uint8_t *p = data;
	struct str s = {};

	str_add(&s, "");
	for (uint32_t i = 0; i + kind <= size; i += kind) {
		uint32_t c = 0;

		memcpy(&c, p + i, kind);
		if (c >= 0xdc80 && c <= 0xdcff)
			str_addc(&s, (char)c);
		else if (c)
			str_add_char(&s, c);
	}
	return s.data ? s.data : strdup("");
}

/* ---- the store ---- */

struct python_codes *python_codes_new(void)
{
	return calloc(1, sizeof(struct python_codes));
}

static void code_free(struct python_code *c)
{
	free(c->name);
	free(c->file);
	free(c);
}

void python_codes_free(struct python_codes *c)
{
	for (size_t i = 0; c && i < BUCKETS; i++) {
		for (struct python_code *code = c->bucket[i], *next; code; code = next) {
			next = code->next;
			code_free(code);
		}
	}
	free(c);
}

static struct python_code *find(const struct python_codes *c, uint64_t id)
{
	struct python_code *code = c->bucket[id % BUCKETS];

	while (code && code->id != id)
		code = code->next;
	return code;
}

static bool kind_ok(unsigned kind)
{
	return kind == 1 || kind == 2 || kind == 4;
}

static void add(struct python_codes *c, const struct python_code_record *r,
	const void *linetable, uint32_t size)
{
	struct python_code *code;

	if (find(c, r->code) || c->n >= CODES_MAX)
		return;
	code = calloc(1, sizeof(*code) + size);
	if (!code)
		return;
	code->id = r->code;
	code->name = decode(r->name, r->name_size, r->name_kind);
	code->file = decode(r->file, r->file_size, r->file_kind);
	code->lines = r->lines;
	code->firstlineno = r->firstlineno;
	code->linetable_size = size;
	memcpy(code->linetable, linetable, size);
	code->next = c->bucket[code->id % BUCKETS];
	c->bucket[code->id % BUCKETS] = code;
	c->n++;
}

void python_codes_record(struct python_codes *c, const struct python_code_record *r, size_t size)
{
	size_t head = offsetof(struct python_code_record, linetable);
	uint32_t linetable;

	if (size < head || (r->flags & PYTHON_UNREADABLE) || !kind_ok(r->name_kind) ||
		!kind_ok(r->file_kind) || r->name_size > PYTHON_NAME_MAX ||
		r->file_size > PYTHON_FILE_MAX)
		return;
	linetable = r->linetable_size;
	if (linetable > PYTHON_LINETABLE_MAX)
		linetable = PYTHON_LINETABLE_MAX;
	if (linetable > size - head)
		linetable = (uint32_t)(size - head);
	add(c, r, r->linetable, linetable);
}

bool python_codes_name(const struct python_codes *c, uint64_t frame, struct frame_name *ret)
{
	uint64_t id = frame >> 20 & ((1ULL << PYTHON_CODE_BITS) - 1);
	const struct python_code *code = find(c, id);

	*ret = (struct frame_name){ .lang = FRAME_LANG_PYTHON };
	if (!code)
		return false;
	ret->name = code->name;
	ret->file = code->file;
	ret->line = line_of(code, frame & 0xfffff);
	ret->begins = ret->line ? 0 : code->firstlineno;
	return true;
}

/* ---- reading a process ---- */

struct reader {
	const struct python_layout *at;
	python_read_fn read;
	void *arg;
};

static bool read_at(const struct reader *r, uint64_t addr, void *buf, size_t size)
{
	return !r->read(r->arg, addr, buf, size);
}

static bool read_pointer(const struct reader *r, uint64_t object, unsigned offset, uint64_t *ret)
{
	return read_at(r, object + offset, ret, sizeof(*ret));
}

struct text {
	uint32_t size; /* bytes */
	uint8_t kind;  /* bytes per character */
};

/* Reads at most max bytes of a str. */
static bool read_chars(const struct reader *r, uint64_t str, void *out, uint32_t max, struct text *ret)
{
	uint64_t chars;
	uint32_t state;

	if (!read_pointer(r, str, r->at->str_length, &chars) ||
		!read_at(r, str + r->at->str_state, &state, sizeof(state)))
		return false;
	state >>= r->at->str_kind_shift;
	ret->kind = state & 7;
	if (!kind_ok(ret->kind) || !(state & 8))
		return false;
	if (chars > max / ret->kind)
		chars = max / ret->kind;
	ret->size = (uint32_t)chars * ret->kind;
	return read_at(r, str + (state & 16 ? r->at->str_ascii : r->at->str_data), out, ret->size);
}

static bool read_str(const struct reader *r, uint64_t at, void *out, uint32_t max, struct text *ret)
{
	uint64_t str;

	return read_pointer(r, at, 0, &str) && read_chars(r, str, out, max, ret);
}

char *python_str(const struct python_layout *at, python_read_fn read, void *arg, uint64_t str, uint32_t max)
{
	struct reader r = { at, read, arg };
	_cleanup_(freep) void *data = malloc(4 * (size_t)max + 1);
	struct text text;

	return data && read_chars(&r, str, data, 4 * max, &text) ? decode(data, text.size, text.kind) : NULL;
}

/* Returns a string to be free()d, or NULL if it is not readable. */
static void *read_linetable(const struct reader *r, uint64_t code, uint32_t *ret_size)
{
	uint64_t bytes, size;
	_cleanup_(freep) void *data = NULL;

	if (!read_pointer(r, code, r->at->code_linetable, &bytes) ||
		!read_pointer(r, bytes, r->at->bytes_size, &size) || size > LINETABLE_READ_MAX)
		return NULL;
	data = malloc(size + 1);
	if (!data || !read_at(r, bytes + r->at->bytes_data, data, size))
		return NULL;
	*ret_size = (uint32_t)size;
	return TAKE(data);
}

void python_codes_read(struct python_codes *c, const struct python_code_record *r,
	const struct python_layout *at, python_read_fn read, void *arg)
{
	struct reader reader = { at, read, arg };
	_cleanup_(freep) struct python_code_record *out = calloc(1, sizeof(*out));
	_cleanup_(freep) void *linetable = NULL;
	struct text name, file;
	uint32_t size = 0;

	if (!out || find(c, r->code))
		return;
	out->code = r->code;
	out->lines = at->lines;
	linetable = read_linetable(&reader, r->addr, &size);
	if (!linetable || !read_at(&reader, r->addr + at->code_firstlineno, &out->firstlineno, 4) ||
		!read_str(&reader, r->addr + at->code_name, out->name, PYTHON_NAME_MAX, &name) ||
		!read_str(&reader, r->addr + at->code_filename, out->file, PYTHON_FILE_MAX, &file))
		return;
	out->name_size = name.size;
	out->name_kind = name.kind;
	out->file_size = file.size;
	out->file_kind = file.kind;
	add(c, out, linetable, size);
}
