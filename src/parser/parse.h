// SPDX-License-Identifier: Apache-2.0
/* parse.h - shared by lexer, grammar and build.c. Only the parser includes it. */
#pragma once
#include "ast.h"
#include "base/diag.h"
#include "base/vec.h"
#include "model/attach_point.h"
#include "type_name.h"

struct provider;

struct expr_list {
	struct expr *first, *last;
	unsigned n;
};

struct stmt_list {
	struct stmt *first, *last;
};

/* A bracket that is not closed yet. */
struct opener {
	char c;
	struct span span;
};

struct parse {
	struct arena *arena;
	struct source *source;
	struct diags *diags;
	struct script *script;
	struct probe *probes, **probes_end; /* probes of this file */
	struct import *imports, **imports_end;
	bool imported;
	struct setting **settings_end;
	struct macro **macros_end;
	struct map_decl **map_decls_end;
	struct probe *this_probe; /* the probe being built */
	bool too_deep;		  /* the error was reported */
	bool unfinished;          /* an error that more text could correct */
	bool looks;               /* only look at the text: nothing is imported */
	bool earlier;             /* the text includes definitions from earlier lines of a prompt */
	enum { LINE_NOT, LINE_BEGINS, LINE_BEGAN } line; /* statements typed at a prompt */

	/* members of the lexer */
	uint32_t at; /* bytes read */
	unsigned braces;
	bool declares; /* within a map declaration, up to the bracket that closes its size */
	bool in_predicate; /* within braces inside a predicate */
	bool wants_operand; /* the last token is an operator, or opens a bracket */
	int comment_from; /* the state after the comment */
	uint32_t comment_start;
	VEC(struct opener) open;
	struct opener innermost; /* innermost open bracket before the last token; c is 0 if there is none */
};

/* ---- literal.c: value of a token (0 or "" after an error) ---- */
struct expr *literal_int(struct parse *p, struct span at, const char *text, size_t len);
struct expr *literal_string(
	struct parse *p, struct span at, const char *text, size_t len);

/* ---- attach.c ---- */
/* Returns the length of the attach point in these bytes, up to a slash that begins a predicate. */
size_t attach_len(const char *run, size_t len);
struct attach_point *attach_point_new(struct parse *p, struct span at, const char *text);

/* ---- build.c: expressions and statements, each with its depth ---- */
struct expr *ast_expr(struct parse *p, struct span at, enum expr_kind kind);
struct expr *ast_unop(struct parse *p, struct span at, enum op op, struct expr *operand);
struct expr *ast_binop(
	struct parse *p, struct span at, enum op op, struct expr *left, struct expr *right);
/* then is NULL for `test ?: els`. */
struct expr *ast_ternary(struct parse *p, struct span at, struct expr *test,
	struct expr *then, struct expr *els);
struct expr *ast_call(
	struct parse *p, struct span at, const char *name, struct expr_list args, bool parens);
/* NAME: "TEXT" in the arguments of a call. */
struct expr *ast_named(struct span at, const char *name, struct expr *text);
struct expr *ast_index(
	struct parse *p, struct span at, struct expr *object, struct expr_list keys);
struct expr *ast_field(
	struct parse *p, struct span at, struct expr *object, const char *name);
struct expr *ast_cast(
	struct parse *p, struct span at, struct type_name *to, struct expr *value);
/* For `(NAME *) value` and `(NAME) value`: the part before the stars must be a name. */
struct stars {
	unsigned n;
	struct span span;
};
struct expr *ast_cast_named(struct parse *p, struct span at, const struct expr *name,
	struct stars stars, struct expr *value);
/* Applies to a type or to a value; the other is NULL. */
struct expr *ast_sizeof(
	struct parse *p, struct span at, struct type_name *type, struct expr *value);
struct expr *ast_tuple(struct parse *p, struct span at, struct expr_list members);
/* (a=1, b=2): a list of names and a list of their values. */
struct record_list {
	struct expr_path *names;
	struct expr_list values;
};
struct record_list record_add(
	struct parse *p, struct span at, struct record_list l, const char *name, struct expr *value);
struct expr *ast_record(struct parse *p, struct span at, struct record_list members);
/* a.b.c: adds a name to the names before it. */
struct expr_path *ast_path(
	struct parse *p, struct span at, struct expr_path *before, const char *name);
/* Applies to a type or to a value; the other is NULL. */
struct expr *ast_typeinfo(
	struct parse *p, struct span at, struct type_name *type, struct expr *value);
struct expr *ast_offsetof(struct parse *p, struct span at, struct type_name *type,
	struct expr *value, struct expr_path *path);
