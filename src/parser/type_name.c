// SPDX-License-Identifier: Apache-2.0
/* type_name.c - types as scripts write them. */
#include "type_name.h"

#include <string.h>

#include "base/arena.h"
#include "model/type.h"
#include "parse.h"

/* type is NULL for the words of C's types. The types of <stdint.h> and <linux/types.h> are strata's own, so
 * that they need no BTF. */
static const struct {
	const char *name;
	const struct type *const *type;
} names[] = {
	{"__s16", &type_int16},
	{"__s32", &type_int32},
	{"__s64", &type_int64},
	{"__s8", &type_int8},
	{"__u16", &type_uint16},
	{"__u32", &type_uint32},
	{"__u64", &type_uint64},
	{"__u8", &type_uint8},
	{"bool", &type_bool},
	{"char", NULL},
	{"double", NULL},
	{"float", NULL},
	{"int", NULL},
	{"int16", &type_int16},
	{"int16_t", &type_int16},
	{"int32", &type_int32},
	{"int32_t", &type_int32},
	{"int64", &type_int64},
	{"int64_t", &type_int64},
	{"int8", &type_int8},
	{"int8_t", &type_int8},
	{"intptr_t", &type_int64},
	{"long", NULL},
	{"s16", &type_int16},
	{"s32", &type_int32},
	{"s64", &type_int64},
	{"s8", &type_int8},
	{"short", NULL},
	{"signed", NULL},
	{"size_t", &type_uint64},
	{"ssize_t", &type_int64},
	{"u16", &type_uint16},
	{"u32", &type_uint32},
	{"u64", &type_uint64},
	{"u8", &type_uint8},
	{"uint16", &type_uint16},
	{"uint16_t", &type_uint16},
	{"uint32", &type_uint32},
	{"uint32_t", &type_uint32},
	{"uint64", &type_uint64},
	{"uint64_t", &type_uint64},
	{"uint8", &type_uint8},
	{"uint8_t", &type_uint8},
	{"uintptr_t", &type_uint64},
	{"unsigned", NULL},
	{"void", NULL},
};

enum { NAMES = sizeof(names) / sizeof(names[0]) };

/* uint9, int128_t: a mistake, but certainly meant as a type. */
static bool is_int_of_any_size(const char *word)
{
	size_t digits;

	word += *word == 'u';
	if (strncmp(word, "int", 3) != 0)
		return false;
	word += 3;
	digits = strspn(word, "0123456789");
	return digits && (!word[digits] || !strcmp(word + digits, "_t"));
}

static bool is_typedef(const char *word)
{
	size_t len = strlen(word);

	return len > 2 && !strcmp(word + len - 2, "_t");
}

bool type_name_is(const char *word)
{
	for (size_t i = 0; i < NAMES; i++)
		if (!strcmp(names[i].name, word))
			return true;
	return !strcmp(word, "string") || !strcmp(word, "buffer") || is_int_of_any_size(word) ||
	       is_typedef(word);
}

static struct type_name *new_name(struct parse *p, struct span at, enum type_form form)
{
	struct type_name *t = arena_new_obj(p->arena, struct type_name);

	t->form = form;
	t->span = at;
	return t;
}

static struct type_name *known(struct parse *p, struct span at, const struct type *type)
{
	struct type_name *t = new_name(p, at, TYPE_FORM_KNOWN);

	t->type = type;
	return t;
}

static struct type_name *of_words(
	struct parse *p, struct span at, enum type_form form, const char *words)
{
	struct type_name *t = new_name(p, at, form);

	t->words = words;
	return t;
}

struct type_name *type_name_word(struct parse *p, struct span at, const char *word)
{
	if (!strcmp(word, "string"))
		return new_name(p, at, TYPE_FORM_STRING);
	if (!strcmp(word, "buffer"))
		return new_name(p, at, TYPE_FORM_BUFFER);
	for (size_t i = 0; i < NAMES; i++)
		if (!strcmp(names[i].name, word))
			return names[i].type ? known(p, at, *names[i].type) :
					       of_words(p, at, TYPE_FORM_C, word);
	if (is_int_of_any_size(word))
		return new_name(p, at, TYPE_FORM_UNKNOWN);
	return of_words(p, at, TYPE_FORM_NAME, word);
}

struct type_name *type_name_typedef(struct parse *p, struct span at, const char *name)
{
	return type_name_word(p, at, name);
}

/* Adds a word to a type, as in `unsigned long`. */
struct type_name *type_name_more(
	struct parse *p, struct span at, struct type_name *t, const char *word)
{
	if (t->form != TYPE_FORM_C)
		return new_name(p, at, TYPE_FORM_UNKNOWN);
	return of_words(p, at, TYPE_FORM_C, arena_printf(p->arena, "%s %s", t->words, word));
}

enum { TYPE_DEPTH_MAX = 16 };

static bool is_too_deep(struct parse *p, struct span at, const struct type_name *inner)
{
	if (inner->depth < TYPE_DEPTH_MAX)
		return false;
	if (!p->too_deep)
		diag(p->diags, at, DIAG_NESTING, "pointers and arrays are at most %d deep", TYPE_DEPTH_MAX);
	p->too_deep = true;
	return true;
}

static struct type_name *around(
	struct parse *p, struct span at, enum type_form form, struct type_name *inner)
{
	struct type_name *t = new_name(p, at, form);

	if (is_too_deep(p, at, inner))
		return inner;
	t->inner = inner;
	t->depth = inner->depth + 1;
	return t;
}

static struct type_name *array_of(
	struct parse *p, struct span at, struct type_name *inner, uint64_t n)
{
	struct type_name *t = around(p, at, TYPE_FORM_ARRAY, inner);

	t->n = n;
	return t;
}

/* size is an INT, or NULL in T[]. T[2][3] is an array of two arrays: the new dimension is the innermost. */
struct type_name *type_name_array(
	struct parse *p, struct span at, struct type_name *t, const struct expr *size)
{
	uint64_t n = size ? size->integer.value : 0;
	struct type_name *inner = t;

	if (size && !n) {
		diag(p->diags, size->span, DIAG_TYPE_NAME, "an array has at least one element");
		return new_name(p, at, TYPE_FORM_UNKNOWN);
	}
	if ((t->form == TYPE_FORM_STRING || t->form == TYPE_FORM_BUFFER) && !t->n) {
		t->n = n;
		t->span = at;
		return t;
	}
	if (t->form != TYPE_FORM_ARRAY)
		return array_of(p, at, t, n);
	if (is_too_deep(p, at, t))
		return t;
	for (t->depth++; inner->inner->form == TYPE_FORM_ARRAY; inner = inner->inner)
		inner->inner->depth++;
	inner->inner = array_of(p, at, inner->inner, n);
	t->span = at;
	return t;
}

struct type_name *type_name_pointer(struct parse *p, struct span at, struct type_name *to)
{
	return around(p, at, TYPE_FORM_POINTER, to);
}

struct type_name *type_name_tag(
	struct parse *p, struct span at, const char *tag, const char *name)
{
	return of_words(p, at, TYPE_FORM_TAG, arena_printf(p->arena, "%s %s", tag, name));
}

struct type_name *type_name_of(struct parse *p, struct span at, struct expr *e)
{
	struct type_name *t = new_name(p, at, TYPE_FORM_TYPEOF);

	t->of = e;
	return t;
}
