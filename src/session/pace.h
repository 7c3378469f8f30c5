// SPDX-License-Identifier: Apache-2.0
/* pace.h - how often the ring buffer is read, or anything that comes in quick succession.
 *
 * The kernel wakes the reader for a record that finds the ring empty (kernel/bpf/ringbuf.c,
 * bpf_ringbuf_commit()): a fast reader is woken for each, which costs the traced program microseconds.
 * So when records come in quick succession the ring is read by the clock, a few milliseconds apart,
 * sooner the faster it fills; one that comes alone is read at once. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct ring_buffer;

/* A descriptor that is watched by epoll, or a timer in its place. */
struct watch { /* zeroed, then watch_open() */
	int epoll, fd;    /* not owned */
	int timer;
	uint32_t from_fd; /* what epoll gives as data for the descriptor's events */
	bool by_clock;    /* its events are off, the timer is on */
};

/* The timer's events have from_timer as data. 0 or -errno. */
int watch_open(struct watch *w, int epoll, int fd, uint32_t from_fd, uint32_t from_timer);
/* The next event is the timer's, in ns; 0: the descriptor's. */
void watch_pause(struct watch *w, uint64_t ns);
/* The next event is the one that comes first. */
void watch_idle(struct watch *w, uint64_t ns);
void watch_close(struct watch *w);

struct pace { /* zeroed, then pace_open() */
	struct ring_buffer *buffer; /* not owned */
	struct watch watch;
	uint64_t last;              /* when it was read, CLOCK_MONOTONIC ns */
	unsigned long position;     /* of the reader, then */
};

/* Watches the ring and a timer by epoll: their events have from_ring and from_timer as data, and for both
 * the ring is to be read. 0 or -errno. */
int pace_open(struct pace *p, struct ring_buffer *buffer, int epoll, uint32_t from_ring, uint32_t from_timer);
/* The ring was read: sets when it is read again. */
void pace_next(struct pace *p);
void pace_close(struct pace *p);
