/* SPDX-License-Identifier: Apache-2.0 */
/* message.h - the body of one request: lines of -f otlp of one kind. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

enum message_kind { MESSAGE_PROFILES, MESSAGE_METRICS, MESSAGE_LOGS, MESSAGE_KINDS };

struct message {
	enum message_kind kind;
	struct str body;  /* JSON, or encoded, or packed */
	bool encoded;     /* protobuf */
	bool packed;      /* gzip */
	uint64_t since;   /* CLOCK_REALTIME s */
	struct message *next;
};

/* Returns the path of the kind below an endpoint, "/v1/logs", or its name, "logs". */
const char *message_path(enum message_kind k);
const char *message_name(enum message_kind k);
/* Returns the kind of a line, or MESSAGE_KINDS if it has none. */
enum message_kind message_kind(const char *line, size_t n);
/* Makes a message of a line, which is the caller's. Returns NULL if the line is not of a known kind. */
struct message *message_new(const char *line, size_t n);
void message_free(struct message *m);
/* Adds a line to a message that is neither encoded nor packed. Returns false if it has to have a message of its own:
 * it is of another kind, a profile, whose dictionary cannot be merged, or the message is large. */
bool message_add(struct message *m, const char *line, size_t n);
/* Makes protobuf of it. If that is not possible, it stays as it is, and goes as JSON. */
void message_encode(struct message *m);
/* Compresses it. If memory is short, it stays as it is. */
void message_pack(struct message *m);
