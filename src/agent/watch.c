// SPDX-License-Identifier: Apache-2.0
/* watch.c - see watch.h. A function may remove any watch, also one whose event comes next in the same round. */
#include "watch.h"

#include <errno.h>
#include <stdbool.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/owner.h"

/* With more events than this in a round, the rest comes in the next one. */
enum { EVENTS = 32 };

int watches_open(struct watches *l)
{
	*l = (struct watches){.epoll = epoll_create1(EPOLL_CLOEXEC)};
	return l->epoll < 0 ? -errno : 0;
}

void watches_close(struct watches *l)
{
	closep(&l->epoll);
}

static int control(struct watches *l, int op, struct watch *w, uint32_t events)
{
	struct epoll_event e = {.events = events, .data.ptr = w};

	return epoll_ctl(l->epoll, op, w->fd, &e) ? -errno : 0;
}

int watch_add(struct watches *l, struct watch *w, uint32_t events)
{
	return control(l, EPOLL_CTL_ADD, w, events);
}

int watch_change(struct watches *l, struct watch *w, uint32_t events)
{
	return control(l, EPOLL_CTL_MOD, w, events);
}

void watch_remove(struct watches *l, struct watch *w)
{
	control(l, EPOLL_CTL_DEL, w, 0);
	if (l->nremoved < sizeof(l->removed) / sizeof(l->removed[0]))
		l->removed[l->nremoved++] = w;
}

static bool is_removed(const struct watches *l, const struct watch *w)
{
	for (unsigned i = 0; i < l->nremoved; i++)
		if (l->removed[i] == w)
			return true;
	return false;
}

int watches_run(struct watches *l, int timeout_ms)
{
	struct epoll_event events[EVENTS];
	int n = epoll_wait(l->epoll, events, EVENTS, timeout_ms);

	l->nremoved = 0;
	for (int i = 0; i < n; i++) {
		struct watch *w = events[i].data.ptr;

		if (!is_removed(l, w))
			w->ready(w, events[i].events);
		if (l->nremoved == sizeof(l->removed) / sizeof(l->removed[0]))
			break; /* level-triggered: the rest comes again */
	}
	return n < 0 && errno != EINTR ? -errno : 0;
}
