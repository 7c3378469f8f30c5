// SPDX-License-Identifier: Apache-2.0
/* session.h - a script running: image -> kernel -> text, until it ends. */
#pragma once
#include <stdbool.h>

#include "model/image.h"
#include "runtime/child.h"

struct output;
struct stream;
struct target;

struct session_options {
	int pid;              /* -p: only this process, and end with it */
	struct child *child;  /* -c, or NULL */
	const struct output *output; /* -f */
	struct stream *stream;
	bool quiet;           /* -q: nothing but what the script says */
	bool dry_run;         /* load, attach nothing */
	int64_t top;          /* of a map that is printed, the largest so many; 0: all */
};

/* The exit code: exit()'s, 0, or 1 after a failure that was told. */
int session_run(const struct image *img, struct target *t, const struct session_options *opt);
