// SPDX-License-Identifier: Apache-2.0
/* files.h - the limit on open files (RLIMIT_NOFILE): each probe and each map needs one. */
#pragma once

/* Raises the limit as far as the system permits. */
void files_raise(void);
/* Sets it back, for a command that strata runs: some programs close all files up to the limit. */
void files_restore(void);
/* Can n more be opened? 0 or -errno, after an error message. */
int files_suffice(unsigned n);
