/* SPDX-License-Identifier: Apache-2.0 */
/* guard.h - runs a function of a library that may crash on hostile input: libclang's recursion has no
 * limit. */
#pragma once
#include <stdbool.h>

/* False: it crashed, and the library must not be used any more. Not reentrant; the thread is the only
 * one of the process. */
bool guarded(void (*f)(void *arg), void *arg);
