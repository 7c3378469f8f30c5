// SPDX-License-Identifier: Apache-2.0
/* pace.h - the time between reads of the ring buffer, or of other sources in quick succession.
 *
 * The kernel wakes the reader for a record that finds the ring empty (kernel/bpf/ringbuf.c,
 * bpf_ringbuf_commit()): a fast reader is woken for each record, which costs the traced program microseconds.
 * So when records come in quick succession, the ring is read by a timer, every few milliseconds, more often
 * if it fills faster. A single record is read at once.
 *
 * The kernel would still interrupt the traced program to wake a reader that waits for the timer. So meanwhile, the
 * reader's position in the ring is a word before the next record: then no record finds the ring empty. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct ring_buffer;

/* A descriptor that epoll watches, or a timer instead of it. */
struct watch { /* zero it, then call watch_open() */
	int epoll, fd;    /* not owned */
	int timer;
	uint32_t from_fd; /* epoll's data for the descriptor's events */
	bool by_clock;    /* the descriptor's events are off, the timer is on */
};

/* The timer's events have from_timer as data. Returns 0 on success, -errno on failure. */
int watch_open(struct watch *w, int epoll, int fd, uint32_t from_fd, uint32_t from_timer);
/* Waits for the timer, which expires after ns; if ns is 0, waits for the descriptor. */
void watch_pause(struct watch *w, uint64_t ns);
/* Waits for both: the first event counts. */
void watch_idle(struct watch *w, uint64_t ns);
void watch_close(struct watch *w);

struct pace { /* zero it, then call pace_open() */
	struct ring_buffer *buffer; /* not owned */
	struct watch watch;
	uint64_t last;              /* time of the last read, CLOCK_MONOTONIC ns */
	unsigned long position;     /* position of the reader at that time */
	unsigned long *reader;      /* its position in the ring, which the kernel reads */
	bool behind;                /* *reader is a word before the position that was read */
};

/* Watches the ring and a timer by epoll. Their events have from_ring and from_timer as data, and both mean
 * that the ring must be read. Returns 0 on success, -errno on failure. */
int pace_open(struct pace *p, struct ring_buffer *buffer, int epoll, uint32_t from_ring, uint32_t from_timer);
/* Reads all records, if the ring was opened. */
void pace_read(struct pace *p);
/* Returns whether all records before a position were read. */
bool pace_has_read(const struct pace *p, unsigned long position);
/* Call this after reading the ring: sets the time of the next read. */
void pace_next(struct pace *p);
void pace_close(struct pace *p);
