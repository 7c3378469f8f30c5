// SPDX-License-Identifier: Apache-2.0
/* build.c - makes expressions and statements for the grammar. The depth of each tree is limited, so that no
 * later pass runs out of stack. */
#include "parse.h"

#include <string.h>

#include "base/arena.h"
#include "value.h"

/* Returns the text for a message, as one line. */
const char *span_text(struct parse *p, struct span at)
{
	char *text = arena_strndup(p->arena, p->source->text + at.start, at.end - at.start), *to = text;

	for (const char *c = text; *c; c++)
		if (!strchr(" \t\r\n\f\v", *c))
			*to++ = *c;
		else if (to > text && to[-1] != ' ')
			*to++ = ' ';
	*to = 0;
	return text;
}

struct expr_list expr_add(struct expr_list l, struct expr *n)
{
	if (l.last)
		l.last->next = n;
	else
		l.first = n;
	l.last = n;
	l.n++;
	return l;
}

struct expr_list expr_push(struct expr *first, struct expr_list rest)
{
	struct expr_list l = expr_add((struct expr_list){}, first);

	first->next = rest.first;
	l.last = rest.last;
	l.n += rest.n;
	return l;
}

struct stmt_list stmt_add(struct stmt_list l, struct stmt *n)
{
	if (l.last)
		l.last->next = n;
	else
		l.first = n;
	l.last = n;
	return l;
}

/* ---- depth ---- */

/* Updates the depth of a tree that gets a tree of depth `child` below it. */
static void deepen(struct parse *p, uint16_t *depth, struct span at, uint16_t child)
{
	if (child < *depth)
		return;
	*depth = child;
	if (*depth < AST_DEPTH_MAX) {
		++*depth;
	} else if (!p->too_deep) {
		p->too_deep = true;
		diag(p->diags, at, DIAG_NESTING,
			"this is nested more than %u levels deep", AST_DEPTH_MAX);
	}
}

/* Updates n's depth for child and its list below it. child may be NULL. */
static void expr_below(struct parse *p, struct expr *n, const struct expr *child)
{
	for (; child; child = child->next)
		deepen(p, &n->depth, n->span, child->depth);
}

static void expr_below_stmt(struct parse *p, struct stmt *n, const struct expr *child)
{
	for (; child; child = child->next)
		deepen(p, &n->depth, n->span, child->depth);
}

static void stmt_below(struct parse *p, struct stmt *n, const struct stmt *child)
{
	for (; child; child = child->next)
		deepen(p, &n->depth, n->span, child->depth);
}

/* ---- expressions ---- */

struct expr *ast_expr(struct parse *p, struct span at, enum expr_kind kind)
{
	struct expr *n = arena_new_obj(p->arena, struct expr);

	n->kind = kind;
	n->span = at;
	n->depth = 1;
	return n;
}

struct expr *ast_unop(struct parse *p, struct span at, enum op op, struct expr *operand)
{
	struct expr *n = ast_expr(p, at, EXPR_UNOP);

	n->op.op = op;
	n->op.left = operand;
	expr_below(p, n, operand);
	return n;
}

struct expr *ast_binop(
	struct parse *p, struct span at, enum op op, struct expr *left, struct expr *right)
{
	struct expr *n = ast_expr(p, at, EXPR_BINOP);

	n->op.op = op;
	n->op.left = left;
	n->op.right = right;
	expr_below(p, n, left);
	expr_below(p, n, right);
	return n;
}

struct expr *ast_ternary(struct parse *p, struct span at, struct expr *test,
	struct expr *then, struct expr *els)
{
	struct expr *n = ast_expr(p, at, EXPR_TERNARY);

	n->cond.test = test;
	n->cond.then = then;
	n->cond.els = els;
	expr_below(p, n, test);
	expr_below(p, n, then);
	expr_below(p, n, els);
	return n;
}

struct expr *ast_named(struct span at, const char *name, struct expr *text)
{
	text->string.label = name;
	text->span = at;
	return text;
}

