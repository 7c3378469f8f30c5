// SPDX-License-Identifier: Apache-2.0
/* reply.c - see reply.h. Answers come from the network. */
#include "reply.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/json.h"
#include "base/owner.h"

enum { HOUR = 3600, BODY_MAX = 4 << 20 };

enum verdict reply_verdict(long status)
{
	if (status >= 200 && status < 300)
		return REPLY_TAKEN;
	return !status || status == 429 || status == 502 || status == 503 || status == 504 ? REPLY_LATER :
		REPLY_REFUSED;
}

/* The three forms of a date. */
static double read_date(const char *value, uint64_t now)
{
	static const char *const forms[] = {"%a, %d %b %Y %H:%M:%S GMT", "%A, %d-%b-%y %H:%M:%S GMT",
		"%a %b %d %H:%M:%S %Y"};

	for (size_t i = 0; i < ARRAY_SIZE(forms); i++) {
		struct tm t = {};
		const char *end = strptime(value, forms[i], &t);
		time_t at = end && !*end ? timegm(&t) : -1;

		if (at > (time_t)now)
			return at - (time_t)now < HOUR ? (double)(at - (time_t)now) : HOUR;
	}
	return 0;
}

double reply_retry_after(const char *value, uint64_t now)
{
	char *end;
	unsigned long n = strtoul(value, &end, 10);

	if (*value < '0' || *value > '9' || *end)
		return read_date(value, now);
	return n < HOUR ? (double)n : HOUR;
}

static uint64_t rejected_of(const struct json *j, struct json_object *part)
{
	static const char *const names[] = {"rejectedProfiles", "rejectedDataPoints", "rejectedLogRecords"};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		struct json_object *o = json_member(part, names[i], json_type_string);

		if (o)
			return strtoull(json_text(o), NULL, 10);
		o = json_member(part, names[i], json_type_int);
		if (o)
			return j->natural(o);
	}
	return 0;
}

static uint64_t rejected_by_json(const char *body, size_t n, char *ret_message, size_t size)
{
	const struct json *j = json_open();
	struct json_tokener *t = j && n && n < BODY_MAX ? j->tokener_new() : NULL;
	struct json_object *o = t ? j->parse(t, body, (int)n) : NULL;
	struct json_object *part = o ? json_member(o, "partialSuccess", json_type_object) : NULL, *message;
	uint64_t rejected = part ? rejected_of(j, part) : 0;

	message = part ? json_member(part, "errorMessage", json_type_string) : NULL;
	if (message) {
		strncpy(ret_message, json_text(message), size - 1);
		ret_message[size - 1] = '\0';
	}
	if (o)
		j->put(o);
	if (t)
		j->tokener_free(t);
	return rejected;
}

/* ---- protobuf --------------------------------------------------------------- */

struct field {
	uint64_t number, value; /* value: an integer, or the length of data */
	const uint8_t *data;    /* NULL: an integer */
};

static bool next_varint(const uint8_t **at, const uint8_t *end, uint64_t *ret)
{
	*ret = 0;
	for (unsigned shift = 0; *at < end && shift < 64; shift += 7) {
		*ret |= (uint64_t)(**at & 127) << shift;
		if (*(*at)++ < 128)
			return true;
	}
	return false;
}

/* Returns false at the end, and for bytes that are not a field. */
static bool next_field(const uint8_t **at, const uint8_t *end, struct field *ret)
{
	uint64_t tag, fixed;

	*ret = (struct field){};
	if (!next_varint(at, end, &tag))
		return false;
	ret->number = tag >> 3;
	fixed = (tag & 7) == 1 ? 8 : (tag & 7) == 5 ? 4 : 0;
	if ((tag & 7) == 0)
		return next_varint(at, end, &ret->value);
	if (((tag & 7) == 2 && !next_varint(at, end, &fixed)) || (!fixed && (tag & 7) != 2))
		return false;
	if (fixed > (size_t)(end - *at))
		return false;
	ret->data = *at;
	ret->value = fixed;
	*at += fixed;
	return true;
}

/* Export*ServiceResponse has partial_success 1, whose fields are the number 1 and the message 2. */
static uint64_t rejected_by_protobuf(const char *body, size_t n, char *ret_message, size_t size)
{
	const uint8_t *at = (const uint8_t *)body, *end = at + n, *part;
	uint64_t rejected = 0;
	struct field f, inner;

	while (next_field(&at, end, &f))
		for (part = f.data; f.number == 1 && part && next_field(&part, f.data + f.value, &inner);)
			if (inner.number == 1 && !inner.data) {
				rejected = inner.value;
			} else if (inner.number == 2 && inner.data) {
				size_t length = inner.value < size ? inner.value : size - 1;

				memcpy(ret_message, inner.data, length);
				ret_message[length] = '\0';
			}
	return rejected;
}

/* No answer in protobuf begins with '{': it would be the begin of a group. */
uint64_t reply_rejected(const char *body, size_t n, char *ret_message, size_t size)
{
	*ret_message = '\0';
	return n && *body == '{' ? rejected_by_json(body, n, ret_message, size) :
		rejected_by_protobuf(body, n, ret_message, size);
}
