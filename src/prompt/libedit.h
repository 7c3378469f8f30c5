// SPDX-License-Identifier: Apache-2.0
/* libedit.h - libedit, loaded when a prompt is opened. Only editor.c and history.c use it. */
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

/* Returns NULL if it is not installed. It is loaded once and never unloaded. */
const struct libedit *libedit(void);
