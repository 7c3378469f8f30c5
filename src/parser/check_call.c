// SPDX-License-Identifier: Apache-2.0
/* check_call.c - compares a call with the signature of the builtin, see builtin.h. */
#include <string.h>

#include "base/arena.h"
#include "base/str.h"
#include "checker.h"

enum param_kind {
	PARAM_ANY,
	PARAM_FORMAT,
	PARAM_INT,
	PARAM_KEY,
	PARAM_LITERAL,
	PARAM_MAP,
	PARAM_MAPKEY,
	PARAM_STRING,
	PARAM_VAR,
	PARAM_WORD,
};

static const struct {
	const char *name;
	const char *wants; /* the expected argument, for the error message */
} kinds[] = {
	[PARAM_ANY] = {"any", "a value"},
	[PARAM_FORMAT] = {"format", "a string in quotes"},
	[PARAM_INT] = {"int", "a number"},
	[PARAM_KEY] = {"key", "a key of the map"},
	[PARAM_LITERAL] = {"literal", "a constant number"},
	[PARAM_MAP] = {"map", "a map without key"},
	[PARAM_MAPKEY] = {"mapkey", "a map or an element of one"},
	[PARAM_STRING] = {"string", "a string"},
	[PARAM_VAR] = {"var", "a variable that it sets"},
	[PARAM_WORD] = {"word", "a word"},
};

enum { PARAMS_MAX = 8 };

struct sig {
	struct {
		enum param_kind kind;
		bool optional;
	} params[PARAMS_MAX];
	unsigned n, least;
	bool more;	  /* `...`: more arguments may follow */
	const char *type; /* type of the result */
};

static enum param_kind param_kind(const char *word, size_t len)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (strlen(kinds[i].name) == len && !strncmp(kinds[i].name, word, len))
			return (enum param_kind)i;
	return PARAM_ANY;
}

static void sig_read(const char *text, struct sig *sig)
{
	*sig = (struct sig){};
	for (;;) {
		bool optional;
		size_t len;

		text += strspn(text, " ");
		len = strcspn(text, " ");
		if (!len || !strncmp(text, "->", 2))
			break;
		optional = *text == '[';
		if (!strncmp(text, "...", 3)) {
			sig->more = true;
		} else if (sig->n < PARAMS_MAX) {
			sig->params[sig->n].kind =
				param_kind(text + optional, len - 2 * optional);
			sig->params[sig->n++].optional = optional;
			sig->least += !optional;
		}
		text += len;
	}
	text += strspn(text, "-> ");
	sig->type = text;
}

/* Prints the usage as a hint: "lhist(int, literal, literal, literal)". */
static void hint_usage(struct check *c, const struct builtin *b)
{
	const char *end = strstr(b->sig, "->"), *p = b->sig;
	struct str s = {};

	str_addf(&s, "%s(", b->name);
	for (; end && p < end && *p; p++) {
		if (*p != ' ')
			str_addc(&s, *p);
		else if (p > b->sig && p + 1 < end && p[1] != ' ' && p[1] != '-')
			str_add(&s, ", ");
	}
	str_addc(&s, ')');
	check_hint(c, b->help ? "%s: %s" : "%s", str_text(&s), b->help);
	str_done(&s);
}

/* ---- one argument ---- */

static bool wrong_arg(struct check *c, struct expr *call, struct expr *arg,
	enum param_kind kind, const struct type *t)
{
	check_fail(c, arg->span, DIAG_ARG_TYPE, "%s() takes %s here%s%s", call->call.name,
		kinds[kind].wants, t ? ", not " : "", t ? check_type_name(c, t) : "");
	hint_usage(c, call->call.builtin);
	return false;
}

static bool is_whole_map(const struct expr *n)
{
	return n->kind == EXPR_MAP && !n->map.keys;
}

/* Other calls take `@m` as a value. */
static bool takes_whole_maps(const struct expr *call)
{
	return !strcmp(call->call.name, "print") || !strcmp(call->call.name, "len");
}

/* A map or an element has the type of the map's values, even if that is an aggregation. */
static const struct type *check_any(struct check *c, struct expr *call, struct expr *arg)
{
	if (arg->kind == EXPR_WORD && (call->call.builtin->flags & BUILTIN_VAR))
		return arg->type = type_none;
	if (arg->kind == EXPR_MAP && (arg->map.keys || !takes_whole_maps(call)))
		check_map_wanted(c, arg->map.map);
	if (is_whole_map(arg))
		return check_whole_map(c, arg);
	if (arg->kind == EXPR_MAP)
		return check_element(c, arg);
	return check_value(c, arg);
}

