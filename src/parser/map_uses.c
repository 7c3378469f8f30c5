// SPDX-License-Identifier: Apache-2.0
/* map_uses.c - how programs use a map. */
#include "ast.h"
#include "model/builtin.h"

struct uses {
	const struct map *map;
	size_t all, writes;
};

static bool count_use(struct expr *n, void *arg)
{
	struct uses *u = arg;

	u->all += n->kind == EXPR_MAP && n->map.map == u->map;
	return false;
}

/* Returns the map that the statement writes or hands to userspace whole, or NULL. */
static const struct expr *written(const struct stmt *n)
{
	const struct expr *e;

	if (n->kind == STMT_ASSIGN)
		return n->assign.op == OP_NONE ? n->assign.left : NULL;
	if (n->kind != STMT_EXPR || n->expr->kind != EXPR_CALL || !n->expr->call.builtin ||
		!(n->expr->call.builtin->flags & BUILTIN_RECORD))
		return NULL;
	e = n->expr->call.args;
	return e && e->kind == EXPR_MAP && !e->map.keys ? e : NULL;
}

static void count_writes(struct stmt *first, struct uses *u)
{
	for (struct stmt *n = first; n; n = n->next) {
		struct stmt **parts[STMT_STMTS_MAX];
		const struct expr *e = written(n);

		u->writes += e && e->kind == EXPR_MAP && e->map.map == u->map;
		for (unsigned i = 0, most = stmt_stmts(n, parts); i < most; i++)
			count_writes(*parts[i], u);
	}
}

bool script_reads_map(const struct script *s, const struct map *m, bool (*wanted)(const struct probe *p))
{
	struct uses u = {.map = m};

	for (struct probe *p = s->probes; p; p = p->next) {
		if (wanted && !wanted(p))
			continue;
		expr_any(p->predicate, count_use, &u);
		stmt_any(p->body, count_use, &u);
		count_writes(p->body, &u);
	}
	return u.all > u.writes;
}
