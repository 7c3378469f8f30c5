// SPDX-License-Identifier: Apache-2.0
/* type_name.c - types as scripts write them. */
#include "type_name.h"

#include <string.h>

#include "base/arena.h"
#include "model/type.h"
#include "parse.h"

/* type: NULL for types of C, which bpftrace finds in the kernel's BTF. */
static const struct {
	const char *name;
	const struct type *const *type;
} names[] = {
	{"__s16", NULL},
	{"__s32", NULL},
	{"__s64", NULL},
	{"__s8", NULL},
	{"__u16", NULL},
	{"__u32", NULL},
	{"__u64", NULL},
	{"__u8", NULL},
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
	{"long", NULL},
	{"s16", NULL},
	{"s32", NULL},
	{"s64", NULL},
	{"s8", NULL},
	{"short", NULL},
	{"signed", NULL},
	{"u16", NULL},
	{"u32", NULL},
	{"u64", NULL},
	{"u8", NULL},
	{"uint16", &type_uint16},
	{"uint16_t", &type_uint16},
	{"uint32", &type_uint32},
	{"uint32_t", &type_uint32},
	{"uint64", &type_uint64},
	{"uint64_t", &type_uint64},
	{"uint8", &type_uint8},
	{"uint8_t", &type_uint8},
	{"unsigned", NULL},
	{"void", NULL},
};

enum { NAMES = sizeof(names) / sizeof(names[0]) };

/* uint9, int128_t: a mistake, but surely meant as a type. */
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
	return !strcmp(word, "string") || is_int_of_any_size(word) || is_typedef(word);
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

struct type_name *type_name_word(struct parse *p, struct span at, const char *word)
{
	if (!strcmp(word, "string"))
		return new_name(p, at, TYPE_FORM_STRING);
	for (size_t i = 0; i < NAMES; i++)
		if (!strcmp(names[i].name, word))
			return names[i].type ? known(p, at, *names[i].type) :
					       new_name(p, at, TYPE_FORM_C);
	return new_name(p, at, is_typedef(word) && !is_int_of_any_size(word) ? TYPE_FORM_C :
									 TYPE_FORM_UNKNOWN);
}

/* unsigned long */
struct type_name *type_name_more(struct parse *p, struct span at, struct type_name *t)
{
	return new_name(p, at, t->form == TYPE_FORM_C ? TYPE_FORM_C : TYPE_FORM_UNKNOWN);
}

/* size: an INT; NULL in T[] */
struct type_name *type_name_array(
	struct parse *p, struct span at, struct type_name *t, const struct expr *size)
{
	if (t->form == TYPE_FORM_UNKNOWN)
		return new_name(p, at, TYPE_FORM_UNKNOWN);
	if (t->form != TYPE_FORM_STRING || !size)
		return new_name(p, at, TYPE_FORM_ARRAY);
	if (size->integer.value < 1 || size->integer.value > TYPE_STRING_MAX)
		return new_name(p, at, TYPE_FORM_SIZE);
	return known(p, at, type_string(p->arena, (uint32_t)size->integer.value));
}

struct type_name *type_name_pointer(struct parse *p, struct span at)
{
	return new_name(p, at, TYPE_FORM_POINTER);
}

struct type_name *type_name_tag(struct parse *p, struct span at)
{
	return new_name(p, at, TYPE_FORM_TAG);
}

struct type_name *type_name_of(struct parse *p, struct span at, struct expr *e)
{
	struct type_name *t = new_name(p, at, TYPE_FORM_TYPEOF);

	t->of = e;
	return t;
}
