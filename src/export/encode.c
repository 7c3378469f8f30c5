// SPDX-License-Identifier: Apache-2.0
/* encode.c - a table of the messages that -f otlp writes, and of their members: name in JSON, number, kind. Numbers are
 * those of opentelemetry-proto v1.11.0, opentelemetry/proto/: common/v1, resource/v1, profiles/v1development,
 * metrics/v1, logs/v1, collector/. Wire types: https://protobuf.dev/programming-guides/encoding. */
#include "encode.h"

#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/str.h"

/* A list of numbers is packed. */
enum kind { MESSAGE, TEXT, INT, FIXED64, DOUBLE };
enum wire { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_BYTES = 2 };

struct field {
	const char *name;
	unsigned number;
	enum kind kind;
	const struct field *fields; /* MESSAGE: of that message; a list ends with an empty name */
};

/* ---- messages -------------------------------------------------------------- */

static const struct field any_value[] = {
	{"stringValue", 1, TEXT}, {"boolValue", 2, INT}, {"intValue", 3, INT}, {"doubleValue", 4, DOUBLE}, {},
};
static const struct field key_value[] = {{"key", 1, TEXT}, {"value", 2, MESSAGE, any_value}, {}};
static const struct field resource[] = {{"attributes", 1, MESSAGE, key_value}, {}};
static const struct field scope[] = {{"name", 1, TEXT}, {"version", 2, TEXT}, {}};

static const struct field number_point[] = {
	{"startTimeUnixNano", 2, FIXED64}, {"timeUnixNano", 3, FIXED64}, {"asDouble", 4, DOUBLE}, {"asInt", 6, FIXED64},
	{"attributes", 7, MESSAGE, key_value}, {},
};
static const struct field histogram_point[] = {
	{"startTimeUnixNano", 2, FIXED64}, {"timeUnixNano", 3, FIXED64}, {"count", 4, FIXED64}, {"sum", 5, DOUBLE},
	{"bucketCounts", 6, FIXED64}, {"explicitBounds", 7, DOUBLE}, {"attributes", 9, MESSAGE, key_value}, {},
};
static const struct field gauge[] = {{"dataPoints", 1, MESSAGE, number_point}, {}};
static const struct field sum[] = {
	{"dataPoints", 1, MESSAGE, number_point}, {"aggregationTemporality", 2, INT}, {"isMonotonic", 3, INT}, {},
};
static const struct field histogram[] = {
	{"dataPoints", 1, MESSAGE, histogram_point}, {"aggregationTemporality", 2, INT}, {},
};
static const struct field metric[] = {
	{"name", 1, TEXT}, {"description", 2, TEXT}, {"unit", 3, TEXT}, {"gauge", 5, MESSAGE, gauge},
	{"sum", 7, MESSAGE, sum}, {"histogram", 9, MESSAGE, histogram}, {},
};
static const struct field scope_metrics[] = {{"scope", 1, MESSAGE, scope}, {"metrics", 2, MESSAGE, metric}, {}};
static const struct field resource_metrics[] = {
	{"resource", 1, MESSAGE, resource}, {"scopeMetrics", 2, MESSAGE, scope_metrics}, {},
};

static const struct field log_record[] = {
	{"timeUnixNano", 1, FIXED64}, {"severityNumber", 2, INT}, {"severityText", 3, TEXT},
	{"body", 5, MESSAGE, any_value}, {"attributes", 6, MESSAGE, key_value}, {"observedTimeUnixNano", 11, FIXED64},
	{"eventName", 12, TEXT}, {},
};
static const struct field scope_logs[] = {{"scope", 1, MESSAGE, scope}, {"logRecords", 2, MESSAGE, log_record}, {}};
static const struct field resource_logs[] = {
	{"resource", 1, MESSAGE, resource}, {"scopeLogs", 2, MESSAGE, scope_logs}, {},
};

static const struct field nothing[] = {{}};
static const struct field value_type[] = {{"typeStrindex", 1, INT}, {"unitStrindex", 2, INT}, {}};
static const struct field sample[] = {
	{"stackIndex", 1, INT}, {"attributeIndices", 2, INT}, {"linkIndex", 3, INT}, {"values", 4, INT}, {},
};
static const struct field profile[] = {
	{"sampleType", 1, MESSAGE, value_type}, {"samples", 2, MESSAGE, sample}, {"timeUnixNano", 3, FIXED64},
	{"durationNano", 4, INT}, {"periodType", 5, MESSAGE, value_type}, {"period", 6, INT}, {},
};
static const struct field scope_profiles[] = {{"scope", 1, MESSAGE, scope}, {"profiles", 2, MESSAGE, profile}, {}};
static const struct field resource_profiles[] = {
	{"resource", 1, MESSAGE, resource}, {"scopeProfiles", 2, MESSAGE, scope_profiles}, {},
};
static const struct field mapping[] = {{"filenameStrindex", 4, INT}, {"attributeIndices", 5, INT}, {}};
static const struct field line[] = {{"functionIndex", 1, INT}, {"line", 2, INT}, {"column", 3, INT}, {}};
static const struct field location[] = {
	{"mappingIndex", 1, INT}, {"address", 2, INT}, {"lines", 3, MESSAGE, line}, {"attributeIndices", 4, INT}, {},
};
static const struct field function[] = {
	{"nameStrindex", 1, INT}, {"systemNameStrindex", 2, INT}, {"filenameStrindex", 3, INT}, {},
};
static const struct field attribute[] = {
	{"keyStrindex", 1, INT}, {"value", 2, MESSAGE, any_value}, {"unitStrindex", 3, INT}, {},
};
static const struct field stack[] = {{"locationIndices", 1, INT}, {}};
static const struct field dictionary[] = {
	{"mappingTable", 1, MESSAGE, mapping}, {"locationTable", 2, MESSAGE, location},
	{"functionTable", 3, MESSAGE, function}, {"linkTable", 4, MESSAGE, nothing}, {"stringTable", 5, TEXT},
	{"attributeTable", 6, MESSAGE, attribute}, {"stackTable", 7, MESSAGE, stack}, {},
};

