// SPDX-License-Identifier: Apache-2.0
/* show_folded.c - stacks on a line, for flame graph programs: "outermost;...;innermost", by function. */
#include <string.h>

#include "base/owner.h"
#include "base/str.h"
#include "entries.h"
#include "frames.h"
#include "model/type.h"
#include "show.h"

const char *show_annotation(const struct shown_frame *f)
{
	if (f->name.lang == FRAME_LANG_KERNEL)
		return "_[k]";
	if (f->name.caller)
		return "_[i]";
	return f->name.lang == FRAME_LANG_NATIVE || LANGS_NATIVE >> f->name.lang & 1 ? "" : "_[j]";
}

/* ';' separates frames. */
static void hide_semicolons(struct str *text, size_t from)
{
	for (size_t i = from; i < text->len; i++)
		if (text->data[i] == ';')
			text->data[i] = ':';
}

static void add_frame(const struct shown_frame *f, struct str *out)
{
	size_t from = out->len;

	show_function(f, out);
	hide_semicolons(out, from);
	str_add(out, show_annotation(f));
}

void show_folded(const struct type *t, const struct frame_list *l, struct str *out)
{
	const char *why = show_end(t, l), *sep = "";

	if (why) {
		str_addf(out, "[%s]", why);
		sep = ";";
	}
	for (size_t i = l->len; i-- > 0; sep = ";") {
		str_add(out, sep);
		add_frame(&l->data[i], out);
	}
}

/* ---- a key -------------------------------------------------------------- */

static void add_part(const struct show *s, const struct type *t, const struct map_entry *e,
	uint32_t at, struct str *out)
{
	struct str text = {};

	if (t->kind == TYPE_STACK) {
		struct frame_list l;

		frames_of_entry(s, t, e, at, &l);
		show_folded(t, &l, &text);
		frames_done(&l);
	} else {
		show_value(s, t, e->key + at, &text);
		hide_semicolons(&text, 0);
	}
	str_add(out, text.len && out->len ? ";" : "");
	str_add_safe(out, str_text(&text), text.len); /* the key is one line */
	str_done(&text);
}

/* Returns whether the parts of a tuple in the key become frames: only if it contains a stack. */
static void add_parts(const struct show *s, const struct type *t, const struct map_entry *e,
	uint32_t at, enum key_part part, struct str *out)
{
	if (t->kind == TYPE_TUPLE && type_has(t, TYPE_STACK))
		for (unsigned i = 0; i < t->tuple.n; i++)
			add_parts(s, t->tuple.members[i], e, at + t->tuple.offsets[i], part, out);
	else if (key_part(t) == part)
		add_part(s, t, e, at, out);
}

void show_folded_key(const struct show *s, const struct type *t, const struct map_entry *e,
	struct str *out)
{
	static const enum key_part order[] = { PART_OTHER, PART_USER, PART_KERNEL };

	for (size_t i = 0; i < ARRAY_SIZE(order); i++)
		add_parts(s, t, e, 0, order[i], out);
}
