// SPDX-License-Identifier: Apache-2.0
/* parse.h - what lexer, grammar and tree building share; private to this room. */
#pragma once
#include "ast.h"
#include "base/diag.h"
#include "base/vec.h"
#include "model/attach_point.h"

struct list {
	struct node *first, *last;
	unsigned n;
};

/* A bracket not yet closed. */
struct opener {
	char c;
	struct span span;
};

struct parse {
	struct arena *arena;
	const struct source *source;
	struct diags *diags;
	struct script *script;
	struct probe **probes_end;
	struct setting **settings_end;
	struct probe *this_probe; /* being put together */
	bool too_deep;		  /* told once */

	/* the lexer's */
	uint32_t at; /* bytes read */
	unsigned braces;
	int comment_from; /* the state a comment returns to */
	uint32_t comment_start;
	VEC(struct opener) open;
	struct opener innermost; /* before the last token; c is 0: none */
};

/* ---- literal.c: the text of a token -> its value; complains and gives 0 or "" ---- */
struct node *literal_int(struct parse *p, struct span at, const char *text, size_t len);
struct node *literal_string(
	struct parse *p, struct span at, const char *text, size_t len);

/* ---- attach.c ---- */
/* How much of a run of characters is an attach point: up to the slash that begins a
 * predicate. */
size_t attach_len(const char *run, size_t len);
struct attach_point *attach_point_new(struct parse *p, struct span at, const char *text);

/* ---- build.c: nodes, each with its depth ---- */
struct node *ast_node(struct parse *p, struct span at, enum node_kind kind);
struct node *ast_op(struct parse *p, struct span at, enum node_kind kind, enum op op,
	struct node *left, struct node *right);
struct node *ast_cond(struct parse *p, struct span at, enum node_kind kind,
	struct node *test, struct node *then, struct node *els);
struct node *ast_call(
	struct parse *p, struct span at, const char *name, struct list args, bool parens);
struct node *ast_index(
	struct parse *p, struct span at, struct node *object, struct list keys);
struct node *ast_field(
	struct parse *p, struct span at, struct node *object, const char *name);
struct node *ast_cast(
	struct parse *p, struct span at, const char *to, struct node *value);
struct node *ast_tuple(struct parse *p, struct span at, struct list members);
struct node *ast_assign(struct parse *p, struct span at, enum op op, struct node *left,
	struct node *right);
struct node *ast_let(struct parse *p, struct span at, struct node *var, const char *to,
	struct node *value);
struct node *ast_expr(
	struct parse *p, struct span at, enum node_kind kind, struct node *expr);
struct node *ast_block(struct parse *p, struct span at, struct list stmts);
struct node *ast_loop(struct parse *p, struct span at, enum node_kind kind,
	struct node *head, struct node *body);
/* The head of a `for`: var, from and to of a FOR_RANGE without its body. */
struct node *ast_range(struct parse *p, struct span at, struct node *var,
	struct node *from, struct node *to);
struct node *ast_named(
	struct parse *p, struct span at, enum node_kind kind, const char *name);

struct list list_add(struct list l, struct node *n);
struct list list_push(struct node *first, struct list rest);
/* The script's text of a span, in the arena. */
const char *span_text(struct parse *p, struct span at);

void probe_begin(struct parse *p, struct attach_point *first);
void probe_end(
	struct parse *p, struct span at, struct node *predicate, struct node *body);
void setting_add(struct parse *p, struct span at, const char *name, struct node *value);

/* ---- grammar.y ---- */
const char *token_name(int token);

/* ---- parse.c ---- */
/* "unexpected X, expected Y": from the names of all tokens that could stand here. */
void complain_unexpected(
	struct parse *p, struct span at, const char *const *expected, unsigned n);
