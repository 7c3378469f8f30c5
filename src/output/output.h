// SPDX-License-Identifier: Apache-2.0
/* output.h - formats of a script's output: a row for each, selected by -f.
 *
 * A row is a file of this directory and a line in outputs.def. It gets values, maps that were read and
 * sorted, and, by frames.h, the named frames of a stack. Its output goes to the stream, whose writes are
 * checked (stream.h), or to stderr if the format cannot contain it. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "model/image.h"
#include "pack.h"
#include "values/show.h"

struct image;
struct image_map;
struct map_content;
struct output;
struct recording;
struct rows;
struct show;
struct stream;
struct type;

/* The environment of a row. Nothing here is owned. */
struct out {
	const struct output *output;
	struct stream *stream;
	FILE *file;              /* writes to the stream, compressed or not */
	enum pack pack;          /* compression of the file; owned by output_open() */
	const struct show *show; /* finds names */
	bool terminal;           /* a person reads the output */
	bool quiet;              /* -q */
	bool long_names;         /* --long: pictures have the whole names of C++ functions */
	const char *about;       /* names the traced command, for finish(); NULL: unknown */
	uint64_t begun;          /* CLOCK_REALTIME ns of output_open() */
	struct recording *recording; /* collect.h's; owned; NULL: nothing yet */
	struct totals *totals;   /* of maps that are emptied when they are printed; owned; NULL: nothing yet */
	struct rows *rows; /* of -f rows; owned; NULL: nothing yet */
};

/* The maps of a recording and options for their picture. Nothing here is owned. */
struct picture {
	const struct recording *recording;
	const struct recording *before; /* recording with which it is compared; NULL: none */
	bool labels;     /* parts of keys are labels, not frames */
	bool frames;     /* keys are frames even if the format has labels */
	bool lines;      /* frames are split by line */
	uint64_t begun;  /* CLOCK_REALTIME ns of the trace's begin; 0: unknown */
	int64_t top;     /* number of a map's largest entries as text; 0: all */
	bool terminal;   /* a person reads the output */
};

/* A script's own message by errorf() and warnf(), and its place. Line and column count from 1; the end is
 * after the last byte of the call. */
struct output_place { /* a place in the script */
	const char *filename;
	unsigned line, col, end_line, end_col;
	const char *text; /* the line's text */
};

struct output_message {
	bool is_error;
	const char *text;     /* the text by the format: with a "\n" or without */
	const char *filename; /* the script's file */
	unsigned line, col, end_line, end_col;
	const struct output_place *uses; /* uses of the macros that contain the place, innermost first */
	unsigned nuses;
};

#define OUTPUT_ANY_CPU UINT32_MAX

/* Events that a probe lost on a CPU. */
struct output_loss {
	const char *probe;
	uint32_t cpu; /* or OUTPUT_ANY_CPU: unknown */
	uint64_t n;
};

/* The first problem at a place of the running script. */
struct output_problem {
	enum problem kind;
	const char *text;     /* the problem for a person, with its place */
	const char *filename;
	unsigned line, col;
};

/* A script's tests or benchmarks, and their results. */
struct output_trials {
	struct output_trial {
		const char *name;
		bool failed;     /* the test failed */
		double ns;       /* time of a run */
		uint64_t runs;
	} *list;
	size_t n;
	bool are_tests;          /* else benchmarks */
	enum { TRIALS_BEGIN, TRIAL_BEGINS, TRIAL_ENDS, TRIALS_END } step;
	size_t at;               /* index of the one that begins or ends */
};

/* Events that strata reports in addition to the script's output. */
struct output_event {
	enum { OUTPUT_ATTACHED, OUTPUT_LOST, OUTPUT_MESSAGE, OUTPUT_PROBLEM, OUTPUT_TRIALS } kind;
	uint64_t n;       /* probes; events, updates.. */
	bool early;       /* ATTACHED: begin has ended the script, so only it and end were attached */
	const char *what; /* LOST: kind and reason */
	bool are_events;  /* LOST: the script's events; `what` begins with "events" */
	const struct output_loss *losses; /* LOST: by probe and CPU, if known; the largest first */
	size_t nlosses;
	const struct output_message *message; /* MESSAGE */
	const struct output_problem *problem; /* PROBLEM */
	const struct output_trials *trials;   /* TRIALS */
};

/* The contents of a format. */
enum output_content {
	OUTPUT_TEXT,    /* everything, as text for a person */
	OUTPUT_OBJECTS, /* everything, as objects for a program */
	OUTPUT_STACKS,  /* maps keyed by stacks; a recording also has the rest */
};

struct output {
	const char *name; /* name for -f */
	const char *help; /* one line, without a full stop */
	const char *endings; /* file name endings of this format, separated by spaces; NULL: none */
	enum output_content content;
	bool escapes;     /* text() and event() escape the bytes of text themselves */
	bool exact;       /* stacks differ by address, ignoring the script's modes */
	/* A script was added; called before its first output. May be NULL. */
	void (*begin)(struct out *o, const struct image *img);
	/* Writes text of printf(), join().. unchanged. kind: the kind of the record. */
	void (*text)(struct out *o, const char *kind, const char *text, size_t size);
	/* Writes print(value), except for aggregations. */
	void (*value)(struct out *o, const struct type *t, const uint8_t *data);
	/* Writes print(@map), and each map at the end. */
	void (*map)(struct out *o, const struct map_content *m);
	void (*event)(struct out *o, const struct output_event *e);
	/* The scripts have ended: these n maps come next, and then nothing. May be NULL. */
	void (*end)(struct out *o, const struct image_map *const *maps, size_t n);
	/* Called after the last map. May be NULL. */
	void (*finish)(struct out *o);
	/* Writes a recording's stacks in this format. Returns 0 on success, -errno on failure; the caller
	 * checks the writes. NULL if the format cannot. */
	int (*render)(const struct picture *p, FILE *file);
	bool compares; /* render() uses picture.before */
	bool is_picture; /* long names are shortened */
	bool has_times;  /* maps have their times: a window needs no line with its time */
};

#define O(name) extern const struct output output_##name;
#include "outputs.def"
#undef O

/* Ends with NULL; the first is the default. */
extern const struct output *const outputs[];

/* Returns NULL if there is no such format. */
const struct output *output_by_name(const char *name);
/* Finds the format by the end of a file's name: x.svg, x.svg.gz; else the default. file may be NULL. */
const struct output *output_by_file(const char *file);
/* Checks a file's name before a long run: its ending may be that of a picture that no row writes, such as x.png.
 * Returns false after an error. */
bool output_check_file(const char *file);
/* Returns the compression of the row's output, by the file's name. */
enum pack output_pack(const struct output *o, const char *file);
/* Opens o->file, which writes to o->stream. Returns 0 on success, -errno on failure. */
int output_open(struct out *o, enum pack pack);
/* Ends the compressed part: later text is not compressed. */
void output_end_packed(struct out *o);
/* Ends the compressed part, and frees the recording. */
void output_close(struct out *o);
/* Returns the most similar name, or NULL if none is similar. */
const char *output_nearest(const char *written);
/* Returns the row's way to write text from memory; terminal: the stream is one. Rows without a place for
 * text write it to stderr. */
enum show_text output_show_text(const struct output *o, bool terminal);
/* Prints the event to stderr, for formats without events. */
void output_event_log(struct out *o, const struct output_event *e);
/* Prints tests and benchmarks like bpftrace. */
void output_trials_text(const struct output_trials *t, bool colours, FILE *file);
