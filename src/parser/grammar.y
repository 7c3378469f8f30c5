/* SPDX-License-Identifier: Apache-2.0 */
/* grammar.y - the grammar. Its rules only build the tree; resolve.c finds the meaning of names. */
%define api.pure full
%define api.location.type {struct span}
%define api.value.type union
%define parse.error custom
%define parse.lac full
%expect 0
%param {void *scanner}
%parse-param {struct parse *p}

%code requires {
#include "parse.h"
}

%code {
int yylex(YYSTYPE *value, struct span *at, void *scanner);
static void yyerror(const struct span *at, void *scanner, struct parse *p, const char *text);

#define YYMAXDEPTH 4000
#define span_join(a, b) ((struct span){(a).start, (b).end})
#define YYLLOC_DEFAULT(cur, rhs, n)                                                      \
	((cur) = (n) ? (struct span){ YYRHSLOC(rhs, 1).start, YYRHSLOC(rhs, n).end }     \
		     : (struct span){ YYRHSLOC(rhs, 0).end, YYRHSLOC(rhs, 0).end })
}

%token YYEOF 0 "the end"
%token <const char *> ATTACH_POINT "a probe" NAME "a name" VARIABLE "a $variable"
%token <const char *> MAP "a @map" TYPE "a type"
%token <unsigned> PARAM "a parameter"
%token <bool> BOOLEAN "true or false"
%token <struct expr *> IMPORT "an import" INTEGER "a number" STRING "a string"
%token <enum op> ASSIGN "an assignment"
%token <const char *> MACRO "a macro" LET_MAP "the declaration of a map"
%token LINE_START "a line" CONFIG "a config block" PREDICATE_START "'/'" PREDICATE_END "the '/' that ends the predicate"
%token PROBE_END "'}'"
/* yylex() returns these for '{' and `if` where an operand is expected. */
%token BLOCK "a block as a value" IF_VALUE "an if as a value"
%token IF "'if'" ELSE "'else'" FOR "'for'" WHILE "'while'" UNROLL "'unroll'" LET "'let'"
%token BREAK "'break'" CONTINUE "'continue'" RETURN "'return'"
%token SIZEOF "'sizeof'" TYPEOF "'typeof'" OFFSETOF "'offsetof'" CONTAINER_OF "'container_of'" TYPEINFO "'typeinfo'" COMPTIME "'comptime'"
%token <const char *> TAG "struct, union or enum"
%token ARROW "'->'" DOTDOT "'..'"
%token ELVIS "'?:'" LOR "'||'" LAND "'&&'" EQ "'=='" NE "'!='" LE "'<='" GE "'>='"
%token SHL "'<<'" SHR "'>>'" INC "'++'" DEC "'--'"

%right '?' ':' ELVIS
%left LOR
%left LAND
%left '|'
%left '^'
%left '&'
%left EQ NE
%left '<' '>' LE GE
%left SHL SHR
%left '+' '-'
%left '*' '/' '%'

%nterm <struct attach_point *> points
%nterm <struct expr *> predicate expr unary postfix bare grouped castee init value
%nterm <struct expr *> blockvalue branchvalue ifvalue elsevalue
%nterm <struct record_list> record
%nterm <struct expr_path *> path
%nterm <struct stars> stars
%nterm <struct stmt *> body block stmt compound branch range
%nterm <struct expr_list> args given params
%nterm <struct expr *> arg param
%nterm <struct stmt_list> list stmts
%nterm <struct type_name *> type named known words
%nterm <const char *> member label

%%
text	: script
	| LINE_START stmts		{ line_end(p, @2, $2); }
	;
script	: %empty
	| script probe
	| script config
	| script macro
	| script IMPORT semi		{ import_add(p, @2, $2); }
	| script map
	| script error PROBE_END		{ yyerrok; if (diags_full(p->diags)) YYABORT; }
	;

probe	: points comma predicate body		{ probe_end(p, @$, $3, $4); }
	;
