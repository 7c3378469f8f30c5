/* SPDX-License-Identifier: Apache-2.0 */
/* otlp.h - parts of -f otlp: messages of the OpenTelemetry protocol as JSON, a line each (opentelemetry-proto
 * v1.11.0; opentelemetry/proto/{profiles/v1development,metrics/v1,logs/v1}/). Integers of 64 bits are strings, as
 * protobuf's JSON demands. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct map_content;
struct picture;
struct show;
struct str;

/* Appends {"resource": .., "NAME": [{"scope": .., and leaves both objects open; otlp_end() closes them. NAME is
 * scopeLogs.. The resource has the host, and service.name and other attributes by OTEL_SERVICE_NAME and
 * OTEL_RESOURCE_ATTRIBUTES (percent-encoded "key=value,key=value"). */
void otlp_begin(const char *name, struct str *out);
void otlp_end(struct str *out);
/* Appends {"key": key, "value": ..}. is_number: the value is number, else text. */
void otlp_attribute(const char *key, bool is_number, int64_t number, const char *text, struct str *out);
/* Returns the conventional name for a part of a key: "thread.name" for "comm". */
const char *otlp_key(const char *label);
/* Appends the metrics of a map without stacks in its key, as members of "metrics". begun: CLOCK_REALTIME ns from which
 * on values count. Returns false if its values are no metrics: text, tuples.. */
bool otlp_metrics(const struct show *s, const struct map_content *c, uint64_t begun, struct str *out);
/* Appends a line of profiles, one for each map. */
void otlp_profiles(const struct picture *p, struct str *out);
