// SPDX-License-Identifier: Apache-2.0
/* check_map.c - finds the types of maps and variables from their uses. The first use gives the type, and
 * later uses can make it larger. The error about a use that does not agree has a note with the first use. */
#include <string.h>

#include "base/arena.h"
#include "checker.h"
#include "model/image.h"

static struct map_state *state(struct check *c, const struct map *m)
{
	return &c->maps[m->index];
}

static struct var_state *var_state(struct check *c, const struct expr *n)
{
	return &c->vars[n->var.var->probe->index][n->var.var->index];
}

/* ---- growing ---- */

/* Returns whether these are &$x, where $x has grown since the last round. Nothing grows in the last round. */
static bool pointed_has_grown(struct check *c, const struct type *old, const struct type *t)
{
	const struct type *both;

	if (c->final || old->kind != TYPE_POINTER || t->kind != TYPE_POINTER)
		return false;
	both = type_join(c->arena, old->pointer.to, t->pointer.to);
	return both && type_eq(both, t->pointer.to);
}

/* Returns the type that holds old and t, or NULL if there is none. */
static const struct type *grow(struct check *c, const struct type *old, const struct type *t)
{
	return pointed_has_grown(c, old, t) ? t : type_join(c->arena, old, t);
}

static void learn(struct check *c, const struct type **known, const struct type *t)
{
	if (*known && type_same(*known, t))
		return;
	*known = t;
	c->changed = true;
}

/* The map of an earlier script cannot change: integers of any sign fit, and strings that are not longer.
 * both is the type that would hold old and the new type, or NULL if there is none. */
static bool fits(const struct type *old, const struct type *both)
{
	bool text = both && both->kind == TYPE_STRING && old->kind == TYPE_STRING;
	bool fit = both && both->kind == old->kind && (both->size == old->size ||
		(text && type_text_bytes(both) <= old->size));

	for (unsigned i = 0; fit && old->kind == TYPE_TUPLE && i < old->tuple.n; i++)
		fit = fits(old->tuple.members[i], both->tuple.members[i]);
	return fit;
}

void check_known_maps(struct check *c)
{
	for (struct map *m = c->script->maps; c->req->symbols && m; m = m->next) {
		const struct image_map *known = symbols_map(c->req->symbols, m->name);
		struct map_state *s = state(c, m);

		if (!known)
			continue;
		m->key = known->key;
		m->value = known->value;
		s->fixed = s->written = true;
		s->keyed = known->key;
		s->scalar = !known->key;
	}
}

/* Adds a note with the place where a map got its type. */
static void note_first(struct check *c, const struct map *m, struct span at, const char *what)
{
	if (!state(c, m)->fixed)
		check_note(c, at, "%s", what);
}

/* Refuses types without bytes, since the kernel has no maps for them. */
static bool has_bytes(struct check *c, struct span at, const char *what, const struct type *t)
{
	if (t->size || t->kind == TYPE_BAD)
		return true;
	check_fail(c, at, DIAG_MAP_TYPE, "a map's %s cannot be %s, which has no bytes", what,
		check_type_name(c, t));
	return false;
}

/* ---- keys ---- */

static const struct type *key_type(struct check *c, struct expr *keys, struct span at)
{
	const struct type *t;

	if (keys->next) {
		t = check_members(c, at, keys);
	} else {
		t = type_stored(c->arena, check_value(c, keys));
		if (t->kind == TYPE_TUPLE)
			keys->type = t;
	}
	return t;
}

static struct span keys_span(const struct expr *keys)
{
	struct span at = keys->span;

	for (; keys; keys = keys->next)
		at.end = keys->span.end;
	return at;
}

static bool mixed_use(struct check *c, struct expr *n, bool keyed)
{
	struct map *m = n->map.map;
	struct map_state *s = state(c, m);

	if (keyed ? !s->scalar : !s->keyed) {
		if (!s->scalar && !s->keyed)
			m->first_key = n->span;
		s->scalar |= !keyed;
		s->keyed |= keyed;
		return false;
	}
	check_fail(c, n->span, DIAG_MAP_KEY, keyed ? "@%s has no key" : "@%s needs a key",
		m->name);
	note_first(c, m, m->first_key, keyed ? "used without here" : "used with one here");
	return true;
}

