// SPDX-License-Identifier: Apache-2.0
/* owner.h - who gives a thing back: cleanup at the end of a scope, TAKE() to
 * hand it on. A local that owns something is tagged where it is declared. */
#pragma once
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define _cleanup_(fn) __attribute__((cleanup(fn)))

/* Hand over: the value, leaving the variable empty. */
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