/* Moves arguments with names out of the list. */
static struct expr *take_named(struct expr_list *args)
{
	struct expr *named = NULL, **end = &named, **at = &args->first;

	while (*at) {
		struct expr *n = *at;

		if (n->kind != EXPR_STRING || !n->string.label) {
			at = &n->next;
			continue;
		}
		*at = n->next;
		n->next = NULL;
		*end = n;
		end = &n->next;
		args->n--;
	}
	return named;
}

struct expr *ast_call(
	struct parse *p, struct span at, const char *name, struct expr_list args, bool parens)
{
	struct expr *n = ast_expr(p, at, EXPR_CALL);

	n->call.name = name;
	n->call.named = take_named(&args);
	n->call.args = args.first;
	n->call.nargs = args.n;
	n->call.parens = parens;
	expr_below(p, n, args.first);
	return n;
}

/* Sets the keys: @m[(a, b)] is the same as @m[a, b]. */
static void map_keys(struct parse *p, struct expr *map, struct expr_list keys)
{
	struct expr *first = keys.first;

	if (keys.n == 1 && first->kind == EXPR_TUPLE && !first->tuple.names && first->tuple.first &&
		first->tuple.first->next)
		map->map.keys = first->tuple.first;
	else
		map->map.keys = keys.first;
	expr_below(p, map, map->map.keys);
}

/* [..] after a map makes it an element of the map; after anything else it is an index. */
struct expr *ast_index(
	struct parse *p, struct span at, struct expr *object, struct expr_list keys)
{
	struct expr *n;

	if (object->kind == EXPR_MAP && !object->map.keys) {
		object->span = at;
		map_keys(p, object, keys);
		return object;
	}
	if (keys.n != 1) {
		diag(p->diags, keys.first->next->span, DIAG_SYNTAX,
			"only a map has several keys");
		keys.first->next = NULL;
	}
	n = ast_expr(p, at, EXPR_INDEX);
	n->index.object = object;
	n->index.index = keys.first;
	expr_below(p, n, object);
	expr_below(p, n, keys.first);
	return n;
}

struct expr *ast_field(
	struct parse *p, struct span at, struct expr *object, const char *name)
{
	struct expr *n = ast_expr(p, at, EXPR_FIELD);

	n->field.object = object;
	n->field.name = name;
	expr_below(p, n, object);
	return n;
}

/* Updates the depth of a tree that names a type: typeof(e) puts the expression e below it. */
static void type_below(struct parse *p, uint16_t *depth, struct span at, struct type_name *t)
{
	for (; t; t = t->inner) {
		t->text = span_text(p, t->span);
		if (t->of)
			deepen(p, depth, at, t->of->depth);
	}
}

struct expr *ast_cast(
	struct parse *p, struct span at, struct type_name *to, struct expr *value)
{
	struct expr *n = ast_expr(p, at, EXPR_CAST);

	n->cast.to = to;
	n->cast.value = value;
	type_below(p, &n->depth, at, to);
	expr_below(p, n, value);
	return n;
}

struct expr *ast_cast_named(struct parse *p, struct span at, const struct expr *name,
	struct stars stars, struct expr *value)
{
	struct type_name *t;

	if (name->kind != EXPR_CALL || name->call.parens) {
		diag(p->diags, stars.n ? stars.span : value->span, DIAG_SYNTAX,
			stars.n ? "unexpected '%s' before ')', expected a type in front of it" :
				  "unexpected '%s' behind ')'",
			span_text(p, stars.n ? stars.span : value->span));
		return value;
	}
	t = type_name_typedef(p, name->span, name->call.name);
	for (unsigned i = 0; i < stars.n; i++)
		t = type_name_pointer(p, (struct span){name->span.start, stars.span.end}, t);
	return ast_cast(p, at, t, value);
}

static struct expr *about_type(struct parse *p, struct span at, enum expr_kind kind,
	struct type_name *type, struct expr *value)
{
	struct expr *n = ast_expr(p, at, kind);

