// SPDX-License-Identifier: Apache-2.0
/* memory.c - the memory limit of strata's control group. The kernel kills a process of the group that
 * exceeds it, without any message to the process. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/owner.h"
#include "priv.h"
#include "target.h"

/* Returns UINT64_MAX if there is no limit ("max"). */
static uint64_t read_limit(struct target *t, const char *mount, const char *group, const char *file)
{
	_cleanup_(freep) char *text = target_read(t, arena_printf(t->arena, "%s%s/%s", mount, group, file), 64, NULL);
	uint64_t limit = UINT64_MAX;

	if (text)
		sscanf(text, "%" SCNu64, &limit);
	return limit;
}

/* Returns the lowest limit of the group and of all groups above it. */
static uint64_t least_limit(struct target *t, const char *mount, char *group, const char *file)
{
	uint64_t least = UINT64_MAX, limit;
	char *slash;

	for (;;) {
		limit = read_limit(t, mount, strcmp(group, "/") ? group : "", file);
		least = limit < least ? limit : least;
		slash = strrchr(group, '/');
		if (!slash)
			return least;
		*slash = '\0';
	}
}

/* Reads a line of /proc/self/cgroup: NUMBER:CONTROLLERS:PATH. Version 2 does not name controllers. */
static uint64_t limit_of_line(struct target *t, char *line)
{
	char *controllers = strchr(line, ':'), *group = controllers ? strchr(controllers + 1, ':') : NULL;

	if (!group)
		return UINT64_MAX;
	*group++ = '\0';
	if (!strcmp(controllers, ":"))
		return least_limit(t, "/sys/fs/cgroup", group, "memory.max");
	if (!strcmp(controllers, ":memory"))
		return least_limit(t, "/sys/fs/cgroup/memory", group, "memory.limit_in_bytes");
	return UINT64_MAX;
}

uint64_t target_memory_limit(struct target *t)
{
	_cleanup_(freep) char *text = target_read(t, "/proc/self/cgroup", 65536, NULL);
	uint64_t least = UINT64_MAX;
	char *rest = text, *line;

	while (rest && (line = strsep(&rest, "\n"))) {
		uint64_t limit = limit_of_line(t, line);

		least = limit < least ? limit : least;
	}
	return least;
}
