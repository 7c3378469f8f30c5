// SPDX-License-Identifier: Apache-2.0
/* ast.c - the tree as text: `-d ast` and `-d types`, one expression or statement a line. */
#include "ast.h"

#include "base/arena.h"
#include "base/str.h"
#include "model/attach_point.h"
#include "model/type.h"
#include "type_name.h"

static const char *const expr_names[] = {
#define E(id, name) [EXPR_##id] = name,
	EXPR_KINDS(E)
#undef E
};

static const char *const stmt_names[] = {
#define S(id, name) [STMT_##id] = name,
	STMT_KINDS(S)
#undef S
};

static const char *const op_texts[] = {
#define O(id, text) [OP_##id] = text,
	AST_OPS(O)
#undef O
};

const char *stmt_kind_name(enum stmt_kind k)
{
	return stmt_names[k];
}

const char *op_text(enum op op)
{
	return op_texts[op];
}

static unsigned put_operands(
	struct expr *ret[EXPR_OPERANDS_MAX], struct expr *a, struct expr *b, struct expr *c)
{
	unsigned n = 0;

	if (a)
		ret[n++] = a;
	if (b)
		ret[n++] = b;
	if (c)
		ret[n++] = c;
	return n;
}

unsigned expr_operands(const struct expr *n, struct expr *ret[EXPR_OPERANDS_MAX])
{
	switch (n->kind) {
	case EXPR_MAP:
		return put_operands(ret, n->map.keys, NULL, NULL);
	case EXPR_CALL:
		return put_operands(ret, n->call.args, NULL, NULL);
	case EXPR_FIELD:
		return put_operands(ret, n->field.object, NULL, NULL);
	case EXPR_INDEX:
		return put_operands(ret, n->index.object, n->index.index, NULL);
	case EXPR_UNOP:
	case EXPR_BINOP:
		return put_operands(ret, n->op.left, n->op.right, NULL);
	case EXPR_TERNARY:
		return put_operands(ret, n->cond.test, n->cond.then, n->cond.els);
	case EXPR_CAST:
		return put_operands(ret, type_name_expr(n->cast.to), n->cast.value, NULL);
	case EXPR_SIZEOF:
	case EXPR_TYPEINFO:
		return put_operands(ret, type_name_expr(n->size.type), n->size.value, NULL);
	case EXPR_OFFSETOF:
		return put_operands(ret, type_name_expr(n->offset.type), n->offset.value, NULL);
	case EXPR_TUPLE:
		return put_operands(ret, n->tuple.first, NULL, NULL);
	case EXPR_BLOCK:
		return put_operands(ret, n->block.value, NULL, NULL);
	case EXPR_COMPTIME:
		return put_operands(ret, n->value, NULL, NULL);
	case EXPR_INT:
	case EXPR_STRING:
	case EXPR_BOOL:
	case EXPR_PARAM:
	case EXPR_WORD:
	case EXPR_VAR:
		break;
	}
	return 0;
}

bool expr_any(struct expr *n, bool (*f)(struct expr *n, void *arg), void *arg)
{
	struct expr *operands[EXPR_OPERANDS_MAX];

	for (; n; n = n->next) {
		if (f(n, arg) || (n->kind == EXPR_BLOCK && stmt_any(n->block.stmts, f, arg)))
			return true;
		for (unsigned i = 0, most = expr_operands(n, operands); i < most; i++)
			if (expr_any(operands[i], f, arg))
				return true;
	}
	return false;
}

static bool any_of_one(struct stmt *n, bool (*f)(struct expr *n, void *arg), void *arg)
{
	switch (n->kind) {
	case STMT_ASSIGN:
		return expr_any(n->assign.left, f, arg) || expr_any(n->assign.right, f, arg);
	case STMT_LET:
		return expr_any(type_name_expr(n->let.to), f, arg) || expr_any(n->let.var, f, arg) ||
		       expr_any(n->let.value, f, arg);
	case STMT_EXPR:
	case STMT_RETURN:
		return expr_any(n->expr, f, arg);
	case STMT_IF:
	case STMT_WHILE:
		return expr_any(n->cond.test, f, arg) || stmt_any(n->cond.then, f, arg) ||
		       stmt_any(n->cond.els, f, arg);
	case STMT_BLOCK:
		return stmt_any(n->stmts, f, arg);
	case STMT_UNROLL:
	case STMT_FOR_RANGE:
	case STMT_FOR_MAP:
		return expr_any(n->loop.var, f, arg) || expr_any(n->loop.from, f, arg) ||
		       expr_any(n->loop.to, f, arg) || stmt_any(n->loop.body, f, arg);
	case STMT_BREAK:
	case STMT_CONTINUE:
		break;
	}
	return false;
}

