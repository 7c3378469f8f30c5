// SPDX-License-Identifier: Apache-2.0
/* json.h - JSON that is read, by json-c, which is opened when first needed: seldom. Objects belong to the one that
 * they are in; what parse() gives is put() away. */
#pragma once
#include <json-c/json.h>
#include <stddef.h>
#include <stdint.h>

struct json {
	struct json_tokener *(*tokener_new)(void);
	void (*tokener_free)(struct json_tokener *);
	void (*tokener_reset)(struct json_tokener *);
	struct json_object *(*parse)(struct json_tokener *, const char *, int);
	json_bool (*get)(const struct json_object *, const char *, struct json_object **);
	int (*is_type)(const struct json_object *, enum json_type);
	const char *(*string)(struct json_object *);
	int (*string_len)(const struct json_object *);
	int64_t (*integer)(const struct json_object *);
	uint64_t (*natural)(const struct json_object *);
	json_bool (*boolean)(const struct json_object *);
	size_t (*length)(const struct json_object *);
	struct json_object *(*at)(const struct json_object *, size_t);
	struct lh_table *(*object)(const struct json_object *);
	int (*put)(struct json_object *);
};

/* NULL: the library is not there. */
const struct json *json_open(void);
/* A member of an object; NULL: it has none of that type. */
struct json_object *json_member(struct json_object *o, const char *name, enum json_type type);
/* The name of an object's first member; NULL: it has none. */
const char *json_first_name(struct json_object *o);
/* A string's text; NULL: it is none. */
const char *json_text(struct json_object *o);
