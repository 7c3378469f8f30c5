// SPDX-License-Identifier: Apache-2.0
/* expand.c - replaces the uses of macros by their bodies.
 *
 *     macro add($v, e) { $v += e; $v }        print(add($n, pid + 1));
 *                                       ->    print({ $n += pid + 1; $n });
 *
 * Each use gets a copy of the body, with the arguments instead of the parameters. Variables of the body get
 * the number of the use (expr.var.use), so that they differ from the script's; the body can only reach maps
 * through parameters. The copy has its own spans (source_add_use()), so that a message about it also shows
 * where the macro is used. */
#include <string.h>

#include "ast.h"
#include "base/arena.h"
#include "base/diag.h"
#include "builtin_names.h"
#include "parser.h"
#include "type_name.h"
#include "value.h"

enum { COPIES_MAX = 1 << 20, BUCKETS = 1024 };

struct expand {
	struct script *script;
	const struct language *lang;
	struct arena *arena;
	struct diags *diags;
	struct macro *macros[BUCKETS]; /* by hash of the name */
	unsigned uses;
	unsigned copies; /* number of expressions and statements that were copied */
	unsigned nested; /* depth of macros that are being expanded within one another */
	bool ok;
	bool stopped;    /* a limit was exceeded: trees may lack parts, and are not read any more */
};

struct use {
	const struct macro *macro;
	struct expr *args;
	unsigned number;
	uint32_t spans; /* start of the macro's spans in this use */
};

static uint16_t expand_list(struct expand *x, struct expr **slot);
static uint16_t expand_stmts(struct expand *x, struct stmt **slot);

/* ---- copies ------------------------------------------------------------- */

static struct stmt *copy_stmts(struct expand *x, const struct use *u, const struct stmt *n);
static struct expr *copy_expr(struct expand *x, const struct use *u, const struct expr *n);
static struct expr *copy_list(struct expand *x, const struct use *u, const struct expr *n);

/* u is NULL for an argument, whose positions stay the same. */
static struct span copy_span(const struct use *u, struct span at)
{
	uint32_t from = u ? u->spans - u->macro->span.start : 0;

	return (struct span){at.start + from, at.end + from};
}

static bool is_bare(const struct expr *n)
{
	return n->kind == EXPR_CALL && !n->call.parens;
}

static const char *name_of(const struct expr *n)
{
	return n->kind == EXPR_VAR ? n->var.name : n->kind == EXPR_MAP ? n->map.name :
		is_bare(n) ? n->call.name : NULL;
}

/* Returns the argument for a parameter, or NULL if the expression is not a parameter. */
static const struct expr *argument(const struct use *u, const struct expr *n)
{
	const struct expr *arg = u->args;
	const char *name = name_of(n);

	for (const struct expr *p = u->macro->params; name && p; p = p->next, arg = arg->next)
		if (p->kind == n->kind && !strcmp(name_of(p), name))
			return arg;
	return NULL;
}

/* Returns the argument for a type that is a parameter: T, typeof(T). */
static const struct type_name *type_argument(const struct use *u, const struct type_name *t)
{
	const struct expr *arg = u->args;
	const char *name = t->form == TYPE_FORM_NAME ? t->words :
		t->form == TYPE_FORM_TYPEOF && is_bare(t->of) ? t->of->call.name : NULL;

	for (const struct expr *p = u->macro->params; name && p; p = p->next, arg = arg->next)
		if (is_bare(p) && !strcmp(p->call.name, name) && arg->kind == EXPR_TYPE)
			return arg->type_name;
	return NULL;
}

static struct type_name *copy_type(struct expand *x, const struct use *u, const struct type_name *t)
{
	const struct type_name *arg = t && u ? type_argument(u, t) : NULL;
	struct type_name *copy;

	if (!t)
		return NULL;
	if (arg)
		return copy_type(x, NULL, arg);
	copy = arena_new_obj(x->arena, struct type_name);
	*copy = *t;
	copy->span = copy_span(u, t->span);
	copy->inner = copy_type(x, u, t->inner);
	copy->of = copy_list(x, u, t->of);
	return copy;
}

