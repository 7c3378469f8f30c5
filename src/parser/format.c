// SPDX-License-Identifier: Apache-2.0
/* format.c - compares the conversions of a format string with their arguments.
 *
 *     % flags width .precision length conversion:  %-10.3lld
 */
#include <string.h>

#include "base/arena.h"
#include "checker.h"

struct conversion {
	const char *from, *end; /* the whole of it, '%' first */
	char kind;		/* 'd', 's'..; 0: cut off */
};

/* The next conversion at or after p; false when there is none. NUL bytes are text. */
static bool next_conversion(const char *p, const char *end, struct conversion *ret)
{
	while (p < end && *p != '%')
		p++;
	if (p == end)
		return false;
	ret->from = p++;
	while (p < end && *p && strchr("-+ #0123456789.*hlLjzt", *p))
		p++;
	ret->kind = p < end ? *p++ : 0;
	if (ret->kind == 'g' && p < end && *p == 'r') { /* flags of kernel memory: %gr */
		ret->kind = 'G';
		p++;
	}
	if (ret->kind == 'r' && p < end && (*p == 'x' || *p == 'h'))
		p++;
	ret->end = p;
	return true;
}

static bool takes_number(char kind)
{
	return kind && strchr("diuxXocpG", kind);
}

static bool check_conversion(
	struct check *c, const struct conversion *v, struct expr *arg, struct expr *fmt)
{
	const struct type *t = arg->type;

	if (v->kind == 'r' && t->kind != TYPE_BUFFER && t->kind != TYPE_BAD) {
		check_fail(c, arg->span, DIAG_FORMAT, "%.*s prints bytes, not %s",
			(int)(v->end - v->from), v->from, check_type_name(c, t));
		check_hint(c, "buf() makes bytes of memory, an array or a string");
		return false;
	}
	if (!takes_number(v->kind) || t->kind == TYPE_BAD || type_is_number(t) ||
		t->kind == TYPE_KSYM)
		return true;
	check_fail(c, arg->span, DIAG_FORMAT, "%.*s prints a number, not %s",
		(int)(v->end - v->from), v->from, check_type_name(c, t));
	check_note(c, fmt->span, "of this format");
	check_hint(c, "%%s prints any value");
	return false;
}

static bool wrong_conversion(
	struct check *c, const struct conversion *v, struct expr *fmt)
{
	check_fail(c, fmt->span, DIAG_FORMAT,
		v->kind ? "unknown conversion: %.*s"
			: "the conversion %.*s is cut off",
		(int)(v->end - v->from), v->from);
	check_hint(
		c, v->kind ? "%%d %%i %%u %%x %%X %%o %%c %%p %%gr print numbers, %%r bytes, %%s anything"
			   : "%%%% prints a percent sign");
	return false;
}

bool check_format(struct check *c, struct expr *fmt, struct expr *first_arg)
{
	const char *end = fmt->string.text + fmt->string.len;
	struct conversion v = {.end = fmt->string.text};
	struct expr *arg = first_arg;
	unsigned wanted = 0, given = 0;
	bool ok = true;

	for (; next_conversion(v.end, end, &v);) {
		if (v.kind == '%')
			continue;
		if (!takes_number(v.kind) && v.kind != 's' && v.kind != 'r')
			return wrong_conversion(c, &v, fmt);
		wanted++;
		if (arg) {
			ok &= check_conversion(c, &v, arg, fmt);
			arg = arg->next;
		}
	}
	for (arg = first_arg; arg; arg = arg->next)
		given++;
	if (wanted == given)
		return ok;
	check_fail(c, fmt->span, DIAG_FORMAT,
		"this format prints %u value%s, but %u %s given", wanted,
		wanted == 1 ? "" : "s", given, given == 1 ? "is" : "are");
	return false;
}