points	: ATTACH_POINT			{ $$ = attach_point_new(p, @1, $1); probe_begin(p, $$); }
	| points ',' ATTACH_POINT	{ $$ = $1->next = attach_point_new(p, @3, $3); }
	;
comma	: %empty | ',' ;
predicate : %empty				{ $$ = NULL; }
	| PREDICATE_START expr PREDICATE_END	{ $$ = $2; }
	;
body	: '{' stmts PROBE_END			{ $$ = ast_block(p, @$, $2); }
	;

macro	: MACRO '(' params ')' body	{ macro_add(p, @$, span_join(@1, @4), $1, $3.first, $5); }
	;
params	: %empty			{ $$ = (struct expr_list){}; }
	| param				{ $$ = expr_add((struct expr_list){}, $1); }
	| params ',' param		{ $$ = expr_add($1, $3); }
	;
param	: VARIABLE			{ $$ = ast_var(p, @$, $1); }
	| MAP				{ $$ = ast_map(p, @$, $1); }
	| NAME				{ $$ = ast_call(p, @$, $1, (struct expr_list){}, false); }
	;
map	: LET_MAP '=' NAME '(' INTEGER ')' semi	{ map_decl_add(p, @$, $1, @3, $3, $5); }
	;

semi	: %empty | ';' ;

config	: CONFIG '{' settings PROBE_END
	;
settings : %empty
	| setting
	| settings ';'
	| settings ';' setting
	;
setting	: NAME '=' value			{ setting_add(p, @$, $1, $3); }
	;
value	: INTEGER
	| STRING
	| BOOLEAN		{ $$ = ast_bool(p, @$, $1); }
	| NAME			{ $$ = ast_word(p, @$, $1); }
	;

block	: '{' stmts '}'				{ $$ = ast_block(p, @$, $2); }
	;
stmts	: list
	| list stmt				{ $2->last = true; $$ = stmt_add($1, $2); }
	;
list	: %empty				{ $$ = (struct stmt_list){}; }
	| list ';'
	| list stmt ';'				{ $$ = stmt_add($1, $2); }
	| list compound				{ $2->last = true; $$ = stmt_add($1, $2); }
	;
stmt	: expr				{ $$ = ast_expr_stmt(p, @$, STMT_EXPR, $1); }
	| postfix '=' expr		{ $$ = ast_assign(p, @$, OP_NONE, $1, $3); }
	| postfix ASSIGN expr		{ $$ = ast_assign(p, @$, $2, $1, $3); }
	| LET VARIABLE init		{ $$ = ast_let(p, @$, ast_var(p, @2, $2), NULL, $3); }
	| LET VARIABLE ':' type init	{ $$ = ast_let(p, @$, ast_var(p, @2, $2), $4, $5); }
	| RETURN			{ $$ = ast_stmt(p, @$, STMT_RETURN); }
	| RETURN expr			{ $$ = ast_expr_stmt(p, @$, STMT_RETURN, $2); }
	| BREAK				{ $$ = ast_stmt(p, @$, STMT_BREAK); }
	| CONTINUE			{ $$ = ast_stmt(p, @$, STMT_CONTINUE); }
	;
init	: %empty			{ $$ = NULL; }
	| '=' expr			{ $$ = $2; }
	;
/* Statements do not begin with these. */
blockvalue : BLOCK list expr '}'	{ $$ = ast_value_block(p, @$, $2, $3); }
	| BLOCK list compound '}'	{ $3->last = true; $$ = ast_value_stmt(p, @$, $2, $3); }
	;
ifvalue	: IF_VALUE expr branchvalue ELSE elsevalue	{ $$ = ast_ternary(p, @$, $2, $3, $5); }
	;
elsevalue : branchvalue
	| IF expr branchvalue ELSE elsevalue	{ $$ = ast_ternary(p, @$, $2, $3, $5); }
	;
