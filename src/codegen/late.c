// SPDX-License-Identifier: Apache-2.0
/* late.c - runs the constructors that late.ld puts into a section. Without it they ran before main(), and the section
 * is empty. */
#include "late.h"

#include <stdbool.h>
#include <stddef.h>
#include <unistd.h>

typedef void (*constructor)(int argc, char **argv, char **envp);
extern const constructor late_constructors_begin[] __attribute__((weak, visibility("hidden")));
extern const constructor late_constructors_end[] __attribute__((weak, visibility("hidden")));

void late_run(void)
{
	static bool ran;

	for (const constructor *f = late_constructors_begin; !ran && f < late_constructors_end; f++)
		(*f)(0, NULL, environ);
	ran = true;
}
