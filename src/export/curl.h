/* SPDX-License-Identifier: Apache-2.0 */
/* curl.h - the part of libcurl that a POST needs. The library is opened at the first use, and its headers are not
 * needed: its ABI has been stable since 7.16. Numbers are those of curl 7.88.1, include/curl/curl.h. */
#pragma once
#include <stddef.h>

typedef void CURL;
struct curl_slist;

enum curl_option {
	CURLOPT_WRITEDATA = 10001, CURLOPT_URL = 10002, CURLOPT_ERRORBUFFER = 10010, CURLOPT_WRITEFUNCTION = 20011,
	CURLOPT_POSTFIELDS = 10015, CURLOPT_USERAGENT = 10018, CURLOPT_HTTPHEADER = 10023, CURLOPT_SSLCERT = 10025,
	CURLOPT_HEADERDATA = 10029, CURLOPT_NOPROGRESS = 43, CURLOPT_POST = 47, CURLOPT_XFERINFODATA = 10057,
	CURLOPT_CAINFO = 10065, CURLOPT_HEADERFUNCTION = 20079, CURLOPT_SSLKEY = 10087, CURLOPT_NOSIGNAL = 99,
	CURLOPT_POSTFIELDSIZE_LARGE = 30120, CURLOPT_TIMEOUT_MS = 155, CURLOPT_CONNECTTIMEOUT_MS = 156,
	CURLOPT_PROTOCOLS = 181, CURLOPT_XFERINFOFUNCTION = 20219,
};
enum { CURLPROTO_HTTP = 1, CURLPROTO_HTTPS = 2 };
enum { CURLINFO_RESPONSE_CODE = 0x200002, CURL_GLOBAL_ALL = 3, CURL_ERROR_BYTES = 256 };

struct curl {
	int (*global_init)(long flags);
	CURL *(*easy_init)(void);
	void (*easy_cleanup)(CURL *);
	int (*easy_setopt)(CURL *, int option, ...);
	int (*easy_perform)(CURL *);
	int (*easy_getinfo)(CURL *, int info, ...);
	const char *(*easy_strerror)(int);
	struct curl_slist *(*slist_append)(struct curl_slist *, const char *);
	void (*slist_free_all)(struct curl_slist *);
};

/* Returns NULL if the library is not installed, or, in a static build, not a part of the program. */
const struct curl *curl_open(void);
