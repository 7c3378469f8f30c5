// SPDX-License-Identifier: Apache-2.0
/* libedit.h - libedit, loaded when a prompt is opened. For editor.c and history.c alone. */
#pragma once
#include <histedit.h>

#define LIBEDIT(F)                                                                           \
	F(el_init) F(el_end) F(el_gets) F(el_set) F(el_get) F(el_line) F(el_insertstr)       \
	F(el_deletestr) F(el_cursor) F(el_resize) F(el_reset) F(history_init) F(history_end) F(history)

struct libedit {
#define F(name) __typeof__(name) *name;
	LIBEDIT(F)
#undef F
};

/* NULL: it is not installed. Loaded once, never unloaded. */
const struct libedit *libedit(void);