/* Handles sizeof(T), where T is a type. */
static void take_type(struct type_name **type, struct expr **value)
{
	if (!*value || (*value)->kind != EXPR_TYPE)
		return;
	*type = (*value)->type_name;
	*value = NULL;
}

static struct expr *copy_argument(struct expand *x, const struct use *u, const struct expr *n,
	const struct expr *arg)
{
	struct expr *copy = copy_expr(x, NULL, arg);

	if (n->kind == EXPR_MAP)
		copy->map.keys = copy_list(x, u, n->map.keys);
	if (n->kind != EXPR_CALL) /* errors about a variable or map are reported at its use in the body */
		copy->span = copy_span(u, n->span);
	return copy;
}

static struct expr *copy_expr(struct expand *x, const struct use *u, const struct expr *n)
{
	const struct expr *arg = u ? argument(u, n) : NULL;
	struct expr **slots[EXPR_OPERANDS_MAX];
	struct type_name **type;
	struct expr *copy;

	if (arg)
		return copy_argument(x, u, n, arg);
	x->copies++;
	copy = arena_new_obj(x->arena, struct expr);
	*copy = *n;
	copy->next = NULL;
	copy->span = copy_span(u, n->span);
	type = expr_type_slot(copy);
	if (type)
		*type = copy_type(x, u, *type);
	for (unsigned i = 0, most = expr_slots(copy, slots); i < most; i++)
		if (!type || *slots[i] != type_name_expr(*type))
			*slots[i] = copy_list(x, u, *slots[i]);
	if (n->kind == EXPR_BLOCK)
		copy->block.stmts = copy_stmts(x, u, n->block.stmts);
	else if (n->kind == EXPR_VAR && u)
		copy->var.use = u->number;
	else if (n->kind == EXPR_SIZEOF || n->kind == EXPR_TYPEINFO)
		take_type(&copy->size.type, &copy->size.value);
	else if (n->kind == EXPR_OFFSETOF)
		take_type(&copy->offset.type, &copy->offset.value);
	else if (n->kind == EXPR_MAP && u)
		x->ok = diag(x->diags, copy->span, DIAG_MACRO,
			"@%s is no parameter of this macro: a macro has only the maps that it is given",
			n->map.name);
	return copy;
}

static struct expr *copy_list(struct expand *x, const struct use *u, const struct expr *n)
{
	struct expr *first = NULL, **end = &first;

	for (; n && x->copies < COPIES_MAX; n = n->next) {
		*end = copy_expr(x, u, n);
		end = &(*end)->next;
	}
	return first;
}

static struct stmt *copy_stmt(struct expand *x, const struct use *u, const struct stmt *n)
{
	struct expr **exprs[STMT_EXPRS_MAX];
	struct stmt **stmts[STMT_STMTS_MAX];
	struct stmt *copy = arena_new_obj(x->arena, struct stmt);
	struct expr *of = NULL;

	x->copies++;
	*copy = *n;
	copy->next = NULL;
	copy->span = copy_span(u, n->span);
	if (n->kind == STMT_LET) {
		copy->let.to = copy_type(x, u, n->let.to);
		of = type_name_expr(copy->let.to);
	}
	for (unsigned i = 0, most = stmt_exprs(copy, exprs); i < most; i++)
		if (*exprs[i] != of)
			*exprs[i] = copy_list(x, u, *exprs[i]);
	for (unsigned i = 0, most = stmt_stmts(copy, stmts); i < most; i++)
		*stmts[i] = copy_stmts(x, u, *stmts[i]);
	return copy;
}

static struct stmt *copy_stmts(struct expand *x, const struct use *u, const struct stmt *n)
{
	struct stmt *first = NULL, **end = &first;

	for (; n && x->copies < COPIES_MAX; n = n->next) {
		*end = copy_stmt(x, u, n);
		end = &(*end)->next;
	}
	return first;
}

/* ---- choosing the macro -------------------------------------------------- */