void check_key(struct check *c, struct expr *n, struct expr *keys)
{
	struct map *m = n->map.map;
	const struct type *t, *both;

	t = keys ? key_type(c, keys, n->span) : NULL;
	if (mixed_use(c, n, keys != NULL) || !keys || t->kind == TYPE_BAD)
		return;
	if (!has_bytes(c, keys_span(keys), "key", t))
		return;
	if (!m->key) {
		m->first_key = keys_span(keys);
		learn(c, &m->key, t);
		return;
	}
	both = grow(c, m->key, t);
	if (state(c, m)->fixed && fits(m->key, both))
		return;
	if (both && !state(c, m)->fixed) {
		learn(c, &m->key, both);
		return;
	}
	check_fail(c, keys_span(keys), DIAG_MAP_KEY, "the key of @%s is %s, not %s",
		m->name, check_type_name(c, m->key), check_type_name(c, t));
	note_first(c, m, m->first_key, "first used here");
}

/* ---- reading maps ---- */

static void hint_map(struct check *c, const char *written)
{
	const char **names, *near;
	size_t n = 0;

	if (diags_full(c->req->diags))
		return;
	names = arena_new_array(c->arena, const char *, c->script->nmaps);
	for (struct map *m = c->script->maps; m; m = m->next)
		if (m->value && state(c, m)->written)
			names[n++] = m->name;
	near = nearest(written, names, n);
	if (near)
		check_hint(c, "did you mean @%s?", near);
}

static const struct type *map_value(struct check *c, struct expr *n)
{
	struct map *m = n->map.map;
	struct map_state *s = state(c, m);

	if (!s->written && !s->reported && c->final) {
		s->reported = true;
		if (m->value)
			check_warn(c, n->span, DIAG_MAP, "@%s is never assigned: it is 0", m->name);
		else
			check_fail(c, n->span, DIAG_MAP, "@%s is never assigned", m->name);
		hint_map(c, m->name);
	}
	if (m->value)
		return m->value;
	s->unknown = n;
	c->unknown++;
	return type_bad;
}

void check_map_wanted(struct check *c, const struct map *m)
{
	state(c, m)->wanted |= !m->value;
}

bool check_guess(struct check *c)
{
	if (!c->guessing)
		return c->guessing = true;
	for (struct map *m = c->script->maps; m; m = m->next) {
		struct map_state *s = state(c, m);

		if (m->value || !s->wanted || s->wrong || (s->written && !s->waits))
			continue;
		if (c->req->symbols && !s->written) /* the session's map would keep this type */
			continue;
		s->natural = type_of_literal(0, false);
		m->first_value = s->unknown->span;
		learn(c, &m->value, type_stored(c->arena, s->natural));
		return true;
	}
	return false;
}

void check_map_is_known(struct check *c, struct map *m)
{
	const struct expr *n = state(c, m)->unknown;

	if (!m->value && n && !diags_failed(c->req->diags))
		check_fail(c, n->span, DIAG_MAP,
			"the type of @%s is unknown: it is only assigned from itself", m->name);
	else if (m->decl && m->decl->max_entries && m->value && m->decl->per_cpu != (m->value->kind == TYPE_AGG))
		check_fail(c, m->decl->kind_span, DIAG_MAP, m->decl->per_cpu ?
			"@%s holds %s: only aggregations, as count(), have a value for each CPU" :
			"@%s holds %s, which has a value for each CPU: percpuhash or percpulruhash", m->name,
			check_type_name(c, m->value));
}

void check_var_is_known(struct check *c, const struct var *v)
{
	if (!v->type && c->vars[v->probe->index][v->index].written)
		check_fail(c, v->first, DIAG_VARIABLE,
			"the type of $%s is unknown: it is only assigned from itself", v->name);
}

const struct type *check_element(struct check *c, struct expr *n)
{
	check_key(c, n, n->map.keys);
	return n->type = map_value(c, n);
}

const struct type *check_whole_map(struct check *c, struct expr *n)
{
	return n->type = map_value(c, n);
}

