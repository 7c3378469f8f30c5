/* SPDX-License-Identifier: Apache-2.0 */
/* series.h - the metrics of a unit for Prometheus, from the OTLP/JSON that its processes print. Each process counts
 * from its own start. A series is the sum over the processes of the unit: those that have ended, and the one or two
 * that run during a reload. So counters never fall, and no window of a reload is missing. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct series;
struct str;

struct series *series_new(const char *unit);
void series_free(struct series *s);
/* Takes a line {"resourceMetrics": ..} of a process; later processes have larger numbers, from 1. The line may come
 * from anywhere: a line that is not of this form is ignored. Returns false then, or if json-c is not installed. */
bool series_take(struct series *s, uint32_t process, const char *line, size_t n);
/* Appends the metrics in Prometheus' text format 0.0.4: strata_UNIT_MAP{labels}. Counters end in _total. */
void series_print(const struct series *s, struct str *out);
/* Forgets gauges without a message since `before` (CLOCK_MONOTONIC ns): a map that is empty is not printed. */
void series_expire(struct series *s, uint64_t before);
/* Returns the number of series, and of those that were left out because there were too many. */
size_t series_count(const struct series *s);
uint64_t series_dropped(const struct series *s);
