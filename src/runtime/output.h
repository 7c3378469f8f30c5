// SPDX-License-Identifier: Apache-2.0
/* output.h - where a script's text goes: stdout, or the file of -o.
 *
 * Every write is checked here, and here alone: what is printed to output_file() is
 * taken, and what could not be written is counted, in the script's records. Once a
 * signal has asked for the end (stop.h), a write that blocks is given up. */
#pragma once
#include <stdbool.h>
#include <stdio.h>

struct output;

/* path: -o's, or NULL: stdout. 0 or -errno. */
int output_open(const char *path, struct output **ret);
FILE *output_file(struct output *o);
int output_fd(const struct output *o);
/* The text of a record ends here: printed by output_file() since the last. weight: how many
 * it counts for when there is little time. */
void output_record(struct output *o, unsigned weight);
/* A record that there was no time to print. */
void output_skip(struct output *o);
/* Whether records are still to be printed: not for long after a signal. */
bool output_has_time(const struct output *o);
/* false: what was printed could not be written, and nothing will be any more. */
bool output_flush(struct output *o);
/* Whether there is somebody to tell more: the reader of the pipe has not gone. */
bool output_has_reader(const struct output *o);
/* What is printed from now on, maps and the text of `end`, comes after the records:
 * it is given up only where nothing is read any more. */
void output_last(struct output *o);
/* Flushes, says what was lost and why, and gives the exit status: 0, 1, or that of
 * SIGPIPE, without a word, where the reader has gone. */
int output_close(struct output *o);
