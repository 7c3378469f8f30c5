/* SPDX-License-Identifier: Apache-2.0 */
/* roots.h - the processes of several -p, and their descendants. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

struct session;
struct target;

/* The processes that a session traces, if these are not one process or a command. */
struct roots {
	const int *pids; /* the caller owns them; NULL: none */
	size_t n;
	bool children;   /* also their descendants, present and future ones */
};

/* Watches the ends of the processes. Returns 0 on success, -errno on failure, which it reports. */
int roots_watch(struct session *s);
/* Returns whether all of them have ended. */
bool roots_ended(const struct session *s);
/* Adds them to the kernel's map `tree`. Called when tree_fork() is attached, so that no child is missed. Returns 0 on
 * success, -errno on failure, which it reports. */
int roots_name(const struct session *s, int tree);
/* Reads their mappings. */
void roots_read(struct session *s);