static bool check_map_arg(
	struct check *c, struct expr *call, struct expr *arg, enum param_kind kind)
{
	bool keyed = arg->kind == EXPR_MAP && arg->map.keys;

	if (arg->kind != EXPR_MAP || (keyed && kind == PARAM_MAP)) {
		const struct type *t = keyed ? NULL : check_value(c, arg);

		if (t && t->kind == TYPE_BAD)
			return false;
		return wrong_arg(c, call, arg, kind, t);
	}
	if (kind == PARAM_MAPKEY && (keyed || !arg->next))
		check_key(c, arg, arg->map.keys);
	return check_whole_map(c, arg)->kind != TYPE_BAD;
}

/* Replaces str("..") by "..", where only a text in the script is possible. It may come from $1: str($1). */
static void take_literal(struct expr *n)
{
	const struct expr *text = n->kind == EXPR_CALL && n->call.nargs == 1 ? n->call.args : NULL;
	struct expr *next = n->next;

	if (!text || text->kind != EXPR_STRING || strcmp(n->call.name, "str") != 0)
		return;
	*n = *text;
	n->next = next;
}

static bool check_plain_arg(
	struct check *c, struct expr *call, struct expr *arg, enum param_kind kind)
{
	const struct type *t;
	int64_t v;

	if (kind == PARAM_STRING || kind == PARAM_FORMAT)
		expr_param_as_string(c, arg);
	t = kind == PARAM_ANY ? check_any(c, call, arg) : check_value(c, arg);
	if (t->kind == TYPE_BAD)
		return false;
	if (kind == PARAM_INT && !type_is_number(t))
		return wrong_arg(c, call, arg, kind, t);
	if (kind == PARAM_STRING && t->kind != TYPE_STRING)
		return wrong_arg(c, call, arg, kind, t);
	if (kind == PARAM_FORMAT)
		take_literal(arg);
	if (kind == PARAM_FORMAT && arg->kind != EXPR_STRING)
		return wrong_arg(c, call, arg, kind, NULL);
	if (kind == PARAM_LITERAL && !expr_is_const(arg, &v))
		return wrong_arg(c, call, arg, kind, NULL);
	return true;
}

static bool check_arg(
	struct check *c, struct expr *call, struct expr *arg, enum param_kind kind)
{
	switch (kind) {
	case PARAM_MAP:
	case PARAM_MAPKEY:
		return check_map_arg(c, call, arg, kind);
	case PARAM_VAR:
		return arg->kind == EXPR_VAR || wrong_arg(c, call, arg, kind, NULL);
	case PARAM_WORD:
		if (arg->kind != EXPR_WORD)
			return wrong_arg(c, call, arg, kind, NULL);
		arg->type = type_none;
		return true;
	case PARAM_ANY:
	case PARAM_FORMAT:
	case PARAM_INT:
	case PARAM_KEY:
	case PARAM_LITERAL:
	case PARAM_STRING:
		return check_plain_arg(c, call, arg, kind);
	}
	return false;
}

/* ---- all arguments ---- */

static bool wrong_count(
	struct check *c, struct expr *call, const struct sig *sig, struct span at)
{
	const char *name = call->call.name;
	unsigned n = call->call.nargs;

	if (sig->n == 0 && !sig->more)
		check_fail(c, at, DIAG_ARG_COUNT, "%s takes no arguments", name);
	else if (n < sig->least)
		check_fail(c, at, DIAG_ARG_COUNT, "%s() needs %s%u argument%s",
			name, sig->n > sig->least || sig->more ? "at least " : "",
			sig->least, sig->least == 1 ? "" : "s");
	else
		check_fail(c, at, DIAG_ARG_COUNT, "%s() takes %s%u argument%s, not %u",
			name, sig->n > sig->least ? "at most " : "", sig->n,
			sig->n == 1 ? "" : "s", n);
	if (sig->n || sig->more)
		hint_usage(c, call->call.builtin);
	return false;
}

/* Skips optional words that are left out, as in ustack(5). */
static unsigned skip_words(const struct sig *sig, unsigned i, const struct expr *arg)
{
	while (i < sig->n && sig->params[i].optional &&
		sig->params[i].kind == PARAM_WORD && arg->kind != EXPR_WORD)
		i++;
	return i;
}

/* Returns whether a key follows the map: delete(@m, key), has_key(@m, key). */
static bool key_follows(const struct sig *sig, unsigned i, const struct expr *arg)
{
	if (!arg->next || !is_whole_map(arg))
		return false;
	return sig->params[i].kind == PARAM_MAPKEY ||
	       (i + 1 < sig->n && sig->params[i + 1].kind == PARAM_KEY);
}

