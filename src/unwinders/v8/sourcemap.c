// SPDX-License-Identifier: Apache-2.0
/* sourcemap.c - source maps.
 *
 *     {"version": 3, "sources": ["../src/a.ts"], "names": ["add"], "mappings": "AAAA,IAAMA..."}
 *
 * Mappings are lines of the generated file, separated by ';'. A line has pieces, separated by ','. A piece
 * has 1, 4 or 5 numbers, each the difference from the one before: its column (which begins again in each
 * line), the source, the line and the column there, and the name. Numbers are in base64, 5 bits per
 * character, the low ones first; bit 5 means that more follow, and the lowest bit of all is the sign. */
#include "sourcemap.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/arena.h"
#include "base/json.h"
#include "base/owner.h"
#include "base/str.h"

#define TEXT_MAX     (64 << 20)
#define PIECES_MAX   (1 << 23)
#define STRINGS_MAX  (1 << 20)
#define SECTIONS_MAX 65536

struct piece {
	uint32_t line, column; /* from 0 on, as in the map */
	int32_t source;        /* -1: no source */
	uint32_t from_line, from_column;
	int32_t name;          /* -1: no name */
};

struct strings {
	const char **at;
	size_t n, cap;
};

struct sourcemap {
	struct arena *arena;
	struct strings sources, names;
	struct piece *pieces;
	size_t n, cap;
	bool unsorted;
};

static const struct json *json;

/* ---- paths ---- */

static bool is_absolute(const char *path)
{
	return *path == '/' || strstr(path, "://");
}

/* "/srv/dist/../src/a.ts" is "/srv/src/a.ts". */
static void add_normal(struct str *out, const char *path)
{
	if (*path != '/') {
		str_add(out, path);
		return;
	}
	while (*path) {
		size_t n = strcspn(path, "/");

		if (n == 2 && !memcmp(path, "..", 2)) {
			while (out->len && out->data[--out->len] != '/')
				;
		} else if (n && !(n == 1 && *path == '.')) {
			str_addc(out, '/');
			str_addn(out, path, n);
		}
		path += n + (path[n] == '/');
	}
}

static const char *source_path(struct arena *a, const char *base, const char *root, const char *source)
{
	struct str joined = {}, normal = {};
	const char *path;

	if (!strncmp(source, "file:///", 8))
		source += 7;
	if (!is_absolute(source)) {
		if (!is_absolute(root))
			str_add(&joined, base);
		str_add(&joined, root);
		if (*root && root[strlen(root) - 1] != '/')
			str_addc(&joined, '/');
	}
	str_add(&joined, source);
	add_normal(&normal, str_text(&joined));
	path = arena_strndup(a, str_text(&normal), normal.len);
	str_done(&joined);
	str_done(&normal);
	return path;
}

/* ---- mappings ---- */

static int digit_of(char c)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const char *at = c ? strchr(digits, c) : NULL;

	return at ? (int)(at - digits) : -1;
}

static bool read_number(const char **p, int64_t *sum)
{
	uint64_t v = 0;
	int digit = 32;

	for (unsigned shift = 0; digit & 32; shift += 5) {
		digit = digit_of(**p);
		if (digit < 0 || shift > 35)
			return false;
		(*p)++;
		v |= (uint64_t)(digit & 31) << shift;
	}
	*sum += v & 1 ? -(int64_t)(v >> 1) : (int64_t)(v >> 1);
	return *sum >= 0 && *sum <= INT32_MAX;
}

static bool ends_piece(char c)
{
	return !c || c == ',' || c == ';';
}

static bool add_piece(struct sourcemap *m, const struct piece *piece)
{
	const struct piece *last = m->n ? &m->pieces[m->n - 1] : NULL;

	if (m->n == m->cap) {
		size_t cap = m->cap ? 2 * m->cap : 256;
		struct piece *more = cap > PIECES_MAX ? NULL : realloc(m->pieces, cap * sizeof(*more));

		if (!more)
			return false;
		last = m->n ? &more[m->n - 1] : NULL;
		m->pieces = more;
		m->cap = cap;
	}
	m->unsorted |= last && (last->line > piece->line ||
				       (last->line == piece->line && last->column > piece->column));
	m->pieces[m->n++] = *piece;
	return true;
}

/* The numbers from which a map's sources and names count, if several are in one file, and the
 * map's place in the file. */
struct section {
	size_t source, name;
	uint32_t line, column;
};