static unsigned bucket(const char *name)
{
	unsigned h = 0;

	for (; *name; name++)
		h = 31 * h + (unsigned char)*name;
	return h % BUCKETS;
}

static struct macro *macro_of_name(const struct expand *x, const char *name)
{
	struct macro *m = x->macros[bucket(name)];

	while (m && strcmp(m->name, name) != 0)
		m = m->same_hash;
	return m;
}

static bool kind_fits(const struct expr *p, const struct expr *arg)
{
	return p->kind == EXPR_CALL || (p->kind == arg->kind && (p->kind != EXPR_MAP || !arg->map.keys));
}

/* Returns how many parameters require a variable or a map and get one, or -1 if the arguments do not fit. */
static int fit(const struct macro *m, const struct expr *call)
{
	const struct expr *arg = call->call.args;
	int n = 0;

	for (const struct expr *p = m->params; p; p = p->next, arg = arg->next) {
		if (!kind_fits(p, arg))
			return -1;
		n += p->kind != EXPR_CALL;
	}
	return n;
}

/* Returns the macro that fits best: add($x), add(@x) and add(x) share a name. If none fits, it returns the first. */
static struct macro *macro_find(const struct expand *x, const struct expr *call)
{
	struct macro *best = NULL;
	int most = -2;

	for (struct macro *m = x->macros[bucket(call->call.name)]; m; m = m->same_hash) {
		if (strcmp(m->name, call->call.name) != 0 || m->nparams != call->call.nargs || fit(m, call) <= most)
			continue;
		best = m;
		most = fit(m, call);
	}
	return best;
}

static bool argument_fits(struct expand *x, const struct macro *m, const struct expr *p,
	const struct expr *arg)
{
	if (kind_fits(p, arg))
		return true;
	if (p->kind == EXPR_VAR)
		diag(x->diags, arg->span, DIAG_MACRO, "%s takes a variable here, for $%s", m->name,
			p->var.name);
	else
		diag(x->diags, arg->span, DIAG_MACRO, "%s takes a map here, for @%s", m->name, p->map.name);
	diag_note(x->diags, p->span, "this is the parameter");
	return x->ok = false;
}

static bool call_fits(struct expand *x, const struct macro *m, const struct expr *call)
{
	const struct expr *arg = call->call.args;

	for (const struct expr *p = m->params; p; p = p->next, arg = arg->next)
		if (!argument_fits(x, m, p, arg))
			return false;
	if (m->expanding)
		x->ok = diag(x->diags, call->span, DIAG_MACRO, "the macro %s uses itself here", m->name);
	return x->ok;
}

/* Reports the first limit that the script exceeds. */
static void stop(struct expand *x, enum diag_tag tag, struct span at, const char *what, unsigned most,
	const char *unit)
{
	if (!x->stopped)
		diag(x->diags, source_outermost(x->script->source, at), tag, "%s more than %u %s", what, most, unit);
	x->ok = false;
	x->stopped = true;
}

static void stop_nested(struct expand *x, struct span at)
{
	stop(x, DIAG_NESTING, at, "with its macros this is nested", AST_DEPTH_MAX, "levels deep");
}

/* Returns the macro that is called, or NULL if there is none or the call is wrong. */
static struct macro *macro_called(struct expand *x, const struct expr *n)
{
	struct macro *m = n->kind == EXPR_CALL && !x->stopped ? macro_find(x, n) : NULL;

	if (m && n->call.named) {
		x->ok = diag(x->diags, n->call.named->span, DIAG_MACRO, "the macro %s has no argument %s:", m->name,
			n->call.named->string.label);
		return NULL;
	}
	if (m)
		return call_fits(x, m, n) ? m : NULL;
	m = n->kind == EXPR_CALL && !x->stopped ? macro_of_name(x, n->call.name) : NULL;
	if (!m || builtin_find(x->lang, n->call.name))
		return NULL;
	x->ok = diag(x->diags, n->span, DIAG_MACRO, "the macro %s takes %u argument%s, not %u", m->name,
		m->nparams, m->nparams == 1 ? "" : "s", n->call.nargs);
	diag_note(x->diags, m->head, "it is defined here");
	return NULL;
}

