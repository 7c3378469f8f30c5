// SPDX-License-Identifier: Apache-2.0
/* run.h - runs the image of a script until it ends, and writes its output. */
#pragma once
#include <stdbool.h>

#include "modes/loop.h"
#include "session/session.h"

struct image;
struct target;

struct run_options {
	struct target *target;
	const struct image *image;
	struct session_options session; /* without a stream */
	struct loop_options loop;
	const char *path; /* -o, or NULL */
	bool buffer_all;  /* -B full */
	bool has_filter;  /* --probe-filter */
};

/* Returns the exit status. */
int run_image(const struct run_options *opt);
