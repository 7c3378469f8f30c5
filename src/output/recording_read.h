// SPDX-License-Identifier: Apache-2.0
/* recording_read.h - reads a recording from its file (recording_write.h), from the output of -f json, or from rows
 * that a database returned: {"stack": ["leaf", "main"], "value": 3}, whose other members are parts of the key.
 * Files are untrusted: their data are checked, and texts are made safe for a terminal. */
#pragma once
#include <stdio.h>

struct recording;

/* Returns NULL if the file is not a recording, which was reported with the line. */
struct recording *recording_read(FILE *file, const char *path);
