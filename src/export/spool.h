/* SPDX-License-Identifier: Apache-2.0 */
/* spool.h - messages that wait in a directory, a file each, oldest first. The bytes and the age of the files are
 * bounded. Only one process uses a directory at a time. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"

struct message;

struct spool_file {
	uint64_t number; /* ascending */
	uint64_t bytes, since; /* since: CLOCK_REALTIME s */
	unsigned kind;
	int encoded, packed;
};

struct spool {
	int dir, lock;
	uint64_t bytes_max, age_max; /* age in seconds */
	uint64_t bytes, next;
	VEC(struct spool_file) files; /* oldest first */
	size_t first;                 /* of files; those before it are gone */
	uint64_t full, aged, failed;  /* messages that were dropped since the start: by bytes, by age, by the disk */
	bool failing;                 /* the last message could not be written */
};

/* Finds the messages of earlier runs. The directory is made if its parent exists. Returns 0 on success, -errno on
 * failure, -EBUSY if another process uses it. */
int spool_open(const char *path, uint64_t bytes_max, double age_max, struct spool *ret);
void spool_close(struct spool *s);
/* Writes a message; older ones go if there is no room. A message that cannot be written is counted as failed. */
void spool_put(struct spool *s, const struct message *m);
/* Reads the oldest message; the file stays until spool_drop(). Returns NULL if there is none. */
struct message *spool_read(struct spool *s);
void spool_drop(struct spool *s);
/* Drops messages that are too old. */
void spool_expire(struct spool *s);
size_t spool_count(const struct spool *s);
