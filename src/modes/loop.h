/* SPDX-License-Identifier: Apache-2.0 */
/* loop.h - a session from its start to its end: until it ends by itself, or its time is over; meanwhile its
 * maps are drawn (-t), or a line on a terminal says how far it is. */
#pragma once
#include <stdbool.h>

struct image;
struct session;

struct loop_options {
	double live;     /* -t: seconds between two drawings; 0: none */
	double duration; /* -d: seconds; 0: no limit */
	bool terminal;   /* the output is one */
	const struct image *image;
	bool counts;     /* it counts its events, for a line on stderr, a terminal */
};

void loop_run(struct session *s, const struct loop_options *opt);
/* "10", "0.5", "10s", "500ms", "2m", "1h". false: it is no time above 0. */
bool loop_read_time(const char *text, double *ret_seconds);
