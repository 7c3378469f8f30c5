// SPDX-License-Identifier: Apache-2.0
/* lines.c - runs line tables. The format is that of DWARF 5, chapter 6.2 (dwarfstd.org); versions 2 to 4 differ in the
 * lists of directories and files. */
#include "lines.h"

#include <string.h>

#include "base/str.h"
#include "target/fde.h"

enum { ROWS_MAX = 1 << 24, FILES_MAX_TABLE = 1 << 16, FORMATS_MAX = 16, OPCODES_MAX = 256 };

/* DWARF 5, table 7.25 to 7.27, and chapter 7.5.6 for forms. */
enum { LNS_COPY = 1, LNS_ADVANCE_PC, LNS_ADVANCE_LINE, LNS_SET_FILE, LNS_SET_COLUMN, LNS_NEGATE_STMT,
	LNS_BASIC_BLOCK, LNS_CONST_ADD_PC, LNS_FIXED_ADVANCE_PC };
enum { LNE_END_SEQUENCE = 1, LNE_SET_ADDRESS = 2 };
enum { LNCT_PATH = 1, LNCT_DIRECTORY = 2 };
enum { FORM_DATA2 = 0x05, FORM_DATA4, FORM_DATA8, FORM_STRING, FORM_BLOCK, FORM_DATA1 = 0x0b, FORM_STRP = 0x0e,
	FORM_UDATA, FORM_STRX = 0x1a, FORM_STRP_SUP = 0x1d, FORM_DATA16, FORM_LINE_STRP, FORM_STRX1 = 0x25, FORM_STRX2,
	FORM_STRX3, FORM_STRX4 };

struct table {
	const struct line_sections *sections;
	struct reader files;   /* at the list of directories */
	struct reader program;
	uint16_t version;
	uint8_t offset_size;   /* 4 or 8 bytes */
	uint8_t address_size, min_length, max_ops, line_range, opcode_base;
	int8_t line_base;
	uint8_t operands[OPCODES_MAX];
};

/* ---- the head ------------------------------------------------------------------- */

static bool read_head(const struct line_sections *s, uint64_t at, struct table *t)
{
	struct reader r = {.p = s->line.data + at, .end = s->line.data + s->line.size};
	struct reader rest;
	uint64_t length;

	*t = (struct table){.sections = s, .offset_size = 4, .address_size = 8, .max_ops = 1};
	if (at >= s->line.size)
		return false;
	length = read_uint(&r, 4);
	if (length == 0xffffffff) {
		t->offset_size = 8;
		length = read_uint(&r, 8);
	}
	if (length < (uint64_t)(r.end - r.p))
		r.end = r.p + length;
	t->version = (uint16_t)read_uint(&r, 2);
	if (t->version < 2 || t->version > 5)
		return false;
	if (t->version >= 5) {
		t->address_size = (uint8_t)read_uint(&r, 1);
		read_uint(&r, 1); /* size of a segment selector */
	}
	length = read_uint(&r, t->offset_size);
	rest = r;
	read_skip(&rest, length);
	t->program = rest;
	r.end = rest.p;
	t->min_length = (uint8_t)read_uint(&r, 1);
	if (t->version >= 4)
		t->max_ops = (uint8_t)read_uint(&r, 1);
	read_uint(&r, 1); /* default_is_stmt */
	t->line_base = (int8_t)read_uint(&r, 1);
	t->line_range = (uint8_t)read_uint(&r, 1);
	t->opcode_base = (uint8_t)read_uint(&r, 1);
	for (unsigned i = 1; i < t->opcode_base; i++)
		t->operands[i] = (uint8_t)read_uint(&r, 1);
	t->files = r;
	return !r.bad && !rest.bad && t->line_range && t->max_ops && t->opcode_base &&
		(t->address_size == 8 || t->address_size == 4);
}

/* ---- rows ----------------------------------------------------------------------- */

struct machine {
	const struct table *table;
	uint64_t address, sequence;
	uint32_t op, file, line, column;
	bool has_row;              /* the sequence has a row before the present one, in last */
	uint64_t last;
	struct line_row row;       /* row of last */
	uint32_t rows;
	const uint64_t *vaddrs;
	size_t n, next;            /* next: first address from last on */
	struct line_row *found;
	const struct line_range *ranges; /* of lines_rows(); NULL: lines_find() */
	size_t nranges, max;
	struct line_addresses *out;
};

/* Most numbers have one byte, and a table has millions of them. */
static inline uint64_t read_short(struct reader *r)
{
	return r->p < r->end && *r->p < 128 ? *r->p++ : read_uleb(r);
}

static void begin_sequence(struct machine *m)
{
	m->address = m->op = m->column = 0;
	m->file = m->line = 1;
	m->has_row = false;
}

