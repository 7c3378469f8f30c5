// SPDX-License-Identifier: Apache-2.0
/* files.h - the limit on open files (RLIMIT_NOFILE). Each probe and each map needs a file. */
#pragma once

/* Raises the limit as far as the system permits it. */
void files_raise(void);
/* Restores the old limit for a command that strata runs, since some programs close all files up to the
 * limit. */
void files_restore(void);
/* Checks that n more files can be opened. Returns 0 on success; prints an error and returns -errno on
 * failure. */
int files_suffice(unsigned n);
