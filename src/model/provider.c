// SPDX-License-Identifier: Apache-2.0
/* provider.c - finds probe types by name. */
#include "provider.h"

#include <string.h>
#include <strings.h>

typedef int compare(const char *a, const char *b, size_t len);

static bool is_called(const char *own, const char *name, size_t len, compare *differs)
{
	return own && !differs(own, name, len) && !own[len];
}

static const struct provider *find(
	const struct provider *const *list, const char *name, size_t len, compare *differs)
{
	for (; *list; list++)
		if (is_called((*list)->name, name, len, differs) ||
			is_called((*list)->short_name, name, len, differs) ||
			is_called((*list)->alias, name, len, differs))
			return *list;
	return NULL;
}

/* u is uprobe, U is usdt: case is significant where two names differ only in case. */
const struct provider *provider_by_name(
	const struct provider *const *list, const char *name, size_t len)
{
	const struct provider *p = find(list, name, len, strncmp);

	return p ? p : find(list, name, len, strncasecmp);
}
