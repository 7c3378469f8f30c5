// SPDX-License-Identifier: Apache-2.0
/* typos.c - see typos.h. */
#include "typos.h"

#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/diag.h"
#include "base/log.h"
#include "base/number.h"
#include "base/owner.h"
#include "tools.h"

enum { NAMES_MAX = 96, NAME_BYTES = 64 };

/* ---- words ------------------------------------------------------------------ */

/* What other programs call it. */
static const struct {
	const char *word, *meant;
} synonyms[] = {
	{"profile", "strata cpu"}, {"perf", "strata cpu"}, {"flame", "strata cpu -o cpu.svg"},
	{"flamegraph", "strata cpu -o cpu.svg"}, {"wall", "strata offcpu"}, {"wait", "strata offcpu"},
	{"block", "strata offcpu"}, {"sleep", "strata offcpu"}, {"stack", "strata dump"}, {"stacks", "strata dump"},
	{"pstack", "strata dump"}, {"jstack", "strata dump"}, {"core", "strata dump CORE"},
	{"memory", "strata alloc or strata leak"}, {"heap", "strata leak"}, {"malloc", "strata alloc"},
	{"gil", "strata locks"}, {"mutex", "strata locks"}, {"futex", "strata locks"},
	{"latency", "strata slow or strata lag"},
	{"requests", "strata slow"}, {"loop", "strata lag"}, {"eventloop", "strata lag"}, {"disk", "strata io"},
	{"fsync", "strata io"}, {"network", "strata connect"}, {"tcp", "strata connect"}, {"execsnoop", "strata exec"},
	{"trace", "strata -e 'PROBE { .. }'"}, {"probes", "strata list"}, {"attach", "strata cpu -p PID"},
};

void typos_hint_word(const char *word)
{
	static const char *const words[] = {"help", "list"};
	const char *near = nearest(word, words, ARRAY_SIZE(words)), *tool = tool_nearest(word);

	for (size_t i = 0; i < ARRAY_SIZE(synonyms); i++)
		if (!strcmp(word, synonyms[i].word)) {
			log_hint("did you mean %s? strata tools lists all tools", synonyms[i].meant);
			return;
		}
	if (tool || near)
		log_hint("did you mean strata %s? strata tools lists all tools", tool ? tool : near);
	else if (*word && !word[strspn(word, "0123456789")])
		log_hint("did you mean strata cpu -p %s?", word);
	else if (!strpbrk(word, "./"))
		log_hint("strata tools lists all tools, strata help explains the options");
}

/* ---- options ------------------------------------------------------------------ */

/* A tool's and strata's names of options. */
struct names {
	char own[NAMES_MAX][NAME_BYTES];
	const char *list[NAMES_MAX];
	size_t n;
};

static void collect(const struct tool *t, const char *const *names, size_t n, struct names *ret)
{
	ret->n = tool_options(t, ret->own, NAMES_MAX / 2);
	for (size_t i = 0; i < ret->n; i++)
		ret->list[i] = ret->own[i];
	for (size_t i = 0; i < n && ret->n < NAMES_MAX; i++)
		ret->list[ret->n++] = names[i];
}

static const char *begins_with(const struct names *names, const char *name)
{
	for (size_t i = 0; i < names->n; i++)
		if (!strncmp(names->list[i], name, strlen(name)))
			return names->list[i];
	return NULL;
}

static bool unknown(const struct tool *t, const char *name, const char *const *names, size_t n)
{
	struct names all;
	const char *near;

	collect(t, names, n, &all);
	near = begins_with(&all, name);
	near = near ? near : nearest(name, all.list, all.n);
	log_error("strata %s has no option --%s", t->name, name);
	if (near)
		log_hint("did you mean --%s? strata %s --help lists the options", near, t->name);
	else
		log_hint("strata %s --help lists the options", t->name);
	return false;
}

bool typos_check_option(const struct tool *t, const char *option, const char *const *names, size_t n)
{
	const char *value = strchr(option, '=');
	char name[NAME_BYTES];
	uint64_t number;

	snprintf(name, sizeof(name), "%.*s", (int)(value ? value - option : (long)strlen(option)), option);
	if (!strcmp(name, "help"))
		return true;
	if (!tool_has_option(t, name))
		return unknown(t, name, names, n);
	if (!tool_option_takes_value(t, name))
		return true;
	if (!value || !value[1]) {
		log_error("--%s needs a value", name);
		log_hint("strata %s --help lists the options", t->name);
		return false;
	}
	if (!tool_option_is_number(t, name) || !number_literal(value + 1, strlen(value + 1), &number))
		return true;
	log_error("--%s takes a number, not '%s'", name, value + 1);
	log_hint("strata %s --help lists the options", t->name);
	return false;
}
