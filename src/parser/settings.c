// SPDX-License-Identifier: Apache-2.0
/* settings.c - a setting is a row: name, kind, field of struct settings, default, range. */
#include "settings.h"

#include <ctype.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ast.h"
#include "base/diag.h"
#include "model/type.h"
#include "names.h"

static const char *const missing_names[] = {"error", "warn", "ignore"};

static const struct row {
	const char *name;
	enum expr_kind kind;      /* of its value */
	size_t at;                /* in struct settings */
	uint64_t value, min, max; /* default, range */
	const char *const *words; /* WORD: by value, 0..max */
	const char *wanted;       /* what the value must be, for errors */
} rows[] = {
	{"js_source_maps", EXPR_BOOL, offsetof(struct settings, js_source_maps), false, 0, 1, NULL,
		"true or false"},
	{"max_cache_mb", EXPR_INT, offsetof(struct settings, max_cache_mb), 256, 1, 1 << 20, NULL,
		"a number of MB"},
	{"max_cat_bytes", EXPR_INT, offsetof(struct settings, max_cat_bytes), 10240, 0, 1 << 30, NULL,
		"a number of bytes"},
	{"max_map_keys", EXPR_INT, offsetof(struct settings, max_map_keys), 4096, 1, 1 << 26, NULL,
		"a number"},
	{"max_memory_mb", EXPR_INT, offsetof(struct settings, max_memory_mb), 200, 1, 1 << 20, NULL,
		"a number of MB"},
	{"max_probes", EXPR_INT, offsetof(struct settings, max_probes), 65536, 1, 1 << 24, NULL,
		"a number"},
	{"max_strlen", EXPR_INT, offsetof(struct settings, max_strlen), 1024, 1, 16384, NULL,
		"a number"},
	{"missing_probes", EXPR_WORD, offsetof(struct settings, missing_probes), MISSING_ERROR, 0, 2,
		missing_names, "error, warn or ignore"},
	{"perf_rb_pages", EXPR_INT, offsetof(struct settings, perf_rb_pages), 0, 1, 1 << 18, NULL,
		"a number"},
	{"print_maps_on_exit", EXPR_BOOL, offsetof(struct settings, print_maps_on_exit), true, 0, 1,
		NULL, "true or false"},
	{"stack_mode", EXPR_WORD, offsetof(struct settings, stack_mode), STACK_FUNC, 0,
		STACK_MODE_MAX - 1, stack_mode_names, "the mode of a stack"},
};

enum { NROWS = sizeof(rows) / sizeof(rows[0]) };

static uint64_t *field(struct settings *s, const struct row *row)
{
	return (uint64_t *)((char *)s + row->at);
}

struct settings settings_default(void)
{
	struct settings s;

	for (size_t i = 0; i < NROWS; i++)
		*field(&s, &rows[i]) = rows[i].value;
	return s;
}

static bool word_value(const struct row *row, const char *word, uint64_t *ret)
{
	for (uint64_t i = 0; i <= row->max; i++)
		if (row->words[i] && !strcmp(row->words[i], word)) {
			*ret = i;
			return true;
		}
	return false;
}

/* 0 and 1 may stand for false and true; a word may be in quotes. */
static bool expr_value(const struct row *row, const struct expr *n, uint64_t *ret)
{
	if (row->kind == EXPR_WORD)
		return (n->kind == EXPR_WORD && word_value(row, n->word, ret)) ||
			(n->kind == EXPR_STRING && word_value(row, n->string.text, ret));
	if (row->kind == EXPR_BOOL && n->kind == EXPR_BOOL) {
		*ret = n->boolean;
		return true;
	}
	if (n->kind != EXPR_INT || n->integer.value < row->min || n->integer.value > row->max)
		return false;
	*ret = n->integer.value;
	return true;
}

static bool text_value(const struct row *row, const char *text, uint64_t *ret)
{
	char *end;
	uint64_t v;

	if (row->kind == EXPR_WORD)
		return word_value(row, text, ret);
	if (row->kind == EXPR_BOOL && (!strcmp(text, "true") || !strcmp(text, "false"))) {
		*ret = *text == 't';
		return true;
	}
	v = strtoull(text, &end, 0);
	if (end == text || *end || v < row->min || v > row->max)
		return false;
	*ret = v;
	return true;
}

/* "a number from 1 to 16384", "true or false" */
static const char *wanted_text(const struct row *row, char *buf, size_t size)
{
	if (row->kind != EXPR_INT)
		return row->wanted;
	snprintf(buf, size, "%s from %llu to %llu", row->wanted, (unsigned long long)row->min,
		(unsigned long long)row->max);
	return buf;
}

static bool read_setting(const struct setting *set, struct diags *d, struct settings *ret)
{
	const char *names[NROWS], *near;
	char wanted[64];

	for (size_t i = 0; i < NROWS; i++) {
		names[i] = rows[i].name;
		if (strcmp(set->name, rows[i].name))
			continue;
		if (!expr_value(&rows[i], set->value, field(ret, &rows[i])))
			return diag(d, set->value->span, DIAG_CONFIG, "%s must be %s", set->name,
				wanted_text(&rows[i], wanted, sizeof(wanted)));
		return true;
	}
	if (peer_has(PEER_SETTING, set->name)) {
		diag_warn(d, set->span, DIAG_CONFIG, "bpftrace has the setting %s; strata ignores it",
			set->name);
		return true;
	}
	diag(d, set->span, DIAG_CONFIG, "unknown setting: %s", set->name);
	near = nearest(set->name, names, NROWS);
	if (near)
		diag_hint(d, "did you mean %s?", near);
	return false;
}

static bool read_environment(const struct row *row, struct diags *d, struct settings *ret)
{
	char name[64] = "BPFTRACE_", wanted[64];
	const char *text;
	size_t n = strlen(name);

	for (const char *p = row->name; *p; p++)
		name[n++] = (char)toupper((unsigned char)*p);
	name[n] = 0;
	text = getenv(name);
	if (!text || text_value(row, text, field(ret, row)))
		return true;
	return diag(d, (struct span){0, 0}, DIAG_CONFIG, "%s in the environment must be %s, not %s",
		name, wanted_text(row, wanted, sizeof(wanted)), text);
}

bool settings_read(const struct script *s, struct diags *d, struct settings *ret)
{
	bool ok = true;

	*ret = settings_default();
	for (const struct setting *set = s->settings; set; set = set->next)
		ok &= read_setting(set, d, ret);
	for (size_t i = 0; i < NROWS; i++)
		ok &= read_environment(&rows[i], d, ret);
	return ok;
}
