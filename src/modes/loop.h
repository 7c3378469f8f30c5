/* SPDX-License-Identifier: Apache-2.0 */
/* loop.h - runs a session until it ends by itself, or its time is over. Meanwhile it draws the maps (-t),
 * or shows a status line on a terminal. */
#pragma once
#include <stdbool.h>

struct image;
struct session;

struct loop_options {
	double live;     /* -t: seconds between two drawings; 0 for none */
	double duration; /* -d: seconds; 0 for no limit */
	bool terminal;   /* the output is a terminal */
	const struct image *image;
	bool notifies;   /* a service manager waits for messages (base/notify.h) */
	bool counts;     /* stderr is a terminal: count events for its status line */
};

void loop_run(struct session *s, const struct loop_options *opt);
/* Reads "10", "0.5", "10s", "500ms", "2m", "1h". Returns false if it is not a time above 0. */
bool loop_read_time(const char *text, double *ret_seconds);
