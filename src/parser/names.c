// SPDX-License-Identifier: Apache-2.0
/* names.c - looking up what the language has beside its grammar. */
#include "names.h"

#include <string.h>

#include "ast.h"
#include "base/arena.h"
#include "builtin.h"
#include "parser.h"
#include "provider.h"

const struct builtin *builtin_find(const struct language *l, const char *name)
{
	for (const struct builtin *const *family = l->builtins; *family; family++)
		for (const struct builtin *b = *family; b->name; b++)
			if (!strcmp(b->name, name))
				return b;
	return NULL;
}

const struct provider *provider_find(const struct language *l, const char *name)
{
	for (const struct provider *const *p = l->providers; *p; p++)
		if (!strcasecmp((*p)->name, name) ||
			((*p)->short_name && !strcasecmp((*p)->short_name, name)))
			return *p;
	return NULL;
}

bool builtin_takes_words(const struct builtin *b)
{
	return strstr(b->sig, "word") || ((b->flags & BUILTIN_VAR) && b->sig[0] == '[');
}

void hint_nearest(struct diags *d, const char *prefix, const char *written,
	const char *const *names, size_t n)
{
	const char *near = nearest(written, names, n);

	if (near)
		diag_hint(d, "did you mean %s%s?", prefix, near);
}

void hint_builtin(
	struct diags *d, struct arena *a, const struct language *l, const char *written)
{
	const char **names;
	size_t n = 0;

	for (const struct builtin *const *family = l->builtins; *family; family++)
		for (const struct builtin *b = *family; b->name; b++)
			n++;
	names = arena_new_array(a, const char *, n + 1);
	n = 0;
	for (const struct builtin *const *family = l->builtins; *family; family++)
		for (const struct builtin *b = *family; b->name; b++)
			names[n++] = b->name;
	hint_nearest(d, "", written, names, n);
}

void hint_provider(
	struct diags *d, struct arena *a, const struct language *l, const char *written)
{
	const char **names;
	size_t n = 0;

	while (l->providers[n])
		n++;
	names = arena_new_array(a, const char *, n + 1);
	for (size_t i = 0; i < n; i++)
		names[i] = l->providers[i]->name;
	hint_nearest(d, "", written, names, n);
}

/* ---- the config block ---- */

static const struct {
	const char *name;
	enum node_kind kind; /* of its value */
	const char *value;   /* the kind as told */
} settings[] = {
	{"max_map_keys", N_INT, "a number"},
	{"max_probes", N_INT, "a number"},
	{"max_strlen", N_INT, "a number"},
	{"missing_probes", N_WORD, "error, warn or ignore"},
	{"perf_rb_pages", N_INT, "a number"},
	{"print_maps_on_exit", N_BOOL, "true or false"},
	{"stack_mode", N_WORD, "the mode of a stack"},
	{"stack_native", N_BOOL, "true or false"},
};

enum { NSETTINGS = sizeof(settings) / sizeof(settings[0]) };

/* 0 and 1 are as good as false and true, a word may stand in quotes. */
static bool value_fits(enum node_kind want, struct node *value)
{
	if (want == N_BOOL && value->kind == N_INT && value->integer.value <= 1) {
		bool truth = value->integer.value;

		value->kind = N_BOOL;
		value->boolean = truth;
	} else if (want == N_WORD && value->kind == N_STRING) {
		const char *word = value->string.text;

		value->kind = N_WORD;
		value->word = word;
	}
	return value->kind == want;
}

static bool setting_check(struct setting *s, struct diags *d)
{
	const char *names[NSETTINGS];

	for (size_t i = 0; i < NSETTINGS; i++) {
		names[i] = settings[i].name;
		if (strcmp(s->name, settings[i].name) != 0)
			continue;
		if (!value_fits(settings[i].kind, s->value))
			return diag(d, s->value->span, DIAG_CONFIG, "%s is %s", s->name,
				settings[i].value);
		return true;
	}
	diag(d, s->span, DIAG_CONFIG, "there is no setting %s", s->name);
	hint_nearest(d, "", s->name, names, NSETTINGS);
	return false;
}

bool settings_check(const struct script *script, struct diags *d)
{
	bool ok = true;

	for (struct setting *s = script->settings; s; s = s->next)
		ok &= setting_check(s, d);
	return ok;
}
