// SPDX-License-Identifier: Apache-2.0
/* record.h - the thread context's record: OpenTelemetry's OTEP 4947. */
#pragma once
#include <stdint.h>

struct record {
	uint8_t trace[16], span[8], valid, flags;
	uint16_t size;
	uint8_t attributes[612];
};

/* NULL, a struct record *, or, with LABELS, a struct label_set *. */
void set_record(void *r);

/* The set of labels of github.com/polarsignals/custom-labels, version 1. */
struct label_set {
	struct label {
		struct text {
			uint64_t size;
			const char *text;
		} key, value;
	} *labels;
	uint64_t n, room;
};
