// SPDX-License-Identifier: Apache-2.0
/* log.h - messages for the user that are not about the script: a line on stderr that begins with
 * its kind ("error: "). -v and -q set the level. */
#pragma once
#include <stdbool.h>

extern int log_level; /* 0: warnings and errors, 1: -v, 2: -vv; -1: -q */
extern bool log_warnings; /* false: --no-warnings */

void log_error(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void log_warn(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void log_hint(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* A line at the end of what stderr, a terminal, has: replaces the one before; NULL takes it away. A message
 * comes above it. */
void log_progress(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* Warns once that strata goes on with too little memory, and what may be missing for that reason. */
void log_memory_short(const char *missing);
/* How many errors were reported: an end with status 1 is never without one. */
extern unsigned log_errors;
/* Shown with -v only. */
void log_info(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
