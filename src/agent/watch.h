/* SPDX-License-Identifier: Apache-2.0 */
/* watch.h - the event loop of the agent: files with functions that are called when they are ready. */
#pragma once
#include <stdint.h>

/* Embedded in its owner, which frees it only after watch_remove(). */
struct watch {
	int fd;
	void (*ready)(struct watch *w, uint32_t events); /* EPOLLIN.. */
};

struct watches {
	int epoll;
	struct watch *removed[64]; /* during a round: their events are skipped */
	unsigned nremoved;
};

/* All return 0 on success, -errno on failure. */
int watches_open(struct watches *l);
void watches_close(struct watches *l);
int watch_add(struct watches *l, struct watch *w, uint32_t events);
int watch_change(struct watches *l, struct watch *w, uint32_t events);
void watch_remove(struct watches *l, struct watch *w);
/* Waits for at most timeout_ms, and calls the functions of the files that are ready. */
int watches_run(struct watches *l, int timeout_ms);
