// SPDX-License-Identifier: Apache-2.0
/* json.c - reads JSON, see json.h. Only this file uses json-c. */
#include "json.h"

#include <stdbool.h>
#include <string.h>

#include "library.h"
#include "owner.h"

static struct json functions;

const struct json *json_open(void)
{
	static const struct {
		const char *name;
		size_t at;
	} symbols[] = {
		{ "json_tokener_new", offsetof(struct json, tokener_new) },
		{ "json_tokener_free", offsetof(struct json, tokener_free) },
		{ "json_tokener_reset", offsetof(struct json, tokener_reset) },
		{ "json_tokener_parse_ex", offsetof(struct json, parse) },
		{ "json_object_object_get_ex", offsetof(struct json, get) },
		{ "json_object_is_type", offsetof(struct json, is_type) },
		{ "json_object_get_string", offsetof(struct json, string) },
		{ "json_object_get_string_len", offsetof(struct json, string_len) },
		{ "json_object_get_int64", offsetof(struct json, integer) },
		{ "json_object_get_uint64", offsetof(struct json, natural) },
		{ "json_object_get_boolean", offsetof(struct json, boolean) },
		{ "json_object_array_length", offsetof(struct json, length) },
		{ "json_object_array_get_idx", offsetof(struct json, at) },
		{ "json_object_get_object", offsetof(struct json, object) },
		{ "json_object_put", offsetof(struct json, put) },
	};
	static void *library;
	static bool tried;

	if (tried)
		return library ? &functions : NULL;
	tried = true;
	library = library_open("libjson-c.so.5");
	for (size_t i = 0; library && i < ARRAY_SIZE(symbols); i++) {
		void *p = library_symbol(library, symbols[i].name);

		if (!p) {
			library_close(library);
			library = NULL;
			break;
		}
		memcpy((char *)&functions + symbols[i].at, &p, sizeof(p));
	}
	return library ? &functions : NULL;
}

struct json_object *json_member(struct json_object *o, const char *name, enum json_type type)
{
	struct json_object *v;

	return functions.is_type(o, json_type_object) && functions.get(o, name, &v) && functions.is_type(v, type) ?
		v : NULL;
}

const char *json_first_name(struct json_object *o)
{
	const struct lh_table *t = functions.object(o);

	return t && t->head ? t->head->k : NULL;
}

const char *json_text(struct json_object *o)
{
	return o && functions.is_type(o, json_type_string) ? functions.string(o) : NULL;
}
