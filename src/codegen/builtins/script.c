// SPDX-License-Identifier: Apache-2.0
/* script.c - builtins of the script itself, not of what it traces. */
#include "builtins.h"

const struct builtin builtins_script[] = {
	{
		.name = "getopt",
		.sig = "any [any] [any] -> special",
		.help = "the value of a named option of the script, --NAME, with a default and a help; a constant",
		.check = check_option, /* leaves a literal */
	},
	BUILTINS_END,
};
