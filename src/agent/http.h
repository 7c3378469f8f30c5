/* SPDX-License-Identifier: Apache-2.0 */
/* http.h - a server of a few pages, for a scraper and a load balancer on this machine: GET and HEAD, one request per
 * connection. A connection that is slower than five seconds is closed. */
#pragma once
#include <stdint.h>

struct http;
struct str;
struct watches;

/* Appends the page at a path such as "/metrics", and its type. Returns the status: 200, 404.. */
typedef int http_page(void *arg, const char *path, struct str *out, const char **ret_type);

/* where: ADDRESS:PORT, such as 127.0.0.1:9436 or [::1]:9436. Returns 0 on success, -errno on failure, -EINVAL if it is
 * not an address. */
int http_open(struct watches *l, const char *where, http_page *page, void *arg, struct http **ret);
/* Closes connections that are too old. now: CLOCK_MONOTONIC ns. */
void http_tick(struct http *h, uint64_t now);
void http_close(struct http *h);