bool stmt_any(struct stmt *n, bool (*f)(struct expr *n, void *arg), void *arg)
{
	for (; n; n = n->next)
		if (any_of_one(n, f, arg))
			return true;
	return false;
}

/* ---- as text ---- */

struct dump {
	struct arena *arena;
	bool with_types;
	FILE *out;
};

static void dump_exprs(const struct dump *d, const struct expr *n, int level);
static void dump_stmts(const struct dump *d, const struct stmt *n, int level);

static void dump_line(const struct dump *d, int level, const char *text)
{
	fprintf(d->out, "%*s%s\n", 2 * level, "", text);
}

static void dump_string(const struct dump *d, const struct expr *n)
{
	struct str s = {};

	str_add_safe(&s, n->string.text, n->string.len);
	fprintf(d->out, " \"%s\"", str_text(&s));
	str_done(&s);
}

static void dump_op(const struct dump *d, enum op op)
{
	bool after = op == OP_POSTINC || op == OP_POSTDEC;

	fprintf(d->out, " %s%s", op_texts[op], after ? " (after)" : "");
}

static void dump_literal(const struct dump *d, const struct expr *n)
{
	if (n->kind == EXPR_INT)
		fprintf(d->out, n->integer.is_unsigned ? " %llu" : " %lld",
			(unsigned long long)n->integer.value);
	else if (n->kind == EXPR_STRING)
		dump_string(d, n);
	else
		fprintf(d->out, " %s", n->boolean ? "true" : "false");
}

static void dump_path(const struct dump *d, const struct expr_path *p)
{
	for (const char *before = " "; p; p = p->next, before = ".")
		fprintf(d->out, "%s%s", before, p->name);
}

static void dump_name(const struct dump *d, const struct expr *n)
{
	if (n->kind == EXPR_PARAM)
		fprintf(d->out, n->param.number ? " $%u" : " $#", n->param.number);
	else if (n->kind == EXPR_WORD)
		fprintf(d->out, " %s", n->word);
	else if (n->kind == EXPR_VAR)
		fprintf(d->out, " $%s", n->var.name);
	else
		fprintf(d->out, " @%s", n->map.name);
}

/* What stands behind the kind. */
static void dump_expr_detail(const struct dump *d, const struct expr *n)
{
	switch (n->kind) {
	case EXPR_INT:
	case EXPR_STRING:
	case EXPR_BOOL:
		dump_literal(d, n);
		break;
	case EXPR_PARAM:
	case EXPR_WORD:
	case EXPR_VAR:
	case EXPR_MAP:
		dump_name(d, n);
		break;
	case EXPR_CALL:
		fprintf(d->out, " %s%s", n->call.name, n->call.parens ? "()" : "");
		break;
	case EXPR_FIELD:
		fprintf(d->out, " .%s", n->field.name);
		break;
	case EXPR_UNOP:
	case EXPR_BINOP:
		dump_op(d, n->op.op);
		break;
	case EXPR_CAST:
		fprintf(d->out, " %s", n->cast.to->text);
		break;
	case EXPR_SIZEOF:
	case EXPR_TYPEINFO:
		if (n->size.type)
			fprintf(d->out, " %s", n->size.type->text);
		break;
	case EXPR_OFFSETOF:
		dump_path(d, n->offset.path);
		break;
	case EXPR_INDEX:
	case EXPR_TERNARY:
	case EXPR_TUPLE:
	case EXPR_BLOCK:
	case EXPR_COMPTIME:
		break;
	}
}

