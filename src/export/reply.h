/* SPDX-License-Identifier: Apache-2.0 */
/* reply.h - what an answer means by OTLP 1.11.0, docs/specification.md, "OTLP/HTTP Response". */
#pragma once
#include <stddef.h>
#include <stdint.h>

enum verdict {
	REPLY_TAKEN,   /* it was accepted, perhaps in part; it is never sent again */
	REPLY_LATER,   /* it is sent again after a while */
	REPLY_REFUSED, /* it is never sent again */
};

/* status: of HTTP, or 0 if there was no answer. */
enum verdict reply_verdict(long status);
/* Returns the seconds of Retry-After: a number, or a date (RFC 9110, 10.2.3 and 5.6.7). Returns 0 if it is neither, and
 * at most an hour. now: CLOCK_REALTIME s. */
double reply_retry_after(const char *value, uint64_t now);
/* Returns the number of records that the receiver rejected, by its answer: JSON or protobuf. ret_message: its reason,
 * or ""; cut to fit. */
uint64_t reply_rejected(const char *body, size_t n, char *ret_message, size_t size);
