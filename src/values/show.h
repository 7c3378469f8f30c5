// SPDX-License-Identifier: Apache-2.0
/* show.h - values as text, the way bpftrace prints them. What comes from a traced
 * process as a name is escaped (str_add_safe). */
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "model/image.h"

struct libraries;
struct str;
struct target;
struct type;
struct unwinders;

/* How text from memory is written: as a name, which is one line and has no control characters; for a terminal, with its
 * newlines and tabs; as it is. */
enum show_text { SHOW_NAMES, SHOW_LINES, SHOW_BYTES };

struct show {
	const struct image *const *images; /* by number */
	size_t nimages;
	struct target *target;
	struct unwinders *unwinders; /* NULL: nothing needed names of user frames */
	enum show_text text;
	bool exact;                  /* stacks differ by address, not by function or line */
	const struct libraries *libraries; /* whose frames are not shown; NULL: all are */
};

/* show_value.c: the bytes at data as a value of type t (not an aggregation). */
void show_value(const struct show *s, const struct type *t, const uint8_t *data,
	struct str *out);
/* An integer of t's size and sign, extended. */
int64_t show_int(const struct type *t, const uint8_t *data);
/* The name of an enum's value; NULL: t is no enum, or v has none. */
const char *show_enumerator(const struct type *t, uint64_t v);
/* The bytes of a BUFFER, and their number. */
uint32_t show_buffer(const struct type *t, const uint8_t *data, const uint8_t **ret);
/* Where the member of a struct is, whose bytes are at data; a bit-field's value is put into room, as of its
 * type. NULL: it does not lie in the struct. */
struct member;
const uint8_t *show_member(const struct type *t, const struct member *m, const uint8_t *data,
	uint8_t room[8]);
/* What stands around the members of a tuple or record: "(", then before each member what separates it
 * from the last and names it, ")". */
void show_tuple_begin(const struct type *t, struct str *out);
void show_tuple_member(const struct type *t, unsigned i, struct str *out);
void show_tuple_end(const struct type *t, struct str *out);
/* Text from memory. */
void show_text(const struct show *s, const char *text, size_t n, struct str *out);
/* show.c: printf: the format and its arguments within the record. */
void show_format(const struct show *s, const struct image_record *r, const uint8_t *record,
	struct str *out);

/* show_stack.c: "\n" and a line a frame, each ending in "\n". */
void show_stack(const struct show *s, const struct type *t, uint64_t id, struct str *out);
/* The same for frames from frames_get(). */
struct frame_list;
void show_frames(const struct show *s, const struct type *t, const struct frame_list *l,
	struct str *out);
/* Why a list of frames is not a whole stack, or why it is empty; NULL: nothing to say. */
const char *show_end(const struct type *t, const struct frame_list *l);
/* A function alone, with its file where a language has one. */
struct shown_frame;
void show_function(const struct shown_frame *f, struct str *out);
/* The probe's name, or its function's, by image_place_id(). */
void show_place_name(const struct show *s, bool func, uint64_t i, struct str *out);
/* show_shown.c: a TYPE_SHOWN. */
void show_shown(const struct show *s, const struct type *t, int64_t v, struct str *out);
/* show_gfp.c: "GFP_KERNEL|__GFP_ZERO" */
void show_gfp(uint64_t flags, struct str *out);
/* A TYPE_INET. */
void show_inet(const uint8_t *data, struct str *out);
/* A time of CLOCK_REALTIME, in ns, by a format: as strftime(3), and %f us, %k ns, %l ms of the second. */
void show_time(const char *format, uint64_t ns, struct str *out);
void show_ksym(const struct show *s, uint64_t addr, struct str *out);
void show_usym(const struct show *s, const uint8_t *data, struct str *out);

/* show_folded.c: what the colours of a flame graph go by, behind a function's name: "_[k]" of the kernel's, "_[i]"
 * of one that was inlined, "_[j]" of an interpreter's or a JIT compiler's; else "". */
const char *show_annotation(const struct shown_frame *f);
/* "outermost;...;innermost", after the reason where the stack is not whole. */
void show_folded(const struct type *t, const struct frame_list *l, struct str *out);
/* A map's key as one such line: the rest of the key, then the user's stacks, then the kernel's, which
 * are called from there. "" where nothing is in it. */
struct map_entry;
void show_folded_key(const struct show *s, const struct type *t, const struct map_entry *e,
	struct str *out);

/* show_tseries.c: a plot, one line an interval, up to the interval `last` (struct agg_tseries). */
void show_tseries(const struct type *t, const uint8_t *value, uint64_t last, struct str *out);
/* The next interval after `after` (0: the first) of those that are plotted, and its value, as of the type;
 * when it began, in ns of CLOCK_REALTIME. false: there is none. */
struct tseries_point {
	uint64_t interval, ns, value;
};
bool tseries_next(const struct type *t, const uint8_t *value, uint64_t last, uint64_t after,
	struct tseries_point *ret);

/* show_hist.c: one line a bucket. */
void show_hist_line(const struct str *interval, uint64_t n, uint64_t max, struct str *out);
void show_hist(const struct type *t, const uint64_t *buckets, uint64_t div, struct str *out);
/* The values that bucket i counts, low and high included. */
struct bucket {
	uint64_t low, high;
	bool no_low, no_high; /* it has no end there */
	bool is_signed;       /* low and high are int64_t */
};
void show_bucket(const struct type *t, uint32_t i, struct bucket *ret);
/* The first and the last bucket that counted; false: none did. */
bool show_buckets(const struct type *t, const uint64_t *buckets, uint32_t *ret_first, uint32_t *ret_last);
