/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* who.h - the result of a program's filter: for both sides. */
#pragma once

/* The program ignores the event. Any other result is the thread's ids. */
#define UNWANTED (~0ULL)
