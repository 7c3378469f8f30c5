// SPDX-License-Identifier: Apache-2.0
/* check_expr.c - the types of expressions. Other files handle operators (check_op.c), casts (check_cast.c),
 * members and elements (check_memory.c), calls (check_call.c), and maps and variables (check_map.c). */
#include "base/arena.h"
#include "checker.h"

/* ---- literals, tuples ---- */

static unsigned tuple_depth(const struct type *t)
{
	unsigned deepest = 0;

	if (t->kind != TYPE_TUPLE)
		return 0;
	for (unsigned i = 0; i < t->tuple.n; i++) {
		unsigned depth = tuple_depth(t->tuple.members[i]);

		if (depth > deepest)
			deepest = depth;
	}
	return deepest + 1;
}

/* A script can double a tuple with each line ($a = ($a, $a)), so size and depth are limited. */
static const struct type *members_type(
	struct check *c, struct span at, struct expr *first, const char *const *names)
{
	const struct type **members, *t;
	unsigned count = 0;
	uint64_t size = 0;
	bool bad = false, deep = false;

	for (struct expr *m = first; m; m = m->next)
		count++;
	members = arena_new_array(c->arena, const struct type *, count + 1);
	count = 0;
	for (struct expr *m = first; m; m = m->next) {
		t = check_value(c, m);
		bad |= t->kind == TYPE_BAD;
		members[count] = type_stored(c->arena, t);
		size += members[count++]->size;
		deep |= tuple_depth(t) >= TUPLE_DEPTH_MAX;
	}
	if (!bad && size > TUPLE_MAX)
		return check_fail(c, at, DIAG_OPERAND,
			"a tuple has at most %u bytes, not %llu", TUPLE_MAX,
			(unsigned long long)size);
	if (deep)
		return check_fail(c, at, DIAG_NESTING,
			"tuples are nested at most %u deep", TUPLE_DEPTH_MAX);
	return bad ? type_bad : type_record(c->arena, members, names, count);
}

const struct type *check_members(struct check *c, struct span at, struct expr *first)
{
	return members_type(c, at, first, NULL);
}

static void find_loops(struct probe *p, struct stmt *first)
{
	struct stmt **below[STMT_STMTS_MAX];

	for (struct stmt *n = first; n; n = n->next) {
		p->block_loops |= n->kind == STMT_UNROLL || n->kind == STMT_WHILE || n->kind == STMT_FOR_RANGE;
		p->block_map_loops |= n->kind == STMT_FOR_MAP;
		for (unsigned i = 0, most = stmt_stmts(n, below); i < most; i++)
			find_loops(p, *below[i]);
	}
}

/* The statements are checked as a block of their own: facts that are learnt in it do not hold after it. */
static const struct type *check_block(struct check *c, struct expr *n)
{
	check_stmts(c, n->block.stmts);
	find_loops(c->probe, n->block.stmts);
	return check_expr(c, n->block.value);
}

static const struct type *check_comptime(struct check *c, struct expr *n)
{
	bool outer = c->comptime;
	struct expr *next = n->next, *value = n->value;
	const struct type *t;
	enum expr_kind kind;

	c->comptime = true;
	t = check_value(c, value);
	c->comptime = outer;
	kind = value->kind;
	if (t->kind == TYPE_BAD)
		return t;
	if (kind != EXPR_INT && kind != EXPR_BOOL && kind != EXPR_STRING) {
		/* Sizes become numbers in the last round. */
		if (kind == EXPR_SIZEOF || kind == EXPR_OFFSETOF || !c->final)
			return t;
		return check_fail(c, n->span, DIAG_OPERAND, "this is not known before the script runs");
	}
	*n = *value;
	n->next = next;
	return t;
}

enum { LITERAL_MAX = 16384 }; /* the bytes are part of the program's instructions */

static const struct type *check_string(struct check *c, struct expr *n)
{
	if (n->string.len < LITERAL_MAX)
		return type_string(c->arena, n->string.len + 1);
	return check_fail(c, n->span, DIAG_LITERAL, "a string has at most %u bytes",
		LITERAL_MAX - 1);
}

static const struct type *check_word(struct check *c, struct expr *n)
{
	if (n->kind == EXPR_TYPE)
		return check_fail(c, n->span, DIAG_OPERAND, "this is a type, where a value is expected");
	return check_fail(c, n->span, DIAG_NAME,
		"unknown variable or function: %s", n->word);
}

static const struct type *literal_type(struct check *c, struct expr *n)
{
	if (n->kind == EXPR_STRING)
		return check_string(c, n);
	if (n->kind == EXPR_BOOL)
		return type_bool;
	return n->integer.type ? n->integer.type : type_of_literal(n->integer.value, n->integer.is_unsigned);
}

static const struct type *expr_type(struct check *c, struct expr *n)
{
	switch (n->kind) {
	case EXPR_INT:
	case EXPR_STRING:
	case EXPR_BOOL:
		return literal_type(c, n);
	case EXPR_WORD:
	case EXPR_TYPE:
		return check_word(c, n);
	case EXPR_VAR:
		return check_var_read(c, n);
	case EXPR_MAP:
		return check_map_read(c, n);
	case EXPR_CALL:
		return check_call(c, n, false);
	case EXPR_FIELD:
		return check_field(c, n);
	case EXPR_INDEX:
		return check_index(c, n);
	case EXPR_UNOP:
		return check_unop(c, n);
	case EXPR_BINOP:
		return check_binop(c, n);
	case EXPR_TERNARY:
		return check_ternary(c, n);
	case EXPR_CAST:
		return check_cast(c, n);
	case EXPR_SIZEOF:
		return check_sizeof(c, n);
	case EXPR_OFFSETOF:
		return check_offsetof(c, n);
	case EXPR_TYPEINFO:
		return check_typeinfo(c, n);
	case EXPR_TUPLE:
		return members_type(c, n->span, n->tuple.first, n->tuple.names);
	case EXPR_BLOCK:
		return check_block(c, n);
	case EXPR_COMPTIME:
		return check_comptime(c, n);
	case EXPR_PARAM: /* resolve has replaced it by a literal */
		break;
	}
	return type_bad;
}

const struct type *check_expr(struct check *c, struct expr *n)
{
	return n->type = expr_type(c, n);
}

const struct type *check_value(struct check *c, struct expr *n)
{
	const struct type *t = check_expr(c, n);

	if (t->kind == TYPE_NONE)
		return n->type = check_fail(c, n->span, DIAG_NO_VALUE,
			       n->kind == EXPR_CALL ? "%s() gives no value"
						 : "this gives no value",
			       n->kind == EXPR_CALL ? n->call.name : "");
	if (t->kind == TYPE_POINTER && t->pointer.context) /* the value is its address */
		return n->type = type_pointer(c->arena, t->pointer.to, SPACE_KERNEL);
	if (t->kind == TYPE_ARGS)
		return n->type = check_args_value(c, n);
	return t;
}

bool check_truth(struct check *c, struct expr *n)
{
	const struct type *t = check_value(c, n);

	if (t->kind == TYPE_BAD || type_is_number(t) || t->kind == TYPE_STRING || type_is_late(t))
		return t->kind != TYPE_BAD;
	check_fail(c, n->span, DIAG_OPERAND, "%s is neither true nor false",
		check_type_name(c, t));
	return false;
}