static const struct type *agg_as_int(
	struct check *c, struct expr *n, const struct type *t)
{
	switch (t->agg.kind) {
	case AGG_COUNT:
		return type_int64;
	case AGG_SUM:
	case AGG_MIN:
	case AGG_MAX:
	case AGG_AVG:
		return type_int(8, t->is_signed);
	case AGG_STATS:
	case AGG_HIST:
	case AGG_LHIST:
	case AGG_TSERIES:
		break;
	}
	check_fail(c, n->span, DIAG_AGGREGATION,
		"@%s holds %s, which can be printed but not read", n->map.name,
		check_type_name(c, t));
	note_first(c, n->map.map, n->map.map->first_value, "first written here");
	return type_bad;
}

const struct type *check_map_read(struct check *c, struct expr *n)
{
	const struct type *t;

	check_map_wanted(c, n->map.map);
	t = check_element(c, n);

	return t->kind == TYPE_AGG ? agg_as_int(c, n, t) : t;
}

const struct type *check_loop_map(struct check *c, struct expr *n)
{
	struct map *m = n->map.map;
	const struct type *t;

	if (mixed_use(c, n, true))
		return type_bad;
	t = check_whole_map(c, n);
	return t->kind == TYPE_AGG ? agg_as_int(c, n, t) : type_stored(c->arena, m->value ? m->value : type_bad);
}

/* ---- writing maps ---- */

static bool can_be_stored(const struct type *t)
{
	return t->kind != TYPE_NONE && t->kind != TYPE_ARGS;
}

static void check_map_write(
	struct check *c, struct expr *n, struct span at, const struct type *t)
{
	struct map *m = n->map.map;
	struct map_state *s = state(c, m);
	const struct type *both;

	s->written = true;
	if (t->kind == TYPE_BAD || !can_be_stored(t) || !has_bytes(c, at, "value", t))
		return;
	if (!m->value) {
		m->first_value = at;
		s->natural = type_natural(t);
		learn(c, &m->value, type_stored(c->arena, t));
		return;
	}
	both = grow(c, s->natural ? s->natural : m->value, type_natural(t));
	if (both && !s->fixed)
		s->natural = both;
	both = both ? type_stored(c->arena, both) : NULL;
	if (s->fixed && fits(m->value, both))
		return;
	if (both && !s->fixed) {
		learn(c, &m->value, both);
		return;
	}
	check_fail(c, at, DIAG_MAP_TYPE, "@%s holds %s, not %s", m->name,
		check_type_name(c, m->value), check_type_name(c, t));
	note_first(c, m, m->first_value, "first written here");
}

static bool is_agg_call(const struct expr *n)
{
	return n->kind == EXPR_CALL && n->call.builtin &&
	       (n->call.builtin->flags & BUILTIN_AGG);
}

/* `@a = @b` is an error if @b is an aggregation, since it cannot be copied. For an element, `@a[k] = @b`,
 * and for a map of integers, its number is used. */
static bool copies_agg(struct check *c, const struct map *to, struct expr *n)
{
	struct map *m = n->kind == EXPR_MAP ? n->map.map : NULL;

	if (!m || !m->value || m->value->kind != TYPE_AGG || (to->value && to->value->kind == TYPE_INT))
		return false;
	check_fail(c, n->span, DIAG_AGGREGATION, "@%s holds %s, which cannot be copied",
		m->name, check_type_name(c, m->value));
	if (m->value->agg.kind <= AGG_AVG)
		check_hint(c, "(int64)@%s is its current value", m->name);
	return true;
}

static void check_fits(struct check *c, const struct expr *value, const struct type *t)
{
	bool is_unsigned = value->kind == EXPR_INT && value->integer.is_unsigned;
	int64_t v;

	if (t->kind != TYPE_INT || !expr_is_const(value, &v) || type_fits(t, (uint64_t)v, is_unsigned))
		return;
	check_fail(c, value->span, DIAG_LITERAL, is_unsigned ? "%llu does not fit in %s" : "%lld does not fit in %s",
		(long long)v, check_type_name(c, t));
}

/* Warns if a uint64 is assigned to a map or variable that also holds negative numbers. */
static void warn_signed(struct check *c, const struct expr *value, const struct type *t, const struct type *holds)
{
	int64_t v;

	t = type_natural(t);
	if (t->kind != TYPE_INT || t->size < 8 || t->is_signed || !type_is_negative(holds) || expr_is_const(value, &v))
		return;
	check_warn(c, value->span, DIAG_SIGN, "uint64 becomes int64 here, since other values are signed: "
		"from 2^63 on it is negative");
	check_hint(c, "a cast says which is meant: (int64).. or (uint64)..");
}