/* Checks the key in the argument after a map. */
static bool check_next_key(struct check *c, struct expr *map, struct expr *key)
{
	bool several = key->kind == EXPR_TUPLE && !key->tuple.names && key->tuple.first && key->tuple.first->next;

	check_key(c, map, several ? key->tuple.first : key);
	return (several ? check_expr(c, key) : key->type)->kind != TYPE_BAD;
}

static bool check_args(struct check *c, struct expr *call, const struct sig *sig)
{
	struct expr *map = NULL; /* the previous argument, if this one is its key */
	unsigned i = 0;
	bool ok = true;

	if (call->call.nargs < sig->least)
		return wrong_count(c, call, sig, call->span);
	for (struct expr *arg = call->call.args; arg; arg = arg->next) {
		unsigned before = i;

		i = skip_words(sig, i, arg);
		if (i >= sig->n && before < sig->n && !sig->more)
			return wrong_arg(c, call, arg, PARAM_WORD, NULL);
		if (i >= sig->n && !sig->more)
			return wrong_count(c, call, sig, arg->span);
		if (i >= sig->n) {
			ok &= check_value(c, arg)->kind != TYPE_BAD;
			continue;
		}
		if (map)
			ok &= check_next_key(c, map, arg);
		else
			ok &= check_arg(c, call, arg, sig->params[i].kind);
		map = key_follows(sig, i, arg) ? arg : NULL;
		i++;
	}
	return ok;
}

bool check_unstable(struct check *c, struct span at, const char *what, uint64_t setting)
{
	if (setting == UNSTABLE_WARN)
		check_warn(c, at, DIAG_CONFIG, "%s may change in bpftrace: a setting asks for this warning",
			what);
	if (setting != UNSTABLE_ERROR)
		return true;
	check_fail(c, at, DIAG_CONFIG, "a setting forbids %s", what);
	check_hint(c, "config = { unstable_%s = enable } allows it", what);
	return false;
}

/* ---- the call ---- */

static bool right_place(struct check *c, struct expr *n, bool into_map)
{
	const struct builtin *b = n->call.builtin;

	if (!n->call.parens && !(b->flags & BUILTIN_VAR)) {
		check_fail(c, n->span, DIAG_NAME, "%s is a function: it needs parentheses", b->name);
		hint_usage(c, b);
		return false;
	}
	if ((b->flags & BUILTIN_AGG) && !into_map) {
		check_fail(c, n->span, DIAG_AGGREGATION, "%s() can only be assigned to a map",
			b->name);
		check_hint(c, "write @name = %s(..) or @name[key] = %s(..)", b->name,
			b->name);
		return false;
	}
	if (n->call.named && !(b->flags & BUILTIN_NAMED)) {
		check_fail(c, n->call.named->span, DIAG_ARG_COUNT, "%s has no argument %s:", b->name,
			n->call.named->string.label);
		hint_usage(c, b);
		return false;
	}
	if ((b->flags & BUILTIN_UNSAFE) && !c->req->cmd.unsafe) {
		check_fail(c, n->span, DIAG_UNSAFE, "%s() can change the system or what is traced", b->name);
		check_hint(c, "the option --unsafe allows it");
		return false;
	}
	return true;
}

static void check_args_alone(struct check *c, struct expr *call)
{
	for (struct expr *arg = call->call.args; arg; arg = arg->next)
		if (arg->kind != EXPR_WORD && !is_whole_map(arg))
			check_expr(c, arg);
}

const struct type *check_call(struct check *c, struct expr *n, bool into_map)
{
	const struct builtin *b = n->call.builtin;
	const struct type *t;
	struct sig sig;

	if (!b && n->call.unknown)
		return check_fail(c, n->span, DIAG_NAME, "%s", n->call.unknown);
	if (!b) {
		check_args_alone(c, n);
		return type_bad;
	}
	if (!right_place(c, n, into_map))
		return type_bad;
	sig_read(b->sig, &sig);
	if (!check_args(c, n, &sig)) {
		/* The type of the result is known, unless it depends on the arguments. */
		t = type_by_name(c->arena, sig.type);
		return t ? t : type_bad;
	}
	t = b->check ? b->check(c, n) : NULL;
	if (t && (t->kind == TYPE_BAD || !strcmp(sig.type, "special")))
		return t;
	return type_by_name(c->arena, sig.type);
}
