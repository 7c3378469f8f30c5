// SPDX-License-Identifier: Apache-2.0
/* uprobe_args.h - names and types of the arguments of programs' functions, from debug information. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct attach_point;
struct debuginfo;
struct place;
struct request;

/* Returns whether the script, or the listing, needs debug information. */
bool uprobe_wants_types(const struct request *req, const struct attach_point *ap);
/* Returns a program's debug information, or NULL after a message, which is an error if the script needs arguments. */
struct debuginfo *uprobe_debuginfo(
	const struct request *req, const struct attach_point *ap, const char *path);
/* Sets fields and ret of the place, a function at the address in its file; symbol NULL: not at its start. */
void uprobe_types(const struct request *req, const struct attach_point *ap, struct debuginfo *d,
	struct place *p, const char *symbol, uint64_t vaddr);
