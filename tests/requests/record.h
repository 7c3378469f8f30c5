// SPDX-License-Identifier: Apache-2.0
/* record.h - the thread context's record: OpenTelemetry's OTEP 4947. */
#pragma once
#include <stdint.h>

struct record {
	uint8_t trace[16], span[8], valid, flags;
	uint16_t size;
	uint8_t attributes[612];
};

void set_record(struct record *r);