/* Returns the body for a call whose arguments are expanded. The body is a BLOCK. */
static struct stmt *body_for(struct expand *x, struct macro *m, const struct expr *call)
{
	struct use u = {.macro = m, .args = call->call.args, .number = ++x->uses};
	struct stmt *body;

	u.spans = source_add_use(x->arena, x->script->source, m->span, call->span);
	if (!u.spans) {
		x->ok = diag(x->diags, call->span, DIAG_MACRO, "macros are used too often in this script");
		return m->body;
	}
	body = copy_stmt(x, &u, m->body);
	if (x->copies >= COPIES_MAX)
		stop(x, DIAG_MACRO, call->span, "the macros of this script become", COPIES_MAX, "expressions");
	if (x->nested == AST_DEPTH_MAX)
		stop_nested(x, call->span);
	if (x->stopped)
		return body;
	m->expanding = true;
	x->nested++;
	body->depth = (uint16_t)(expand_stmts(x, &body->stmts) + 1);
	x->nested--;
	m->expanding = false;
	return body;
}

/* ---- the script --------------------------------------------------------- */

/* Returns the depth of a tree whose deepest part has the depth `below`. */
static uint16_t depth_above(struct expand *x, uint16_t below, struct span at)
{
	if (below < AST_DEPTH_MAX)
		return (uint16_t)(below + 1);
	stop_nested(x, at);
	return AST_DEPTH_MAX;
}

static uint16_t expand_operands(struct expand *x, struct expr *n)
{
	struct expr **slots[EXPR_OPERANDS_MAX];
	uint16_t below = 0, depth;

	for (unsigned i = 0, most = expr_slots(n, slots); i < most; i++) {
		depth = expand_list(x, slots[i]);
		below = depth > below ? depth : below;
	}
	if (n->kind == EXPR_BLOCK) {
		depth = expand_stmts(x, &n->block.stmts);
		below = depth > below ? depth : below;
	}
	return n->depth = depth_above(x, below, n->span);
}

static void expand_value(struct expand *x, struct expr **slot, struct macro *m)
{
	struct expr *n = *slot;
	struct stmt *body = body_for(x, m, n);
	struct expr *value = x->stopped ? NULL : value_of_block(x->arena, body);

	if (!value) {
		if (x->ok) {
			x->ok = diag(x->diags, n->span, DIAG_MACRO, "the macro %s has no value", m->name);
			diag_note(x->diags, m->head, "the value of a macro is its last expression, without a ';'");
		}
		return;
	}
	value->next = n->next;
	*slot = value;
}

/* Returns the depth of the deepest expression. */
static uint16_t expand_list(struct expand *x, struct expr **slot)
{
	uint16_t most = 0;

	for (; *slot && !x->stopped; slot = &(*slot)->next) {
		uint16_t depth = expand_operands(x, *slot);
		struct macro *m = macro_called(x, *slot);

		if (m) {
			expand_value(x, slot, m);
			depth = depth_above(x, (*slot)->depth, (*slot)->span);
		}
		most = depth > most ? depth : most;
	}
	return most;
}

/* A statement m(..) becomes a block. */
static uint16_t expand_call(struct expand *x, struct stmt *n)
{
	uint16_t depth = expand_operands(x, n->expr);
	struct macro *m = macro_called(x, n->expr);
	struct expr *value;
	struct stmt *body;

	if (!m)
		return depth;
	body = body_for(x, m, n->expr);
	value = n->shows && !x->stopped ? value_of_block(x->arena, body) : NULL;
	if (value) {
		n->expr = value;
		return value->depth;
	}
	n->kind = STMT_BLOCK;
	n->stmts = body->stmts;
	return body->depth;
}

