// SPDX-License-Identifier: Apache-2.0
/* format.c - compares the conversions of a format string with their arguments.
 *
 *     % flags width .precision length conversion:  %-10.3lld
 *
 * A '%' that does not begin a conversion is text. It becomes "%%" here, so that later readers need not check. */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "checker.h"

enum { WIDTH_MAX = 65536 };

struct conversion {
	const char *from, *end; /* the whole conversion, '%' first */
	char kind;		/* 'd', 's'..; 0 if the format ends before it */
};

/* Finds the next conversion at or after p. Returns false if there is none. NUL bytes are text. */
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

/* Limits widths: a wide conversion writes that many blanks for each event. */
static bool check_widths(struct check *c, const struct conversion *v, struct expr *fmt)
{
	for (const char *p = v->from; p < v->end; p++) {
		size_t n = strspn(p, "0123456789");

		if (n && strtoul(p, NULL, 10) > WIDTH_MAX) {
			check_fail(c, fmt->span, DIAG_FORMAT, "the conversion %.*s is wider than %d",
				(int)(v->end - v->from), v->from, WIDTH_MAX);
			return false;
		}
		p += n;
	}
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

static bool is_lone(char kind)
{
	return !kind || !strchr("%srdiuxXocpGeEfFgaA", kind);
}

/* Replaces each '%' that does not begin a conversion by "%%". */
static void escape_lone(struct check *c, struct expr *fmt)
{
	const char *text = fmt->string.text, *end = text + fmt->string.len, *done = text;
	char *out = arena_alloc(check_arena(c), 2 * (size_t)fmt->string.len + 1), *to = out;
	struct conversion v = {.end = text};

	while (next_conversion(v.end, end, &v)) {
		if (!is_lone(v.kind))
			continue;
		v.end = v.from + 1;
		to = mempcpy(to, done, (size_t)(v.end - done));
		*to++ = '%';
		done = v.end;
	}
	if (done == text)
		return;
	to = mempcpy(to, done, (size_t)(end - done));
	fmt->string.text = out;
	fmt->string.len = (uint32_t)(to - out);
	fmt->type = type_string(check_arena(c), fmt->string.len + 1);
}

static bool wrong_conversion(struct check *c, const struct conversion *v, struct expr *fmt)
{
	check_fail(c, fmt->span, DIAG_FORMAT, "unknown conversion: %.*s", (int)(v->end - v->from), v->from);
	check_hint(c, "%%d %%i %%u %%x %%X %%o %%c %%p %%gr print numbers, %%r bytes, %%s anything; %%%% is a percent "
		"sign");
	return false;
}

bool check_format(struct check *c, struct expr *fmt, struct expr *first_arg)
{
	struct expr *arg = first_arg;
	unsigned wanted = 0, given = 0;
	struct conversion v;
	const char *end;
	bool ok = true;

	escape_lone(c, fmt);
	end = fmt->string.text + fmt->string.len;
	v.end = fmt->string.text;
	for (; next_conversion(v.end, end, &v);) {
		if (v.kind == '%')
			continue;
		if (!takes_number(v.kind) && v.kind != 's' && v.kind != 'r')
			return wrong_conversion(c, &v, fmt);
		ok &= check_widths(c, &v, fmt);
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
