// SPDX-License-Identifier: Apache-2.0
/* files.h - how many files may be open: a probe and a map are one each. */
#pragma once

/* As many as the system permits. */
void files_raise(void);
/* The limit as it was: for a command that strata runs, and may count on it. */
void files_restore(void);
/* Whether n more can be opened; if not, an error says so. */
int files_suffice(unsigned n);
