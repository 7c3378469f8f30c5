// SPDX-License-Identifier: Apache-2.0
/* shorten.c - see shorten.h. */
#include "shorten.h"

#include <string.h>

#include "base/str.h"
#include "recording.h"

enum { LONG = 60 }; /* bytes from which a name is long */

static bool begins(const char *text, const char *with)
{
	return !strncmp(text, with, strlen(with));
}

/* Returns the end of the bracket at text, or NULL if it is not closed. '>' of an arrow closes nothing. */
static const char *end_of(const char *text)
{
	int depth = 0;

	for (const char *p = text; *p; p++) {
		if (*p == '(' || *p == '<')
			depth++;
		else if (*p == ')' || (*p == '>' && p[-1] != '-' && p[-1] != '='))
			depth--;
		if (!depth)
			return p + 1;
	}
	return NULL;
}

void shorten_name(const char *name, struct str *out)
{
	static const char *const kept[] = {
		"(anonymous namespace)", "operator()", "operator<<", "operator<=>", "operator<",
	};

	for (const char *p = name, *end; *p; p = end) {
		bool template = *p == '<' && p > name && p[-1] != ' ', params = *p == '(' && p > name;

		end = p + 1;
		for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++)
			if (begins(p, kept[i])) {
				end = p + strlen(kept[i]);
				template = params = false;
				break;
			}
		if (template || params)
			end = end_of(p);
		if (!end) { /* not closed: the rest as it is */
			str_add(out, p);
			return;
		}
		if (template)
			str_add(out, "<..>");
		else if (params && begins(end, " const"))
			end += strlen(" const");
		else if (!params)
			str_addn(out, p, (size_t)(end - p));
	}
}

void shorten_recording(struct recording *r)
{
	for (size_t i = 0; i < r->frames.len; i++) {
		struct recorded_frame *f = &r->frames.data[i];
		const char *name = recording_text(r, f->function);
		struct str text = {};

		if ((f->kind != FRAME_KIND_NATIVE && f->kind != FRAME_KIND_INLINED) || strlen(name) < LONG)
			continue;
		shorten_name(name, &text);
		f->function = recording_add_text(r, str_text(&text));
		str_done(&text);
	}
}