static size_t first_from(const struct machine *m, uint64_t vaddr)
{
	size_t lo = 0, hi = m->n;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (m->vaddrs[mid] < vaddr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* The last row covers the addresses up to the present one. Sequences of code that the linker dropped begin at 0 and may
 * cover other code, so a sequence that begins later is preferred. */
static void use_last(struct machine *m)
{
	for (; m->next < m->n && m->vaddrs[m->next] < m->address; m->next++) {
		struct line_row *to = &m->found[m->next];

		if (!to->found || m->sequence > to->sequence)
			*to = m->row;
	}
}

/* Lists the address if it is in a range. */
static void list_row(struct machine *m)
{
	size_t lo = 0, hi = m->nranges;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (m->ranges[mid].end <= m->address)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo < m->nranges && m->address >= m->ranges[lo].start && m->out->list.len < m->max)
		vec_push(&m->out->list, m->address);
}

static void add_row(struct machine *m)
{
	m->rows++;
	if (m->ranges) {
		list_row(m);
		return;
	}
	if (!m->has_row) {
		m->sequence = m->address;
		m->next = first_from(m, m->address);
	} else if (m->address < m->last) {
		m->next = first_from(m, m->address);
	} else if (m->address > m->last) {
		use_last(m);
	}
	m->has_row = true;
	m->last = m->address;
	m->row = (struct line_row){m->file, m->line, m->column, m->sequence, true};
}

static void advance(struct machine *m, uint64_t ops)
{
	const struct table *t = m->table;

	if (t->max_ops == 1) {
		m->address += ops * t->min_length;
		return;
	}
	m->address += (m->op + ops) / t->max_ops * t->min_length;
	m->op = (uint32_t)((m->op + ops) % t->max_ops);
}

static void extended(struct machine *m, struct reader *r)
{
	struct reader body = read_block(r, read_uleb(r));

	if (body.p == body.end)
		return;
	switch (read_uint(&body, 1)) {
	case LNE_END_SEQUENCE:
		add_row(m);
		begin_sequence(m);
		break;
	case LNE_SET_ADDRESS:
		m->address = read_uint(&body, body.end - body.p == 4 ? 4 : 8);
		m->op = 0;
		break;
	}
}

static void standard(struct machine *m, struct reader *r, uint8_t opcode)
{
	const struct table *t = m->table;

	switch (opcode) {
	case LNS_COPY:
		add_row(m);
		break;
	case LNS_ADVANCE_PC:
		advance(m, read_short(r));
		break;
	case LNS_ADVANCE_LINE:
		m->line += (uint32_t)read_sleb(r);
		break;
	case LNS_SET_FILE:
		m->file = (uint32_t)read_short(r);
		break;
	case LNS_SET_COLUMN:
		m->column = (uint32_t)read_short(r);
		break;
	case LNS_NEGATE_STMT:
	case LNS_BASIC_BLOCK:
		break;
	case LNS_CONST_ADD_PC:
		advance(m, (255U - t->opcode_base) / t->line_range);
		break;
	case LNS_FIXED_ADVANCE_PC:
		m->address += read_uint(r, 2);
		m->op = 0;
		break;
	default:
		for (unsigned i = 0; i < t->operands[opcode]; i++)
			read_uleb(r);
	}
}

struct special { /* what an opcode adds */
	uint8_t ops;
	int lines;
};

static bool run(struct machine *m, const struct line_sections *s, uint64_t at)
{
	struct table t;
	struct reader *r = &t.program;
	struct special special[256];

	if (!read_head(s, at, &t))
		return false;
	for (unsigned i = t.opcode_base; i < 256; i++)
		special[i] = (struct special){(uint8_t)((i - t.opcode_base) / t.line_range),
			t.line_base + (int)((i - t.opcode_base) % t.line_range)};
	m->table = &t;
	begin_sequence(m);
	while (r->p < r->end && !r->bad && m->rows < ROWS_MAX) {
		uint8_t opcode = *r->p++;

		if (opcode >= t.opcode_base) {
			advance(m, special[opcode].ops);
			m->line += (uint32_t)special[opcode].lines;
			add_row(m);
		} else if (opcode) {
			standard(m, r, opcode);
		} else {
			extended(m, r);
		}
	}
	return !r->bad;
}

bool lines_find(const struct line_sections *s, uint64_t at, const uint64_t *vaddrs, size_t n, struct line_row *rows)
{
	struct machine m = {.vaddrs = vaddrs, .n = n, .found = rows};

	return run(&m, s, at);
}

void lines_rows(const struct line_sections *s, uint64_t at, const struct line_range *ranges, size_t n, size_t max,
	struct line_addresses *out)
{
	struct machine m = {.ranges = ranges, .nranges = n, .max = max, .out = out};

	run(&m, s, at);
}

/* ---- files ---------------------------------------------------------------------- */

static const char *text_in(struct line_text t, uint64_t at)
{
	return at < t.size && memchr(t.data + at, 0, t.size - at) ? (const char *)t.data + at : NULL;
}

/* Returns the text at r, and skips it. */
static const char *read_text(struct reader *r)
{
	const uint8_t *end = r->p < r->end ? memchr(r->p, 0, (size_t)(r->end - r->p)) : NULL;
	const char *text = (const char *)r->p;

	if (!end) {
		r->bad = true;
		return NULL;
	}
	read_skip(r, (uint64_t)(end - r->p) + 1);
	return text;
}

struct entry { /* of a list of directories or files */
	const char *path;
	uint64_t directory;
};

/* Returns the bytes of a form of fixed size, or 0. */
static size_t form_size(const struct table *t, uint64_t form)
{
	switch (form) {
	case FORM_DATA1:
	case FORM_STRX1:
		return 1;
	case FORM_DATA2:
	case FORM_STRX2:
		return 2;
	case FORM_STRX3:
		return 3;
	case FORM_DATA4:
	case FORM_STRX4:
		return 4;
	case FORM_DATA8:
		return 8;
	case FORM_STRP:
	case FORM_LINE_STRP:
	case FORM_STRP_SUP:
		return t->offset_size;
	default:
		return 0;
	}
}

/* Reads or skips a value: a number, or the offset of a string. */
static uint64_t read_number(const struct table *t, struct reader *r, uint64_t form)
{
	size_t size = form_size(t, form);

	if (size)
		return read_uint(r, size);
	if (form == FORM_UDATA || form == FORM_STRX)
		return read_uleb(r);
	if (form == FORM_DATA16)
		read_skip(r, 16);
	else if (form == FORM_BLOCK)
		read_skip(r, read_uleb(r));
	else
		r->bad = true;
	return 0;
}

/* Indexed strings are only in .dwo files, whose tables libdw reads. */
static void read_form(const struct table *t, struct reader *r, uint64_t content, uint64_t form, struct entry *e)
{
	const char *text = form == FORM_STRING ? read_text(r) : NULL;
	uint64_t value = form == FORM_STRING ? 0 : read_number(t, r, form);

	if (content == LNCT_DIRECTORY)
		e->directory = value;
	if (content != LNCT_PATH)
		return;
	e->path = form == FORM_LINE_STRP ? text_in(t->sections->line_str, value) :
		form == FORM_STRP ? text_in(t->sections->str, value) : text;
}

struct list { /* DWARF 5's list of directories or files */
	unsigned nformats;
	struct { uint64_t content, form; } format[FORMATS_MAX];
	uint64_t n;
};

static bool read_list(struct reader *r, struct list *l)
{
	l->nformats = (unsigned)read_uint(r, 1);
	if (l->nformats > FORMATS_MAX)
		return false;
	for (unsigned i = 0; i < l->nformats; i++) {
		l->format[i].content = read_uleb(r);
		l->format[i].form = read_uleb(r);
	}
	l->n = read_uleb(r);
	return !r->bad && (l->nformats || !l->n) && l->n <= FILES_MAX_TABLE;
}

/* Reads the whole list. Returns whether ret is the entry with that number. */
static bool read_entries(const struct table *t, struct reader *r, uint64_t number, struct entry *ret)
{
	struct list l;
	bool found = false;

	if (!read_list(r, &l))
		return false;
	for (uint64_t i = 0; i < l.n && !r->bad; i++) {
		struct entry e = {};

		for (unsigned k = 0; k < l.nformats; k++)
			read_form(t, r, l.format[k].content, l.format[k].form, &e);
		if (i != number || r->bad)
			continue;
		*ret = e;
		found = true;
	}
	return found;
}

/* Finds a file and its directory. */
static bool find_new(const struct table *t, uint32_t file, struct entry *ret, struct entry *ret_dir)
{
	struct reader dirs = t->files, r = t->files;

	read_entries(t, &r, UINT64_MAX, ret); /* directories */
	if (r.bad || !read_entries(t, &r, file, ret) || !ret->path)
		return false;
	read_entries(t, &dirs, ret->directory, ret_dir);
	return true;
}

/* Reads the lists of DWARF 2 to 4, which end with an empty name. Directory 0 is the unit's. */
static bool find_old(const struct table *t, uint32_t file, struct entry *ret, struct entry *ret_dir)
{
	struct reader dirs = t->files, r = t->files;
	const char *text;
	bool found = false;

	while ((text = read_text(&r)) && *text)
		;
	for (uint32_t i = 1; i <= file && i < FILES_MAX_TABLE && (text = read_text(&r)) && *text; i++) {
		*ret = (struct entry){text, read_uleb(&r)};
		read_uleb(&r);
		read_uleb(&r);
		found = i == file;
	}
	for (uint64_t i = 1; found && i <= ret->directory && (text = read_text(&dirs)) && *text; i++)
		ret_dir->path = i == ret->directory ? text : NULL;
	return found;
}

bool lines_file(const struct line_sections *s, uint64_t at, uint32_t file, const char *comp_dir, struct str *out)
{
	struct entry e = {}, dir = {};
	struct table t;

	if (!read_head(s, at, &t))
		return false;
	if (!(t.version >= 5 ? find_new(&t, file, &e, &dir) : find_old(&t, file, &e, &dir)))
		return false;
	if (*e.path != '/' && (!dir.path || *dir.path != '/') && comp_dir && *comp_dir)
		str_addf(out, "%s/", comp_dir);
	if (*e.path != '/' && dir.path && *dir.path)
		str_addf(out, "%s/", dir.path);
	str_add(out, e.path);
	return true;
}
