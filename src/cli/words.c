// SPDX-License-Identifier: Apache-2.0
/* words.c - see words.h. */
#include "words.h"

#include <stdbool.h>
#include <string.h>

#include "tools.h"

static char help[] = "--help", list[] = "-l";

void words_replace(int argc, char **argv)
{
	const char *word = argc > 1 ? argv[1] : "";
	bool helps = !strcmp(word, "help");

	if (!strcmp(word, "list"))
		argv[1] = list;
	if (helps)
		argv[1] = help;
	helps |= !strcmp(word, help) || !strcmp(word, "-h");
	if (!helps || argc != 3 || !tool_by_name(argv[2]))
		return;
	argv[1] = argv[2];
	argv[2] = help;
}
