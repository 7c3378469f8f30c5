// SPDX-License-Identifier: Apache-2.0
/* records.h - handlers of the script's records in userspace: a row for each kind. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/image.h"

#include "values/entries.h"

struct advice;
struct holds;
struct out;
struct record;
struct record_row;
struct settings;
struct shared;

/* The environment of the rows. */
struct record_env {
	struct out *out;
	const struct image *image;
	struct shared *shared;  /* maps */
	const struct settings *settings;
	struct holds *holds;    /* decides about events; NULL: no condition needs names */
	void (*again)(void *arg, const struct record *r, size_t size); /* handles a record that was held */
	void *again_arg;
	struct advice *idle;    /* counts the idle waits of the maps that are printed; NULL: nobody is advised */
	struct advice *advice;  /* gets the maps that are printed; NULL: nobody is advised */
	int64_t top;            /* --top; 0: all */
	bool warn_reads;        /* -k: warn about reads of memory that fail */
	bool exit_called;       /* exit() was called */
	int code;               /* exit()'s code */
};

/* Returns the row of image_record.kind, or NULL if there is none. */
const struct record_row *record_row_by_name(const char *name);
/* Handles the record at data. If it prints and there is no time left (stream.h), counts it as not written.
 * data: at least image_record.size bytes. */
void record_run(const struct record_row *k, struct record_env *env, const struct image_record *r,
	const uint8_t *data);
/* Reads a map and passes it to the output. Returns its number of elements, or -errno. */
int record_print_map(struct record_env *env, const struct image_map *m, int64_t top, int64_t div,
	bool unset);
/* Prints a map at the end. A map that was taken before has only the values of its last window. */
int record_print_last(struct record_env *env, const struct image_map *m);
/* Empties maps that are taken (image_map.taken) at the same time, then prints their elements. Returns their number. */
size_t record_take_maps(struct record_env *env, const struct image_map *const *maps, size_t n,
	struct map_wanted wanted);
