// SPDX-License-Identifier: Apache-2.0
/* options.c - the options that a script has itself: getopt("name", default, "help") is what the command
 * line has for --name, as a constant. */
#include "checker.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"

/* The value of --name: "" where it has none; NULL: it is not there. The last one counts. */
static const char *given(const struct resolve_env *env, const char *name)
{
	size_t len = strlen(name);
	const char *value = NULL;

	for (unsigned i = 0; i < env->noptions; i++) {
		const char *text = env->options[i];

		if (!strncmp(text, name, len) && (!text[len] || text[len] == '='))
			value = text[len] ? text + len + 1 : "";
	}
	return value;
}

static bool is_true(const char *text)
{
	return !*text || !strcmp(text, "true") || !strcmp(text, "1");
}

static bool is_false(const char *text)
{
	return !strcmp(text, "false") || !strcmp(text, "0");
}

static bool read_integer(const char *text, uint64_t *ret, bool *ret_unsigned)
{
	char *end;

	errno = 0;
	*ret_unsigned = false;
	*ret = (uint64_t)strtoll(text, &end, 0);
	if (errno == ERANGE && *text != '-') {
		errno = 0;
		*ret = strtoull(text, &end, 0);
		*ret_unsigned = true;
	}
	return end != text && !*end && !errno;
}

/* n becomes a literal of the default's kind; false: the text is none. */
static bool set_value(struct expr *n, const struct expr *init, const char *text)
{
	struct expr value = {.kind = init ? init->kind : EXPR_BOOL, .span = n->span, .next = n->next, .depth = 1};
	bool ok = true;

	if (value.kind == EXPR_STRING) {
		value.string.text = text ? text : init->string.text;
		value.string.len = text ? (uint32_t)strlen(text) : init->string.len;
		ok = !text || *text;
	} else if (value.kind == EXPR_INT) {
		value.integer.value = init->integer.value;
		value.integer.is_unsigned = init->integer.is_unsigned;
		ok = !text || read_integer(text, &value.integer.value, &value.integer.is_unsigned);
	} else {
		value.boolean = text ? is_true(text) : init && init->boolean;
		ok = !text || is_true(text) || is_false(text);
	}
	*n = value;
	return ok;
}

static bool same_literal(const struct expr *a, const struct expr *b)
{
	if (!a || !b || a->kind != b->kind)
		return !a && !b;
	if (a->kind == EXPR_STRING)
		return a->string.len == b->string.len && !memcmp(a->string.text, b->string.text, a->string.len);
	return a->kind == EXPR_INT ? a->integer.value == b->integer.value : a->boolean == b->boolean;
}

static bool is_literal(const struct expr *n)
{
	return n->kind == EXPR_INT || n->kind == EXPR_STRING || n->kind == EXPR_BOOL;
}

/* The option that the call names; made when it is new. */
static struct script_option *option_of(struct check *c, const struct expr *name, const struct expr *init,
	const struct expr *help)
{
	struct script_option **end = &c->script->options, *o;

	for (; *end; end = &(*end)->next)
		if (!strcmp((*end)->name, name->string.text))
			break;
	if (!*end) {
		o = *end = arena_new_obj(c->arena, struct script_option);
		o->name = name->string.text;
		o->span = name->span;
		o->init = init;
	}
	if (help && !(*end)->help)
		(*end)->help = help->string.text;
	return *end;
}

const struct type *check_option(struct check *c, struct expr *call)
{
	static const char *const wanted[] = {
		[EXPR_INT] = "an integer", [EXPR_STRING] = "a text", [EXPR_BOOL] = "true or false"};
	const struct expr *name = call_arg(call, 0), *init = call_arg(call, 1), *help = call_arg(call, 2);
	struct script_option *o;
	const char *text;

	if (name->kind != EXPR_STRING || !*name->string.text)
		return check_fail(c, name->span, DIAG_ARG_TYPE, "the name of an option is a literal string");
	if (init && !is_literal(init))
		return check_fail(c, init->span, DIAG_ARG_TYPE,
			"the default of an option is a literal: a number, a string, true or false");
	if (help && help->kind != EXPR_STRING)
		return check_fail(c, help->span, DIAG_ARG_TYPE, "the help of an option is a literal string");
	o = option_of(c, name, init, help);
	if (!same_literal(o->init, init)) {
		check_fail(c, call->span, DIAG_PARAM, "--%s has another default elsewhere", o->name);
		check_note(c, o->span, "here");
		return type_bad;
	}
	text = given(c->env, o->name);
	if (!set_value(call, init, text))
		o->bad = arena_printf(c->arena, *text ? "--%s takes %s, not '%s'" : "--%s needs a value: %s", o->name,
			wanted[call->kind], text);
	return check_expr(c, call);
}

static const struct script_option *option_named(const struct script *s, const char *text)
{
	size_t len = strcspn(text, "=");

	for (const struct script_option *o = s->options; o; o = o->next)
		if (strlen(o->name) == len && !strncmp(o->name, text, len))
			return o;
	return NULL;
}

const char *options_complaint(const struct script *s, const struct resolve_env *env)
{
	for (unsigned i = 0; i < env->noptions; i++) {
		const struct script_option *o = option_named(s, env->options[i]);

		if (!o)
			return arena_printf(s->arena, "this script has no option --%.*s",
				(int)strcspn(env->options[i], "="), env->options[i]);
		if (o->bad)
			return o->bad;
	}
	return NULL;
}

/* "--depth=N" and its default. */
static void print_option(const struct script_option *o, FILE *out)
{
	enum expr_kind kind = o->init ? o->init->kind : EXPR_BOOL;

	fprintf(out, "  --%s%s", o->name, kind == EXPR_INT ? "=N" : kind == EXPR_STRING ? "=TEXT" : "");
	if (o->help)
		fprintf(out, "\n        %s", o->help);
	if (kind == EXPR_INT)
		fprintf(out, "\n        default: %lld", (long long)o->init->integer.value);
	else if (kind == EXPR_STRING)
		fprintf(out, "\n        default: %s", o->init->string.text);
	else if (o->init && o->init->boolean)
		fputs("\n        default: true", out);
	putc('\n', out);
}

void options_print(const struct script *s, FILE *out)
{
	fprintf(out, s->options ? "Options of %s:\n" : "%s has no options.\n", s->source->name);
	for (const struct script_option *o = s->options; o; o = o->next)
		print_option(o, out);
}
