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
struct type_name;

/* E(id, name in dumps) */
#define EXPR_KINDS(E)                                                                    \
	E(INT, "int")                                                                    \
	E(STRING, "string")                                                              \
	E(BOOL, "bool")                                                                  \
	E(PARAM, "param")                                                                \
	E(WORD, "word")                                                                  \
	E(VAR, "var")                                                                    \
	E(MAP, "map")                                                                    \
	E(CALL, "call")                                                                  \
	E(FIELD, "field")                                                                \
	E(INDEX, "index")                                                                \
	E(UNOP, "unop")                                                                  \
	E(BINOP, "binop")                                                                \
	E(TERNARY, "ternary")                                                            \
	E(CAST, "cast")                                                                  \
	E(SIZEOF, "sizeof")                                                              \
	E(TUPLE, "tuple")

enum expr_kind {
#define E(id, name) EXPR_##id,
	EXPR_KINDS(E)
#undef E
};

/* S(id, name in dumps) */
#define STMT_KINDS(S)                                                                    \
	S(ASSIGN, "assign")                                                              \
	S(LET, "let")                                                                    \
	S(EXPR, "expr")                                                                  \
	S(IF, "if")                                                                      \
	S(BLOCK, "block")                                                                \
	S(UNROLL, "unroll")                                                              \
	S(WHILE, "while")                                                                \
	S(FOR_RANGE, "for_range")                                                        \
	S(RETURN, "return")                                                              \
	S(BREAK, "break")                                                                \
	S(CONTINUE, "continue")

enum stmt_kind {
#define S(id, name) STMT_##id,
	STMT_KINDS(S)
#undef S
};

#define AST_OPS(O)                                                                       \
	O(NONE, "=") /* of an assignment: plain */                                              \
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

struct expr {
	enum expr_kind kind;
	uint16_t depth;          /* of the tree below, this one too: AST_DEPTH_MAX at most */
	struct span span;
	struct expr *next;       /* next argument, key or tuple member */
	const struct type *type; /* once check.c has been here */
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
		 * is AGG and the expression's type INT. As an argument of print() and other takers
		 * of `any` it stays AGG. Several keys are expressions of their own types; what lies
		 * in the map is map->key, a tuple. */
		struct {
			const char *name; /* without the @; "" for @ */
			struct expr *keys; /* NULL: scalar use */
			struct map *map;   /* by resolve */
		} map;
		struct { /* CALL: f(args), or a builtin variable */
			const char *name;
			struct expr *args;
			unsigned nargs;
			bool parens;
			const struct builtin *builtin; /* by resolve */
			void *data; /* by the builtin's check, for its gen */
		} call;
		struct { /* FIELD: object.name, object->name, tuple.0 */
			struct expr *object;
			const char *name;
			const struct field *field; /* of `args`, by check */
			unsigned index;            /* of a tuple, by check */
		} field;
		struct { /* INDEX */
			struct expr *object, *index;
		} index;
		struct { /* UNOP (left only), BINOP */
			enum op op;
			struct expr *left, *right;
		} op;
		struct { /* TERNARY; then is NULL in `a ?: b`: the test's own value */
			struct expr *test, *then, *els;
		} cond;
		struct { /* CAST: what `to` means is in expr.type */
			struct type_name *to;
			struct expr *value;
		} cast;
		struct { /* SIZEOF: of either one; replaced by INT in the last round of check */
			struct type_name *type;
			struct expr *value;
			uint32_t bytes; /* 0: not known yet */
		} size;
		struct expr *members; /* TUPLE */
	};
};

struct stmt {
	enum stmt_kind kind;
	uint16_t depth;    /* as an expression's */
	bool discard;      /* EXPR of `_ = e`: that nobody uses it is meant */
	struct span span;
	struct stmt *next; /* of the same block */
	union {
		struct { /* ASSIGN; left: VAR or MAP; op: NONE, ADD.. */
			enum op op;
			struct expr *left, *right;
		} assign;
		struct { /* LET: let $x [: type] [= value] */
			struct expr *var;
			struct type_name *to; /* or NULL */
			struct expr *value; /* or NULL */
		} let;
		struct expr *expr; /* EXPR; RETURN: the value, or NULL */
		struct { /* IF: els is a BLOCK, an IF or NULL; WHILE: then is the body */
			struct expr *test;
			struct stmt *then, *els;
		} cond;
		struct stmt *stmts; /* BLOCK */
		struct { /* UNROLL (from: the count), FOR_RANGE: for $i : from..to */
			struct expr *var, *from, *to;
			struct stmt *body;
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
	struct expr *predicate; /* or NULL */
	struct stmt *body;      /* BLOCK */
	struct var *vars;       /* by resolve */
	unsigned nvars;
	const struct field *fields; /* what args.x may name: the provider's list; by resolve */
	unsigned index;
};

/* One line of the config block. */
struct setting {
	const char *name;
	struct span span;
	struct expr *value; /* INT, STRING, BOOL or WORD */
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

enum { EXPR_OPERANDS_MAX = 3 };

/* The expressions that one is made of, in the order of the script, a list by its first: how many. */
unsigned expr_operands(const struct expr *n, struct expr *ret[EXPR_OPERANDS_MAX]);
const char *stmt_kind_name(enum stmt_kind k);
const char *op_text(enum op op);
/* The tree, one expression or statement a line, two spaces a level; with types once checked. */
void ast_dump(const struct script *s, bool with_types, FILE *out);
