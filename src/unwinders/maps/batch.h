/* SPDX-License-Identifier: Apache-2.0 */
/* batch.h - puts tables into the array of tables without waiting for the RCU grace period that follows.
 *
 * The kernel replaces the elements, then waits until no program uses the old ones, then returns. Programs that start
 * after the replacement see the new elements, so the caller need not wait: a thread does. */
#pragma once
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum { BATCH_MAX = 256 };

struct batch {
	int tables;               /* the array, not owned */
	uint32_t file[BATCH_MAX];
	int fd[BATCH_MAX];        /* owned */
	uint32_t n;
	int err;                  /* valid when is_over */
	atomic_bool is_over;
	pthread_t thread;
	bool has_thread;
};

/* Puts tables[file[i]] = fd[i], and closes the fds, at once or later. When this returns, all tables are in the array,
 * or the kernel refused some. b begins with zeros. Returns 0 on success, -errno on failure. */
int batch_put(struct batch *b, int tables, const uint32_t *file, const int *fd, uint32_t n);
void batch_done(struct batch *b);

/* Waits for the grace period, once for all n tables. Returns -errno before Linux 5.16, which lacks these batches. */
int batch_put_waiting(int tables, const uint32_t *file, const int *fd, uint32_t n);
