// SPDX-License-Identifier: Apache-2.0
/* cpart_decls.c - the declarations of the C part and its headers, by name and by clang's cursor. */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "cpart.h"

enum { BUCKETS = 1 << 14 };

struct decl_table {
	struct decl *names[BUCKETS], *cursors[BUCKETS];
};

const char *cpart_string(struct cpart *c, struct cx_string s)
{
	const char *text = c->clang.getCString(s);

	text = arena_strdup(c->arena, text ? text : "");
	c->clang.disposeString(s);
	return text;
}

static struct decl **name_bucket(struct cpart *c, const char *name)
{
	uint32_t h = 0x811c9dc5; /* FNV-1a */

	for (; *name; name++)
		h = (h ^ (unsigned char)*name) * 0x01000193;
	return &c->decls->names[(h ^ h >> 16) % BUCKETS];
}

static struct decl **cursor_bucket(struct cpart *c, struct cx_cursor cursor)
{
	uint32_t h = c->clang.hashCursor(cursor);

	return &c->decls->cursors[(h ^ h >> 14) % BUCKETS];
}

static struct decl *by_name(struct cpart *c, int kind, const char *name)
{
	for (struct decl *d = *name_bucket(c, name); d; d = d->same_name)
		if (d->kind == kind && !strcmp(d->name, name))
			return d;
	return NULL;
}

static struct decl *by_cursor(struct cpart *c, struct cx_cursor cursor)
{
	for (struct decl *d = *cursor_bucket(c, cursor); d; d = d->same_cursor)
		if (c->clang.equalCursors(d->cursor, cursor))
			return d;
	return NULL;
}

/* clang names an unnamed struct by its place in the text, or by a typedef's name. */
static bool is_named(struct cpart *c, struct cx_cursor cursor, int kind)
{
	struct cx_string s;
	bool tagged;

	if (kind != CX_STRUCT_DECL && kind != CX_UNION_DECL && kind != CX_ENUM_DECL)
		return true;
	if (c->clang.Cursor_isAnonymous(cursor))
		return false;
	s = c->clang.getTypeSpelling(c->clang.getCursorType(cursor));
	tagged = strchr(c->clang.getCString(s), ' ') && !strchr(c->clang.getCString(s), '(');
	c->clang.disposeString(s);
	return tagged;
}

static struct decl *add_decl(struct cpart *c, struct cx_cursor cursor, int kind)
{
	struct cx_cursor whole = c->clang.getCursorDefinition(cursor);
	struct decl *d, **bucket;

	if (c->clang.Cursor_isNull(whole) || (int)whole.kind != kind)
		whole = cursor;
	d = by_cursor(c, whole);
	if (d)
		return d;
	d = arena_new_obj(c->arena, struct decl);
	*d = (struct decl){.part = c, .cursor = whole, .kind = kind, };
	d->name = is_named(c, whole, kind) ? cpart_string(c, c->clang.getCursorSpelling(whole)) : "";
	bucket = cursor_bucket(c, whole);
	d->same_cursor = *bucket;
	*bucket = d;
	if (*d->name && !by_name(c, kind, d->name)) {
		bucket = name_bucket(c, d->name);
		d->same_name = *bucket;
		*bucket = d;
	}
	return d;
}

/* In C, a struct that is defined within another one is also known outside. */
static enum cx_visit visit(struct cx_cursor cursor, struct cx_cursor parent, void *arg)
{
	switch (cursor.kind) {
	case CX_STRUCT_DECL:
	case CX_UNION_DECL:
	case CX_ENUM_DECL:
		add_decl(arg, cursor, (int)cursor.kind);
		return CX_VISIT_RECURSE;
	case CX_ENUM_CONSTANT_DECL:
	case CX_FUNCTION_DECL:
	case CX_VAR_DECL:
	case CX_TYPEDEF_DECL:
		add_decl(arg, cursor, (int)cursor.kind);
		return CX_VISIT_CONTINUE;
	default:
		return CX_VISIT_CONTINUE;
	}
}

static bool decls_read(struct cpart *c)
{
	if (!c->unit)
		return false;
	if (!c->decls) {
		c->decls = calloc(1, sizeof(*c->decls));
		if (!c->decls)
			return false;
		c->clang.visitChildren(c->clang.getTranslationUnitCursor(c->unit), visit, c);
	}
	return true;
}

struct decl *decl_find(struct cpart *c, int kind, const char *name)
{
	return decls_read(c) ? by_name(c, kind, name) : NULL;
}

struct decl *decl_of(struct cpart *c, struct cx_cursor cursor, int kind)
{
	return decls_read(c) ? add_decl(c, cursor, kind) : NULL;
}

void decls_free(struct cpart *c)
{
	free(c->decls);
	c->decls = NULL;
}

void cpart_names(void *state, enum type_tag tag, void (*f)(void *arg, const char *name), void *arg)
{
	static const int kinds[] = {[TAG_NAME] = CX_TYPEDEF_DECL, [TAG_STRUCT] = CX_STRUCT_DECL,
		[TAG_UNION] = CX_UNION_DECL, [TAG_ENUM] = CX_ENUM_DECL};
	struct cpart *c = state;

	for (size_t i = 0; decls_read(c) && i < BUCKETS; i++)
		for (struct decl *d = c->decls->names[i]; d; d = d->same_name)
			if (d->kind == kinds[tag])
				f(arg, d->name);
}
