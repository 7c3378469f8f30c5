/* SPDX-License-Identifier: Apache-2.0 */
/* exporter.h - sends lines of -f otlp to a receiver of OTLP/HTTP (JSON), from a thread of its own. Lines wait in
 * memory; when the receiver is away, in a directory, if there is one. Each line is delivered, or counted with the
 * reason of its loss. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct exporter;
struct str;

/* Reasons of losses: X(ID, label, explanation) */
#define EXPORT_DROPS(X)                                                              \
	X(QUEUE, "queue", "the receiver is away, and memory for the queue is full")   \
	X(FULL, "spool", "the spool is full")                                         \
	X(AGE, "age", "they waited in the spool for too long")                        \
	X(DISK, "disk", "the spool could not be written or read")                     \
	X(REFUSED, "refused", "the receiver refused them")                            \
	X(SIZE, "size", "they are larger than 64 MiB")                                \
	X(END, "end", "the receiver did not answer before the end")

enum export_drop {
#define X(id, label, why) EXPORT_##id,
	EXPORT_DROPS(X)
#undef X
	EXPORT_DROP_MAX
};

/* Strings must live as long as the exporter. NULL and 0: the variables OTEL_EXPORTER_OTLP_*, or the default. */
struct export_options {
	const char *endpoint;     /* http://host:4318; paths such as /v1/logs are added */
	const char *headers_file; /* lines "Name: value" */
	const char *spool;        /* directory */
	uint64_t spool_bytes;
	double spool_age, timeout; /* seconds; timeout: of a request */
	bool plain;               /* no gzip */
};

struct export_counts {
	uint64_t sent, sent_bytes, retried; /* requests; bytes of their bodies */
	uint64_t rejected;                  /* records that the receiver rejected in requests that it took */
	uint64_t dropped[EXPORT_DROP_MAX];  /* requests */
	uint64_t queued, queue_bytes, spooled, spool_bytes; /* at present */
	char trouble[512];                  /* the last failure, for a person; "": none since the last success */
};

const char *export_drop_label(enum export_drop d);
const char *export_drop_why(enum export_drop d);
/* Returns whether the name of an output is a URL. */
bool export_is_url(const char *name);
/* Returns 0 on success, -errno on failure, which it reports. */
int exporter_open(const struct export_options *opt, struct exporter **ret);
/* Adds a line, which is the caller's. It never waits for the receiver. */
void exporter_push(struct exporter *e, const char *line, size_t n);
/* Writes text of any length; lines may be split. Takes all: for stream_open_to(). */
size_t exporter_write(void *arg, const char *text, size_t size);
void exporter_counts(struct exporter *e, struct export_counts *ret);
/* Sends what waits, for at most `seconds`, and as long again after each message that the receiver takes while others
 * wait in memory, but three times as long at most. The rest goes to the spool, or is lost and counted. ret: NULL, or
 * the counts at the end. */
void exporter_close(struct exporter *e, double seconds, struct export_counts *ret);
