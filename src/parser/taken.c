// SPDX-License-Identifier: Apache-2.0
/* taken.c - finds maps that a block prints and then clears, as in
 *
 *     interval:s:1 { print(@x); clear(@x); }
 *
 * Userspace reads such a map and replaces it by an empty one in one step, so no event between the two calls
 * is lost. */
#include <string.h>

#include "ast.h"
#include "model/type.h"
#include "parser.h"

static struct expr *call_of_map(struct stmt *n, const char *name)
{
	struct expr *call = n->kind == STMT_EXPR && n->expr->kind == EXPR_CALL ? n->expr : NULL;
	const struct expr *arg = call ? call->call.args : NULL;

	if (!arg || strcmp(call->call.name, name) || arg->kind != EXPR_MAP || arg->map.keys)
		return NULL;
	return call;
}

/* Returns the last print() of the map in front of the statement `clear`. */
static struct expr *print_before(struct stmt *first, const struct stmt *clear, const struct map *m)
{
	struct expr *last = NULL;

	for (; first != clear; first = first->next) {
		struct expr *print = call_of_map(first, "print");

		if (print && print->call.args->map.map == m)
			last = print;
		print = call_of_map(first, "clear");
		if (print && print->call.args->map.map == m)
			last = NULL;
	}
	return last;
}

static void find_in(struct stmt *first)
{
	struct stmt **inner[STMT_STMTS_MAX];

	for (struct stmt *n = first; n; n = n->next) {
		struct expr *clear = call_of_map(n, "clear"), *print = NULL;

		if (clear)
			print = print_before(first, n, clear->call.args->map.map);
		if (print) {
			print->call.takes = clear->call.takes = true;
			print->call.args->map.map->taken = true;
		}
		for (unsigned i = 0, most = stmt_stmts(n, inner); i < most; i++)
			find_in(*inner[i]);
	}
}

void check_taken(struct script *s, bool windows)
{
	for (struct map *m = s->maps; windows && m; m = m->next)
		m->taken = m->value && m->value->kind == TYPE_AGG;
	for (struct probe *p = s->probes; p; p = p->next)
		find_in(p->body);
}
