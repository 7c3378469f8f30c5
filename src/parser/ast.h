// SPDX-License-Identifier: Apache-2.0
/* ast.h - the tree of a script: the grammar makes it, resolve finds what names mean, check adds types,
 * codegen reads it. Everything lives in the script's arena. */
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
	E(TYPE, "type")                                                                  \
	E(FIELD, "field")                                                                \
	E(INDEX, "index")                                                                \
	E(UNOP, "unop")                                                                  \
	E(BINOP, "binop")                                                                \
	E(TERNARY, "ternary")                                                            \
	E(CAST, "cast")                                                                  \
	E(SIZEOF, "sizeof")                                                              \
	E(OFFSETOF, "offsetof")                                                          \
	E(TYPEINFO, "typeinfo")                                                          \
	E(TUPLE, "tuple")                                                                \
	E(BLOCK, "block")                                                                \
	E(COMPTIME, "comptime")

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
	S(FOR_MAP, "for_map")                                                            \
	S(RETURN, "return")                                                              \
	S(BREAK, "break")                                                                \
	S(CONTINUE, "continue")

enum stmt_kind {
#define S(id, name) STMT_##id,
	STMT_KINDS(S)
#undef S
};

#define AST_OPS(O)                                                                       \
	O(NONE, "=") /* of an assignment without operator */                                              \
	O(LOR, "||") O(LAND, "&&") O(OR, "|") O(XOR, "^") O(AND, "&")                    \
	O(EQ, "==") O(NE, "!=") O(LT, "<") O(GT, ">") O(LE, "<=") O(GE, ">=")            \
	O(SHL, "<<") O(SHR, ">>") O(ADD, "+") O(SUB, "-") O(MUL, "*") O(DIV, "/")        \
	O(MOD, "%")                                                                      \
	O(NEG, "-") O(NOT, "!") O(BNOT, "~") O(DEREF, "*") O(ADDRESS, "&")               \
	O(PREINC, "++") O(PREDEC, "--") O(POSTINC, "++") O(POSTDEC, "--")

enum op {
#define O(id, text) OP_##id,
	AST_OPS(O)
#undef O
	OP_MAX
};

/* The passes walk the tree recursively; the parser refuses a deeper one. */
#define AST_DEPTH_MAX 400

/* A name of `a.b.c`. */
struct expr_path {
	const char *name;
	struct span span;
	struct expr_path *next;
};

struct expr {
	enum expr_kind kind;
	uint16_t depth;          /* of this tree, 1 for a leaf; at most AST_DEPTH_MAX */
	struct span span;
	struct expr *next;       /* next argument, key or tuple member */
	const struct type *type; /* by check */
	union {
		struct { /* INT; -1 is UNOP NEG of 1 until it is folded */
			uint64_t value;
			bool is_unsigned; /* too large for int64 */
			const struct type *type; /* of an enumerator; NULL: as small as it can be */
			const char *param; /* the text of $N, if it was one ("" when not given); else NULL */
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
			unsigned use;     /* of the macro that it is local to; 0: of the script */
			struct var *var;  /* by resolve */
		} var;
		/* MAP: @m or @m[k, ..]. Its type is that of the map's values, with one exception: a
		 * count, sum, min, max or avg (map->value is AGG) that is used as a number has type
		 * INT; as an argument of print() and other functions that take `any` it has type AGG.
		 * Keys have types of their own; in the map they are one value of type map->key. */
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
			const char *unknown; /* by resolve: the error, where the call may be left out */
			void *data; /* by the builtin's check, for its gen */
		} call;
		struct type_name *type_name; /* TYPE: an argument of a macro */
		struct { /* FIELD: object.name, object->name, tuple.0 */
			struct expr *object;
			const char *name;
			const struct field *field; /* of `args`, by check */
			const struct member *member; /* of a struct, by check */
			unsigned index;            /* of a tuple or record, by check */
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
		struct { /* CAST: the type that `to` names is expr.type */
			struct type_name *to;
			struct expr *value;
		} cast;
		struct { /* SIZEOF, TYPEINFO of a type or an expression, the other is NULL. Check
			  * replaces them by an INT, and a TUPLE */
			struct type_name *type;
			struct expr *value;
			uint32_t bytes; /* 0: not known yet */
		} size;
		struct { /* OFFSETOF a member of a type or of a value's type. Check replaces it by INT */
			struct type_name *type;
			struct expr *value;
			struct expr_path *path;
			uint32_t bytes;
		} offset;
		struct { /* TUPLE; a record if the members have names */
			struct expr *first;
			const char **names;
		} tuple;
		struct { /* BLOCK: { statements; value } */
			struct stmt *stmts;
			struct expr *value;
		} block;
		struct expr *value; /* COMPTIME */
	};
};

struct stmt {
	enum stmt_kind kind;
	uint16_t depth;    /* as an expression's */
	bool discard;      /* EXPR of `_ = e`: do not warn that the value is unused */
	bool shows;        /* EXPR, at a prompt: print its value, if it has one.. */
	bool asked;        /* ..which check has seen to */
	bool last;         /* no `;` follows: of a macro's body, it is the value */
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
		struct { /* UNROLL (from: the count), FOR_RANGE: for $i : from..to, FOR_MAP: for $kv : from */
			struct expr *var, *from, *to;
			struct stmt *body;
		} loop;
	};
};