static void assign_map(struct check *c, struct stmt *n)
{
	struct expr *map = n->assign.left, *value = n->assign.right;
	struct map_state *s = state(c, map->map.map);
	unsigned unknown;
	const struct type *t;

	check_key(c, map, map->map.keys);
	unknown = c->unknown;
	if (is_agg_call(value) && n->assign.op == OP_NONE)
		t = value->type = check_call(c, value, true);
	else if (!map->map.keys && n->assign.op == OP_NONE && copies_agg(c, map->map.map, value))
		t = type_bad;
	else
		t = check_value(c, value);
	s->waits |= t->kind == TYPE_BAD && c->unknown > unknown;
	s->wrong |= t->kind == TYPE_BAD && c->unknown == unknown;
	if (t->kind != TYPE_AGG)
		check_thin_map(c, map->map.map, map->span);
	check_map_write(c, map, value->span, t);
	map->type = map->map.map->value ? map->map.map->value : type_bad;
	check_fits(c, value, map->type);
	if (!s->down)
		warn_signed(c, value, t, map->type);
	if (t->kind == TYPE_AGG && map->type->kind == TYPE_AGG)
		value->type = map->type;
}

/* ---- variables ---- */

const struct type *check_var_read(struct check *c, struct expr *n)
{
	struct var *v = n->var.var;
	struct var_state *s = var_state(c, n);

	if (v->type)
		return v->type;
	c->unknown += s->waits;
	if (!s->written && c->final) {
		s->written = true;
		check_fail(c, n->span, DIAG_VARIABLE, "$%s is never assigned", v->name);
		check_note(c, v->first, "declared here");
	}
	return type_bad;
}

const struct type *check_var_write(
	struct check *c, struct expr *n, struct span at, const struct type *t)
{
	struct var *v = n->var.var;
	struct var_state *s = var_state(c, n);
	const struct type *both;

	s->written = true;
	if (t->kind == TYPE_BAD)
		return n->type = v->type ? v->type : t;
	if (t->kind != TYPE_INT)
		t = type_stored(c->arena, t);
	if (!v->type) {
		learn(c, &v->type, t);
		return n->type = v->type;
	}
	both = grow(c, v->type, t);
	if (both && !s->fixed) {
		learn(c, &v->type, both);
	} else if (!both || both->kind != v->type->kind ||
		   (t->kind == TYPE_STRING && t->size > v->type->size)) {
		check_fail(c, at, DIAG_VAR_TYPE, "$%s holds %s, not %s", v->name,
			check_type_name(c, v->type), check_type_name(c, t));
		check_note(
			c, v->first, s->fixed ? "declared here" : "first assigned here");
	}
	return n->type = v->type;
}

/* Notes that a variable's value has no type yet. unknown is c->unknown from before the check of the value. */
static void waits(struct check *c, const struct var *v, const struct type *t, unsigned unknown)
{
	c->vars[v->probe->index][v->index].waits |= t->kind == TYPE_BAD && c->unknown > unknown;
}

static void assign_var(struct check *c, struct stmt *n)
{
	struct expr *value = n->assign.right;
	unsigned unknown = c->unknown;
	const struct type *t = check_value(c, value);

	waits(c, n->assign.left->var.var, t, unknown);
	check_var_write(c, n->assign.left, value->span, t);
	check_fits(c, value, n->assign.left->type);
	if (!var_state(c, n->assign.left)->down)
		warn_signed(c, value, t, n->assign.left->type);
}

/* ---- assignments ---- */

/* For @x += e, both must be numbers. The assignment also writes @x. */
static void assign_op(struct check *c, struct stmt *n)
{
	struct expr *left = n->assign.left, *right = n->assign.right;
	const struct type *t = check_counted(c, left, n->assign.op == OP_SUB);

	check_value(c, right);
	if (t->kind == TYPE_BAD || right->type->kind == TYPE_BAD)
		return;
	t = check_arith(c, n->span, n->assign.op, left, right);
	if (t->kind == TYPE_BAD)
		return;
	if (left->kind == EXPR_VAR)
		check_var_write(c, left, right->span, t);
	else
		check_map_write(c, left, right->span, t);
}