	n->size.type = type;
	n->size.value = value;
	type_below(p, &n->depth, at, type);
	expr_below(p, n, value);
	return n;
}

struct expr *ast_tuple(struct parse *p, struct span at, struct expr_list members)
{
	struct expr *n = ast_expr(p, at, EXPR_TUPLE);

	n->tuple.first = members.first;
	expr_below(p, n, members.first);
	return n;
}

struct expr *ast_sizeof(
	struct parse *p, struct span at, struct type_name *type, struct expr *value)
{
	return about_type(p, at, EXPR_SIZEOF, type, value);
}

struct expr *ast_typeinfo(
	struct parse *p, struct span at, struct type_name *type, struct expr *value)
{
	return about_type(p, at, EXPR_TYPEINFO, type, value);
}

static bool has_name(struct expr *record, unsigned n, const char *name)
{
	for (unsigned i = 0; i < n; i++)
		if (!strcmp(record->tuple.names[i], name))
			return true;
	return false;
}

struct expr *ast_record(struct parse *p, struct span at, struct record_list members)
{
	struct expr *n = ast_tuple(p, at, members.values), *value = members.values.first;
	unsigned i = 0;

	n->tuple.names = arena_new_array(p->arena, const char *, members.values.n + 1);
	for (struct expr_path *name = members.names; name; name = name->next) {
		if (has_name(n, i, name->name))
			diag(p->diags, name->span, DIAG_FIELD, "this record has %s twice", name->name);
		n->tuple.names[i++] = name->name;
		value = value->next;
	}
	return n;
}

struct expr_path *ast_path(
	struct parse *p, struct span at, struct expr_path *before, const char *name)
{
	struct expr_path *n = arena_new_obj(p->arena, struct expr_path), *last = before;

	n->name = name;
	n->span = at;
	while (last && last->next)
		last = last->next;
	if (last)
		last->next = n;
	return before ? before : n;
}

struct record_list record_add(
	struct parse *p, struct span at, struct record_list l, const char *name, struct expr *value)
{
	l.names = ast_path(p, at, l.names, name);
	l.values = expr_add(l.values, value);
	return l;
}

struct expr *ast_offsetof(struct parse *p, struct span at, struct type_name *type,
	struct expr *value, struct expr_path *path)
{
	struct expr *n = ast_expr(p, at, EXPR_OFFSETOF);

	n->offset.type = type;
	n->offset.value = value;
	n->offset.path = path;
	type_below(p, &n->depth, at, type);
	expr_below(p, n, value);
	return n;
}

struct expr *ast_container_of(struct parse *p, struct span at, struct expr *ptr, struct type_name *type,
	struct expr_path *path)
{
	struct type_name *byte = type_name_pointer(p, at, type_name_word(p, at, "int8"));
	struct expr *offset = ast_offsetof(p, at, type, NULL, path);
	struct expr *from = ast_binop(p, at, OP_SUB, ast_cast(p, at, byte, ptr), offset);

	return ast_cast(p, at, type_name_pointer(p, type->span, type), from);
}

struct expr *ast_value_block(
	struct parse *p, struct span at, struct stmt_list stmts, struct expr *value)
{
	struct expr *n = ast_expr(p, at, EXPR_BLOCK);

	n->block.stmts = stmts.first;
	n->block.value = value;
	for (const struct stmt *s = stmts.first; s; s = s->next)
		deepen(p, &n->depth, at, s->depth);
	expr_below(p, n, value);
	return n;
}

struct expr *ast_value_stmt(struct parse *p, struct span at, struct stmt_list stmts, struct stmt *last)
{
	struct expr *n = value_of_block(p->arena, ast_block(p, at, stmt_add(stmts, last)));

	if (n)
		return n;
	diag(p->diags, last->span, DIAG_SYNTAX, "a value is needed here: the last statement of the block has none");
	diag_hint(p->diags, "the value of a block is its last expression, without a ';'");
	return ast_bool(p, at, false);
}

