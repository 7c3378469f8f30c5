// SPDX-License-Identifier: Apache-2.0
/* log.h - what the system says, printed once, in the user's words. On
 * stderr, each line beginning with its kind. Level is set by -v and -q. */
#pragma once
#include <stdbool.h>

extern int log_level; /* 0: warnings and errors, 1: -v, 2: -vv; -1: -q */

void log_error(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void log_warn(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void log_hint(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* Shown with -v only. */
void log_info(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
