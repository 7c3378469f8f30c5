// SPDX-License-Identifier: Apache-2.0
/* complete.c - shell completion of a probe: types, then one word of an attach point at a time, up to the
 * next colon. */
#include "complete.h"

#include <glob.h>
#include <string.h>

#include "base/arena.h"
#include "base/str.h"
#include "driver/driver.h"
#include "list.h"
#include "model/provider.h"
#include "model/request.h"
#include "output/output.h"
#include "probes/probes.h"
#include "target/target.h"
#include "tools.h"

static void complete_type(const char *text, FILE *out)
{
	for (const struct provider *const *p = providers; *p; p++)
		if (!strncmp((*p)->name, text, strlen(text)))
			fprintf(out, "%s%s\t%s\n", (*p)->name, strchr((*p)->form, ':') ? ":" : "", (*p)->help);
}

/* Completes programs and libraries. HEAD is the text before the path. */
static void complete_path(struct request *req, const char *head, const char *path, FILE *out)
{
	glob_t g = {};

	if (*path != '/' && *path != '.' && *path != '~')
		return;
	glob(arena_printf(req->arena, "%s*", path), GLOB_MARK | GLOB_TILDE, NULL, &g);
	for (size_t i = 0; i < g.gl_pathc; i++) {
		size_t n = strlen(g.gl_pathv[i]);

		fputs(head, out);
		str_put_safe(g.gl_pathv[i], out);
		fputs(n && g.gl_pathv[i][n - 1] == '/' ? "\t\n" : ":\t\n", out);
	}
	globfree(&g);
}

static unsigned colons(const char *text)
{
	unsigned n = 0;

	for (; *text; text++)
		n += *text == ':';
	return n;
}

/* Returns one of the last two words of "usdt:FILE:PROVIDER:NAME". */
static const char *usdt_word(struct arena *a, const char *name, bool provider)
{
	const char *last = strrchr(name, ':'), *before = last;

	while (provider && before > name && before[-1] != ':')
		before--;
	return provider ? arena_strndup(a, before, (size_t)(last - before)) : last + 1;
}

/* Prints the next words of probes that begin with the text: for tracepoints the category, then the event;
 * for usdt probes the provider, then the name; for others the function, whose module may be left out. */
static void complete_place(struct request *req, const struct provider *p, const char *text, FILE *out)
{
	bool usdt = p == &provider_usdt, tracepoint = p == &provider_tracepoint;
	bool category = (tracepoint && colons(text) == 1) || (usdt && colons(text) == 2);
	const char *tail = strrchr(text, ':');
	const char *head = arena_strndup(req->arena, text, tail + 1 - text), *last = "";
	const struct place *at;

	list_places(req, p, arena_printf(req->arena, usdt && category ? "%s*:*" : "%s*", text), true, &at);
	for (; at; at = at->next) {
		const char *word = usdt ? usdt_word(req->arena, at->name, category) : category ? at->path : at->func;

		if (strcmp(word, last)) {
			fputs(head, out);
			str_put_safe(word, out);
			fputs(category ? ":\t\n" : "\t\n", out);
		}
		last = word;
	}
}

static void complete_probe(struct request *req, const char *text, FILE *out)
{
	const char *colon = strchr(text, ':');
	const struct provider *p = colon ? provider_by_name(providers, text, colon - text) : NULL;

	req->names_only = true;
	if (!colon)
		complete_type(text, out);
	else if (p && p->file && !strchr(colon + 1, ':'))
		complete_path(req, arena_strndup(req->arena, text, colon + 1 - text), colon + 1, out);
	else if (p && (p->finite || p->file))
		complete_place(req, p, text, out);
}

static void complete_stage(const char *text, FILE *out)
{
	for (const char *name = STAGE_LIST; *name; name += strspn(name, ", ")) {
		size_t n = strcspn(name, ",");

		if (!strncmp(name, text, strlen(text)))
			fprintf(out, "%.*s\t\n", (int)n, name);
		name += n;
	}
}

static void complete_feature(const char *text, FILE *out)
{
	for (int f = 0; f < FEATURE_MAX; f++)
		if (!strncmp(feature_name(f), text, strlen(text)))
			fprintf(out, "%s\t%s\n", feature_name(f), feature_help(f));
}

static void complete_format(const char *text, FILE *out)
{
	for (const struct output *const *o = outputs; *o; o++)
		if (!strncmp((*o)->name, text, strlen(text)))
			fprintf(out, "%s\t%s\n", (*o)->name, (*o)->help);
}

static bool is_one_of(const char *option, const char *const *names)
{
	for (; *names; names++)
		if (!strcmp(option, *names))
			return true;
	return false;
}

/* Returns whether the previous word is strata itself: "strata", "./build/strata". */
static bool is_strata(const char *word)
{
	const char *slash = strrchr(word, '/');

	return !strcmp(slash ? slash + 1 : word, "strata");
}

static void complete_tool(struct request *req, const char *text, bool scripts, FILE *out)
{
	for (const struct tool *t = tools; t->name; t++)
		if (!strncmp(t->name, text, strlen(text)) && (t->script || !scripts))
			fprintf(out, "%s\t%s\n", t->name, tool_help(t, req->arena));
}

void complete_argument(struct request *req, const char *option, const char *text, FILE *out)
{
	static const char *const probes[] = {"-l", "-lv", "-vl", "--list", "list", "-e", "--eval", NULL};

	if (is_one_of(option, probes))
		complete_probe(req, text, out);
	else if (is_one_of(option, (const char *const[]){"-d", "--dump", NULL}))
		complete_stage(text, out);
	else if (is_one_of(option, (const char *const[]){"-f", "--format", NULL}))
		complete_format(text, out);
	else if (!strcmp(option, "--no-feature"))
		complete_feature(text, out);
	else if (!strcmp(option, "--print") || (is_strata(option) && *text)) /* the shell offers files */
		complete_tool(req, text, !strcmp(option, "--print"), out);
}