static uint16_t expand_stmt(struct expand *x, struct stmt *n)
{
	struct expr **exprs[STMT_EXPRS_MAX];
	struct stmt **stmts[STMT_STMTS_MAX];
	uint16_t below = 0, depth;

	if (n->kind == STMT_EXPR && n->expr->kind == EXPR_CALL && !n->discard)
		return depth_above(x, expand_call(x, n), n->span);
	for (unsigned i = 0, most = stmt_exprs(n, exprs); i < most; i++) {
		depth = expand_list(x, exprs[i]);
		below = depth > below ? depth : below;
	}
	for (unsigned i = 0, most = stmt_stmts(n, stmts); i < most; i++) {
		depth = expand_stmts(x, stmts[i]);
		below = depth > below ? depth : below;
	}
	return depth_above(x, below, n->span);
}

static uint16_t expand_stmts(struct expand *x, struct stmt **slot)
{
	uint16_t most = 0;

	for (; *slot && !x->stopped; slot = &(*slot)->next) {
		(*slot)->depth = expand_stmt(x, *slot);
		most = (*slot)->depth > most ? (*slot)->depth : most;
	}
	return most;
}

/* ---- definitions -------------------------------------------------------- */

static const struct stmt *find_return(struct stmt *n)
{
	struct stmt **stmts[STMT_STMTS_MAX];

	for (; n; n = n->next) {
		if (n->kind == STMT_RETURN)
			return n;
		for (unsigned i = 0, most = stmt_stmts(n, stmts); i < most; i++) {
			const struct stmt *found = find_return(*stmts[i]);

			if (found)
				return found;
		}
	}
	return NULL;
}

static void check_params(struct expand *x, const struct macro *m)
{
	for (const struct expr *p = m->params; p; p = p->next)
		for (const struct expr *q = m->params; q != p; q = q->next)
			if (!strcmp(name_of(p), name_of(q)) && p->kind == q->kind) {
				x->ok = diag(x->diags, p->span, DIAG_MACRO,
					"another parameter of this macro has the same name");
				diag_note(x->diags, q->span, "here");
			}
}

static bool same_kinds(const struct macro *a, const struct macro *b)
{
	const struct expr *p = a->params, *q = b->params;

	while (p && q && p->kind == q->kind) {
		p = p->next;
		q = q->next;
	}
	return !p && !q;
}

static void check_definition(struct expand *x, const struct macro *m)
{
	const struct stmt *ret = find_return(m->body->stmts);

	check_params(x, m);
	if (ret) {
		x->ok = diag(x->diags, ret->span, DIAG_MACRO, "a macro cannot return from the probe that uses it");
		diag_hint(x->diags, "the value of a macro is its last expression, without a ';'");
	}
	for (const struct macro *other = x->macros[bucket(m->name)]; other != m; other = other->same_hash)
		if (!strcmp(other->name, m->name) && same_kinds(other, m)) {
			x->ok = diag(x->diags, m->head, DIAG_MACRO, m->nparams ?
				"there is a macro %s with %u parameter%s of the same kinds already" :
				"there is a macro %s already", m->name, m->nparams, m->nparams == 1 ? "" : "s");
			diag_note(x->diags, other->head, "it is defined here");
		}
}

static void index_macros(struct expand *x)
{
	struct macro **ends[BUCKETS];

	for (unsigned i = 0; i < BUCKETS; i++)
		ends[i] = &x->macros[i];
	for (struct macro *m = x->script->macros; m; m = m->next) {
		struct macro ***end = &ends[bucket(m->name)];

		m->same_hash = NULL;
		**end = m;
		*end = &m->same_hash;
	}
}

bool expand(struct script *s, const struct language *lang, struct diags *d)
{
	struct expand x = {.script = s, .lang = lang, .arena = s->arena, .diags = d, .ok = true};

	index_macros(&x);
	for (const struct macro *m = s->macros; m; m = m->next)
		check_definition(&x, m);
	if (!s->macros || !x.ok)
		return x.ok;
	for (struct probe *p = s->probes; p; p = p->next) {
		if (p->predicate)
			expand_list(&x, &p->predicate);
		expand_stmts(&x, &p->body->stmts);
	}
	return x.ok;
}