/* A variable $x of a probe, known in the block where it is first set. */
struct var {
	const char *name;
	unsigned use;            /* as of expr.var */
	const struct type *type; /* by check, which may make it larger in each round */
	struct span first;       /* where first written */
	bool addressed;          /* &$x is taken: it lies in scratch memory */
	struct probe *probe;
	struct var *next;        /* all variables of the probe */
	unsigned index;          /* within the probe */
	void *slot;              /* by codegen: on the BPF stack; NULL: in scratch memory, */
	uint32_t at;             /* at this offset */
};

/* A map. Integers in it have 8 bytes, whatever their type in the script. */
struct map {
	const char *name;          /* without the @ */
	const struct map_decl *decl; /* let @m = kind(n); or NULL */
	const struct type *key;    /* NULL: scalar; several keys: a tuple */
	const struct type *value;
	struct span first_key, first_value; /* that gave it these types */
	unsigned index;            /* order of first appearance */
	struct map *next, *same_hash; /* see resolve.c */
	void *slot;                /* by codegen */
};

struct probe {
	struct span span;
	struct probe *next;
	struct attach_point *points;
	struct expr *predicate; /* or NULL */
	struct stmt *body;      /* BLOCK */
	struct var *vars;       /* by resolve */
	unsigned nvars;
	const struct field *fields; /* what args.x may name, of all places; by resolve */
	unsigned index;
	/* Set by check: expressions contain loops; they contain loops over maps. */
	bool block_loops, block_map_loops;
};

/* macro name(params) { statements } */
struct macro {
	struct macro *same_hash; /* the next of those whose names may be equal, as defined */
	const char *name;
	struct span span;     /* of all; head: up to its body */
	struct span head;
	struct expr *params;  /* VAR, MAP; CALL: an expression, or a type */
	unsigned nparams;
	struct stmt *body;    /* BLOCK, as it was parsed */
	bool expanding;       /* a use of it is being expanded */
	struct macro *next;
};

/* let @name = kind(max_entries); */
struct map_decl {
	const char *name;     /* without the @ */
	const char *kind;
	struct span span, kind_span;
	uint64_t max_entries; /* 0: after an error */
	bool lru, per_cpu;    /* by resolve: of the kind */
	struct map_decl *next;
};

/* getopt(name, init, help) */
struct script_option {
	const char *name;         /* without -- */
	const char *help;         /* or NULL */
	const struct expr *init;  /* INT, STRING or BOOL; NULL: false */
	const char *bad;          /* what is wrong with the command line's value; NULL: nothing */
	struct span span;
	struct script_option *next;
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
	struct source *source;
	struct span *c_parts; /* in the source, what C's compiler reads, of each file that has it */
	unsigned nc_parts;
	struct span *c_programs; /* in the source, imported files of functions in C */
	unsigned nc_programs;
	struct setting *settings;
	struct probe *probes;
	struct macro *macros;
	struct map_decl *map_decls;
	struct script_option *options; /* by options_collect(); of computed names by check */
	struct map *maps; /* by resolve, in order of appearance */
	unsigned nmaps;
	bool is_statements; /* as typed at a prompt */
	bool dw_noted;   /* what dw_ustack is here was said; by check */
	bool stack_lens; /* len() of a stored stack is used; by check */
};

enum { EXPR_OPERANDS_MAX = 3, STMT_EXPRS_MAX = 3, STMT_STMTS_MAX = 2 };

/* Where the expressions, and lists of them, directly below one are kept, in the order of the script. The
 * count; none of them is NULL. */
unsigned expr_slots(struct expr *n, struct expr **ret[EXPR_OPERANDS_MAX]);
/* Likewise of a statement. */
unsigned stmt_exprs(struct stmt *n, struct expr **ret[STMT_EXPRS_MAX]);
unsigned stmt_stmts(struct stmt *n, struct stmt **ret[STMT_STMTS_MAX]);
/* Where the type that a CAST, SIZEOF, TYPEINFO, OFFSETOF or TYPE names is kept; NULL: n is none. */
struct type_name **expr_type_slot(struct expr *n);

/* The expressions directly below one, in the order of the script; of a list its first. The count. What
 * is in a BLOCK's statements is not among them. */
unsigned expr_operands(const struct expr *n, struct expr *ret[EXPR_OPERANDS_MAX]);
/* Calls f for each expression of a list, or of statements, and for all below it; ends with the first for
 * which it gives true. Is there such a one? */
bool expr_any(struct expr *first, bool (*f)(struct expr *n, void *arg), void *arg);
bool stmt_any(struct stmt *first, bool (*f)(struct expr *n, void *arg), void *arg);
const char *stmt_kind_name(enum stmt_kind k);
const char *op_text(enum op op);
/* The tree, one expression or statement a line, two spaces a level; with types once checked. */
void ast_dump(const struct script *s, bool with_types, FILE *out);
