// SPDX-License-Identifier: Apache-2.0
/* reply.c - see reply.h. Answers come from the network. */
#include "reply.h"

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

uint64_t reply_rejected(const char *body, size_t n, char *ret_message, size_t size)
{
	const struct json *j = json_open();
	struct json_tokener *t = j && n && n < BODY_MAX ? j->tokener_new() : NULL;
	struct json_object *o = t ? j->parse(t, body, (int)n) : NULL;
	struct json_object *part = o ? json_member(o, "partialSuccess", json_type_object) : NULL, *message;
	uint64_t rejected = part ? rejected_of(j, part) : 0;

	*ret_message = '\0';
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