static const struct field requests[MESSAGE_KINDS][3] = {
	[MESSAGE_PROFILES] = {
		{"resourceProfiles", 1, MESSAGE, resource_profiles}, {"dictionary", 2, MESSAGE, dictionary},
	},
	[MESSAGE_METRICS] = {{"resourceMetrics", 1, MESSAGE, resource_metrics}},
	[MESSAGE_LOGS] = {{"resourceLogs", 1, MESSAGE, resource_logs}},
};

/* ---- encoding --------------------------------------------------------------- */

static bool add_message(const struct json *j, const struct field *fields, struct json_object *o, struct str *out);

static void add_varint(struct str *out, uint64_t v)
{
	for (; v > 127; v >>= 7)
		str_addc(out, (char)(v | 128));
	str_addc(out, (char)v);
}

static void add_bytes(struct str *out, const struct field *f, const char *data, size_t n)
{
	add_varint(out, f->number << 3 | WIRE_BYTES);
	add_varint(out, n);
	if (n)
		str_addn(out, data, n);
}

/* Integers of 64 bits are strings, as protobuf's JSON demands. */
static uint64_t number_of(const struct json *j, struct json_object *o)
{
	const char *text = json_text(o);

	if (text)
		return *text == '-' ? (uint64_t)strtoll(text, NULL, 10) : strtoull(text, NULL, 10);
	return j->is_type(o, json_type_boolean) ? (uint64_t)j->boolean(o) : (uint64_t)j->integer(o);
}

static void add_number(const struct json *j, enum kind kind, struct json_object *o, struct str *out)
{
	uint64_t v = number_of(j, o);
	double real = json_text(o) ? strtod(json_text(o), NULL) : (double)j->integer(o);

	if (kind == INT) {
		add_varint(out, v);
		return;
	}
	if (kind == DOUBLE)
		memcpy(&v, &real, sizeof(v));
	for (int i = 0; i < 8; i++, v >>= 8)
		str_addc(out, (char)(v & 0xff));
}

static bool add_one(const struct json *j, const struct field *f, struct json_object *o, struct str *out)
{
	struct str part = {};
	bool ok = true;

	switch (f->kind) {
	case MESSAGE:
		ok = add_message(j, f->fields, o, &part);
		add_bytes(out, f, part.data, part.len);
		str_done(&part);
		break;
	case TEXT:
		ok = json_text(o);
		if (ok)
			add_bytes(out, f, json_text(o), (size_t)j->string_len(o));
		break;
	case INT:
	case FIXED64:
	case DOUBLE:
		add_varint(out, f->number << 3 | (f->kind == INT ? WIRE_VARINT : WIRE_FIXED64));
		add_number(j, f->kind, o, out);
	}
	return ok;
}

static bool add_list(const struct json *j, const struct field *f, struct json_object *list, struct str *out)
{
	struct str part = {};
	bool ok = true;

	for (size_t i = 0; ok && i < j->length(list); i++)
		if (f->kind == MESSAGE || f->kind == TEXT)
			ok = add_one(j, f, j->at(list, i), out);
		else
			add_number(j, f->kind, j->at(list, i), &part);
	if (part.len)
		add_bytes(out, f, part.data, part.len);
	str_done(&part);
	return ok;
}

static bool add_message(const struct json *j, const struct field *fields, struct json_object *o, struct str *out)
{
	const struct lh_table *members = j->is_type(o, json_type_object) ? j->object(o) : NULL;
	bool ok = members;

	for (const struct lh_entry *e = ok ? members->head : NULL; ok && e; e = e->next) {
		struct json_object *value = (struct json_object *)e->v;
		const struct field *f = fields;

		while (f->name && strcmp(f->name, e->k) != 0)
			f++;
		ok = f->name && (j->is_type(value, json_type_array) ? add_list : add_one)(j, f, value, out);
	}
	return ok;
}

bool encode_request(enum message_kind k, const char *json, size_t n, struct str *out)
{
	const struct json *j = json_open();
	struct json_tokener *t = j && n <= INT_MAX ? j->tokener_new() : NULL;
	struct json_object *o = t ? j->parse(t, json, (int)n) : NULL;
	bool ok = o && add_message(j, requests[k], o, out);

	if (o)
		j->put(o);
	if (t)
		j->tokener_free(t);
	return ok;
}