struct expr *ast_comptime(struct parse *p, struct span at, struct expr *value)
{
	struct expr *n = ast_expr(p, at, EXPR_COMPTIME);

	n->value = value;
	expr_below(p, n, value);
	return n;
}

struct expr *ast_bool(struct parse *p, struct span at, bool value)
{
	struct expr *n = ast_expr(p, at, EXPR_BOOL);

	n->boolean = value;
	return n;
}

struct expr *ast_param(struct parse *p, struct span at, unsigned number)
{
	struct expr *n = ast_expr(p, at, EXPR_PARAM);

	n->param.number = number;
	return n;
}

struct expr *ast_var(struct parse *p, struct span at, const char *name)
{
	struct expr *n = ast_expr(p, at, EXPR_VAR);

	n->var.name = name;
	return n;
}

struct expr *ast_map(struct parse *p, struct span at, const char *name)
{
	struct expr *n = ast_expr(p, at, EXPR_MAP);

	n->map.name = name;
	return n;
}

struct expr *ast_word(struct parse *p, struct span at, const char *word)
{
	struct expr *n = ast_expr(p, at, EXPR_WORD);

	n->word = word;
	return n;
}

struct expr *ast_type(struct parse *p, struct span at, struct type_name *type)
{
	struct expr *n = ast_expr(p, at, EXPR_TYPE);

	n->type_name = type;
	type_below(p, &n->depth, at, type);
	return n;
}

/* ---- statements ---- */

struct stmt *ast_stmt(struct parse *p, struct span at, enum stmt_kind kind)
{
	struct stmt *n = arena_new_obj(p->arena, struct stmt);

	n->kind = kind;
	n->span = at;
	n->depth = 1;
	return n;
}

struct stmt *ast_expr_stmt(
	struct parse *p, struct span at, enum stmt_kind kind, struct expr *expr)
{
	struct stmt *n = ast_stmt(p, at, kind);

	n->expr = expr;
	expr_below_stmt(p, n, expr);
	return n;
}

/* Handles `_ = e`, too, which discards the value. */
struct stmt *ast_assign(struct parse *p, struct span at, enum op op, struct expr *left,
	struct expr *right)
{
	struct stmt *n;

	if (left->kind == EXPR_CALL && !left->call.parens && !strcmp(left->call.name, "_") &&
		op == OP_NONE) {
		n = ast_expr_stmt(p, at, STMT_EXPR, right);
		n->discard = true;
		return n;
	}
	if (left->kind != EXPR_VAR && left->kind != EXPR_MAP) {
		diag(p->diags, left->span, DIAG_SYNTAX,
			"only a $variable or a @map can be assigned to");
		return ast_expr_stmt(p, at, STMT_EXPR, right);
	}
	n = ast_stmt(p, at, STMT_ASSIGN);
	n->assign.op = op;
	n->assign.left = left;
	n->assign.right = right;
	expr_below_stmt(p, n, left);
	expr_below_stmt(p, n, right);
	return n;
}

struct stmt *ast_let(struct parse *p, struct span at, struct expr *var, struct type_name *to,
	struct expr *value)
{
	struct stmt *n = ast_stmt(p, at, STMT_LET);

	n->let.var = var;
	n->let.to = to;
	n->let.value = value;
	type_below(p, &n->depth, at, to);
	expr_below_stmt(p, n, value);
	return n;
}

struct stmt *ast_cond(struct parse *p, struct span at, enum stmt_kind kind,
	struct expr *test, struct stmt *then, struct stmt *els)
{
	struct stmt *n = ast_stmt(p, at, kind);

	n->cond.test = test;
	n->cond.then = then;
	n->cond.els = els;
	expr_below_stmt(p, n, test);
	stmt_below(p, n, then);
	stmt_below(p, n, els);
	return n;
}

