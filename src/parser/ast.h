// SPDX-License-Identifier: Apache-2.0
/* ast.h - the tree of a script. The grammar makes it, resolve finds the meaning of names, check adds types,
 * codegen reads it. All nodes live in the script's arena. */
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
	S(FOR_STACK, "for_stack")                                                        \
	S(RETURN, "return")                                                              \
	S(BREAK, "break")                                                                \
	S(CONTINUE, "continue")

enum stmt_kind {
#define S(id, name) STMT_##id,
	STMT_KINDS(S)
#undef S
};

#define AST_OPS(O)                                                                       \
	O(NONE, "=") /* an assignment without operator */                                              \
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

/* The passes walk the tree recursively, so the parser refuses deeper trees. */
#define AST_DEPTH_MAX 400

/* One name of `a.b.c`. */
struct expr_path {
	const char *name;
	struct span span;
	struct expr_path *next;
};

struct expr {
	enum expr_kind kind;
	uint16_t depth;          /* depth of this tree, 1 for a leaf; at most AST_DEPTH_MAX */
	struct span span;
	struct expr *next;       /* next argument, key or tuple member */
	const struct type *type; /* set by check */
	union {
		struct { /* INT; -1 is a UNOP NEG of 1 until it is folded */
			uint64_t value;
			bool is_unsigned; /* too large for int64 */
			const struct type *type; /* type of an enumerator; NULL for the smallest type that fits */
			const char *param; /* the text of $N if that gave the number, or ""; else NULL */
		} integer;
		struct { /* STRING: bytes without escapes, may contain NUL */
			const char *text;
			uint32_t len;
			const char *label; /* `label: "text"`, an argument with a name; else NULL */
		} string;
		bool boolean;     /* BOOL */
		struct { /* PARAM: $1.., `$#` is number 0. resolve replaces it by INT or STRING */
			unsigned number;
		} param;
		const char *word; /* WORD: a bare identifier that is not a builtin: a mode, a unit */
		struct { /* VAR: $x */
			const char *name; /* without the $ */
			unsigned use;     /* the macro use to which it is local; 0 for the script */
			struct var *var;  /* set by resolve */
		} var;
		/* MAP: @m or @m[k, ..]. Its type is the type of the map's values, with one exception: a
		 * count, sum, min, max or avg (map->value is AGG) that is used as a number has type INT; as
		 * an argument of print() and other functions that take `any` it has type AGG. Keys have
		 * their own types; in the map they are one value of type map->key. */
		struct {
			const char *name; /* without the @; "" for @ */
			struct expr *keys; /* NULL for a map used as a scalar */
			struct map *map;   /* set by resolve */
		} map;
		struct { /* CALL: f(args), or a builtin variable */
			const char *name;
			struct expr *args;
			unsigned nargs;
			bool parens;
			struct expr *named; /* arguments with names: STRINGs, which are not among args */
			const struct builtin *builtin; /* set by resolve */
			const char *unknown; /* set by resolve: the error, if the call may be left out */
			void *data; /* set by the builtin's check, for its gen */
			bool takes; /* set by check: print() of a map that the block clears later, or that clear() */
		} call;
		struct type_name *type_name; /* TYPE: an argument of a macro */
		struct { /* FIELD: object.name, object->name, tuple.0 */
			struct expr *object;
			const char *name;
			const struct field *field; /* of `args`, set by check */
			const struct member *member; /* of a struct, set by check */
			const struct type *of;       /* that struct, complete */
			unsigned index;            /* of a tuple or record, set by check */
		} field;
		struct { /* INDEX */
			struct expr *object, *index;
		} index;
		struct { /* UNOP (left only), BINOP */
			enum op op;
			struct expr *left, *right;
		} op;
		struct { /* TERNARY; then is NULL in `a ?: b`, whose value is the test's own */
			struct expr *test, *then, *els;
		} cond;
		struct { /* CAST: expr.type is the type that `to` names */
			struct type_name *to;
			struct expr *value;
		} cast;
		struct { /* SIZEOF, TYPEINFO: type or value is NULL. Check replaces them by an INT, TUPLE */
			struct type_name *type;
			struct expr *value;
			uint32_t bytes; /* 0 until it is known */
		} size;
		struct { /* OFFSETOF: a member of a type or of a value's type. Check replaces it by an INT */
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
	uint16_t depth;    /* depth of this tree, as in struct expr */
	bool discard;      /* EXPR of `_ = e`: do not warn that the value is unused */
	bool shows;        /* EXPR at a prompt: print its value, if there is one.. */
	bool asked;        /* ..which check has done */
	bool last;         /* no `;` follows, so that it is the value of a macro's body */
	struct span span;
	struct stmt *next; /* next one of the same block */
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
		struct { /* UNROLL (from: the count), FOR_RANGE: for $i : from..to, FOR_MAP: for $kv : from,
			  * FOR_STACK: for $f : from */
			struct expr *var, *from, *to;
			struct stmt *body;
		} loop;
	};
};

/* A variable $x of a probe. It is known in the block where it is first set. */
struct var {
	const char *name;
	unsigned use;            /* the same as in expr.var */
	const struct type *type; /* set by check, which may make it larger in each round */
	struct span first;       /* the first assignment */
	bool addressed;          /* &$x occurs, so it lies in scratch memory */
	struct probe *probe;
	struct var *next;        /* next variable of the probe */
	unsigned index;          /* index within the probe */
	void *slot;              /* set by codegen: place on the BPF stack, or NULL for scratch memory */
	uint32_t at;             /* offset in scratch memory */
};

/* A map. Its integers have 8 bytes, whatever their type in the script. */
struct map {
	const char *name;          /* without the @ */
	const struct map_decl *decl; /* let @m = kind(n); or NULL */
	const struct type *key;    /* NULL for a scalar; a tuple for several keys */
	const struct type *value;
	struct span first_key, first_value; /* expressions from which the map got these types */
	unsigned index;            /* order of first appearance */
	struct map *next, *same_hash; /* see resolve.c */
	bool taken;                /* a block prints and then clears it: set by check, see check_taken() */
	void *slot;                /* set by codegen */
};

struct probe {
	struct span span;
	struct probe *next;
	struct attach_point *points;
	struct expr *predicate; /* or NULL */
	struct expr *filter;    /* of the command line, for places whose provider is not any_process; or NULL */
	struct stmt *body;      /* BLOCK */
	struct var *vars;       /* set by resolve */
	unsigned nvars;
	const struct field *fields; /* all fields that args.x may name, of all places; set by resolve */
	unsigned index;
	/* Set by check: expressions contain loops, or loops over maps. */
	bool block_loops, block_map_loops;
	bool thins; /* set by check: config thin leaves out events, see thin_event() */
};

/* macro name(params) { statements } */
struct macro {
	struct macro *same_hash; /* next macro in the same bucket, in the order of definition */
	const char *name;
	struct span span;     /* span: the whole definition; head: the part before the body */
	struct span head;
	struct expr *params;  /* VAR, MAP, or CALL for an expression or a type */
	unsigned nparams;
	struct stmt *body;    /* BLOCK, as parsed */
	bool expanding;       /* a use of it is being expanded now */
	struct macro *next;
};

/* let @name = kind(max_entries); */
struct map_decl {
	const char *name;     /* without the @ */
	const char *kind;
	struct span span, kind_span;
	uint64_t max_entries; /* 0 after an error */
	bool lru, per_cpu;    /* set by resolve: properties of the kind */
	struct map_decl *next;
};

/* getopt(name, init, help) */
struct script_option {
	const char *name;         /* without -- */
	const char *help;         /* or NULL */
	const struct expr *init;  /* INT, STRING or BOOL; NULL for false */
	const char *bad;          /* the error in the command line's value, or NULL */
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
	struct span *c_parts; /* spans of the text for the C compiler, one for each file that has such a part */
	unsigned nc_parts;
	struct span *c_programs; /* spans of imported files with functions in C */
	unsigned nc_programs;
	struct setting *settings;
	struct probe *probes;
	struct macro *macros;
	struct map_decl *map_decls;
	struct script_option *options; /* set by options_collect(); check adds options with computed names */
	struct map *maps; /* set by resolve, in order of appearance */
	unsigned nmaps;
	bool is_statements; /* typed at a prompt */
	bool dw_noted;   /* the note about dw_ustack was printed; set by check */
	bool stack_lens; /* len() of a stored stack occurs; set by check */
};

enum { EXPR_OPERANDS_MAX = 3, STMT_EXPRS_MAX = 3, STMT_STMTS_MAX = 2 };

/* Finds the slots of the expressions, and of lists of expressions, directly below n, in the order of the
 * script. Returns their number; none of the slots holds NULL. */
unsigned expr_slots(struct expr *n, struct expr **ret[EXPR_OPERANDS_MAX]);
/* Does the same for a statement. */
unsigned stmt_exprs(struct stmt *n, struct expr **ret[STMT_EXPRS_MAX]);
unsigned stmt_stmts(struct stmt *n, struct stmt **ret[STMT_STMTS_MAX]);
/* Returns the slot of the type that a CAST, SIZEOF, TYPEINFO, OFFSETOF or TYPE names, or NULL for other
 * expressions. */
struct type_name **expr_type_slot(struct expr *n);

/* Finds the expressions directly below n, in the order of the script; of a list, only the first.
 * Expressions in the statements of a BLOCK are left out. Returns their number. */
unsigned expr_operands(const struct expr *n, struct expr *ret[EXPR_OPERANDS_MAX]);
/* Calls f for each expression of a list, or of statements, and for all expressions below, until f returns
 * true. Returns whether f did. */
bool expr_any(struct expr *first, bool (*f)(struct expr *n, void *arg), void *arg);
bool stmt_any(struct stmt *first, bool (*f)(struct expr *n, void *arg), void *arg);
/* Returns whether these probes (NULL: all) read the map: they use it other than to write elements by = or
 * aggregations, or to hand it to userspace whole, as print(@m) does. The script is resolved. */
bool script_reads_map(const struct script *s, const struct map *m, bool (*wanted)(const struct probe *p));
const char *stmt_kind_name(enum stmt_kind k);
const char *op_text(enum op op);
/* Prints the tree, one expression or statement per line, two spaces per level; with types if it was
 * checked. */
void ast_dump(const struct script *s, bool with_types, FILE *out);