static bool read_piece(struct sourcemap *m, const char **p, const struct section *s, int64_t sums[5],
	uint32_t line)
{
	struct piece piece = { .line = s->line + line, .source = -1, .name = -1 };
	unsigned n = 0;

	while (n < 5 && !ends_piece(**p))
		if (!read_number(p, &sums[n++]))
			return false;
	if (!ends_piece(**p) || n == 2 || n == 3)
		return false;
	piece.column = (uint32_t)sums[0] + (line ? 0 : s->column);
	if (n >= 4) {
		if ((uint64_t)sums[1] >= m->sources.n - s->source)
			return false;
		piece.source = (int32_t)(s->source + (size_t)sums[1]);
		piece.from_line = (uint32_t)sums[2];
		piece.from_column = (uint32_t)sums[3];
	}
	if (n == 5) {
		if ((uint64_t)sums[4] >= m->names.n - s->name)
			return false;
		piece.name = (int32_t)(s->name + (size_t)sums[4]);
	}
	return !n || add_piece(m, &piece);
}

static bool read_mappings(struct sourcemap *m, const char *p, const struct section *s)
{
	int64_t sums[5] = {};
	uint32_t line = 0;

	for (;; p++) {
		if (!read_piece(m, &p, s, sums, line))
			return false;
		if (!*p)
			return true;
		if (*p == ';') {
			line++;
			sums[0] = 0;
		}
	}
}

/* ---- a map ---- */

static bool make_room(struct strings *s, size_t more)
{
	size_t cap = s->cap ? s->cap : 64;
	const char **at;

	if (more > STRINGS_MAX || s->n + more > STRINGS_MAX)
		return false;
	while (cap < s->n + more)
		cap *= 2;
	at = cap == s->cap ? s->at : realloc(s->at, cap * sizeof(*at));
	if (!at)
		return false;
	s->at = at;
	s->cap = cap;
	return true;
}

/* Appends an array of strings to those of earlier sections. Other elements become "". root: the strings are paths. */
static bool read_strings(struct sourcemap *m, struct json_object *array, struct strings *list,
	const char *base, const char *root)
{
	size_t more = array ? json->length(array) : 0;

	if (!make_room(list, more))
		return false;
	for (size_t i = 0; i < more; i++) {
		const char *text = json_text(json->at(array, i));

		if (text && root)
			text = source_path(m->arena, base, root, text);
		list->at[list->n++] = text ? arena_strdup(m->arena, text) : "";
	}
	return true;
}

static bool read_map(struct sourcemap *m, struct json_object *o, struct section s, const char *base)
{
	const char *mappings = json_text(json_member(o, "mappings", json_type_string));
	const char *root = json_text(json_member(o, "sourceRoot", json_type_string));

	s.source = m->sources.n;
	s.name = m->names.n;
	return mappings &&
	       read_strings(m, json_member(o, "sources", json_type_array), &m->sources, base, root ? root : "") &&
	       read_strings(m, json_member(o, "names", json_type_array), &m->names, NULL, NULL) &&
	       read_mappings(m, mappings, &s);
}

static uint32_t number_of(struct json_object *o, const char *name)
{
	struct json_object *v = json_member(o, name, json_type_int);
	int64_t n = v ? json->integer(v) : 0;

	return n < 0 || n > INT32_MAX ? 0 : (uint32_t)n;
}

/* Reads the maps of parts that a bundler has joined. */
static bool read_sections(struct sourcemap *m, struct json_object *sections, const char *base)
{
	size_t n = json->length(sections);

	for (size_t i = 0; i < n && i < SECTIONS_MAX; i++) {
		struct json_object *part = json->at(sections, i);
		struct json_object *at = json_member(part, "offset", json_type_object);
		struct json_object *map = json_member(part, "map", json_type_object);

		if (!at || !map ||
			!read_map(m, map, (struct section){ .line = number_of(at, "line"), .column = number_of(at, "column") }, base))
			return false;
	}
	return true;
}

static int by_place(const void *a, const void *b)
{
	const struct piece *x = a, *y = b;

	if (x->line != y->line)
		return x->line < y->line ? -1 : 1;
	return x->column < y->column ? -1 : x->column > y->column;
}

static bool read_json(struct sourcemap *m, struct json_object *o, const char *base)
{
	struct json_object *sections = json_member(o, "sections", json_type_array);
	bool ok = sections ? read_sections(m, sections, base) : read_map(m, o, (struct section){}, base);

	if (m->unsorted)
		qsort(m->pieces, m->n, sizeof(*m->pieces), by_place);
	return ok && m->n;
}

