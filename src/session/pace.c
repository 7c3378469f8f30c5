// SPDX-License-Identifier: Apache-2.0
/* pace.c - reads by events while records are rare, else by a timer. */
#include "pace.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/owner.h"

/* Limits of the time between two reads. There is a minimum because a pause costs two system calls and a switch. */
enum { PAUSE_MAX_NS = 4000000, PAUSE_MIN_NS = 50000 };

/* ---- watched by events, or by a timer ------------------------------------ */

static int add(int epoll, int fd, uint32_t from)
{
	struct epoll_event e = {.events = EPOLLIN, .data.u32 = from};

	return epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &e) ? -errno : 0;
}

int watch_open(struct watch *w, int epoll, int fd, uint32_t from_fd, uint32_t from_timer)
{
	int r;

	*w = (struct watch){.epoll = epoll, .fd = fd, .from_fd = from_fd};
	w->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (w->timer < 0)
		return -errno;
	r = add(epoll, w->timer, from_timer);
	return r ? r : add(epoll, fd, from_fd);
}

static void set_by_clock(struct watch *w, bool by_clock)
{
	struct epoll_event e = {.events = by_clock ? 0 : EPOLLIN, .data.u32 = w->from_fd};

	if (w->by_clock != by_clock)
		epoll_ctl(w->epoll, EPOLL_CTL_MOD, w->fd, &e);
	w->by_clock = by_clock;
}

static void set_timer(const struct watch *w, uint64_t ns)
{
	struct itimerspec at = {.it_value.tv_nsec = (long)ns};

	timerfd_settime(w->timer, 0, &at, NULL);
}

void watch_pause(struct watch *w, uint64_t ns)
{
	/* Also disarm the timer, so that it does not remain readable. */
	if (ns || w->by_clock)
		set_timer(w, ns);
	set_by_clock(w, ns);
}

void watch_idle(struct watch *w, uint64_t ns)
{
	set_timer(w, ns);
	set_by_clock(w, false);
}

void watch_close(struct watch *w)
{
	if (w->timer > 0)
		closep(&w->timer);
}

/* ---- the ring buffer ----------------------------------------------------- */

int pace_open(struct pace *p, struct ring_buffer *buffer, int epoll, uint32_t from_ring, uint32_t from_timer)
{
	int fd = ring__map_fd(ring_buffer__ring(buffer, 0));
	void *reader = mmap(NULL, sizeof(*p->reader), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (reader == MAP_FAILED)
		return -errno;
	*p = (struct pace){.buffer = buffer, .reader = reader};
	return watch_open(&p->watch, epoll, ring_buffer__epoll_fd(buffer), from_ring, from_timer);
}

enum { WORD = 8 }; /* the least distance of two positions */

/* The barrier is for the end of the pause: a record that has not seen the new position is seen by epoll. */
static void set_behind(struct pace *p, bool behind)
{
	if (p->behind == behind)
		return;
	__atomic_store_n(p->reader, behind ? *p->reader - WORD : *p->reader + WORD, __ATOMIC_RELEASE);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	p->behind = behind;
}

void pace_read(struct pace *p)
{
	if (!p->buffer)
		return;
	set_behind(p, false);
	ring_buffer__consume(p->buffer);
	set_behind(p, p->watch.by_clock);
}

bool pace_has_read(const struct pace *p, unsigned long position)
{
	return (long)(*p->reader + (p->behind ? WORD : 0) - position) >= 0;
}

/* Returns the time in which an eighth of the ring fills at the present rate, or 0 to read at once. */
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
	unsigned long position, bytes;

	if (!ring)
		return;
	set_behind(p, false);
	position = ring__consumer_pos(ring);
	bytes = position - p->position;
	if (p->watch.by_clock ? bytes > 0 : passed < PAUSE_MAX_NS)
		ns = pause_after(ring, passed, bytes);
	p->last = now;
	p->position = position;
	set_behind(p, ns);
	watch_pause(&p->watch, ns);
}

void pace_close(struct pace *p)
{
	watch_close(&p->watch);
	if (p->reader)
		munmap(p->reader, sizeof(*p->reader));
}
