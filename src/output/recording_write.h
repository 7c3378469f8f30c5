// SPDX-License-Identifier: Apache-2.0
/* recording_write.h - a recording's file: lines of JSON. recording_read.c reads them.
 *
 *     {"type": "recording", "version": 1, "strata": "0.1.0", "host": "..", "kernel": ".."}   the first
 *     {"type": "frame", "kind": "python", "function": "f", "file": "a.py", "line": 3, ..}    numbered from 0 on
 *     {"type": "profile", "name": "bytes", "unit": "bytes", "time": ns, "divided_by": 1, "value": {"kind": "sum"},
 *         "key": [{"label": "comm"}, {"label": "stack", "mode": "func"}]}
 *     {"key": ["python3", {"frames": [4, 1, 0], "end": ".."}], "value": [12]}                of the last profile
 *
 * Frames come before the first entry that has them, the innermost first in a stack. A value has the words that
 * the kernel counted. Lines of other types are as -f json writes them: what the script printed. */
#pragma once
#include <stdio.h>

struct recording;
struct recorded_map;

void recording_write_head(const struct recording *r, FILE *out);
/* With the frames from *frames on, which becomes the number of all. */
void recording_write_map(const struct recording *r, const struct recorded_map *m, size_t *frames, FILE *out);

/* What is written of an aggregation's kind. */
extern const char *const recording_kinds[];
