// SPDX-License-Identifier: Apache-2.0
/* resource.c - see resource.h. */
#include "resource.h"

#include <stdlib.h>
#include <string.h>

#include "base/owner.h"
#include "base/str.h"

/* Undoes %20 in place. */
static void percent_decode(char *text)
{
	char *to = text, hex[3] = "";

	for (const char *p = text; *p; p++) {
		if (*p == '%' && p[1] && strspn(p + 1, "0123456789abcdefABCDEF") >= 2) {
			memcpy(hex, p + 1, 2);
			*to++ = (char)strtoul(hex, NULL, 16);
			p += 2;
		} else {
			*to++ = *p;
		}
	}
	*to = '\0';
}

bool resource_next(char **rest, char **ret_key, char **ret_value)
{
	for (char *pair; (pair = strsep(rest, ",")) != NULL;) {
		char *value = strchr(pair, '=');

		if (!value || value == pair)
			continue;
		*value++ = '\0';
		percent_decode(value);
		*ret_key = pair;
		*ret_value = value;
		return true;
	}
	return false;
}

bool resource_value(const char *key, struct str *out)
{
	const char *given = getenv("OTEL_RESOURCE_ATTRIBUTES"), *service = getenv("OTEL_SERVICE_NAME");
	_cleanup_(freep) char *list = strdup(given ? given : "");
	char *rest = list, *name, *value;

	if (service && *service && !strcmp(key, "service.name")) {
		str_add(out, service);
		return true;
	}
	while (resource_next(&rest, &name, &value))
		if (!strcmp(name, key)) {
			str_add(out, value);
			return true;
		}
	return false;
}
