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

/* "tracepoint:sched:*", "uprobe:/bin/bash:*", or a bare word that is searched for
 * everywhere; "struct NAME", "union NAME", "enum NAME": types of the kernel; several with commas between
 * them. with_args: the names and types of their arguments, too, or what a type consists of. 0, or 1 after a
 * complaint. */
int list_probes(struct request *req, const char *patterns, bool with_args, FILE *out);
/* The probes that a script attaches to, in its order; without begin and end. */
void list_script(struct arena *a, const struct script *s, bool with_args, FILE *out);
/* The places that a pattern of that type stands for; false: it is not of the type's form. */
bool list_places(struct request *req, const struct provider *p, const char *pattern, bool quiet,
	const struct place **ret);
