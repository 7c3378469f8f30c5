// SPDX-License-Identifier: Apache-2.0
/* priority.h - the nice value. strata needs little time, but soon: it must publish a new process
 * before that has run far, and read the ring buffer before it is full, also on a busy machine.
 * Long work is done at the usual priority. */
#pragma once

/* From here on nice -10, if the system permits; a nice value other than 0 is kept. */
void priority_raise(void);
/* The usual priority for work that takes long (making a table, printing), until priority_high(). */
void priority_normal(void);
void priority_high(void);
