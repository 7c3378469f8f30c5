// SPDX-License-Identifier: Apache-2.0
/* owner.h - ownership: _cleanup_(f) on a local variable calls f at the end of the scope. TAKE() hands the
 * value on and leaves the variable empty. */
#pragma once
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define _cleanup_(fn) __attribute__((cleanup(fn)))

/* Returns the value and sets the variable to NULL. */
#define TAKE(p)                                                                          \
	({                                                                               \
		__typeof__(p) take_ = (p);                                               \
		(p) = NULL;                                                              \
		take_;                                                                   \
	})
#define TAKE_FD(fd)                                                                      \
	({                                                                               \
		int take_ = (fd);                                                        \
		(fd) = -1;                                                               \
		take_;                                                                   \
	})

static inline void closep(int *fd)
{
	int saved = errno;

	if (*fd >= 0)
		close(*fd);
	errno = saved;
}

static inline void freep(void *p)
{
	free(*(void **)p);
}

static inline void fclosep(FILE **f)
{
	if (*f)
		fclose(*f);
}

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
