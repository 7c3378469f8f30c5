// SPDX-License-Identifier: Apache-2.0
/* json.h - reads JSON with json-c, which is opened at the first use, since few runs need it. An object
 * belongs to its parent; the caller of parse() frees the result with put(). */
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

/* Returns NULL if the library is not installed. */
const struct json *json_open(void);
/* Returns a member of an object, or NULL if the object has no such member of that type. */
struct json_object *json_member(struct json_object *o, const char *name, enum json_type type);
/* Returns the name of an object's first member, or NULL if the object is empty. */
const char *json_first_name(struct json_object *o);
/* Returns the text of a string, or NULL if o is not a string. */
const char *json_text(struct json_object *o);
