// SPDX-License-Identifier: Apache-2.0
/* recording_write.h - a recording's file: lines of JSON, which recording_read.c reads.
 *
 *     {"type": "recording", "version": 1, "strata": "0.1.0", "host": "..", "kernel": ".."}   the first
 *     {"type": "frame", "kind": "python", "function": "f", "file": "a.py", "line": 3, ..}    numbered from 0 on
 *     {"type": "profile", "name": "bytes", "unit": "bytes", "time": ns, "divided_by": 1, "begun": ns, "value": {"kind":
 * "sum"},
 *         "key": [{"label": "comm"}, {"label": "stack", "mode": "func"}]}
 *     {"key": ["python3", {"frames": [4, 1, 0], "end": ".."}], "value": [12]}                of the last profile
 *
 * Maps without stacks have lines of -f json, and {"type": "table", ..}, as profiles, with their entries; a map without
 * a key has no columns.
 * "window": true marks values that were taken out of a map; a print without it is repeated by the next one.
 * Frames come before the first entry that has them; a stack has the innermost first. A value has the kernel's
 * words. Lines of other types are the script's other output, in the format of -f json. */
#pragma once
#include <stdio.h>

struct recording;
struct recorded_map;

/* Writes the line with recording.about. */
void recording_write_about(const char *about, FILE *out);
void recording_write_head(const struct recording *r, FILE *out);
/* Writes it with the frames from *frames on, and sets that to the number of all frames. */
void recording_write_map(const struct recording *r, const struct recorded_map *m, size_t *frames, FILE *out);

/* The text for an aggregation's kind. */
extern const char *const recording_kinds[];
