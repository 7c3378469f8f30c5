// SPDX-License-Identifier: Apache-2.0
/* curl.c - opens libcurl, whichever library of TLS it was built with. */
#include "curl.h"

#include <stdbool.h>
#include <string.h>

#include "base/library.h"
#include "base/owner.h"

static struct curl functions;

static bool find_all(void *library)
{
	static const struct {
		const char *name;
		size_t at;
	} symbols[] = {
		{"curl_global_init", offsetof(struct curl, global_init)},
		{"curl_easy_init", offsetof(struct curl, easy_init)},
		{"curl_easy_cleanup", offsetof(struct curl, easy_cleanup)},
		{"curl_easy_setopt", offsetof(struct curl, easy_setopt)},
		{"curl_easy_perform", offsetof(struct curl, easy_perform)},
		{"curl_easy_getinfo", offsetof(struct curl, easy_getinfo)},
		{"curl_easy_strerror", offsetof(struct curl, easy_strerror)},
		{"curl_slist_append", offsetof(struct curl, slist_append)},
		{"curl_slist_free_all", offsetof(struct curl, slist_free_all)},
	};

	for (size_t i = 0; i < ARRAY_SIZE(symbols); i++) {
		void *p = library_symbol(library, symbols[i].name);

		if (!p)
			return false;
		memcpy((char *)&functions + symbols[i].at, &p, sizeof(p));
	}
	return true;
}

const struct curl *curl_open(void)
{
	static const char *const names[] = {"libcurl.so.4", "libcurl-gnutls.so.4"};
	static bool found;

	for (size_t i = 0; i < ARRAY_SIZE(names) && !found; i++) {
		void *library = library_open(names[i]);

		found = library && find_all(library) && !functions.global_init(CURL_GLOBAL_ALL);
		if (library && !found)
			library_close(library);
	}
	return found ? &functions : NULL;
}
