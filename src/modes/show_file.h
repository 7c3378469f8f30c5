// SPDX-License-Identifier: Apache-2.0
/* show_file.h - strata show FILE converts a recording to any format. */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* argv[0] is "show". Returns the exit status; errors were reported. */
int show_main(int argc, char **argv);
/* Prints the options that begin with the text, including "--", each with its help: a line "NAME\tHELP". */
void show_complete(const char *text, FILE *out);

struct libraries;
struct output;
struct recording;

struct show_options {
	const struct output *format; /* with render() */
	const char *output;          /* file, or NULL: stdout */
	const struct libraries *libraries; /* --hide, --only */
	int64_t top;
	bool long_names;
};

/* Shows a recording from memory. Returns the exit status. */
int show_recording(struct recording *r, const struct show_options *opt);
