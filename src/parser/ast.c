// SPDX-License-Identifier: Apache-2.0
/* ast.c - the tree as text: `-d ast` and `-d types`, one node a line. */
#include "ast.h"

#include "base/arena.h"
#include "base/str.h"
#include "model/attach_point.h"
#include "model/type.h"

static const char *const kind_names[] = {
#define N(id, name) [N_##id] = name,
	AST_KINDS(N)
#undef N
};

static const char *const op_texts[] = {
#define O(id, text) [OP_##id] = text,
	AST_OPS(O)
#undef O
};

const char *node_kind_name(enum node_kind k)
{
	return kind_names[k];
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

static void dump_nodes(const struct dump *d, const struct node *n, int level);

static void dump_line(const struct dump *d, int level, const char *text)
{
	fprintf(d->out, "%*s%s\n", 2 * level, "", text);
}

static void dump_string(const struct dump *d, const struct node *n)
{
	struct str s = {};

	str_add_safe(&s, n->string.text, n->string.len);
	fprintf(d->out, " \"%s\"", str_text(&s));
	str_done(&s);
}

/* What stands behind the kind. */
static void dump_detail(const struct dump *d, const struct node *n)
{
	switch (n->kind) {
	case N_INT:
		if (n->integer.is_unsigned)
			fprintf(d->out, " %llu", (unsigned long long)n->integer.value);
		else
			fprintf(d->out, " %lld", (long long)n->integer.value);
		break;
	case N_STRING:
		dump_string(d, n);
		break;
	case N_BOOL:
		fprintf(d->out, " %s", n->boolean ? "true" : "false");
		break;
	case N_PARAM:
		fprintf(d->out, n->param.number ? " $%u" : " $#", n->param.number);
		break;
	case N_WORD:
		fprintf(d->out, " %s", n->word);
		break;
	case N_VAR:
		fprintf(d->out, " $%s", n->var.name);
		break;
	case N_MAP:
		fprintf(d->out, " @%s", n->map.name);
		break;
	case N_CALL:
		fprintf(d->out, " %s%s", n->call.name, n->call.parens ? "()" : "");
		break;
	case N_FIELD:
		fprintf(d->out, " .%s", n->field.name);
		break;
	case N_UNOP:
		fprintf(d->out, " %s%s", op_texts[n->op.op],
			n->op.op == OP_POSTINC || n->op.op == OP_POSTDEC ? " (after)"
									 : "");
		break;
	case N_BINOP:
		fprintf(d->out, " %s", op_texts[n->op.op]);
		break;
	case N_ASSIGN:
		fprintf(d->out, " %s=", n->op.op ? op_texts[n->op.op] : "");
		break;
	case N_CAST:
		fprintf(d->out, " %s", n->cast.to);
		break;
	case N_LET:
		if (n->let.to)
			fprintf(d->out, " %s", n->let.to);
		break;
	case N_EXPR:
		fputs(n->discard ? " _" : "", d->out);
		break;
	case N_INDEX:
	case N_TERNARY:
	case N_TUPLE:
	case N_IF:
	case N_BLOCK:
	case N_UNROLL:
	case N_WHILE:
	case N_FOR_RANGE:
	case N_RETURN:
	case N_BREAK:
	case N_CONTINUE:
	case N_MAX:
		break;
	}
}

static void dump_children(const struct dump *d, const struct node *n, int level)
{
	switch (n->kind) {
	case N_MAP:
		dump_nodes(d, n->map.keys, level);
		break;
	case N_CALL:
		dump_nodes(d, n->call.args, level);
		break;
	case N_FIELD:
		dump_nodes(d, n->field.object, level);
		break;
	case N_INDEX:
		dump_nodes(d, n->index.object, level);
		dump_nodes(d, n->index.index, level);
		break;
	case N_UNOP:
	case N_BINOP:
	case N_ASSIGN:
		dump_nodes(d, n->op.left, level);
		dump_nodes(d, n->op.right, level);
		break;
	case N_TERNARY:
	case N_IF:
	case N_WHILE:
		dump_nodes(d, n->cond.test, level);
		dump_nodes(d, n->cond.then, level);
		dump_nodes(d, n->cond.els, level);
		break;
	case N_CAST:
		dump_nodes(d, n->cast.value, level);
		break;
	case N_TUPLE:
		dump_nodes(d, n->members, level);
		break;
	case N_LET:
		dump_nodes(d, n->let.var, level);
		dump_nodes(d, n->let.value, level);
		break;
	case N_EXPR:
	case N_RETURN:
		dump_nodes(d, n->expr, level);
		break;
	case N_BLOCK:
		dump_nodes(d, n->stmts, level);
		break;
	case N_UNROLL:
	case N_FOR_RANGE:
		dump_nodes(d, n->loop.var, level);
		dump_nodes(d, n->loop.from, level);
		dump_nodes(d, n->loop.to, level);
		dump_nodes(d, n->loop.body, level);
		break;
	case N_INT:
	case N_STRING:
	case N_BOOL:
	case N_PARAM:
	case N_WORD:
	case N_VAR:
	case N_BREAK:
	case N_CONTINUE:
	case N_MAX:
		break;
	}
}

static void dump_nodes(const struct dump *d, const struct node *n, int level)
{
	for (; n; n = n->next) {
		fprintf(d->out, "%*s%s", 2 * level, "", kind_names[n->kind]);
		dump_detail(d, n);
		if (d->with_types && n->type)
			fprintf(d->out, " : %s", type_name(d->arena, n->type));
		putc('\n', d->out);
		dump_children(d, n, level + 1);
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
		dump_nodes(&d, c->value, 2);
	}
	for (const struct probe *p = s->probes; p; p = p->next) {
		dump_line(&d, 0, "probe");
		for (const struct attach_point *ap = p->points; ap; ap = ap->next)
			fprintf(out, "  point %s\n", ap->text);
		if (p->predicate) {
			dump_line(&d, 1, "predicate");
			dump_nodes(&d, p->predicate, 2);
		}
		dump_nodes(&d, p->body, 1);
		if (with_types)
			dump_vars(&d, p);
	}
	for (const struct map *m = s->maps; m && with_types; m = m->next)
		dump_map(&d, m);
}