/* @ = { ..; avg($a) } becomes a block: its statements, then @ = avg($a). */
static bool assigns_in_block(struct check *c, struct stmt *n)
{
	struct expr *right = n->assign.right, *value = right;
	struct stmt *last, **end;

	while (value->kind == EXPR_BLOCK)
		value = value->block.value;
	if (value == right || n->assign.left->kind != EXPR_MAP || !is_agg_call(value) || n->assign.op != OP_NONE)
		return false;
	last = arena_new_obj(c->arena, struct stmt);
	*last = *n;
	last->next = NULL;
	last->assign.right = right->block.value;
	n->kind = STMT_BLOCK;
	n->stmts = right->block.stmts;
	for (end = &n->stmts; *end; end = &(*end)->next)
		;
	*end = last;
	return true;
}

void check_assign(struct check *c, struct stmt *n)
{
	if (assigns_in_block(c, n))
		check_stmts(c, n->stmts);
	else if (n->assign.op != OP_NONE)
		assign_op(c, n);
	else if (n->assign.left->kind == EXPR_VAR)
		assign_var(c, n);
	else
		assign_map(c, n);
}

/* Returns the type after ++, -- or a compound assignment: 64 bits, since the number may outgrow its type. */
static const struct type *counted(const struct type *t, bool down)
{
	t = t ? type_natural(t) : type_int64;
	return type_int(8, down || t->kind != TYPE_INT || t->is_signed);
}

static const struct type *counted_map(struct check *c, struct expr *n, bool down)
{
	struct map *m = n->map.map;

	check_key(c, n, n->map.keys);
	check_thin_map(c, m, n->span);
	if (m->value && m->value->kind == TYPE_AGG) {
		check_fail(c, n->span, DIAG_AGGREGATION,
			"@%s holds %s, which only that function can change", m->name,
			check_type_name(c, m->value));
		note_first(c, m, m->first_value, "first written here");
		return n->type = type_bad;
	}
	if (!m->value || m->value->kind != TYPE_POINTER)
		check_map_write(c, n, n->span, counted(m->value, down));
	state(c, m)->written = true;
	state(c, m)->down |= down;
	return n->type = m->value && type_is_number(m->value) ? m->value : type_bad;
}

const struct type *check_counted(struct check *c, struct expr *target, bool down)
{
	const struct type *t;

	if (target->kind == EXPR_MAP)
		return counted_map(c, target, down);
	t = check_expr(c, target);
	if (target->kind != EXPR_VAR)
		return check_fail(c, target->span, DIAG_OPERAND,
			"++ and -- change a $variable or a @map");
	if (t->kind != TYPE_BAD && !type_is_number(t))
		return target->type = check_fail(c, target->span, DIAG_OPERAND,
			       "$%s holds %s, which cannot be added to", target->var.name,
			       check_type_name(c, t));
	var_state(c, target)->down |= down;
	if (t->kind == TYPE_INT || t->kind == TYPE_BOOL)
		return check_var_write(c, target, target->span, counted(t, down));
	return t;
}

/* ---- let ---- */

static void declare(struct check *c, struct stmt *n)
{
	struct var *v = n->let.var->var.var;
	const struct type *t;

	if (n->let.to->form == TYPE_FORM_STRING && !n->let.to->n) { /* the size follows from the values */
		if (!v->type)
			learn(c, &v->type, type_string(c->arena, 1));
		return;
	}
	t = check_value_type(c, n->let.to);
	if (t->kind == TYPE_BAD) {
		v->type = v->type ? v->type : type_bad;
		return;
	}
	c->vars[v->probe->index][v->index].fixed = true;
	if (!v->type || n->let.to->form == TYPE_FORM_TYPEOF) /* the type may still grow */
		learn(c, &v->type, t);
}

void check_let(struct check *c, struct stmt *n)
{
	struct expr *value = n->let.value;
	unsigned unknown = c->unknown;
	const struct type *t;

	if (n->let.to)
		declare(c, n);
	if (!value)
		return;
	t = check_value(c, value);
	waits(c, n->let.var->var.var, t, unknown);
	check_var_write(c, n->let.var, value->span, t);
	if (n->let.to && n->let.var->type)
		check_fits(c, value, n->let.var->type);
}
