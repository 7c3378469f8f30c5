/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* find.h - search for a text in another: strstr() and strcontains(). */
#pragma once
#include "types.h"

#define FIND_TEXT 4224 /* bytes that are searched, including the NUL */
#define FIND_WANTED 1088

/* Filled by the program; both texts end in NUL within their arrays. */
struct find_req {
	__u32 at, matched; /* for find_step(): where a match may begin, and its length so far */
	char text[FIND_TEXT];
	char wanted[FIND_WANTED];
};
ABI_SIZE(find_req, 8 + FIND_TEXT + FIND_WANTED);
