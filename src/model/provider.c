// SPDX-License-Identifier: Apache-2.0
/* provider.c - probe types by name. */
#include "provider.h"

#include <strings.h>

static bool is_called(const char *own, const char *name, size_t len)
{
	return own && !strncasecmp(own, name, len) && !own[len];
}

const struct provider *provider_by_name(
	const struct provider *const *list, const char *name, size_t len)
{
	for (; *list; list++)
		if (is_called((*list)->name, name, len) ||
			is_called((*list)->short_name, name, len) ||
			is_called((*list)->alias, name, len))
			return *list;
	return NULL;
}
