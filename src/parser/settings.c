// SPDX-License-Identifier: Apache-2.0
/* settings.c - each setting is a row: name, kind, field of struct settings, default, range. */
#include "settings.h"

#include <ctype.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "ast.h"
#include "base/diag.h"
#include "base/number.h"
#include "base/owner.h"
#include "model/type.h"

static const char *const missing_names[] = {"error", "warn", "ignore"};
static const char *const unstable_names[] = {"enable", "warn", "error"};
static const char *const cache_names[] = {"PER_PID", "PER_PROGRAM", "NONE"};
/* Licenses that the kernel accepts as GPL (include/linux/license.h). */
static const char *const licenses[] = {
	"GPL", "GPL v2", "GPL and additional rights", "Dual BSD/GPL", "Dual MIT/GPL", "Dual MPL/GPL",
};

enum { TRAILER_MAX = 64 };

static const struct row {
	const char *name;
	enum expr_kind kind;      /* kind of the value */
	size_t at;                /* offset in struct settings */
	uint64_t value, min, max; /* default and range; of a STRING, the most bytes */
	const char *const *words; /* WORD: the words of values 0..max */
	const char *wanted;       /* form of the value, for errors */
	const char *text;         /* STRING: the default */
} rows[] = {
	{"all_processes", EXPR_BOOL, offsetof(struct settings, all_processes), false, 0, 1, NULL,
		"true or false"},
	{"cache_user_symbols", EXPR_WORD, offsetof(struct settings, cache_user_symbols),
		SYMBOLS_PER_PID, 0, 2, cache_names, "PER_PID, PER_PROGRAM or NONE"},
	{"cpp_demangle", EXPR_BOOL, offsetof(struct settings, cpp_demangle), true, 0, 1, NULL,
		"true or false"},
	{"find_lost", EXPR_BOOL, offsetof(struct settings, find_lost), false, 0, 1, NULL, "true or false"},
	{"inlines", EXPR_BOOL, offsetof(struct settings, inlines), true, 0, 1, NULL, "true or false"},
	{"js_source_maps", EXPR_BOOL, offsetof(struct settings, js_source_maps), true, 0, 1, NULL,
		"true or false"},
	{"lazy_symbolication", EXPR_BOOL, offsetof(struct settings, lazy_symbolication), true, 0, 1, NULL,
		"true or false"},
	{"license", EXPR_STRING, offsetof(struct settings, license), 0, 0, 64, licenses,
		"one that the kernel takes for the GPL, as \"GPL\" or \"Dual BSD/GPL\"", "GPL"},
	{"log_size", EXPR_INT, offsetof(struct settings, log_size), 1000000, 0, 1 << 30, NULL, "a number"},
	{"max_bpf_progs", EXPR_INT, offsetof(struct settings, max_bpf_progs), 65536, 1, 1 << 24, NULL,
		"a number"},
	{"max_cache_mb", EXPR_INT, offsetof(struct settings, max_cache_mb), 256, 1, 1 << 20, NULL,
		"a number of MB"},
	{"max_cat_bytes", EXPR_INT, offsetof(struct settings, max_cat_bytes), 10240, 0, 1 << 30, NULL,
		"a number of bytes"},
	{"max_hold_mb", EXPR_INT, offsetof(struct settings, max_hold_mb), 64, 1, 1 << 20, NULL,
		"a number of MB"},
	{"max_hold_time", EXPR_INT, offsetof(struct settings, max_hold_time), 60000000000, 1000000,
		1000000000ull * 86400, NULL, "a number of nanoseconds, such as 60s,"},
	{"max_map_keys", EXPR_INT, offsetof(struct settings, max_map_keys), 4096, 1, 1 << 26, NULL,
		"a number"},
	{"max_memory_mb", EXPR_INT, offsetof(struct settings, max_memory_mb), 200, 1, 1 << 20, NULL,
		"a number of MB"},
	{"max_probes", EXPR_INT, offsetof(struct settings, max_probes), 65536, 1, 1 << 24, NULL, "a number"},
	{"max_strlen", EXPR_INT, offsetof(struct settings, max_strlen), 1024, 1, 1 << 28, NULL, "a number"},
	{"missing_probes", EXPR_WORD, offsetof(struct settings, missing_probes), MISSING_ERROR, 0, 2, missing_names,
		"error, warn or ignore"},
	{"on_stack_limit", EXPR_INT, offsetof(struct settings, on_stack_limit), 32, 0, 1 << 16, NULL,
		"a number"},
	{"perf_rb_pages", EXPR_INT, offsetof(struct settings, perf_rb_pages), 0, 1, 1 << 18, NULL,
		"a number"},
	{"print_answer", EXPR_BOOL, offsetof(struct settings, print_answer), false, 0, 1, NULL,
		"true or false"},
	{"print_empty_stacks", EXPR_BOOL, offsetof(struct settings, print_empty_stacks), true, 0, 1, NULL,
		"true or false"},
	{"print_idle_stacks", EXPR_BOOL, offsetof(struct settings, print_idle_stacks), true, 0, 1, NULL,
		"true or false"},
	{"print_maps_on_exit", EXPR_BOOL, offsetof(struct settings, print_maps_on_exit), true, 0, 1, NULL,
		"true or false"},
	{"print_startup_stacks", EXPR_BOOL, offsetof(struct settings, print_startup_stacks), true, 0, 1, NULL,
		"true or false"},
	{"print_table", EXPR_BOOL, offsetof(struct settings, print_table), false, 0, 1, NULL,
		"true or false"},
	{"show_debug_info", EXPR_BOOL, offsetof(struct settings, show_debug_info), false, 0, 1, NULL,
		"true or false"},
	{"stack_mode", EXPR_WORD, offsetof(struct settings, stack_mode),
		STACK_FUNC, 0, STACK_MODE_MAX - 1, stack_mode_names, "the mode of a stack"},
	{"str_trunc_trailer", EXPR_STRING, offsetof(struct settings, str_trunc_trailer), 0, 0, TRAILER_MAX, NULL,
		"a text of at most 64 bytes", ".."},
	{"thin", EXPR_INT, offsetof(struct settings, thin), 1, 1, 1000, NULL, "a number of periods"},
	{"unstable_dw_ustack", EXPR_WORD, offsetof(struct settings, unstable_dw_ustack),
		UNSTABLE_ENABLE, 0, 2, unstable_names, "enable, warn or error"},
	{"unstable_import_statement", EXPR_WORD, offsetof(struct settings, unstable_import_statement),
		UNSTABLE_ENABLE, 0, 2, unstable_names, "enable, warn or error"},
	{"unstable_tseries", EXPR_WORD, offsetof(struct settings, unstable_tseries),
		UNSTABLE_ENABLE, 0, 2, unstable_names, "enable, warn or error"},
	{"unstable_typeinfo", EXPR_WORD, offsetof(struct settings, unstable_typeinfo),
		UNSTABLE_ENABLE, 0, 2, unstable_names, "enable, warn or error"},
	{"use_blazesym", EXPR_BOOL, offsetof(struct settings, use_blazesym), false, 0, 1, NULL,
		"true or false"},
	{"window", EXPR_INT, offsetof(struct settings, window), 0, 1000000, 1000000000ull * 86400 * 366, NULL,
		"a number of nanoseconds, such as 10s,"},
};

