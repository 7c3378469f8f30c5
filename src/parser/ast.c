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

struct dump {
	struct arena *arena;
	bool with_types;
	FILE *out;
};

static void dump_exprs(const struct dump *d, const struct expr *n, int level);

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

static void dump_unop(const struct dump *d, enum op op)
{
	bool after = op == OP_POSTINC || op == OP_POSTDEC;

	fprintf(d->out, " %s%s", op_texts[op], after ? " (after)" : "");
}

/* What stands behind the kind. */
static void dump_expr_detail(const struct dump *d, const struct expr *n)
{
	switch (n->kind) {
	case EXPR_INT:
		fprintf(d->out, n->integer.is_unsigned ? " %llu" : " %lld",
			(unsigned long long)n->integer.value);
		break;
	case EXPR_STRING:
		dump_string(d, n);
		break;
	case EXPR_BOOL:
		fprintf(d->out, " %s", n->boolean ? "true" : "false");
		break;
	case EXPR_PARAM:
		fprintf(d->out, n->param.number ? " $%u" : " $#", n->param.number);
		break;
	case EXPR_WORD:
		fprintf(d->out, " %s", n->word);
		break;
	case EXPR_VAR:
		fprintf(d->out, " $%s", n->var.name);
		break;
	case EXPR_MAP:
		fprintf(d->out, " @%s", n->map.name);
		break;
	case EXPR_CALL:
		fprintf(d->out, " %s%s", n->call.name, n->call.parens ? "()" : "");
		break;
	case EXPR_FIELD:
		fprintf(d->out, " .%s", n->field.name);
		break;
	case EXPR_UNOP:
		dump_unop(d, n->op.op);
		break;
	case EXPR_BINOP:
		fprintf(d->out, " %s", op_texts[n->op.op]);
		break;
	case EXPR_CAST:
		fprintf(d->out, " %s", n->cast.to->text);
		break;
	case EXPR_SIZEOF:
		fprintf(d->out, n->size.type ? " %s" : "", n->size.type ? n->size.type->text : "");
		break;
	case EXPR_INDEX:
	case EXPR_TERNARY:
	case EXPR_TUPLE:
		break;
	}
}

static void dump_expr_children(const struct dump *d, const struct expr *n, int level)
{
	switch (n->kind) {
	case EXPR_MAP:
		dump_exprs(d, n->map.keys, level);
		break;
	case EXPR_CALL:
		dump_exprs(d, n->call.args, level);
		break;
	case EXPR_FIELD:
		dump_exprs(d, n->field.object, level);
		break;
	case EXPR_INDEX:
		dump_exprs(d, n->index.object, level);
		dump_exprs(d, n->index.index, level);
		break;
	case EXPR_UNOP:
	case EXPR_BINOP:
		dump_exprs(d, n->op.left, level);
		dump_exprs(d, n->op.right, level);
		break;
	case EXPR_TERNARY:
		dump_exprs(d, n->cond.test, level);
		dump_exprs(d, n->cond.then, level);
		dump_exprs(d, n->cond.els, level);
		break;
	case EXPR_CAST:
		dump_exprs(d, n->cast.value, level);
		break;
	case EXPR_SIZEOF:
		dump_exprs(d, n->size.value, level);
		break;
	case EXPR_TUPLE:
		dump_exprs(d, n->members, level);
		break;
	case EXPR_INT:
	case EXPR_STRING:
	case EXPR_BOOL:
	case EXPR_PARAM:
	case EXPR_WORD:
	case EXPR_VAR:
		break;
	}
}

static void dump_exprs(const struct dump *d, const struct expr *n, int level)
{
	for (; n; n = n->next) {
		fprintf(d->out, "%*s%s", 2 * level, "", expr_names[n->kind]);
		dump_expr_detail(d, n);
		if (d->with_types && n->type)
			fprintf(d->out, " : %s", type_name(d->arena, n->type));
		putc('\n', d->out);
		dump_expr_children(d, n, level + 1);
	}
}

static void dump_stmts(const struct dump *d, const struct stmt *n, int level);

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
