// SPDX-License-Identifier: Apache-2.0
/* ast.c - prints the tree as text (`-d ast` and `-d types`), one expression or statement per line. */
#include "ast.h"

#include "base/arena.h"
#include "base/owner.h"
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

struct type_name **expr_type_slot(struct expr *n)
{
	if (n->kind == EXPR_CAST)
		return &n->cast.to;
	if (n->kind == EXPR_SIZEOF || n->kind == EXPR_TYPEINFO)
		return &n->size.type;
	if (n->kind == EXPR_OFFSETOF)
		return &n->offset.type;
	return n->kind == EXPR_TYPE ? &n->type_name : NULL;
}

/* Returns the slot of the expression in a typeof(). */
static struct expr **of_type(struct type_name *t)
{
	while (t && t->inner)
		t = t->inner;
	return t ? &t->of : NULL;
}

static unsigned put_slots(
	struct expr **ret[EXPR_OPERANDS_MAX], struct expr **a, struct expr **b, struct expr **c)
{
	struct expr **all[] = {a, b, c};
	unsigned n = 0;

	for (unsigned i = 0; i < ARRAY_SIZE(all); i++)
		if (all[i] && *all[i])
			ret[n++] = all[i];
	return n;
}

unsigned expr_slots(struct expr *n, struct expr **ret[EXPR_OPERANDS_MAX])
{
	switch (n->kind) {
	case EXPR_MAP:
		return put_slots(ret, &n->map.keys, NULL, NULL);
	case EXPR_CALL:
		return put_slots(ret, &n->call.args, NULL, NULL);
	case EXPR_TYPE:
		return put_slots(ret, of_type(n->type_name), NULL, NULL);
	case EXPR_FIELD:
		return put_slots(ret, &n->field.object, NULL, NULL);
	case EXPR_INDEX:
		return put_slots(ret, &n->index.object, &n->index.index, NULL);
	case EXPR_UNOP:
	case EXPR_BINOP:
		return put_slots(ret, &n->op.left, &n->op.right, NULL);
	case EXPR_TERNARY:
		return put_slots(ret, &n->cond.test, &n->cond.then, &n->cond.els);
	case EXPR_CAST:
		return put_slots(ret, of_type(n->cast.to), &n->cast.value, NULL);
	case EXPR_SIZEOF:
	case EXPR_TYPEINFO:
		return put_slots(ret, of_type(n->size.type), &n->size.value, NULL);
	case EXPR_OFFSETOF:
		return put_slots(ret, of_type(n->offset.type), &n->offset.value, NULL);
	case EXPR_TUPLE:
		return put_slots(ret, &n->tuple.first, NULL, NULL);
	case EXPR_BLOCK:
		return put_slots(ret, &n->block.value, NULL, NULL);
	case EXPR_COMPTIME:
		return put_slots(ret, &n->value, NULL, NULL);
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

unsigned expr_operands(const struct expr *n, struct expr *ret[EXPR_OPERANDS_MAX])
{
	struct expr **slots[EXPR_OPERANDS_MAX];
	unsigned count = expr_slots((struct expr *)n, slots);

	for (unsigned i = 0; i < count; i++)
		ret[i] = *slots[i];
	return count;
}

unsigned stmt_exprs(struct stmt *n, struct expr **ret[STMT_EXPRS_MAX])
{
	switch (n->kind) {
	case STMT_ASSIGN:
		return put_slots(ret, &n->assign.left, &n->assign.right, NULL);
	case STMT_LET:
		return put_slots(ret, of_type(n->let.to), &n->let.var, &n->let.value);
	case STMT_EXPR:
	case STMT_RETURN:
		return put_slots(ret, &n->expr, NULL, NULL);
	case STMT_IF:
	case STMT_WHILE:
		return put_slots(ret, &n->cond.test, NULL, NULL);
	case STMT_UNROLL:
	case STMT_FOR_RANGE:
	case STMT_FOR_MAP:
	case STMT_FOR_STACK:
		return put_slots(ret, &n->loop.var, &n->loop.from, &n->loop.to);
	case STMT_BLOCK:
	case STMT_BREAK:
	case STMT_CONTINUE:
		break;
	}
	return 0;
}

unsigned stmt_stmts(struct stmt *n, struct stmt **ret[STMT_STMTS_MAX])
{
	unsigned count = 0;

	switch (n->kind) {
	case STMT_IF:
	case STMT_WHILE:
		if (n->cond.then)
			ret[count++] = &n->cond.then;
		if (n->cond.els)
			ret[count++] = &n->cond.els;
		break;
	case STMT_UNROLL:
	case STMT_FOR_RANGE:
	case STMT_FOR_MAP:
	case STMT_FOR_STACK:
		ret[count++] = &n->loop.body;
		break;
	case STMT_BLOCK:
		if (n->stmts)
			ret[count++] = &n->stmts;
		break;
	case STMT_ASSIGN:
	case STMT_LET:
	case STMT_EXPR:
	case STMT_RETURN:
	case STMT_BREAK:
	case STMT_CONTINUE:
		break;
	}
	return count;
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
	struct expr **exprs[STMT_EXPRS_MAX];
	struct stmt **stmts[STMT_STMTS_MAX];

	for (unsigned i = 0, most = stmt_exprs(n, exprs); i < most; i++)
		if (expr_any(*exprs[i], f, arg))
			return true;
	for (unsigned i = 0, most = stmt_stmts(n, stmts); i < most; i++)
		if (stmt_any(*stmts[i], f, arg))
			return true;
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

/* Prints the details that follow the kind. */
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
	case EXPR_TYPE:
		fprintf(d->out, " %s", (n->kind == EXPR_CAST ? n->cast.to : n->type_name)->text);
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
	case STMT_FOR_STACK:
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
