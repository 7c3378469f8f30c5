// SPDX-License-Identifier: Apache-2.0
/* output.h - how what a script prints is written: a row for each format, chosen by -f.
 *
 * A row is a file of this directory and a line in outputs.def. It gets values, maps that were read
 * and sorted, and, by frames.h, the named frames of a stack; what it makes of them goes to the
 * stream, whose writes are checked (stream.h), or, where the format has no use for it, to
 * stderr. */
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
struct show;
struct stream;
struct type;

/* What a row works on. Nothing here is owned. */
struct out {
	const struct output *output;
	struct stream *stream;
	FILE *file;              /* the stream's */
	const struct show *show; /* for names */
	bool terminal;           /* a person reads what is written */
	bool quiet;              /* -q */
	struct recording *recording; /* what collect.h collects; owned; NULL: nothing yet */
};

/* What a recording is made into, and how. Nothing here is owned. */
struct picture {
	const struct recording *recording;
	const struct recording *before; /* what it is compared with; NULL: with nothing */
	bool labels;     /* parts of keys are labels, not frames */
	bool frames;     /* they are frames where the format has labels, too */
	bool lines;      /* frames are split by line */
	int64_t top;     /* of a map as text the largest so many; 0: all */
	bool terminal;   /* a person reads what is written */
};

/* What a script says of itself by errorf() and warnf(), and where. Line and column count from 1; the end
 * is behind the last byte of the call. */
struct output_place { /* in the script */
	const char *filename;
	unsigned line, col, end_line, end_col;
	const char *text; /* the line */
};

struct output_message {
	bool is_error;
	const char *text;     /* as the format has it: with a "\n" or without */
	const char *filename; /* of the script */
	unsigned line, col, end_line, end_col;
	const struct output_place *uses; /* of the macros that it is in, the innermost first */
	unsigned nuses;
};

#define OUTPUT_ANY_CPU UINT32_MAX

/* Events that a probe lost on a CPU. */
struct output_loss {
	const char *probe;
	uint32_t cpu; /* or OUTPUT_ANY_CPU: it is not known which */
	uint64_t n;
};

/* What went wrong while the script ran, the first time at its place. */
struct output_problem {
	enum problem kind;
	const char *text;     /* for a person, with the place */
	const char *filename;
	unsigned line, col;
};

/* A script's tests or benchmarks, and how they went. */
struct output_trials {
	struct output_trial {
		const char *name;
		bool failed;     /* of a test */
		double ns;       /* of a run */
		uint64_t runs;
	} *list;
	size_t n;
	bool are_tests;          /* else benchmarks */
	enum { TRIALS_BEGIN, TRIAL_BEGINS, TRIAL_ENDS, TRIALS_END } step;
	size_t at;               /* which of them begins or ends */
};

/* What strata reports beside what the script prints. */
struct output_event {
	enum { OUTPUT_ATTACHED, OUTPUT_LOST, OUTPUT_MESSAGE, OUTPUT_PROBLEM, OUTPUT_TRIALS } kind;
	uint64_t n;       /* probes; events, updates.. */
	bool early;       /* ATTACHED: begin has ended the script: only it and end were */
	const char *what; /* LOST: which, and why */
	bool are_events;  /* LOST: of the script's; what begins with "events" */
	const struct output_loss *losses; /* LOST: by probe and CPU, where that is known; the most first */
	size_t nlosses;
	const struct output_message *message; /* MESSAGE */
	const struct output_problem *problem; /* PROBLEM */
	const struct output_trials *trials;   /* TRIALS */
};

struct output {
	const char *name; /* of -f */
	const char *help; /* one line, no full stop */
	const char *endings; /* of files that are of this format, separated by spaces; NULL: of none */
	bool exact;       /* stacks differ by address, not as the script's modes say */
	/* A script was added; before anything of it is printed. NULL: nothing to do. */
	void (*begin)(struct out *o, const struct image *img);
	/* Text of printf(), join().., without anything to be added. kind: of the record. */
	void (*text)(struct out *o, const char *kind, const char *text, size_t size);
	/* print(value), not of an aggregation. */
	void (*value)(struct out *o, const struct type *t, const uint8_t *data);
	/* print(@map), and each map at the end. */
	void (*map)(struct out *o, const struct map_content *m);
	void (*event)(struct out *o, const struct output_event *e);
	/* The scripts have ended: these maps come next, n of them, and then nothing. NULL: nothing
	 * to do. */
	void (*end)(struct out *o, const struct image_map *const *maps, size_t n);
	/* After the last map. NULL: nothing to do. */
	void (*finish)(struct out *o);
	/* Makes a recording's stacks into this format: 0 or -errno. What was written is checked by the caller.
	 * NULL: it cannot. */
	int (*render)(const struct picture *p, FILE *file);
	bool compares; /* render() takes picture.before */
};

#define O(name) extern const struct output output_##name;
#include "outputs.def"
#undef O

/* Ends with NULL; the first is the default. */
extern const struct output *const outputs[];

/* NULL: there is none. */
const struct output *output_by_name(const char *name);
/* By the end of a file's name: x.svg, x.svg.gz; else the default. file may be NULL. */
const struct output *output_by_file(const char *file);
/* How what the row writes is to be compressed, by the file's name. */
enum pack output_pack(const struct output *o, const char *file);
/* The name nearest to what was written; NULL: none is near. */
const char *output_nearest(const char *written);
/* How the row writes text from memory; terminal: the stream is one. Rows that have no use for text write it to
 * stderr. */
enum show_text output_show_text(const struct output *o, bool terminal);
/* For formats without events: prints it to stderr. */
void output_event_log(struct out *o, const struct output_event *e);
/* Tests and benchmarks as bpftrace prints them. */
void output_trials_text(const struct output_trials *t, bool colours, FILE *file);
