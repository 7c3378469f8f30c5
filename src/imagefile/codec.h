/* SPDX-License-Identifier: Apache-2.0 */
/* codec.h - one description of the bytes for both directions: each code_*() writes a value, or reads it.
 *
 * After the first mistake in the bytes `bad` is set, and all further reads give zeros: a caller checks once, at
 * the end. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"
#include "model/provider.h"

struct arena;
struct image;
struct span;
struct str;
struct type;

struct codec {
	struct str *out;   /* NULL: it reads */
	const uint8_t *in;
	size_t left;       /* bytes after in */
	struct arena *arena;
	const struct provider *const *providers;
	VEC(const struct type *) types; /* those that were coded, for references to them */
	unsigned depth;    /* of types in types */
	size_t lists;      /* bytes of the lists that were read */
	bool bad;
};

void code_bytes(struct codec *c, void *at, size_t size);
/* For integers of any size. */
#define code_int(c, at) code_bytes(c, at, sizeof(*(at)))
void code_bool(struct codec *c, bool *b);
/* Returns the number, which must be below max: code_enum() is for lvalues of enum types. */
uint32_t code_below(struct codec *c, uint32_t n, uint32_t max);
#define code_enum(c, at, max) (*(at) = code_below(c, *(at), max))
/* A text may be NULL. */
void code_text(struct codec *c, const char **text);
/* Any bytes with their length; ends with a NUL when read. */
void code_blob(struct codec *c, const void **data, size_t *size);
/* Bytes with their length that are not copied when read: they are a part of the input. */
void code_part(struct codec *c, const void **data, size_t *size);
/* Codes the length of a list, each of whose elements takes at least one byte, and returns the list: when reading, a new
 * one of zeros. All lists together are limited, since a wrong length may be near that of the file. */
void *code_list(struct codec *c, void *list, unsigned *n, size_t size);
void code_span(struct codec *c, struct span *s);
void code_provider(struct codec *c, const struct provider **p);

/* code_type.c: NULL is allowed. */
void code_type(struct codec *c, const struct type **t);
/* code_image.c */
void code_image(struct codec *c, struct image *img);
