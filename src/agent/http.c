// SPDX-License-Identifier: Apache-2.0
/* http.c - HTTP/1.0 answers, whatever the client's version is (RFC 9112). */
#include "http.h"

#include <errno.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/owner.h"
#include "base/str.h"
#include "watch.h"

#define AGE_NS 5000000000ull
enum { CLIENTS_MAX = 16, REQUEST_MAX = 8192, PATH_MAX_BYTES = 256 };

struct client {
	struct watch watch;
	struct http *server;
	uint64_t since;
	struct str request, answer;
	size_t written;
};

struct http {
	struct watch watch;
	struct watches *loop;
	http_page *page;
	void *arg;
	struct client *clients[CLIENTS_MAX];
};

static void drop(struct client *c)
{
	struct http *h = c->server;

	for (int i = 0; i < CLIENTS_MAX; i++)
		if (h->clients[i] == c)
			h->clients[i] = NULL;
	watch_remove(h->loop, &c->watch);
	close(c->watch.fd);
	str_done(&c->request);
	str_done(&c->answer);
	free(c);
}

static const char *reason(int status)
{
	switch (status) {
	case 200:
		return "OK";
	case 404:
		return "Not Found";
	case 405:
		return "Method Not Allowed";
	case 503:
		return "Service Unavailable";
	default:
		return "Bad Request";
	}
}

/* Reads "GET /metrics HTTP/1.1", whose query is ignored. Returns the status. */
static int read_request(const char *text, bool *ret_head, char path[PATH_MAX_BYTES])
{
	size_t n;

	*ret_head = !strncmp(text, "HEAD ", 5);
	if (!*ret_head && strncmp(text, "GET ", 4) != 0)
		return 405;
	text += *ret_head ? 5 : 4;
	n = strcspn(text, " ?\r\n");
	if (*text != '/' || n >= PATH_MAX_BYTES)
		return 400;
	memcpy(path, text, n);
	path[n] = '\0';
	return 200;
}

static void answer(struct client *c)
{
	char path[PATH_MAX_BYTES];
	const char *type = "text/plain; charset=utf-8";
	struct str body = {};
	bool head = false;
	int status = read_request(c->request.data, &head, path);

	if (status == 200)
		status = c->server->page(c->server->arg, path, &body, &type);
	if (!body.len)
		str_addf(&body, "%s\n", reason(status));
	str_addf(&c->answer, "HTTP/1.0 %d %s\r\nContent-Type: %s\r\nContent-Length: %zu\r\nConnection: close\r\n\r\n",
		status,
		reason(status), type, body.len);
	if (!head)
		str_addn(&c->answer, body.data, body.len);
	str_done(&body);
}

static void send_more(struct client *c)
{
	ssize_t n = send(c->watch.fd, c->answer.data + c->written, c->answer.len - c->written, MSG_NOSIGNAL);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	c->written += n > 0 ? (size_t)n : 0;
	if (n <= 0 || c->written == c->answer.len) {
		shutdown(c->watch.fd, SHUT_WR);
		drop(c);
	}
}

static void on_client(struct watch *w, uint32_t events)
{
	struct client *c = (struct client *)w;
	char buf[2048];
	ssize_t n;

	if (c->answer.len) {
		send_more(c);
		return;
	}
	n = read(c->watch.fd, buf, sizeof(buf));
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0 || c->request.len + (size_t)n > REQUEST_MAX) {
		drop(c);
		return;
	}
	str_addn(&c->request, buf, (size_t)n);
	if (strlen(c->request.data) != c->request.len) {
		drop(c);
	} else if (strstr(c->request.data, "\r\n\r\n") || strstr(c->request.data, "\n\n")) {
		answer(c);
		watch_change(c->server->loop, &c->watch, EPOLLOUT);
	}
}

/* Returns a free place: a client without a whole request makes room, the oldest one first. CLIENTS_MAX: none is
 * free. */
static int make_room(struct http *h)
{
	int at = 0, oldest = CLIENTS_MAX;

	for (; at < CLIENTS_MAX && h->clients[at]; at++)
		if (!h->clients[at]->answer.len &&
			(oldest == CLIENTS_MAX || h->clients[at]->since < h->clients[oldest]->since))
			oldest = at;
	if (at < CLIENTS_MAX || oldest == CLIENTS_MAX)
		return at;
	drop(h->clients[oldest]);
	return oldest;
}

static void on_server(struct watch *w, uint32_t events)
{
	struct http *h = (struct http *)w;
	int fd = accept4(h->watch.fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK), at;
	struct client *c;

	if (fd < 0 && (errno == EMFILE || errno == ENFILE || errno == ENOMEM)) {
		watch_change(h->loop, &h->watch, 0); /* until http_tick(): the connection waits */
		return;
	}
	at = fd < 0 ? CLIENTS_MAX : make_room(h);
	c = fd >= 0 && at < CLIENTS_MAX ? calloc(1, sizeof(*c)) : NULL;
	if (!c) {
		closep(&fd);
		return;
	}
	*c = (struct client){.watch = {fd, on_client}, .server = h, .since = clock_ns(CLOCK_MONOTONIC)};
	h->clients[at] = c;
	if (watch_add(h->loop, &c->watch, EPOLLIN))
		drop(c);
}

/* Splits "[::1]:80" in place. */
static bool split(char *where, char **ret_host, char **ret_port)
{
	char *colon = strrchr(where, ':');

	if (!colon || !colon[1])
		return false;
	*colon = '\0';
	*ret_port = colon + 1;
	*ret_host = where;
	if (*where == '[' && colon[-1] == ']') {
		colon[-1] = '\0';
		*ret_host = where + 1;
	}
	return **ret_host;
}

static int listen_at(const struct addrinfo *a)
{
	_cleanup_(closep) int fd = socket(a->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int one = 1;

	if (fd < 0)
		return -errno;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(fd, a->ai_addr, a->ai_addrlen) || listen(fd, CLIENTS_MAX))
		return -errno;
	return TAKE_FD(fd);
}

int http_open(struct watches *l, const char *where, http_page *page, void *arg, struct http **ret)
{
	struct addrinfo wanted = {.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV, .ai_socktype = SOCK_STREAM}, *list;
	_cleanup_(freep) char *text = strdup(where);
	char *host, *port;
	struct http *h;
	int fd;

	if (!text || !split(text, &host, &port) || getaddrinfo(host, port, &wanted, &list))
		return -EINVAL;
	fd = listen_at(list);
	freeaddrinfo(list);
	if (fd < 0)
		return fd;
	h = calloc(1, sizeof(*h));
	if (!h)
		out_of_memory();
	*h = (struct http){.watch = {fd, on_server}, .loop = l, .page = page, .arg = arg};
	*ret = h;
	return watch_add(l, &h->watch, EPOLLIN);
}

void http_tick(struct http *h, uint64_t now)
{
	if (h)
		watch_change(h->loop, &h->watch, EPOLLIN);
	for (int i = 0; h && i < CLIENTS_MAX; i++)
		if (h->clients[i] && now - h->clients[i]->since > AGE_NS)
			drop(h->clients[i]);
}

void http_close(struct http *h)
{
	if (!h)
		return;
	for (int i = 0; i < CLIENTS_MAX; i++)
		if (h->clients[i])
			drop(h->clients[i]);
	watch_remove(h->loop, &h->watch);
	close(h->watch.fd);
	free(h);
}
