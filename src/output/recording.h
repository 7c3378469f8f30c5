// SPDX-License-Identifier: Apache-2.0
/* recording.h - maps keyed by stacks, with all names, apart from the machine they were made on. Pictures and
 * profiles are made of it: of a script's maps when they are printed (recording_map.c), or later, of a file
 * (recording_read.c). */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"
#include "model/type.h"
#include "values/frames.h"

struct map_content;

/* What a frame is; a language's row comes last. */
enum frame_kind {
	FRAME_KIND_KEY,     /* a part of the map's key */
	FRAME_KIND_NATIVE,
	FRAME_KIND_INLINED,
	FRAME_KIND_KERNEL,
	FRAME_KIND_REASON,  /* why the stack ends */
#define L(id, stem, builtin, kind, name) FRAME_KIND_##id,
#include "bpf/languages.def"
#undef L
	FRAME_KINDS
};
const char *frame_kind_name(enum frame_kind k);

/* Strings are the recording's. */
struct recorded_frame {
	struct shown_frame shown; /* name.caller: not NULL of an inlined one, and then points nowhere */
	const char *build_id;     /* of the module, in hex; NULL: not known */
	uint32_t function;        /* recording_text(): as it is shown; equal for one function */
	enum frame_kind kind;
};

/* Instead of a text's number. */
#define NO_TEXT UINT32_MAX

/* A part of a map's key. */
struct recorded_part {
	bool is_stack, is_number;
	uint32_t text;          /* as it is shown; of a stack why it is not whole, NO_TEXT: it is */
	int64_t number;
	size_t first;           /* of a stack: index into ids, the innermost frame.. */
	uint32_t n;             /* ..and how many */
};

/* What all keys of a map have there. */
struct recorded_column {
	const char *label;      /* "comm"; of a stack "stack" */
	bool is_stack, is_kernel;
	enum stack_mode mode;   /* of a stack: as the script wants it shown */
};

struct recorded_entry {
	size_t parts;           /* index of the first */
	uint64_t weight;        /* its width */
	const uint64_t *values; /* what the kernel counted, of recorded_map.nvalues */
};

struct recorded_map {
	const char *name;       /* without the @ */
	const char *unit;       /* "bytes", "nanoseconds"; "count": of nothing that is known */
	struct type value;      /* an integer or an aggregation: it has no pointers */
	uint64_t ns;            /* when it was read, of CLOCK_REALTIME */
	int64_t div;            /* weights were divided by it; 1: they were not */
	unsigned ncolumns, nvalues;
	struct recorded_column *columns;
	VEC(struct recorded_entry) entries; /* ascending by value */
	uint64_t total;         /* of the weights */
	size_t negative;        /* entries that were left out: a value below 0 has no width */
};

/* Safe for a terminal, with its "\n". */
struct recorded_line {
	const char *text;
	size_t maps;            /* that were printed before */
};

struct recording {
	struct arena *arena;
	VEC(struct recorded_frame) frames;
	VEC(const char *) texts;
	const char **names;     /* by text: what it is compared by, see recording_pair(); NULL: by itself */
	VEC(uint32_t) ids;      /* of frames */
	VEC(struct recorded_part) parts;
	VEC(struct recorded_map *) maps;
	VEC(struct recorded_line) lines; /* what the script printed beside */
	const char *host, *kernel, *version; /* where it was made, and by which strata */
	struct recording_index *index;
};

struct recording *recording_new(void); /* running out of memory ends the program */
void recording_free(struct recording *r);

/* A number for the text, the same for equal ones; and the text again. */
uint32_t recording_add_text(struct recording *r, const char *text);
static inline const char *recording_text(const struct recording *r, uint32_t n)
{
	return r->texts.data[n];
}
/* A frame's number: the same for equal ones. Strings are copied. */
uint32_t recording_add_frame(struct recording *r, const struct shown_frame *f, const char *build_id);
/* value: its shape is copied. Columns are to be filled. */
struct recorded_map *recording_add_map(struct recording *r, const char *name, const struct type *value,
	unsigned ncolumns);
/* The map's next entry: its parts are at r->parts.data + parts. values: copied. false: it is negative or 0,
 * and was not added. */
bool recording_add_entry(struct recording *r, struct recorded_map *m, size_t parts, const uint64_t *values);
/* Before two are compared: functions of a file that only one of them has, as of a script that was copied, are
 * compared by their names alone. */
void recording_pair(struct recording *a, struct recording *b);
/* A text as it is compared. */
const char *recording_name(const struct recording *r, uint32_t text);
/* Leaves frames out of all stacks. */
struct libraries;
void recording_hide(struct recording *r, const struct libraries *l);
/* How many words a value of the type has; 0: it is no width. */
unsigned recording_values(const struct type *t);

/* Does the map have stacks in its key, and values that are a width? */
struct image_map;
bool recording_takes(const struct image_map *m);
/* A value's width: the sum of an average, the number of values of a histogram. false: it is negative. */
bool recording_weight(const struct type *t, const uint64_t *values, uint64_t *ret);
/* The same of the kernel's bytes. */
bool recording_weight_of(const struct type *t, const uint8_t *value, uint64_t *ret);
/* Adds the entries from `first` on. */
struct show;
struct recorded_map *recording_add(struct recording *r, const struct show *s, const struct map_content *c);