branchvalue : '{' list expr '}'		{ $$ = ast_value_block(p, @$, $2, $3); }
	| '{' list compound '}'		{ $3->last = true; $$ = ast_value_stmt(p, @$, $2, $3); }
	;
type	: known
	| named
	;
named	: NAME				{ $$ = type_name_word(p, @$, $1); }
	| named '[' INTEGER ']'		{ $$ = type_name_array(p, @$, $1, $3); }
	| named '*'			{ $$ = type_name_pointer(p, @$, $1); }
	;
/* Types whose first word cannot begin an expression. */
known	: words
	| TAG NAME			{ $$ = type_name_tag(p, @$, $1, $2); }
	| TAG TYPE			{ $$ = type_name_tag(p, @$, $1, $2); }
	| TYPEOF '(' expr ')'		{ $$ = type_name_of(p, @$, $3); }
	| TYPEOF '(' known ')'		{ $$ = $3; }
	| known '[' INTEGER ']'		{ $$ = type_name_array(p, @$, $1, $3); }
	| known '[' ']'			{ $$ = type_name_array(p, @$, $1, NULL); }
	| known '*'			{ $$ = type_name_pointer(p, @$, $1); }
	;
words	: TYPE				{ $$ = type_name_word(p, @$, $1); }
	| words TYPE			{ $$ = type_name_more(p, @$, $1, $2); }
	;
compound : branch
	| block
	| WHILE expr block		{ $$ = ast_cond(p, @$, STMT_WHILE, $2, $3, NULL); }
	| UNROLL expr block		{ $$ = ast_unroll(p, @$, $2, $3); }
	| FOR range block		{ $$ = ast_for(p, @$, $2, $3); }
	| FOR '(' range ')' block	{ $$ = ast_for(p, @$, $3, $5); }
	;
branch	: IF expr block			{ $$ = ast_cond(p, @$, STMT_IF, $2, $3, NULL); }
	| IF expr block ELSE block	{ $$ = ast_cond(p, @$, STMT_IF, $2, $3, $5); }
	| IF expr block ELSE branch	{ $$ = ast_cond(p, @$, STMT_IF, $2, $3, $5); }
	;
range	: VARIABLE ':' unary DOTDOT unary	{ $$ = ast_range(p, @$, ast_var(p, @1, $1), $3, $5); }
	| VARIABLE ':' unary		{ $$ = ast_range(p, @$, ast_var(p, @1, $1), $3, NULL); }
	;

expr	: unary
	| expr '?' expr ':' expr	{ $$ = ast_ternary(p, @$, $1, $3, $5); }
	| expr ELVIS expr		{ $$ = ast_ternary(p, @$, $1, NULL, $3); }
	| expr LOR expr			{ $$ = ast_binop(p, @$, OP_LOR, $1, $3); }
	| expr LAND expr		{ $$ = ast_binop(p, @$, OP_LAND, $1, $3); }
	| expr '|' expr			{ $$ = ast_binop(p, @$, OP_OR, $1, $3); }
	| expr '^' expr			{ $$ = ast_binop(p, @$, OP_XOR, $1, $3); }
	| expr '&' expr			{ $$ = ast_binop(p, @$, OP_AND, $1, $3); }
	| expr EQ expr			{ $$ = ast_binop(p, @$, OP_EQ, $1, $3); }
	| expr NE expr			{ $$ = ast_binop(p, @$, OP_NE, $1, $3); }
	| expr '<' expr			{ $$ = ast_binop(p, @$, OP_LT, $1, $3); }
	| expr '>' expr			{ $$ = ast_binop(p, @$, OP_GT, $1, $3); }
	| expr LE expr			{ $$ = ast_binop(p, @$, OP_LE, $1, $3); }
	| expr GE expr			{ $$ = ast_binop(p, @$, OP_GE, $1, $3); }
	| expr SHL expr			{ $$ = ast_binop(p, @$, OP_SHL, $1, $3); }
	| expr SHR expr			{ $$ = ast_binop(p, @$, OP_SHR, $1, $3); }
	| expr '+' expr			{ $$ = ast_binop(p, @$, OP_ADD, $1, $3); }
	| expr '-' expr			{ $$ = ast_binop(p, @$, OP_SUB, $1, $3); }
	| expr '*' expr			{ $$ = ast_binop(p, @$, OP_MUL, $1, $3); }
	| expr '/' expr			{ $$ = ast_binop(p, @$, OP_DIV, $1, $3); }
	| expr '%' expr			{ $$ = ast_binop(p, @$, OP_MOD, $1, $3); }
	;