/* Names that bpftrace does not use any more. */
static const struct old_name {
	const char *name;
	const char *now;   /* the current name; NULL if the setting has no effect in bpftrace either */
	bool is_opposite;  /* true of the old name is false of the new one */
} old_names[] = {
	{.name = "cat_bytes_max", .now = "max_cat_bytes"},
	{.name = "map_keys_max", .now = "max_map_keys"},
	{.name = "max_type_res_iterations"},
	{.name = "no_cpp_demangle", .now = "cpp_demangle", .is_opposite = true},
	{.name = "strlen", .now = "max_strlen"},
	{.name = "symbol_source"},
	{.name = "unstable_addr"},
	{.name = "unstable_import"},
	{.name = "unstable_macro"},
	{.name = "unstable_map_decl"},
};

/* Other variables of bpftrace's environment, which strata reads or may ignore. */
static const char *const others[] = {"BTF", "COLOR", "KERNEL_BUILD", "KERNEL_SOURCE", "VMLINUX"};

enum { NROWS = sizeof(rows) / sizeof(rows[0]) };

#define PREFIX "BPFTRACE_"

static uint64_t *field(struct settings *s, const struct row *row)
{
	return (uint64_t *)((char *)s + row->at);
}

static const char **text_field(struct settings *s, const struct row *row)
{
	return (const char **)((char *)s + row->at);
}

struct settings settings_default(void)
{
	struct settings s = {};

	for (size_t i = 0; i < NROWS; i++)
		if (rows[i].kind == EXPR_STRING)
			*text_field(&s, &rows[i]) = rows[i].text;
		else
			*field(&s, &rows[i]) = rows[i].value;
	return s;
}

