// SPDX-License-Identifier: Apache-2.0
/* log.h - messages for the user that are not about the script: a line on stderr that begins with its kind
 * ("error: "). The options -v and -q set the level. */
#pragma once
#include <stdbool.h>

enum { LOG_NOTHING = -2 }; /* a level without errors and hints, for an attempt */
extern int log_level; /* 0: warnings and errors, 1: with -v, 2: with -vv, -1: with -q */
extern bool log_warnings; /* false with --no-warnings */

void log_error(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void log_warn(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void log_hint(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* Shows a status line as the last line of stderr, if that is a terminal. A later call replaces the line;
 * NULL removes it. Messages appear above it. */
void log_progress(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* Warns once that strata runs with too little memory, and which results may be missing. */
void log_memory_short(const char *missing);
/* The number of reported errors. strata never exits with status 1 without one. */
extern unsigned log_errors;
extern unsigned log_said; /* the number of errors, warnings and hints, also of those that -q or LOG_NOTHING omits */
/* Prints the message only with -v. */
void log_info(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
