// SPDX-License-Identifier: Apache-2.0
/* filters.c - --container, --cgroup and --user: a condition of each probe that fires in some process. */
#include "ast.h"
#include "base/arena.h"
#include "builtin_names.h"
#include "model/attach_point.h"
#include "model/request.h"
#include "parser.h"

struct filters {
	struct script *script;
	const struct language *lang;
	struct span at;
};

static struct expr *make(const struct filters *f, enum expr_kind kind)
{
	struct expr *n = arena_new_obj(f->script->arena, struct expr);

	*n = (struct expr){.kind = kind, .span = f->at, .depth = 1};
	return n;
}

static struct expr *call(const struct filters *f, const char *name, struct expr *args)
{
	struct expr *n = make(f, EXPR_CALL);

	n->call.name = name;
	n->call.builtin = builtin_find(f->lang, name);
	n->call.args = args;
	n->call.parens = args;
	n->depth = 3;
	for (; args; args = args->next)
		n->call.nargs++;
	return n;
}

static struct expr *text(const struct filters *f, const char *value)
{
	struct expr *n = make(f, EXPR_STRING);

	n->string.text = value;
	while (value[n->string.len])
		n->string.len++;
	return n;
}

static struct expr *binary(const struct filters *f, enum op op, struct expr *left, struct expr *right)
{
	struct expr *n;

	if (!left || !right)
		return left ? left : right;
	n = make(f, EXPR_BINOP);
	n->op.op = op;
	n->op.left = left;
	n->op.right = right;
	n->depth = (uint16_t)(1 + (left->depth > right->depth ? left->depth : right->depth));
	return n;
}

static struct expr *condition(const struct filters *f, const struct command_line *cmd)
{
	struct expr *user = NULL, *cgroup = NULL, *container = NULL;

	if (cmd->by_user) {
		user = make(f, EXPR_INT);
		user->integer.value = cmd->user;
		user = binary(f, OP_EQ, call(f, "uid", NULL), user);
	}
	if (cmd->cgroup)
		cgroup = call(f, "in_cgroup", text(f, cmd->cgroup));
	if (cmd->container) {
		container = call(f, "container", NULL);
		container->next = text(f, cmd->container);
		container = call(f, "in_container", container);
	}
	return binary(f, OP_LAND, binary(f, OP_LAND, user, cgroup), container);
}

void filters_add(struct script *s, const struct language *lang, const struct request *req)
{
	for (struct probe *p = s->probes; p; p = p->next) {
		struct filters f = {s, lang, p->points ? p->points->span : p->span};

		p->filter = condition(&f, &req->cmd);
	}
}
