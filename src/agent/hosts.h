/* SPDX-License-Identifier: Apache-2.0 */
/* hosts.h - strata --host a,b,@file: the same script on several hosts, over ssh, and one answer. Source text travels;
 * each host compiles it for its own kernel. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "base/vec.h"

struct recording;

typedef VEC(char *) host_list;

/* Reads names, separated by commas; @FILE has one per line, and comments after #. Returns 0 on success, -errno on
 * failure, -EINVAL if a name begins with "-" or there is none. The strings are the caller's. */
int hosts_read(const char *text, host_list *ret);
void hosts_done(host_list *l);
/* Runs `command`, words for a shell, on each host: ssh HOST COMMAND. The output of a host is a recording. Ends when all
 * have ended; a signal asks them to. Returns the sum of those that succeeded, or NULL if none did; hosts that failed
 * are reported with their reasons. A host that has not answered a minute after `seconds` (0: no limit), or 15 s after a
 * signal, has failed. ssh: the words of a command that takes a host's name and a shell's command. */
struct recording *hosts_run(const host_list *l, const char *ssh, const char *command, double seconds,
	bool by_host, size_t *ret_failed);
