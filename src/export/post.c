// SPDX-License-Identifier: Apache-2.0
/* post.c - see post.h. Variables of the environment: OpenTelemetry's specification v1.60.0, protocol/exporter.md. */
#include "post.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/clock.h"
#include "base/library.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/owner.h"
#include "base/why.h"
#include "curl.h"
#include "exporter.h"
#include "message.h"

#define VARIABLE "OTEL_EXPORTER_OTLP_"
enum { BODY_MAX = 4 << 20, TIMEOUT_MS = 10000 };

struct poster {
	const struct curl *curl;
	CURL *easy;
	struct curl_slist *headers[4]; /* by header_kind() */
	struct str urls[MESSAGE_KINDS];
	char error[CURL_ERROR_BYTES];
	_Atomic uint64_t deadline; /* 0: none */
};

static const char *variable(const char *name)
{
	char whole[64];
	const char *value;

	snprintf(whole, sizeof(whole), VARIABLE "%s", name);
	value = getenv(whole);
	return value && *value ? value : NULL;
}

bool post_packs(void)
{
	const char *how = variable("COMPRESSION");

	return !how || strcmp(how, "none") != 0;
}

bool post_encodes(void)
{
	const char *protocol = variable("PROTOCOL");

	if (protocol && strcmp(protocol, "http/json") != 0 && strcmp(protocol, "http/protobuf") != 0)
		log_warn("OTEL_EXPORTER_OTLP_PROTOCOL=%s is not supported: http/protobuf is used", protocol);
	return !protocol || strcmp(protocol, "http/json") != 0;
}

/* ---- headers ------------------------------------------------------------- */

static unsigned header_kind(bool encoded, bool packed)
{
	return 2 * encoded + packed;
}

static void add_header_to(struct poster *p, unsigned kind, const char *line)
{
	p->headers[kind] = p->curl->slist_append(p->headers[kind], line);
}

static void add_header(struct poster *p, const char *line)
{
	for (unsigned k = 0; k < ARRAY_SIZE(p->headers); k++)
		add_header_to(p, k, line);
}

static int hex(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10 : -1;
}

/* Adds "key1=value1,key2=value2", whose values are percent-encoded. */
static void add_list(struct poster *p, const char *list)
{
	for (struct str line = {}; list && *list; list += *list == ',', str_done(&line)) {
		for (list += strspn(list, " "); *list && *list != ',' && *list != '='; list++)
			str_addc(&line, *list);
		str_add(&line, ": ");
		for (list += *list == '='; *list && *list != ','; list++)
			if (*list == '%' && hex(list[1]) >= 0 && hex(list[2]) >= 0) {
				str_addc(&line, (char)(hex(list[1]) << 4 | hex(list[2])));
				list += 2;
			} else {
				str_addc(&line, *list);
			}
		if (!strpbrk(line.data, "\r\n"))
			add_header(p, line.data);
	}
}

/* Lines "Name: value"; # begins a comment. A secret is not a part of agent.conf, which all may read. */
static int add_file(struct poster *p, const char *path)
{
	_cleanup_(fclosep) FILE *file = path ? fopen(path, "re") : NULL;
	char line[8192];

	if (path && !file) {
		int r = -errno;

		log_error("cannot read %s: %s", path, why_errno(r));
		return r;
	}
	while (file && fgets(line, sizeof(line), file)) {
		line[strcspn(line, "\r\n")] = '\0';
		if (strchr(line, ':') && *line != '#')
			add_header(p, line);
	}
	return 0;
}

static int add_headers(struct poster *p, const struct export_options *opt)
{
	for (int packed = 0; packed < 2; packed++) {
		add_header_to(p, header_kind(false, packed), "Content-Type: application/json");
		add_header_to(p, header_kind(true, packed), "Content-Type: application/x-protobuf");
		add_header_to(p, header_kind(packed, true), "Content-Encoding: gzip");
	}
	add_header(p, "Expect:"); /* no pause before the body */
	add_list(p, variable("HEADERS"));
	return add_file(p, opt->headers_file);
}

/* ---- addresses ----------------------------------------------------------- */

/* An address for one signal is used as it is; to the general one the path of the signal is added. */
static void make_urls(struct poster *p, const struct export_options *opt)
{
	static const char *const own[MESSAGE_KINDS] = {[MESSAGE_METRICS] = "METRICS_ENDPOINT",
		[MESSAGE_LOGS] = "LOGS_ENDPOINT"};
	const char *general = opt->endpoint ? opt->endpoint : variable("ENDPOINT");
	size_t n = strlen(general ? general : "");

	while (n && general[n - 1] == '/')
		n--;
	for (int k = 0; k < MESSAGE_KINDS; k++) {
		const char *url = opt->endpoint || !own[k] ? NULL : variable(own[k]);

		if (url) {
			str_add(&p->urls[k], url);
			continue;
		}
		str_addn(&p->urls[k], general ? general : "", n);
		str_add(&p->urls[k], message_path(k));
	}
}

/* ---- a request ----------------------------------------------------------- */

static size_t take_body(char *data, size_t size, size_t n, void *arg)
{
	struct post_reply *r = arg;
	size_t room = BODY_MAX - r->body.len, all = size * n;

	str_addn(&r->body, data, all < room ? all : room);
	return all;
}

