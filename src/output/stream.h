// SPDX-License-Identifier: Apache-2.0
/* stream.h - the destination of a script's text: stdout, or the file of -o.
 *
 * Only this file checks writes: text printed to stream_file() is taken, and losses are counted in the
 * script's records. After a signal has asked for the end (stop.h), a write that blocks is given up. */
#pragma once
#include <stdbool.h>
#include <stdio.h>

struct stream;

/* path: -o's, or NULL: stdout. Returns 0 on success, -errno on failure. */
int stream_open(const char *path, struct stream **ret);
/* Passes writes to write(), which takes all. */
int stream_open_to(size_t (*write)(void *arg, const char *text, size_t size), void *arg, struct stream **ret);
FILE *stream_file(struct stream *s);
int stream_fd(const struct stream *s);
/* Marks the end of a record's text, which was printed by stream_file() since the last end. weight: number of
 * records that it counts for if there is little time. */
void stream_record(struct stream *s, unsigned weight);
/* Counts a record that there was no time to print. */
void stream_skip(struct stream *s);
/* Returns whether records shall still be printed: only for a short time after a signal. */
bool stream_has_time(const struct stream *s);
/* Returns false if text could not be written; no more will be written. */
bool stream_flush(struct stream *s);
/* From now on stream_flush() writes nothing: text is written when the buffer is full. */
void stream_buffer_all(struct stream *s);
/* Returns false if the reader of the pipe has ended. */
bool stream_has_reader(const struct stream *s);
/* Later text, maps and the output of `end`, comes after the records: it is given up only if
 * nothing is read any more. */
void stream_last(struct stream *s);
/* Flushes, reports losses and their reason, and returns the exit status: 0, 1, or that of SIGPIPE, without a
 * message, if the reader has ended. */
int stream_close(struct stream *s);