/* Skips a first line that prevents browsers from running the file as a script. */
static void skip_guard(const char **text, size_t *size)
{
	const char *line = *size >= 4 && !memcmp(*text, ")]}'", 4) ? memchr(*text, '\n', *size) : NULL;

	if (line) {
		*size -= (size_t)(line - *text);
		*text = line;
	}
}

struct sourcemap *sourcemap_new(const char *text, size_t size, const char *base)
{
	struct json_tokener *tokener;
	struct json_object *o;
	struct sourcemap *m;
	bool ok;

	skip_guard(&text, &size);
	json = json_open();
	if (size > TEXT_MAX || !json)
		return NULL;
	tokener = json->tokener_new();
	o = tokener ? json->parse(tokener, text, (int)size) : NULL;
	m = o ? calloc(1, sizeof(*m)) : NULL;
	if (m) {
		m->arena = arena_new();
		ok = read_json(m, o, base);
		if (!ok) {
			sourcemap_free(m);
			m = NULL;
		}
	}
	if (o)
		json->put(o);
	if (tokener)
		json->tokener_free(tokener);
	return m;
}

void sourcemap_free(struct sourcemap *m)
{
	if (!m)
		return;
	arena_free(m->arena);
	free(m->sources.at);
	free(m->names.at);
	free(m->pieces);
	free(m);
}

bool sourcemap_find(const struct sourcemap *m, uint32_t line, uint32_t column, struct mapped_position *ret)
{
	struct piece wanted = { .line = line - 1, .column = column - 1 };
	const struct piece *found;
	size_t lo = 0, hi = m->n;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (by_place(&m->pieces[mid], &wanted) <= 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	found = lo ? &m->pieces[lo - 1] : NULL;
	if (!line || !column || !found || found->line != wanted.line || found->source < 0)
		return false;
	*ret = (struct mapped_position){
		.file = m->sources.at[found->source],
		.name = found->name < 0 ? NULL : m->names.at[found->name],
		.line = found->from_line + 1,
		.column = found->from_column + 1,
		.exact = found->column == wanted.column,
	};
	return true;
}

/* ---- the file ---- */

static char *from_base64(const char *p, size_t *ret_size)
{
	size_t n = strlen(p), at = 0;
	char *out = malloc(n / 4 * 3 + 4);
	uint32_t bits = 0;

	for (size_t i = 0; out && i < n; i++) {
		int digit = digit_of(p[i]);

		if (digit < 0)
			break; /* '=' */
		bits = bits << 6 | (uint32_t)digit;
		if (i % 4)
			out[at++] = (char)(bits >> (6 - i % 4 * 2));
	}
	*ret_size = at;
	return out;
}

static char *read_all(int fd, size_t *ret_size)
{
	_cleanup_(freep) char *text = NULL;
	struct stat st;
	ssize_t n;

	if (fstat(fd, &st) || st.st_size <= 0 || st.st_size > TEXT_MAX)
		return NULL;
	text = malloc((size_t)st.st_size);
	n = text ? pread(fd, text, (size_t)st.st_size, 0) : -1;
	if (n <= 0)
		return NULL;
	*ret_size = (size_t)n;
	return TAKE(text);
}

/* Returns the length of "/srv/dist/" in "/srv/dist/a.js", or 0 if there is no directory. */
static size_t directory(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? (size_t)(slash + 1 - path) : 0;
}

char *sourcemap_text(const struct sourcemap_files *files, int pid, const char *script, const char *url,
	size_t *ret_size, char **ret_base)
{
	const char *data = strncmp(url, "data:", 5) ? NULL : strstr(url, ";base64,");
	_cleanup_(freep) char *path = NULL;
	_cleanup_(closep) int fd = -1;

	if (!strncmp(url, "file:///", 8))
		url += 7;
	if (data) {
		*ret_base = strndup(script, directory(script));
		return from_base64(data + strlen(";base64,"), ret_size);
	}
	if (*script != '/' || strstr(url, "://") || !strncmp(url, "data:", 5))
		return NULL;
	if (asprintf(&path, "%.*s%s", *url == '/' ? 0 : (int)directory(script), script, url) < 0) {
		path = NULL;
		return NULL;
	}
	fd = files->open(files->arg, pid, path);
	if (fd < 0)
		return NULL;
	*ret_base = strndup(path, directory(path));
	return read_all(fd, ret_size);
}