/* Makes { statements; value }. */
/* Makes (T *)((int8 *)ptr - offsetof(T, path)). */
struct expr *ast_container_of(struct parse *p, struct span at, struct expr *ptr, struct type_name *type,
	struct expr_path *path);
/* The last statement is an if or a block, whose blocks have values. */
struct expr *ast_value_stmt(struct parse *p, struct span at, struct stmt_list stmts, struct stmt *last);
struct expr *ast_value_block(
	struct parse *p, struct span at, struct stmt_list stmts, struct expr *value);
struct expr *ast_comptime(struct parse *p, struct span at, struct expr *value);
struct expr *ast_bool(struct parse *p, struct span at, bool value);
struct expr *ast_param(struct parse *p, struct span at, unsigned number);
struct expr *ast_var(struct parse *p, struct span at, const char *name);
struct expr *ast_map(struct parse *p, struct span at, const char *name);
struct expr *ast_word(struct parse *p, struct span at, const char *word);
struct expr *ast_type(struct parse *p, struct span at, struct type_name *type);

/* Makes a statement without operands: BREAK, CONTINUE, RETURN. */
struct stmt *ast_stmt(struct parse *p, struct span at, enum stmt_kind kind);
/* Makes an EXPR or RETURN. */
struct stmt *ast_expr_stmt(
	struct parse *p, struct span at, enum stmt_kind kind, struct expr *expr);
struct stmt *ast_assign(struct parse *p, struct span at, enum op op, struct expr *left,
	struct expr *right);
struct stmt *ast_let(struct parse *p, struct span at, struct expr *var, struct type_name *to,
	struct expr *value);
/* Makes an IF or WHILE. */
struct stmt *ast_cond(struct parse *p, struct span at, enum stmt_kind kind,
	struct expr *test, struct stmt *then, struct stmt *els);
struct stmt *ast_block(struct parse *p, struct span at, struct stmt_list stmts);
struct stmt *ast_unroll(struct parse *p, struct span at, struct expr *count, struct stmt *body);
/* Makes the head of a `for`: a FOR_RANGE without its body. to is NULL for a FOR_MAP. */
struct stmt *ast_range(struct parse *p, struct span at, struct expr *var,
	struct expr *from, struct expr *to);
struct stmt *ast_for(struct parse *p, struct span at, struct stmt *range, struct stmt *body);

struct expr_list expr_add(struct expr_list l, struct expr *n);
struct expr_list expr_push(struct expr *first, struct expr_list rest);
struct stmt_list stmt_add(struct stmt_list l, struct stmt *n);
/* Returns the text of a span, in the arena. */
const char *span_text(struct parse *p, struct span at);

void probe_begin(struct parse *p, struct attach_point *first);
void probe_end(
	struct parse *p, struct span at, struct expr *predicate, struct stmt *body);
/* Makes a begin probe of statements typed at a prompt. It prints the value of the last expression. */
void line_end(struct parse *p, struct span at, struct stmt_list stmts);
/* params are VAR, MAP, or CALL without parentheses. */
void macro_add(struct parse *p, struct span at, struct span head, const char *name, struct expr *params,
	struct stmt *body);
void map_decl_add(struct parse *p, struct span at, const char *name, struct span kind_at, const char *kind,
	const struct expr *max_entries);
void setting_add(struct parse *p, struct span at, const char *name, struct expr *value);

/* ---- preamble.c ---- */
/* Returns the C part of a script or imported file whose text is `file`; the span is empty if there is none.
 * If the part is not closed, this is reported, and the span is empty, at the end of the file. */
struct span preamble_span(const struct source *src, struct span file, struct diags *d);

/* ---- line.c ---- */
/* Returns whether the text is statements instead of a script. */
bool line_is_statements(const char *text, const struct provider *const *providers);

/* ---- import.c ---- */
struct import {
	const char *path; /* as written */
	struct span span;
	struct import *next;
};
void import_add(struct parse *p, struct span at, const struct expr *path);
/* Reads all imports of a file, before its own probes are added to the script. */
void import_all(struct parse *p, const struct import *first);
/* Parses an imported file, once its text is part of the source. */
void parse_file(struct parse *importing, struct span file);
void c_part_add(struct script *s, struct span part);

/* ---- grammar.y ---- */
const char *token_name(int token);

/* ---- parse.c ---- */
/* Reports "unexpected X, expected Y". expected has the names of the tokens that could follow. */
void complain_unexpected(
	struct parse *p, struct span at, const char *const *expected, unsigned n);
