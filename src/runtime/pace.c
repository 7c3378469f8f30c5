// SPDX-License-Identifier: Apache-2.0
/* pace.c - by events while records are rare, by a timer while they are not. */
#include "pace.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/owner.h"

/* Between two readings. At least: a pause costs two system calls and a switch. */
enum { PAUSE_MAX_NS = 4000000, PAUSE_MIN_NS = 50000 };

static int watch(struct pace *p, int fd, uint32_t from)
{
	struct epoll_event e = {.events = EPOLLIN, .data.u32 = from};

	return epoll_ctl(p->epoll, EPOLL_CTL_ADD, fd, &e) ? -errno : 0;
}

int pace_open(struct pace *p, struct ring_buffer *buffer, int epoll, uint32_t from_ring, uint32_t from_timer)
{
	int r;

	*p = (struct pace){.buffer = buffer, .epoll = epoll, .from_ring = from_ring};
	p->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (p->timer < 0)
		return -errno;
	r = watch(p, p->timer, from_timer);
	return r ? r : watch(p, ring_buffer__epoll_fd(buffer), from_ring);
}

static void set_by_clock(struct pace *p, bool by_clock)
{
	struct epoll_event e = {.events = by_clock ? 0 : EPOLLIN, .data.u32 = p->from_ring};

	if (p->by_clock != by_clock)
		epoll_ctl(p->epoll, EPOLL_CTL_MOD, ring_buffer__epoll_fd(p->buffer), &e);
	p->by_clock = by_clock;
}

/* So that at the rate of late an eighth of the ring is filled. 0: read at once. */
static uint64_t pause_after(const struct ring *ring, uint64_t passed, uint64_t bytes)
{
	uint64_t eighth = ring__size(ring) / 8, ns;

	if (ring__avail_data_size(ring) > eighth)
		return 0;
	ns = bytes ? (uint64_t)((double)passed * (double)eighth / (double)bytes) : PAUSE_MAX_NS;
	return ns > PAUSE_MAX_NS ? PAUSE_MAX_NS : ns < PAUSE_MIN_NS ? 0 : ns;
}

void pace_next(struct pace *p)
{
	struct ring *ring = p->buffer ? ring_buffer__ring(p->buffer, 0) : NULL;
	uint64_t now = clock_ns(CLOCK_MONOTONIC), passed = now - p->last, ns = 0;
	unsigned long position = ring ? ring__consumer_pos(ring) : 0, bytes = position - p->position;
	struct itimerspec at = {};

	if (!ring)
		return;
	if (p->by_clock ? bytes > 0 : passed < PAUSE_MAX_NS)
		ns = pause_after(ring, passed, bytes);
	p->last = now;
	p->position = position;
	/* Disarmed, too, so that it does not stay readable. */
	at.it_value.tv_nsec = (long)ns;
	if (ns || p->by_clock)
		timerfd_settime(p->timer, 0, &at, NULL);
	set_by_clock(p, ns);
}

void pace_close(struct pace *p)
{
	if (p->buffer)
		closep(&p->timer);
}
