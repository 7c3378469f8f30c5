// SPDX-License-Identifier: Apache-2.0
/* priority.h - a moment soon, not much of it: a process that has begun is to be known before it
 * runs far, and the ring buffer to be read before it is full, also where more wants to run than
 * can. What takes long is done as everyone else's work is. */
#pragma once

/* From here on before others (nice -10), where the system lets it; a nice value that somebody
 * chose is kept. */
void priority_raise(void);
/* What follows takes long (making a table, printing); until priority_high(). */
void priority_normal(void);
void priority_high(void);
