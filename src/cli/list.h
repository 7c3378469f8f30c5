// SPDX-License-Identifier: Apache-2.0
/* list.h - -l: the probes that match a pattern. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct arena;
struct place;
struct provider;
struct request;
struct script;

/* Lists probes for "tracepoint:sched:*", "uprobe:/bin/bash:*", or a bare word, which is searched
 * everywhere. Lists types of the kernel for "struct NAME", "union NAME", "enum NAME". Several patterns are
 * separated by commas. with_args: prints names and types of arguments, or the members of a type, too.
 * Returns 0, or 1 after an error. */
int list_probes(struct request *req, const char *patterns, bool with_args, FILE *out);
/* Lists the probes to which a script attaches, in its order, without begin and end. */
void list_script(struct arena *a, const struct script *s, bool with_args, FILE *out);
/* Lists the places of a pattern of that type. Returns false if the pattern does not have the type's form. */
bool list_places(struct request *req, const struct provider *p, const char *pattern, bool quiet,
	const struct place **ret);
