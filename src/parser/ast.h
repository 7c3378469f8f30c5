// SPDX-License-Identifier: Apache-2.0
/* ast.h - the tree: made by the grammar, named by resolve, typed by check, read
 * by codegen. Everything lives in the compilation's arena. */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/source.h"

struct arena;
struct attach_point;
struct builtin;
struct type;

#define AST_KINDS(N)                                                                     \
	N(INT, "int")                                                                    \
	N(STRING, "string")                                                              \
	N(BOOL, "bool")                                                                  \
	N(PARAM, "param")                                                                \
	N(WORD, "word")                                                                  \
	N(VAR, "var")                                                                    \
	N(MAP, "map")                                                                    \
	N(CALL, "call")                                                                  \
	N(FIELD, "field")                                                                \
	N(INDEX, "index")                                                                \
	N(UNOP, "unop")                                                                  \
	N(BINOP, "binop")                                                                \
	N(TERNARY, "ternary")                                                            \
	N(CAST, "cast")                                                                  \
	N(TUPLE, "tuple")                                                                \
	N(ASSIGN, "assign")                                                              \
	N(LET, "let")                                                                    \
	N(EXPR, "expr")                                                                  \
	N(IF, "if")                                                                      \
	N(BLOCK, "block")                                                                \
	N(UNROLL, "unroll")                                                              \
	N(WHILE, "while")                                                                \
	N(FOR_RANGE, "for_range")                                                        \
	N(RETURN, "return")                                                              \
	N(BREAK, "break")                                                                \
	N(CONTINUE, "continue")

enum node_kind {
#define N(id, name) N_##id,
	AST_KINDS(N)
#undef N
	N_MAX
};

#define AST_OPS(O)                                                                       \
	O(NONE, "=") /* of ASSIGN: plain */                                              \
	O(LOR, "||") O(LAND, "&&") O(OR, "|") O(XOR, "^") O(AND, "&")                    \
	O(EQ, "==") O(NE, "!=") O(LT, "<") O(GT, ">") O(LE, "<=") O(GE, ">=")            \
	O(SHL, "<<") O(SHR, ">>") O(ADD, "+") O(SUB, "-") O(MUL, "*") O(DIV, "/")        \
	O(MOD, "%")                                                                      \
	O(NEG, "-") O(NOT, "!") O(BNOT, "~") O(DEREF, "*")                               \
	O(PREINC, "++") O(PREDEC, "--") O(POSTINC, "++") O(POSTDEC, "--")

enum op {
#define O(id, text) OP_##id,
	AST_OPS(O)
#undef O
	OP_MAX
};

/* Passes walk the tree recursively; the grammar refuses what is deeper. */
#define AST_DEPTH_MAX 400

struct node {
	enum node_kind kind;
	uint16_t depth;          /* of the tree below, this node too: AST_DEPTH_MAX at most */
	bool discard;            /* EXPR of `_ = e`: that nobody uses it is meant */
	struct span span;
	struct node *next;       /* next statement, argument, key part or tuple member */
	const struct type *type; /* expressions, once check.c has been here */
	union {
		struct { /* INT; a negative literal is UNOP NEG until folded */
			uint64_t value;
			bool is_unsigned; /* too large for int64 */
			const char *param; /* was $N: its text ("" when missing), else NULL */
		} integer;
		struct { /* STRING: bytes after escapes, may hold NUL */
			const char *text;
			uint32_t len;
		} string;
		bool boolean;     /* BOOL */
		struct { /* PARAM: $1.., `$#` is number 0. Replaced by INT or STRING in resolve */
			unsigned number;
		} param;
		const char *word; /* WORD: a bare identifier that is no builtin: a mode, a unit */
		struct { /* VAR: $x */
			const char *name; /* without the $ */
			struct var *var;  /* by resolve */
		} var;
		/* MAP: @m or @m[k, ..]. Its type is what the map holds; but where the map
		 * holds a count, sum, min, max or avg and the script wants a number, map->value
		 * is AGG and the node's type INT. As an argument of print() and other takers
		 * of `any` it stays AGG. Several keys are nodes of their own types; what lies
		 * in the map is map->key, a tuple. */
		struct {
			const char *name; /* without the @; "" for @ */
			struct node *keys; /* NULL: scalar use */
			struct map *map;   /* by resolve */
		} map;
		struct { /* CALL: f(args), or a builtin variable */
			const char *name;
			struct node *args;
			unsigned nargs;
			bool parens;
			const struct builtin *builtin; /* by resolve */
			void *data; /* by the builtin's check: for the builtin's gen */
		} call;
		struct { /* FIELD: object.name, object->name, tuple.0 */
			struct node *object;
			const char *name;
			const struct field *field; /* of `args`, by check */
			unsigned index;            /* of a tuple, by check */
		} field;
		struct { /* INDEX */
			struct node *object, *index;
		} index;
		struct { /* UNOP (left only), BINOP, ASSIGN (left: VAR or MAP; op: NONE, ADD..) */
			enum op op;
			struct node *left, *right;
		} op;
		struct { /* TERNARY (then is NULL in `a ?: b`: the test's own value),
			    IF (els may be NULL), WHILE (then = body) */
			struct node *test, *then, *els;
		} cond;
		struct { /* CAST: to is given by its text; type is in node.type */
			const char *to;
			struct node *value;
		} cast;
		struct node *members; /* TUPLE */
		struct { /* LET: let $x [: type] [= value] */
			struct node *var;
			const char *to; /* type name or NULL */
			struct node *value; /* or NULL */
		} let;
		struct node *expr;  /* EXPR statement; RETURN's value, or NULL */
		struct node *stmts; /* BLOCK */
		struct { /* UNROLL (from = count), FOR_RANGE: for $i : from..to */
			struct node *var, *from, *to, *body;
		} loop;
	};
};

/* A scratch variable: one per name and block of definition. */
struct var {
	const char *name;
	const struct type *type; /* grown by check */
	struct span first;       /* where first written */
	struct probe *probe;
	struct var *next;        /* all variables of the probe */
	unsigned index;          /* within the probe */
	void *slot;              /* codegen's: on the stack, or NULL: */
	uint32_t at;             /* in scratch memory */
};

/* A map. Whatever the script writes, integers lie in it as 8 bytes. */
struct map {
	const char *name;          /* without the @ */
	const struct type *key;    /* NULL: scalar. One part: that type, several: a tuple */
	const struct type *value;
	struct span first_key, first_value; /* where it got them */
	unsigned index;            /* order of first appearance */
	struct map *next;
	void *slot;                /* codegen's */
};

struct probe {
	struct span span;
	struct probe *next;
	struct attach_point *points;
	struct node *predicate; /* or NULL */
	struct node *body;      /* BLOCK */
	struct var *vars;       /* by resolve */
	unsigned nvars;
	const struct field *fields; /* what args.x may name: the provider's list; by resolve */
	unsigned index;
};

/* One line of the config block. */
struct setting {
	const char *name;
	struct span span;
	struct node *value; /* INT, STRING, BOOL or WORD */
	struct setting *next;
};

struct script {
	struct arena *arena;
	const struct source *source;
	struct setting *settings;
	struct probe *probes;
	struct map *maps; /* by resolve, in order of appearance */
	unsigned nmaps;
};

const char *node_kind_name(enum node_kind k);
const char *op_text(enum op op);
/* The tree, one node a line, two spaces a level; with types once checked. */
void ast_dump(const struct script *s, bool with_types, FILE *out);
