// SPDX-License-Identifier: Apache-2.0
/* records.h - what a record of the script makes userspace do: a row a kind. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "model/image.h"

struct out;
struct record_row;
struct settings;
struct shared;

/* What the rows work on. */
struct record_env {
	struct out *out;
	const struct image *image;
	const struct shared *shared; /* maps */
	const struct settings *settings;
	int64_t top;            /* --top; 0: all */
	bool warn_reads;        /* -k: reads of memory that fail */
	bool exit_called;       /* set by exit().. */
	int code;               /* ..with this code */
};

/* image_record.kind's; NULL: there is none. */
const struct record_row *record_row_by_name(const char *name);
/* Does what the record at data asks for, or counts it as not written where it prints and there is
 * no time left (stream.h). data: image_record.size bytes at least. */
void record_run(const struct record_row *k, struct record_env *env, const struct image_record *r,
	const uint8_t *data);
/* Reads a map and hands it to the output: how many elements it had, or -errno. */
int record_print_map(struct record_env *env, const struct image_map *m, int64_t top, int64_t div,
	bool unset);
