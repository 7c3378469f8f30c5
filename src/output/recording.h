// SPDX-License-Identifier: Apache-2.0
/* recording.h - maps keyed by stacks, with all names, independent of the machine of their origin. Pictures
 * and profiles are made from it: from a script's maps when they are printed (recording_map.c), or later from
 * a file (recording_read.c). */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"
#include "model/type.h"
#include "values/frames.h"

struct map_content;

/* The kind of a frame; rows of languages come last. */
enum frame_kind {
	FRAME_KIND_KEY,     /* a part of the map's key */
	FRAME_KIND_NATIVE,
	FRAME_KIND_INLINED,
	FRAME_KIND_KERNEL,
	FRAME_KIND_REASON,  /* the reason why the stack ends */
#define L(id, stem, builtin, kind, name) FRAME_KIND_##id,
#include "bpf/languages.def"
#undef L
	FRAME_KINDS
};
const char *frame_kind_name(enum frame_kind k);

/* The recording owns the strings. */
struct recorded_frame {
	struct shown_frame shown; /* name.caller: not NULL if inlined, but not a valid pointer */
	const char *build_id;     /* the module's build id, in hex; NULL: unknown */
	uint32_t function;        /* recording_text() of the name as shown; equal for one function */
	enum frame_kind kind;
};

/* Stands for a missing text. */
#define NO_TEXT UINT32_MAX

/* A part of a map's key. */
struct recorded_part {
	bool is_stack, is_number;
	uint32_t text;          /* the part as shown; for a stack the reason why it is incomplete, NO_TEXT: complete */
	int64_t number;
	size_t first;           /* for a stack: index of the innermost frame in ids */
	uint32_t n;             /* number of frames */
};

/* Properties of a part that all keys of a map share. */
struct recorded_column {
	const char *label;      /* "comm"; for a stack "stack" */
	bool is_stack, is_kernel;
	enum stack_mode mode;   /* for a stack: the script's mode */
};

struct recorded_entry {
	size_t parts;           /* index of its first part */
	uint64_t weight;        /* its width */
	const uint64_t *values; /* the kernel's counts, recorded_map.nvalues words */
};

struct recorded_map {
	const char *name;       /* without the @ */
	const char *unit;       /* "bytes", "nanoseconds"; "count": unknown */
	struct type value;      /* an integer or an aggregation: it has no pointers */
	uint64_t ns;            /* time of the read, by CLOCK_REALTIME */
	uint64_t begun;         /* CLOCK_REALTIME ns from which on values count; 0: unknown */
	bool is_table;          /* no stack is in its key; it may have no columns, and values below 0 */
	bool has_line;          /* a table whose values are a line, too */
	bool window;            /* these values are in no later print of the map */
	int64_t div;            /* divisor of the weights; 1: none */
	unsigned ncolumns, nvalues;
	struct recorded_column *columns;
	VEC(struct recorded_entry) entries; /* ascending by value */
	uint64_t total;         /* sum of the weights */
	size_t negative;        /* entries that were omitted: a value below 0 has no width */
};

/* A printed line, safe for a terminal, with its "\n". */
struct recorded_line {
	const char *text;
	size_t maps;            /* number of maps that were printed before */
	bool is_map;            /* it is a map without stacks.. */
	bool has_table;         /* ..whose raw values are a table, too */
	const char *problem;    /* a loss, or an error of a helper: its text, without "\n"; NULL: none */
};

struct recording {
	struct arena *arena;
	VEC(struct recorded_frame) frames;
	VEC(const char *) texts;
	const char **names;     /* by text: the name for comparisons, see recording_pair(); NULL: the text itself */
	VEC(uint32_t) ids;      /* numbers of frames */
	VEC(struct recorded_part) parts;
	VEC(struct recorded_map *) maps;
	VEC(struct recorded_map *) tables; /* maps without stacks in their keys */
	VEC(struct recorded_line) lines; /* the script's other output */
	const char *about;      /* the trace: "python3 app.py, pid 12, HOST, 10.0 s, 99 Hz"; NULL: unknown */
	const char *host, *kernel, *version; /* origin: machine, kernel and strata's version */
	struct recording_index *index;
};

struct recording *recording_new(void); /* running out of memory ends the program */
void recording_free(struct recording *r);

/* Returns a number for the text, the same for equal ones; and the text for a number. */
uint32_t recording_add_text(struct recording *r, const char *text);
static inline const char *recording_text(const struct recording *r, uint32_t n)
{
	return r->texts.data[n];
}
/* Returns a frame's number, the same for equal ones. Strings are copied. */
uint32_t recording_add_frame(struct recording *r, const struct shown_frame *f, const char *build_id);
/* value: its shape is copied. The caller fills in the columns. */
struct recorded_map *recording_add_map(struct recording *r, const char *name, const struct type *value,
	unsigned ncolumns);
/* The last map that was added becomes a table. */
void recording_make_table(struct recording *r);
/* Adds the map's next entry: its parts are at r->parts.data + parts. values: copied. Returns false if it is
 * negative or 0, and was not added. */
bool recording_add_entry(struct recording *r, struct recorded_map *m, size_t parts, const uint64_t *values);
/* Returns whether a later print of the same map repeats the values of maps[at]. maps: the n prints of a file. */
bool recording_repeats(struct recorded_map *const *maps, size_t n, size_t at);
/* Prepares a comparison: functions of a file that only one recording has, such as a copied script, are
 * compared only by their names. */
void recording_pair(struct recording *a, struct recording *b);
/* Returns the name of a text for comparisons. */
const char *recording_name(const struct recording *r, uint32_t text);
/* Removes frames from all stacks. */
struct libraries;
void recording_hide(struct recording *r, const struct libraries *l);
/* Returns the number of words of a value, or 0 if it is not a width. */
unsigned recording_values(const struct type *t);

/* Returns whether the map has stacks in its key, and values that are widths. */
struct image_map;
bool recording_takes(const struct image_map *m);
/* Returns whether it has no stack in its key, and values that a table has. */
bool recording_takes_table(const struct image_map *m);
/* Finds a value's width: the sum of an average, the number of values of a histogram. Returns
 * false if it is negative. */
bool recording_weight(const struct type *t, const uint64_t *values, uint64_t *ret);
/* Finds the width of the kernel's bytes. */
bool recording_weight_of(const struct type *t, const uint8_t *value, uint64_t *ret);
/* Adds the entries from `first` on. */
struct show;
struct recorded_map *recording_add(struct recording *r, const struct show *s, const struct map_content *c);
