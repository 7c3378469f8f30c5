// SPDX-License-Identifier: Apache-2.0
/* stream.h - where a script's text goes: stdout, or the file of -o.
 *
 * Every write is checked here, and here alone: what is printed to stream_file() is
 * taken, and what could not be written is counted, in the script's records. Once a
 * signal has asked for the end (stop.h), a write that blocks is given up. */
#pragma once
#include <stdbool.h>
#include <stdio.h>

struct stream;

/* path: -o's, or NULL: stdout. 0 or -errno. */
int stream_open(const char *path, struct stream **ret);
/* Writes are passed to write(), which takes all. */
int stream_open_to(size_t (*write)(void *arg, const char *text, size_t size), void *arg, struct stream **ret);
FILE *stream_file(struct stream *s);
int stream_fd(const struct stream *s);
/* The text of a record ends here: printed by stream_file() since the last. weight: how many
 * it counts for when there is little time. */
void stream_record(struct stream *s, unsigned weight);
/* A record that there was no time to print. */
void stream_skip(struct stream *s);
/* Whether records are still to be printed: not for long after a signal. */
bool stream_has_time(const struct stream *s);
/* false: what was printed could not be written, and nothing will be any more. */
bool stream_flush(struct stream *s);
/* From now on stream_flush() writes nothing: the output is written where the buffer is full. */
void stream_buffer_all(struct stream *s);
/* false: the reader of the pipe has gone. */
bool stream_has_reader(const struct stream *s);
/* What is printed from now on, maps and the text of `end`, comes after the records:
 * it is given up only where nothing is read any more. */
void stream_last(struct stream *s);
/* Flushes, says what was lost and why, and gives the exit status: 0, 1, or that of
 * SIGPIPE, without a word, where the reader has gone. */
int stream_close(struct stream *s);
