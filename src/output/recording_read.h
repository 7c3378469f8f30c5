// SPDX-License-Identifier: Apache-2.0
/* recording_read.h - a recording from its file (recording_write.h), or from what -f json has written. Files are
 * untrusted: what they say is checked, and texts are made safe for a terminal. */
#pragma once
#include <stdio.h>

struct recording;

/* NULL: it is none, which was reported with the line. */
struct recording *recording_read(FILE *file, const char *path);