static void dump_exprs(const struct dump *d, const struct expr *n, int level)
{
	struct expr *operands[EXPR_OPERANDS_MAX];

	for (; n; n = n->next) {
		fprintf(d->out, "%*s%s", 2 * level, "", expr_names[n->kind]);
		dump_expr_detail(d, n);
		if (d->with_types && n->type)
			fprintf(d->out, " : %s", type_name(d->arena, n->type));
		putc('\n', d->out);
		if (n->kind == EXPR_BLOCK)
			dump_stmts(d, n->block.stmts, level + 1);
		for (unsigned i = 0, most = expr_operands(n, operands); i < most; i++)
			dump_exprs(d, operands[i], level + 1);
	}
}

static void dump_stmt_detail(const struct dump *d, const struct stmt *n)
{
	if (n->kind == STMT_ASSIGN)
		fprintf(d->out, " %s=", n->assign.op ? op_texts[n->assign.op] : "");
	else if (n->kind == STMT_LET && n->let.to)
		fprintf(d->out, " %s", n->let.to->text);
	else if (n->kind == STMT_EXPR && n->discard)
		fputs(" _", d->out);
}

static void dump_stmt_children(const struct dump *d, const struct stmt *n, int level)
{
	switch (n->kind) {
	case STMT_ASSIGN:
		dump_exprs(d, n->assign.left, level);
		dump_exprs(d, n->assign.right, level);
		break;
	case STMT_LET:
		dump_exprs(d, n->let.var, level);
		dump_exprs(d, n->let.value, level);
		break;
	case STMT_EXPR:
	case STMT_RETURN:
		dump_exprs(d, n->expr, level);
		break;
	case STMT_IF:
	case STMT_WHILE:
		dump_exprs(d, n->cond.test, level);
		dump_stmts(d, n->cond.then, level);
		dump_stmts(d, n->cond.els, level);
		break;
	case STMT_BLOCK:
		dump_stmts(d, n->stmts, level);
		break;
	case STMT_UNROLL:
	case STMT_FOR_RANGE:
	case STMT_FOR_MAP:
		dump_exprs(d, n->loop.var, level);
		dump_exprs(d, n->loop.from, level);
		dump_exprs(d, n->loop.to, level);
		dump_stmts(d, n->loop.body, level);
		break;
	case STMT_BREAK:
	case STMT_CONTINUE:
		break;
	}
}

static void dump_stmts(const struct dump *d, const struct stmt *n, int level)
{
	for (; n; n = n->next) {
		fprintf(d->out, "%*s%s", 2 * level, "", stmt_names[n->kind]);
		dump_stmt_detail(d, n);
		fputs(d->with_types ? " : none\n" : "\n", d->out);
		dump_stmt_children(d, n, level + 1);
	}
}

static void dump_vars(const struct dump *d, const struct probe *p)
{
	for (const struct var *v = p->vars; v; v = v->next)
		fprintf(d->out, "  $%s : %s\n", v->name,
			v->type ? type_name(d->arena, v->type) : "?");
}

static void dump_map(const struct dump *d, const struct map *m)
{
	fprintf(d->out, "@%s", m->name);
	if (m->key)
		fprintf(d->out, "[%s]", type_name(d->arena, m->key));
	fprintf(d->out, " : %s\n", m->value ? type_name(d->arena, m->value) : "?");
}

void ast_dump(const struct script *s, bool with_types, FILE *out)
{
	struct dump d = {.arena = s->arena, .with_types = with_types, .out = out};

	if (s->settings)
		dump_line(&d, 0, "config");
	for (const struct setting *c = s->settings; c; c = c->next) {
		dump_line(&d, 1, c->name);
		dump_exprs(&d, c->value, 2);
	}
	for (const struct probe *p = s->probes; p; p = p->next) {
		dump_line(&d, 0, "probe");
		for (const struct attach_point *ap = p->points; ap; ap = ap->next)
			fprintf(out, "  point %s\n", ap->text);
		if (p->predicate) {
			dump_line(&d, 1, "predicate");
			dump_exprs(&d, p->predicate, 2);
		}
		dump_stmts(&d, p->body, 1);
		if (with_types)
			dump_vars(&d, p);
	}
	for (const struct map *m = s->maps; m && with_types; m = m->next)
		dump_map(&d, m);
}