bool settings_nth(const struct settings *s, unsigned i, struct setting_value *ret)
{
	const struct row *row = &rows[i];

	if (i >= NROWS)
		return false;
	*ret = (struct setting_value){.name = row->name, .kind = SETTING_NUMBER};
	if (row->kind == EXPR_STRING) {
		ret->kind = SETTING_TEXT;
		ret->text = *text_field((struct settings *)s, row);
		return true;
	}
	ret->number = *field((struct settings *)s, row);
	if (row->kind == EXPR_BOOL)
		ret->kind = SETTING_TRUTH;
	if (row->kind == EXPR_WORD) {
		ret->kind = SETTING_TEXT;
		ret->text = row->words[ret->number];
	}
	return true;
}

/* ---- names -------------------------------------------------------------- */

static const struct row *row_named(const char *name)
{
	for (size_t i = 0; i < NROWS; i++)
		if (!strcmp(rows[i].name, name))
			return &rows[i];
	return NULL;
}

static const struct old_name *old_named(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(old_names); i++)
		if (!strcmp(old_names[i].name, name))
			return &old_names[i];
	return NULL;
}

/* Returns the plain form of a name: "BPFTRACE_Max_Strlen" is max_strlen. */
static void plain_name(const char *name, char *buf, size_t size)
{
	size_t n = 0;

	if (!strncasecmp(name, PREFIX, strlen(PREFIX)))
		name += strlen(PREFIX);
	for (; *name && n + 1 < size; name++)
		buf[n++] = (char)tolower((unsigned char)*name);
	buf[n] = 0;
}

static const char *nearest_name(const char *name)
{
	const char *names[NROWS];

	for (size_t i = 0; i < NROWS; i++)
		names[i] = rows[i].name;
	return nearest(name, names, NROWS);
}

/* Finds the row of a name. Returns NULL if there is none, or if the setting has no effect (*ret_known). */
static const struct row *find_row(const char *name, struct diags *d, struct span at, bool *ret_known,
	bool *ret_opposite)
{
	const struct row *row = row_named(name);
	const struct old_name *old = row ? NULL : old_named(name);

	*ret_known = row || old;
	*ret_opposite = old && old->is_opposite;
	if (!old)
		return row;
	if (!old->now) {
		diag_warn(d, at, DIAG_CONFIG, "%s is no setting any more and changes nothing", old->name);
		return NULL;
	}
	diag_warn(d, at, DIAG_CONFIG, "%s is called %s now", old->name, old->now);
	return row_named(old->now);
}

/* ---- values ------------------------------------------------------------- */

static bool word_value(const struct row *row, const char *word, uint64_t *ret)
{
	bool truth = !strcmp(word, "true") || !strcmp(word, "1");

	for (uint64_t i = 0; i <= row->max; i++)
		if (row->words[i] && !strcmp(row->words[i], word)) {
			*ret = i;
			return true;
		}
	if (row->words != unstable_names && row->words != cache_names)
		return false;
	/* bpftrace also takes these */
	*ret = truth ? 0 : row->max;
	return truth || !strcmp(word, "false") || !strcmp(word, "0");
}

static bool string_value(const struct row *row, const char *text, const char **ret)
{
	bool listed = !row->words;

	for (size_t i = 0; i < ARRAY_SIZE(licenses) && !listed; i++)
		listed = !strcmp(licenses[i], text);
	*ret = text;
	return listed && strlen(text) <= row->max;
}

/* Reads a value from text, which must live as long as the settings. */
static bool text_value(const struct row *row, const char *text, struct settings *ret)
{
	uint64_t *to = field(ret, row), v;

	if (row->kind == EXPR_STRING)
		return string_value(row, text, text_field(ret, row));
	if (row->kind == EXPR_WORD)
		return word_value(row, text, to);
	if (row->kind == EXPR_BOOL && (!strcmp(text, "true") || !strcmp(text, "false"))) {
		*to = *text == 't';
		return true;
	}
	if (!number_is(text, &v) || v < row->min || v > row->max)
		return false;
	*to = v;
	return true;
}