unary	: postfix
	| '!' unary			{ $$ = ast_unop(p, @$, OP_NOT, $2); }
	| '~' unary			{ $$ = ast_unop(p, @$, OP_BNOT, $2); }
	| '-' unary			{ $$ = ast_unop(p, @$, OP_NEG, $2); }
	| '*' unary			{ $$ = ast_unop(p, @$, OP_DEREF, $2); }
	| '&' unary			{ $$ = ast_unop(p, @$, OP_ADDRESS, $2); }
	| INC unary			{ $$ = ast_unop(p, @$, OP_PREINC, $2); }
	| DEC unary			{ $$ = ast_unop(p, @$, OP_PREDEC, $2); }
	| COMPTIME unary		{ $$ = ast_comptime(p, @$, $2); }
	| '(' known ')' unary		{ $$ = ast_cast(p, @$, $2, $4); }
	| '(' expr stars ')' unary	{ $$ = ast_cast_named(p, @$, $2, $3, $5); }
	| '(' expr ')' castee		{ $$ = ast_cast_named(p, @$, $2, (struct stars){}, $4); }
	;
/* The operand that makes `(name)` before it a cast: it cannot begin with a binary operator. */
castee	: bare
	| grouped
	| '!' unary			{ $$ = ast_unop(p, @$, OP_NOT, $2); }
	| '~' unary			{ $$ = ast_unop(p, @$, OP_BNOT, $2); }
	| '(' known ')' unary		{ $$ = ast_cast(p, @$, $2, $4); }
	| '(' expr stars ')' unary	{ $$ = ast_cast_named(p, @$, $2, $3, $5); }
	| '(' expr ')' castee		{ $$ = ast_cast_named(p, @$, $2, (struct stars){}, $4); }
	;
stars	: '*'				{ $$ = (struct stars){1, @$}; }
	| '*' stars			{ $$ = (struct stars){$2.n + 1, @$}; }
	;
postfix	: bare
	| grouped
	;
bare	: INTEGER
	| STRING
	| BOOLEAN			{ $$ = ast_bool(p, @$, $1); }
	| PARAM				{ $$ = ast_param(p, @$, $1); }
	| VARIABLE			{ $$ = ast_var(p, @$, $1); }
	| MAP				{ $$ = ast_map(p, @$, $1); }
	| NAME				{ $$ = ast_call(p, @$, $1, (struct expr_list){}, false); }
	| NAME '(' ')'			{ $$ = ast_call(p, @$, $1, (struct expr_list){}, true); }
	| NAME '(' given ')'		{ $$ = ast_call(p, @$, $1, $3, true); }
	| SIZEOF '(' expr ')'		{ $$ = ast_sizeof(p, @$, NULL, $3); }
	| SIZEOF '(' known ')'		{ $$ = ast_sizeof(p, @$, $3, NULL); }
	| TYPEINFO '(' expr ')'	{ $$ = ast_typeinfo(p, @$, NULL, $3); }
	| TYPEINFO '(' known ')'	{ $$ = ast_typeinfo(p, @$, $3, NULL); }
	| OFFSETOF '(' expr ',' path ')'	{ $$ = ast_offsetof(p, @$, NULL, $3, $5); }
	| OFFSETOF '(' known ',' path ')'	{ $$ = ast_offsetof(p, @$, $3, NULL, $5); }
	| CONTAINER_OF '(' expr ',' type ',' path ')'	{ $$ = ast_container_of(p, @$, $3, $5, $7); }
	| bare '.' member		{ $$ = ast_field(p, @$, $1, $3); }
	| bare ARROW member		{ $$ = ast_field(p, @$, $1, $3); }
	| bare '[' args ']'		{ $$ = ast_index(p, @$, $1, $3); }
	| bare INC			{ $$ = ast_unop(p, @$, OP_POSTINC, $1); }
	| bare DEC			{ $$ = ast_unop(p, @$, OP_POSTDEC, $1); }
	;
