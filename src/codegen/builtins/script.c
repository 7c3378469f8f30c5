// SPDX-License-Identifier: Apache-2.0
/* script.c - builtins for the script itself. */
#include "builtins.h"

const struct builtin builtins_script[] = {
	{
		.name = "getopt",
		.sig = "any [any] [any] -> special",
		.help = "the value of the script's option --NAME, with a default and a help; a constant",
		.check = check_option, /* replaces the call by a literal */
	},
	BUILTINS_END,
};
