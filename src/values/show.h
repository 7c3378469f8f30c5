// SPDX-License-Identifier: Apache-2.0
/* show.h - values as text, like bpftrace. Names from a traced process are escaped (str_add_safe). */
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "model/image.h"

struct libraries;
struct str;
struct target;
struct type;
struct unwinders;

/* Ways to write text from memory: as a name, which is one line and has no control characters; for a terminal,
 * with its newlines and tabs; unchanged. */
enum show_text { SHOW_NAMES, SHOW_LINES, SHOW_BYTES };

struct show {
	const struct image *const *images; /* the images by number */
	size_t nimages;
	struct target *target;
	struct unwinders *unwinders; /* NULL: no user frames need names */
	enum show_text text;
	bool exact;                  /* stacks differ by address, not by function or line */
	bool skips_empty;            /* the text of a key lacks its empty stacks */
	bool skips_startup;          /* maps lack the memory of the C library's start, see startup.h */
	bool skips_idle;             /* maps lack the waits that are idle by nature, see idle.h */
	const struct libraries *libraries; /* libraries whose frames are hidden; NULL: none */
	char **begins;               /* receives the explanation of the first ":~12" in a stack, to be freed; NULL: not
	                              * wanted */
	unsigned each;               /* number of the frame that FRAME_EACH is, from 1 on; 0: its value is a text, see
	                              * each_frame() */
};

/* show_value.c: appends the bytes at data as a value of type t (not an aggregation). */
void show_value(const struct show *s, const struct type *t, const uint8_t *data,
	struct str *out);
/* Returns an integer of t's size and sign, extended. */
int64_t show_int(const struct type *t, const uint8_t *data);
/* Returns the name of an enum's value, or NULL if t is not an enum, or v has no name. */
const char *show_enumerator(const struct type *t, uint64_t v);
/* Returns the bytes of a BUFFER, and their number. */
uint32_t show_buffer(const struct type *t, const uint8_t *data, const uint8_t **ret);
/* Returns the bytes of a struct's member; data: the struct. A bit-field's value is put into room, with its
 * type's size. Returns NULL if it is outside of the struct. */
struct member;
const uint8_t *show_member(const struct type *t, const struct member *m, const uint8_t *data,
	uint8_t room[8]);
/* Append the text around the members of a tuple or record: "(", then before each member its
 * separator and name, ")". */
void show_tuple_begin(const struct type *t, struct str *out);
void show_tuple_member(const struct type *t, unsigned i, struct str *out);
void show_tuple_end(const struct type *t, struct str *out);
/* Appends text from memory. */
void show_text(const struct show *s, const char *text, size_t n, struct str *out);
/* show.c: appends printf's text: the format and its arguments in the record. */
void show_format(const struct show *s, const struct image_record *r, const uint8_t *record,
	struct str *out);

/* show_stack.c: appends "\n" and one line per frame, each ending in "\n". */
void show_stack(const struct show *s, const struct type *t, uint64_t id, struct str *out);
/* Appends this text for frames from frames_get(). */
struct frame_list;
void show_frames(const struct show *s, const struct type *t, const struct frame_list *l,
	struct str *out);
/* Appends a TYPE_FRAME: the text of one frame, or of a part of it. id is the stack's. */
void show_frame(const struct show *s, const struct type *t, uint64_t id, struct str *out);
/* Returns the number of shown frames of a stack. t: the type of a frame of it. */
unsigned show_frames_of(const struct show *s, const struct type *t, uint64_t id);
/* Returns the reason why a list of frames is incomplete or empty, or NULL if there is none. */
const char *show_end(const struct type *t, const struct frame_list *l);
/* Appends only a function, with its file if the language has one. */
struct shown_frame;
void show_function(const struct shown_frame *f, struct str *out);
/* Appends the probe's name, or its function's, by image_place_id(). */
void show_place_name(const struct show *s, bool func, uint64_t i, struct str *out);
/* show_shown.c: appends a TYPE_SHOWN. */
void show_shown(const struct show *s, const struct type *t, int64_t v, struct str *out);
/* show_gfp.c: appends "GFP_KERNEL|__GFP_ZERO". */
void show_gfp(uint64_t flags, struct str *out);
/* Appends a TYPE_INET. */
void show_inet(const uint8_t *data, struct str *out);
/* Appends a time of CLOCK_REALTIME, in ns, by a format of strftime(3), with %f us, %k ns, %l ms of the second. */
void show_time(const char *format, uint64_t ns, struct str *out);
void show_ksym(const struct show *s, uint64_t addr, struct str *out);
void show_usym(const struct show *s, const uint8_t *data, struct str *out);

/* show_folded.c: returns the suffix of a function's name that gives its colour in a flame graph: "_[k]" in
 * the kernel, "_[i]" if inlined, "_[j]" from an interpreter or a JIT compiler; else "". */
const char *show_annotation(const struct shown_frame *f);
/* Appends "outermost;...;innermost", after the reason if the stack is incomplete. */
void show_folded(const struct type *t, const struct frame_list *l, struct str *out);
/* Appends a map's key as one such line: the rest of the key, then the user stacks, then the kernel's, which
 * they call. "" if it is empty. */
struct map_entry;
void show_folded_key(const struct show *s, const struct type *t, const struct map_entry *e,
	struct str *out);

/* show_tseries.c: appends a plot, one line per interval, up to the interval `last` (struct agg_tseries). */
void show_tseries(const struct type *t, const uint8_t *value, uint64_t last, struct str *out);
/* Finds the next plotted interval after `after` (0: the first), its value, by the type, and its start, in ns
 * of CLOCK_REALTIME. Returns false if there is none. */
struct tseries_point {
	uint64_t interval, ns, value;
};
bool tseries_next(const struct type *t, const uint8_t *value, uint64_t last, uint64_t after,
	struct tseries_point *ret);

/* show_hist.c: appends one line per bucket. */
void show_hist_line(const struct str *interval, uint64_t n, uint64_t max, struct str *out);
void show_hist(const struct type *t, const uint64_t *buckets, uint64_t div, struct str *out);
/* The values that bucket i counts, including low and high. */
struct bucket {
	uint64_t low, high;
	bool no_low, no_high; /* the range is open */
	bool is_signed;       /* low and high are int64_t */
};
void show_bucket(const struct type *t, uint32_t i, struct bucket *ret);
/* Finds the first and the last bucket with a count. Returns false if all are empty. */
bool show_buckets(const struct type *t, const uint64_t *buckets, uint32_t *ret_first, uint32_t *ret_last);