grouped	: '(' expr ')'			{ $$ = $2; }
	| blockvalue
	| ifvalue
	| '(' ')'			{ $$ = ast_tuple(p, @$, (struct expr_list){}); }
	| '(' expr ',' ')'		{ $$ = ast_tuple(p, @$, expr_add((struct expr_list){}, $2)); }
	| '(' expr ',' args comma ')'	{ $$ = ast_tuple(p, @$, expr_push($2, $4)); }
	| '(' record comma ')'		{ $$ = ast_record(p, @$, $2); }
	| grouped '.' member		{ $$ = ast_field(p, @$, $1, $3); }
	| grouped ARROW member		{ $$ = ast_field(p, @$, $1, $3); }
	| grouped '[' args ']'		{ $$ = ast_index(p, @$, $1, $3); }
	| grouped INC			{ $$ = ast_unop(p, @$, OP_POSTINC, $1); }
	| grouped DEC			{ $$ = ast_unop(p, @$, OP_POSTDEC, $1); }
	;
record	: label '=' expr		{ $$ = record_add(p, @1, (struct record_list){}, $1, $3); }
	| record ',' label '=' expr	{ $$ = record_add(p, @3, $1, $3, $5); }
	;
label	: NAME
	| TYPE
	| keyword			{ $$ = span_text(p, @$); }
	;
path	: member			{ $$ = ast_path(p, @1, NULL, $1); }
	| path '.' member		{ $$ = ast_path(p, @3, $1, $3); }
	;
args	: expr			{ $$ = expr_add((struct expr_list){}, $1); }
	| args ',' expr		{ $$ = expr_add($1, $3); }
	;
given	: arg				{ $$ = expr_add((struct expr_list){}, $1); }
	| given ',' arg			{ $$ = expr_add($1, $3); }
	;
arg	: expr
	| known				{ $$ = ast_type(p, @$, $1); }
	| NAME ':' STRING		{ $$ = ast_named(@$, $1, $3); }
	;
member	: NAME
	| TYPE
	| INTEGER			{ $$ = span_text(p, @$); }
	| keyword			{ $$ = span_text(p, @$); }
	;
keyword	: IF | IF_VALUE | ELSE | FOR | WHILE | UNROLL | LET | BREAK | CONTINUE | RETURN | BOOLEAN
	| SIZEOF | TYPEOF | OFFSETOF | CONTAINER_OF | TYPEINFO | COMPTIME | TAG ;
%%

const char *token_name(int token)
{
	return yysymbol_name(YYTRANSLATE(token));
}

static void yyerror(const struct span *at, void *scanner, struct parse *p, const char *text)
{
	diag(p->diags, *at, DIAG_NESTING, "this is nested too deep: the parser has %d levels",
		YYMAXDEPTH);
}

static int yyreport_syntax_error(const yypcontext_t *ctx, void *scanner, struct parse *p)
{
	yysymbol_kind_t expected[YYNTOKENS];
	const char *names[YYNTOKENS];
	int n = yypcontext_expected_tokens(ctx, expected, YYNTOKENS);

	for (int i = 0; i < n; i++)
		names[i] = yysymbol_name(expected[i]);
	complain_unexpected(p, *yypcontext_location(ctx), names, n > 0 ? (unsigned)n : 0);
	return 0;
}
