/* SPDX-License-Identifier: Apache-2.0 */
/* silence.h - why a script that waits for events had none. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct target;

struct silence {
	int pid;           /* -p; 0: none */
	bool command;      /* -c */
	uint64_t start_ns; /* CLOCK_MONOTONIC */
	uint64_t cpu_ms;   /* that the process had used then */
};

void silence_begin(struct silence *s, struct target *t, int pid, bool command);
/* A hint for each of the n processes that the script names and that is not there. */
void silence_expect(struct target *t, const uint32_t *named, unsigned n);
/* A hint. */
void silence_explain(const struct silence *s, struct target *t);
