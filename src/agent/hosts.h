/* SPDX-License-Identifier: Apache-2.0 */
/* hosts.h - strata --host a,b,@file: the same script on several hosts, over ssh, and one answer. Source text travels;
 * each host compiles it for its own kernel. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "base/vec.h"

struct push;
struct recording;

typedef VEC(char *) host_list;

/* Reads names, separated by commas; @FILE has one per line, and comments after #. Returns 0 on success, -errno on
 * failure, -EINVAL if a name begins with "-" or there is none. The strings are the caller's. */
int hosts_read(const char *text, host_list *ret);
void hosts_done(host_list *l);

struct hosts_plan {
	const char *command; /* words for a shell, of which the first is strata. Its output is a recording */
	const char *ssh;     /* words of a command that takes a host's name and a shell's command */
	struct push *push;   /* the program that hosts get which do not have it, and run; or NULL */
	double seconds;      /* a host that has not answered a minute after that has failed; 0: no limit */
	bool by_host;        /* the answers are not added up: each key begins with its host */
};
/* Runs the command on each host. Ends when all have ended; a signal asks them to, and who has not answered 15 s later
 * has failed. Returns the sum of those that succeeded, or NULL if none did; hosts that failed are reported with their
 * reasons. */
struct recording *hosts_run(const host_list *l, const struct hosts_plan *plan, size_t *ret_failed);