/* Reads a value: 0 and 1 may stand for false and true, and all values may be in quotes. */
static bool expr_value(const struct row *row, const struct expr *n, struct settings *ret)
{
	char number[24];

	switch ((int)n->kind) {
	case EXPR_BOOL:
		return row->kind != EXPR_INT && row->kind != EXPR_STRING &&
			text_value(row, n->boolean ? "true" : "false", ret);
	case EXPR_INT:
		snprintf(number, sizeof(number), "%llu", (unsigned long long)n->integer.value);
		return row->kind != EXPR_STRING && text_value(row, number, ret);
	case EXPR_WORD:
		return text_value(row, n->word, ret);
	default:
		return text_value(row, n->string.text, ret);
	}
}

/* Returns the expected form: "a number from 1 to 16384", "true or false". */
static const char *wanted_text(const struct row *row, char *buf, size_t size)
{
	if (row->kind != EXPR_INT)
		return row->wanted;
	snprintf(buf, size, "%s from %llu to %llu", row->wanted, (unsigned long long)row->min,
		(unsigned long long)row->max);
	return buf;
}

static void mark_given(struct settings *s, const struct row *row)
{
	s->given |= 1ull << (row - rows);
}

_Static_assert(NROWS <= 64, "settings.given has a bit for each");

bool settings_given(const struct settings *s, const char *name)
{
	return s->given >> (row_named(name) - rows) & 1;
}

/* ---- the config block --------------------------------------------------- */

static bool read_setting(const struct setting *set, struct diags *d, struct settings *ret)
{
	char name[64], wanted[128];
	const struct row *row;
	const char *near;
	bool known, opposite;

	plain_name(set->name, name, sizeof(name));
	row = find_row(name, d, set->span, &known, &opposite);
	if (row && !expr_value(row, set->value, ret))
		return diag(d, set->value->span, DIAG_CONFIG, "%s must be %s", set->name,
			wanted_text(row, wanted, sizeof(wanted)));
	if (row)
		mark_given(ret, row);
	if (row && opposite)
		*field(ret, row) = !*field(ret, row);
	if (row && field(ret, row) == &ret->max_strlen && ret->max_strlen > TYPE_STRING_MAX)
		diag_warn(d, set->value->span, DIAG_CONFIG, "longer strings are cut: the kernel's maps have room for "
			"%d bytes", TYPE_STRING_MAX);
	if (known)
		return true;
	diag(d, set->span, DIAG_CONFIG, "unknown setting: %s", set->name);
	near = nearest_name(name);
	if (near)
		diag_hint(d, "did you mean %s?", near);
	return false;
}

/* ---- the environment ---------------------------------------------------- */

static bool is_other(const char *variable, size_t n)
{
	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		if (strlen(others[i]) == n && !strncmp(others[i], variable, n))
			return true;
	return false;
}

/* Only warns about an unknown variable: it may belong to another program. */
static void unknown_variable(const char *variable, int n, const char *name, struct diags *d)
{
	const char *near = nearest_name(name);

	diag_warn(d, (struct span){0, 0}, DIAG_CONFIG, "%.*s in the environment is no setting", n, variable);
	if (near)
		diag_hint(d, "did you mean the setting %s?", near);
}

/* variable is "BPFTRACE_NAME=value". */
static bool read_variable(const char *variable, struct diags *d, struct settings *ret)
{
	const char *equals = strchr(variable, '=');
	size_t n = equals ? (size_t)(equals - variable) : 0;
	char name[64], wanted[128];
	const struct row *row;
	bool known, opposite;

	if (n <= strlen(PREFIX) || n >= sizeof(name) || strncmp(variable, PREFIX, strlen(PREFIX)) ||
		is_other(variable + strlen(PREFIX), n - strlen(PREFIX)))
		return true;
	plain_name(variable, name, n - strlen(PREFIX) + 1);
	row = find_row(name, d, (struct span){0, 0}, &known, &opposite);
	if (!known)
		unknown_variable(variable, (int)n, name, d);
	if (!row)
		return true;
	if (!text_value(row, equals + 1, ret))
		return diag(d, (struct span){0, 0}, DIAG_CONFIG, "%.*s in the environment must be %s, not %s",
			(int)n, variable, wanted_text(row, wanted, sizeof(wanted)), equals + 1);
	mark_given(ret, row);
	if (opposite)
		*field(ret, row) = !*field(ret, row);
	return true;
}

bool settings_read(const struct script *s, struct diags *d, struct settings *ret)
{
	bool ok = true;

	*ret = settings_default();
	for (const struct setting *set = s->settings; set; set = set->next)
		ok &= read_setting(set, d, ret);
	for (char **variable = environ; *variable; variable++)
		ok &= read_variable(*variable, d, ret);
	return ok;
}