struct stmt *ast_block(struct parse *p, struct span at, struct stmt_list stmts)
{
	struct stmt *n = ast_stmt(p, at, STMT_BLOCK);

	n->stmts = stmts.first;
	stmt_below(p, n, stmts.first);
	return n;
}

struct stmt *ast_unroll(struct parse *p, struct span at, struct expr *count, struct stmt *body)
{
	struct stmt *n = ast_stmt(p, at, STMT_UNROLL);

	n->loop.from = count;
	n->loop.body = body;
	expr_below_stmt(p, n, count);
	stmt_below(p, n, body);
	return n;
}

struct stmt *ast_range(struct parse *p, struct span at, struct expr *var,
	struct expr *from, struct expr *to)
{
	bool is_map = from && from->kind == EXPR_MAP && !from->map.keys;
	struct stmt *n = ast_stmt(p, at, to ? STMT_FOR_RANGE : is_map ? STMT_FOR_MAP : STMT_FOR_STACK);

	n->loop.var = var;
	n->loop.from = from;
	n->loop.to = to;
	expr_below_stmt(p, n, from);
	expr_below_stmt(p, n, to);
	return n;
}

struct stmt *ast_for(struct parse *p, struct span at, struct stmt *range, struct stmt *body)
{
	range->span = at;
	range->loop.body = body;
	stmt_below(p, range, body);
	return range;
}

/* ---- the top level ---- */

void probe_begin(struct parse *p, struct attach_point *first)
{
	p->this_probe = arena_new_obj(p->arena, struct probe);
	p->this_probe->points = first;
}

void probe_end(struct parse *p, struct span at, struct expr *predicate, struct stmt *body)
{
	struct probe *probe = p->this_probe;

	probe->span = at;
	probe->predicate = predicate;
	probe->body = body;
	*p->probes_end = probe;
	p->probes_end = &probe->next;
}

void line_end(struct parse *p, struct span at, struct stmt_list stmts)
{
	p->script->is_statements = true;
	probe_begin(p, attach_point_new(p, at, "begin"));
	if (stmts.last && stmts.last->kind == STMT_EXPR && stmts.last->last)
		stmts.last->shows = true;
	probe_end(p, at, NULL, ast_block(p, at, stmts));
}

/* A macro may be defined again at a prompt. */
static bool is_replaced(const struct parse *p, const char *name, unsigned nparams)
{
	const struct macro *m = p->earlier ? p->script->macros : NULL;

	while (m && (strcmp(m->name, name) != 0 || m->nparams != nparams))
		m = m->next;
	return m;
}

void macro_add(struct parse *p, struct span at, struct span head, const char *name, struct expr *params,
	struct stmt *body)
{
	struct macro *m = arena_new_obj(p->arena, struct macro);

	m->name = name;
	m->span = at;
	m->head = head;
	m->params = params;
	for (; params; params = params->next)
		m->nparams++;
	m->body = body;
	if (is_replaced(p, name, m->nparams))
		return;
	*p->macros_end = m;
	p->macros_end = &m->next;
}

void map_decl_add(struct parse *p, struct span at, const char *name, struct span kind_at, const char *kind,
	const struct expr *max_entries)
{
	struct map_decl *m = arena_new_obj(p->arena, struct map_decl);

	m->name = name;
	m->kind = kind;
	m->span = at;
	m->kind_span = kind_at;
	m->max_entries = max_entries->integer.value;
	*p->map_decls_end = m;
	p->map_decls_end = &m->next;
}

void setting_add(struct parse *p, struct span at, const char *name, struct expr *value)
{
	struct setting *s = arena_new_obj(p->arena, struct setting);

	if (p->imported) {
		diag(p->diags, at, DIAG_CONFIG, "a file that is imported cannot have settings");
		diag_hint(p->diags, "they belong into the script itself");
		return;
	}
	s->name = name;
	s->span = at;
	s->value = value;
	*p->settings_end = s;
	p->settings_end = &s->next;
}
