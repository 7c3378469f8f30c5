/* SPDX-License-Identifier: Apache-2.0 */
/* post.h - sends one message by HTTP, with libcurl. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

struct export_options;
struct message;
struct poster;

struct post_reply {
	long status;           /* of HTTP; 0: no answer */
	char retry_after[64];  /* the header's value, or "" */
	char trouble[512];     /* why it was not taken; "" if it was */
	struct str body;       /* the caller's; cut at 4 MiB */
};

/* Reads the variables OTEL_EXPORTER_OTLP_*. Returns 0 on success, -errno on failure, which it reports. */
int poster_open(const struct export_options *opt, struct poster **ret);
void poster_close(struct poster *p);
/* Blocks. The connection stays open for the next message. */
void poster_send(struct poster *p, const struct message *m, struct post_reply *ret);
/* A request that runs is given up at that time (CLOCK_MONOTONIC ns). Any thread may call it. */
void poster_end_by(struct poster *p, uint64_t deadline);
/* Returns false if the environment wants JSON (OTEL_EXPORTER_OTLP_PROTOCOL), not protobuf. */
bool post_encodes(void);
/* Returns false if the environment forbids compression. */
bool post_packs(void);
