/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* who.h - what the filter of a program returns: for both sides. */
#pragma once

/* The program is not for this event; else its thread's ids. */
#define UNWANTED (~0ULL)
