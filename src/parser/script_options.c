// SPDX-License-Identifier: Apache-2.0
/* script_options.c - options of the script itself: getopt("name", default, "help") is the command line's value of
 * --name, as a constant; $name in an attach point is its text.
 *
 * The options are collected before anything else is done with the script, so that its --help needs neither root
 * nor the traced program. */
#include "checker.h"

#include <ctype.h>
#include <string.h>

#include "base/arena.h"
#include "base/number.h"
#include "base/str.h"
#include "model/request.h"

/* Returns the value of --name: "" without a value, NULL without the option. The last one counts. */
static const char *given(const struct request *req, const char *name)
{
	size_t len = strlen(name);
	const char *value = NULL;

	for (unsigned i = 0; i < req->cmd.noptions; i++) {
		const char *text = req->cmd.options[i];

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
	bool negative = *text == '-';

	/* A time is converted to nanoseconds, as in the script: 20ms. */
	if (number_literal(text + negative, strlen(text + negative), ret) || (negative && *ret > (uint64_t)1 << 63))
		return false;
	*ret_unsigned = !negative && *ret > INT64_MAX;
	*ret = negative ? -*ret : *ret;
	return true;
}

/* Turns n into a literal of the default's kind. Returns false if the text is not such a literal. */
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

/* Returns the option that the call names. Makes a new one if needed. */
static struct script_option *option_of(struct script *s, const struct expr *name, const struct expr *init,
	const struct expr *help)
{
	struct script_option **end = &s->options, *o;

	for (; *end; end = &(*end)->next)
		if (!strcmp((*end)->name, name->string.text))
			break;
	if (!*end) {
		o = *end = arena_new_obj(s->arena, struct script_option);
		o->name = name->string.text;
		o->span = name->span;
		o->init = init;
	}
	if (!(*end)->init && init) {
		(*end)->span = name->span;
		(*end)->init = init;
	}
	if (help && !(*end)->help)
		(*end)->help = help->string.text;
	return *end;
}

/* Returns a default as written: -1 is folded here, and check_option() reports a default that is not a
 * literal. */
static const struct expr *literal(struct script *s, const struct expr *n)
{
	const struct expr *arg = n->kind == EXPR_UNOP && n->op.op == OP_NEG ? n->op.left : NULL;
	struct expr *folded;

	if (!arg || arg->kind != EXPR_INT)
		return is_literal(n) ? n : NULL;
	folded = arena_new_obj(s->arena, struct expr);
	*folded = *arg;
	folded->integer.value = -arg->integer.value;
	return folded;
}

static bool add_option(struct expr *n, void *script)
{
	const struct expr *name = n->kind == EXPR_CALL && !strcmp(n->call.name, "getopt") ? call_arg(n, 0) : NULL;
	const struct expr *init = name ? call_arg(n, 1) : NULL, *help = name ? call_arg(n, 2) : NULL;
	const struct expr *folded = init ? literal(script, init) : NULL;

	if (name && name->kind == EXPR_STRING && *name->string.text && (folded || !init) &&
		(!help || help->kind == EXPR_STRING))
		option_of(script, name, folded, help);
	return false;
}

void options_collect(struct script *s)
{
	for (struct probe *p = s->probes; p; p = p->next) {
		expr_any(p->predicate, add_option, s);
		stmt_any(p->body, add_option, s);
	}
}

/* Returns the value of --name, or its default, as text, or NULL if the script has no such option. */
static const char *option_text(const struct script *s, const struct request *req, const char *name)
{
	const char *text = given(req, name);
	const struct script_option *o = s->options;

	while (o && strcmp(o->name, name) != 0)
		o = o->next;
	if (!o || text)
		return o ? text : NULL;
	if (o->init && o->init->kind == EXPR_STRING)
		return o->init->string.text;
	if (o->init && o->init->kind == EXPR_INT)
		return arena_printf(s->arena, "%lld", (long long)o->init->integer.value);
	return o->init && o->init->boolean ? "true" : "false";
}

const char *option_word(const struct script *s, const struct request *req, const char *word, struct str *out)
{
	size_t n = 1;
	const char *text;

	while (isalnum((unsigned char)word[n]) || word[n] == '_')
		n++;
	text = n > 1 ? option_text(s, req, arena_strndup(s->arena, word + 1, n - 1)) : NULL;
	if (text)
		str_add(out, text);
	return text ? word + n - 1 : NULL;
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
	o = option_of(c->script, name, init, help);
	init = init ? init : o->init; /* one of the calls may have it */
	if (!same_literal(o->init, init)) {
		check_fail(c, call->span, DIAG_PARAM, "--%s has another default elsewhere", o->name);
		check_note(c, o->span, "here");
		return type_bad;
	}
	text = given(c->req, o->name);
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

const char *options_complaint(const struct script *s, const struct request *req)
{
	for (unsigned i = 0; i < req->cmd.noptions; i++) {
		const struct script_option *o = option_named(s, req->cmd.options[i]);

		if (!o)
			return arena_printf(s->arena, "this script has no option --%.*s",
				(int)strcspn(req->cmd.options[i], "="), req->cmd.options[i]);
		if (o->bad)
			return o->bad;
	}
	return NULL;
}

/* Returns the form for the help: "--depth=N". */
static const char *form(const struct script_option *o, struct arena *a)
{
	enum expr_kind kind = o->init ? o->init->kind : EXPR_BOOL;

	return arena_printf(a, "--%s%s", o->name, kind == EXPR_INT ? "=N" : kind == EXPR_STRING ? "=TEXT" : "");
}

static void print_option(const struct script *s, const struct script_option *o, FILE *out)
{
	fprintf(out, o->help || o->init ? "  %-24s %s" : "  %s%s", form(o, s->arena), o->help ? o->help : "");
	if (o->init && o->init->kind == EXPR_INT)
		fprintf(out, "%sdefault: %lld", o->help ? "; " : "", (long long)o->init->integer.value);
	else if (o->init && o->init->kind == EXPR_STRING && o->init->string.len)
		fprintf(out, "%sdefault: %s", o->help ? "; " : "", o->init->string.text);
	else if (o->init && o->init->kind == EXPR_BOOL && o->init->boolean)
		fprintf(out, "%sdefault: true", o->help ? "; " : "");
	putc('\n', out);
}

void options_print(const struct script *s, FILE *out)
{
	fprintf(out, s->options ? "Options of %s:\n" : "%s has no options.\n", s->source->name);
	for (const struct script_option *o = s->options; o; o = o->next)
		print_option(s, o, out);
}
