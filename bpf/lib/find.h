/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* find.h - one text in another: strstr() and strcontains(). */
#pragma once
#include "types.h"

#define FIND_TEXT 4224 /* bytes that are looked at, the NUL among them */
#define FIND_WANTED 1088

/* Filled by the program; the texts end in NUL within their room. */
struct find_req {
	__u32 at, matched; /* where a match may begin, how long it is so far; of find_step() */
	char text[FIND_TEXT];
	char wanted[FIND_WANTED];
};
ABI_SIZE(find_req, 8 + FIND_TEXT + FIND_WANTED);
