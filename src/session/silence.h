/* SPDX-License-Identifier: Apache-2.0 */
/* silence.h - explains why a script that waits for events had none. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct target;

struct silence {
	int pid;           /* -p; 0: none */
	bool command;      /* -c */
	uint64_t start_ns; /* CLOCK_MONOTONIC */
	uint64_t cpu_ms;   /* CPU time that the process had used before */
};

void silence_begin(struct silence *s, struct target *t, int pid, bool command);
/* Logs a hint for each of the n processes that the script names and that does not exist. */
void silence_expect(struct target *t, const uint32_t *named, unsigned n);
/* Logs a hint. */
void silence_explain(const struct silence *s, struct target *t);
