// SPDX-License-Identifier: Apache-2.0
/* advice.c - see advice.h. */
#include "advice.h"

#include <string.h>

#include "base/log.h"
#include "base/owner.h"
#include "base/str.h"
#include "model/image.h"
#include "model/type.h"
#include "values/entries.h"
#include "values/frames.h"
#include "values/own.h"

enum { MANY_STACKS = 20 };

/* ---- own code -------------------------------------------------------------- */

static const char *language_name(enum frame_lang lang)
{
	static const char *const names[FRAME_LANGS] = {
#define L(id, stem, builtin, kind, name) [FRAME_LANG_##id] = name,
#include "bpf/languages.def"
#undef L
	};

	return lang < FRAME_LANGS ? names[lang] : NULL;
}

/* The outermost own frame of the largest entry counts; entries come from the smallest to the largest. */
static void find_own(struct advice *a, const struct frame_list *l)
{
	for (size_t i = l->len; i-- > 0;) {
		const struct frame_name *f = &l->data[i].name;
		bool is_native = f->lang == FRAME_LANG_NATIVE;
		const char *file = is_native ? f->module : f->file;

		if (!file || own_is_library(file) || (a->language && is_native))
			continue;
		a->own = file;
		a->language = is_native ? NULL : language_name(f->lang);
		return;
	}
}

void advice_idle(struct advice *a, const struct map_content *c)
{
	if (c->startup) {
		a->startup += c->nidle;
		return;
	}
	a->all_idle |= c->all_idle;
	a->idle += c->nidle;
}

void advice_show_idle(const struct advice *a)
{
	if (a->startup)
		log_hint("%zu stack%s of the C library's own memory %s left out: --startup shows them", a->startup,
			a->startup == 1 ? "" : "s", a->startup == 1 ? "is" : "are");
	if (a->idle_threads)
		log_hint("%zu idle thread%s left out (event loops, pools without work): --idle shows them",
			a->idle_threads, a->idle_threads == 1 ? " is" : "s are");
	if (a->idle)
		log_hint("%zu idle stack%s left out (event loops, pools without work): --idle shows them", a->idle,
			a->idle == 1 ? " is" : "s are");
	else if (a->all_idle)
		log_hint("all of these waits are idle: the threads had no work");
}

void advice_begins(const struct advice *a)
{
	if (a->begins)
		log_hint("%s", a->begins);
}

void advice_map(struct advice *a, const struct show *s, const struct map_content *c)
{
	if (!type_has(c->map->key, TYPE_STACK))
		return;
	a->stacks += c->n - c->first;
	for (size_t i = c->first; i < c->n; i++) {
		struct frame_list l;

		frames_of_key(s, c->map, &c->list[i], &l);
		find_own(a, &l);
		frames_done(&l);
	}
}

void advice_own_code(const struct advice *a)
{
	const char *own = a->own, *slash = own ? strrchr(own, '/') : NULL, *dot = own ? strrchr(own, '.') : NULL;
	int folder = slash ? (int)(slash - own) : 0;

	if (a->stacks <= MANY_STACKS || !own)
		return;
	dot = dot && dot > slash ? dot : NULL;
	if (a->language && dot && folder)
		log_hint("%zu stacks: --only '*%s' shows the frames of %s files only, --only '%.*s/*' those of "
			 "this directory", a->stacks, dot, a->language, folder, own);
	else if (a->language && dot)
		log_hint("%zu stacks: --only '*%s' shows the frames of %s files only", a->stacks, dot, a->language);
	else if (folder)
		log_hint("%zu stacks: --only '%.*s/*' shows the frames of this directory only", a->stacks, folder,
			own);
}