static size_t take_header(char *data, size_t size, size_t n, void *arg)
{
	static const char name[] = "retry-after:";
	struct post_reply *r = arg;
	size_t all = size * n, begin = sizeof(name) - 1;

	if (all <= begin || strncasecmp(data, name, begin) != 0)
		return all;
	while (begin < all && (data[begin] == ' ' || data[begin] == '\t'))
		begin++;
	snprintf(r->retry_after, sizeof(r->retry_after), "%.*s", (int)(all - begin), data + begin);
	r->retry_after[strcspn(r->retry_after, "\r\n")] = '\0';
	return all;
}

/* Gives the request up if it returns other than 0. */
static int is_over(void *arg, int64_t total, int64_t now, int64_t up_total, int64_t up)
{
	const struct poster *p = arg;
	uint64_t deadline = p->deadline;

	return deadline && clock_ns(CLOCK_MONOTONIC) >= deadline;
}

void poster_end_by(struct poster *p, uint64_t deadline)
{
	p->deadline = deadline;
}

void poster_send(struct poster *p, const struct message *m, struct post_reply *ret)
{
	const struct curl *c = p->curl;
	int r;

	*ret = (struct post_reply){};
	*p->error = '\0';
	c->easy_setopt(p->easy, CURLOPT_URL, p->urls[m->kind].data);
	c->easy_setopt(p->easy, CURLOPT_HTTPHEADER, p->headers[header_kind(m->encoded, m->packed)]);
	c->easy_setopt(p->easy, CURLOPT_POSTFIELDSIZE_LARGE, (int64_t)m->body.len);
	c->easy_setopt(p->easy, CURLOPT_POSTFIELDS, m->body.data);
	c->easy_setopt(p->easy, CURLOPT_WRITEDATA, ret);
	c->easy_setopt(p->easy, CURLOPT_HEADERDATA, ret);
	r = c->easy_perform(p->easy);
	if (!r)
		c->easy_getinfo(p->easy, CURLINFO_RESPONSE_CODE, &ret->status);
	if (r)
		snprintf(ret->trouble, sizeof(ret->trouble), "%.200s: %s", p->urls[m->kind].data,
			*p->error ? p->error : c->easy_strerror(r));
	else if (ret->status < 200 || ret->status >= 300)
		snprintf(ret->trouble, sizeof(ret->trouble), "%s answered with status %ld", p->urls[m->kind].data,
			ret->status);
	for (char *at = ret->trouble; *at; at++) /* the network's words may be on a terminal */
		*at = *at < ' ' || *at == 127 ? '?' : *at;
}

/* ---- opening ------------------------------------------------------------- */

static void set_options(struct poster *p, const struct export_options *opt)
{
	static const struct {
		const char *variable;
		int option;
	} files[] = {{"CERTIFICATE", CURLOPT_CAINFO}, {"CLIENT_CERTIFICATE", CURLOPT_SSLCERT}, {"CLIENT_KEY",
		CURLOPT_SSLKEY}};
	const struct curl *c = p->curl;
	const char *given = variable("TIMEOUT");
	long ms = opt->timeout > 0 ? (long)(opt->timeout * 1000) : given && atol(given) > 0 ? atol(given) : TIMEOUT_MS;

	c->easy_setopt(p->easy, CURLOPT_POST, 1L);
	c->easy_setopt(p->easy, CURLOPT_NOSIGNAL, 1L);
	c->easy_setopt(p->easy, CURLOPT_TIMEOUT_MS, ms);
	c->easy_setopt(p->easy, CURLOPT_CONNECTTIMEOUT_MS, ms);
	c->easy_setopt(p->easy, CURLOPT_PROTOCOLS, (long)(CURLPROTO_HTTP | CURLPROTO_HTTPS));
	c->easy_setopt(p->easy, CURLOPT_USERAGENT, "OTel-OTLP-Exporter-strata/" STRATA_VERSION);
	c->easy_setopt(p->easy, CURLOPT_ERRORBUFFER, p->error);
	c->easy_setopt(p->easy, CURLOPT_WRITEFUNCTION, take_body);
	c->easy_setopt(p->easy, CURLOPT_HEADERFUNCTION, take_header);
	c->easy_setopt(p->easy, CURLOPT_NOPROGRESS, 0L);
	c->easy_setopt(p->easy, CURLOPT_XFERINFOFUNCTION, is_over);
	c->easy_setopt(p->easy, CURLOPT_XFERINFODATA, p);
	for (size_t i = 0; i < ARRAY_SIZE(files); i++)
		if (variable(files[i].variable))
			c->easy_setopt(p->easy, files[i].option, variable(files[i].variable));
}

int poster_open(const struct export_options *opt, struct poster **ret)
{
	struct poster *p = calloc(1, sizeof(*p));
	int r;

	if (!p)
		out_of_memory();
	*ret = p;
	p->curl = curl_open();
	p->easy = p->curl ? p->curl->easy_init() : NULL;
	if (!p->easy) {
		log_error(libraries_are_linked ? "the static build of strata cannot send: libcurl is not a part of it" :
			"nothing can be sent: libcurl.so.4 is not installed");
		return -ENOENT;
	}
	make_urls(p, opt);
	r = add_headers(p, opt);
	set_options(p, opt);
	return r;
}

void poster_close(struct poster *p)
{
	if (p && p->easy)
		p->curl->easy_cleanup(p->easy);
	for (unsigned k = 0; p && p->curl && k < ARRAY_SIZE(p->headers); k++)
		p->curl->slist_free_all(p->headers[k]);
	for (int k = 0; p && k < MESSAGE_KINDS; k++)
		str_done(&p->urls[k]);
	free(p);
}
