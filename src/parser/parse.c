// SPDX-License-Identifier: Apache-2.0
/* parse.c - runs the grammar, and writes its syntax errors: "unexpected X, expected Y". */
#include "parse.h"

#include <ctype.h>
#include <string.h>

#include "base/arena.h"
#include "base/owner.h"
#include "base/str.h"
#include "builtin_names.h"
#include "grammar.h"
#include "parser.h"

/* Functions of flex, which does not write a header here. */
int yylex_init_extra(struct parse *p, void **scanner);
int yylex_destroy(void *scanner);
void *yy_scan_bytes(const char *text, int len, void *scanner);
int yylex(YYSTYPE *value, struct span *at, void *scanner);

/* Starts flex after the C part. Returns the span of the C part. */
static struct span parse_open(struct parse *p, struct span file, void **scanner)
{
	struct span c = preamble_span(p->source, file, p->diags);

	yylex_init_extra(p, scanner);
	p->at = c.end;
	yy_scan_bytes(p->source->text + p->at, (int)(file.end - p->at), *scanner);
	p->unfinished |= diags_failed(p->diags); /* no other error is possible there */
	return c;
}

static void parse_close(struct parse *p, void *scanner)
{
	yylex_destroy(scanner);
	vec_done(&p->open);
}

/* Checks for NUL: flex would scan a token again from its start for each NUL. */
static bool has_nul(struct parse *p, struct span file)
{
	const char *nul = memchr(p->source->text + file.start, 0, file.end - file.start);
	uint32_t at = nul ? (uint32_t)(nul - p->source->text) : 0;

	if (nul)
		diag(p->diags, (struct span){at, at + 1}, DIAG_SYNTAX, "unexpected byte 0x00");
	return nul;
}

/* Reads one file. Its imports come before its own probes and C part. */
static void parse_text(struct parse *p, struct span file)
{
	struct script *s = p->script;
	struct probe **end = &s->probes;
	struct span c_part;
	void *scanner;

	if (has_nul(p, file))
		return;
	p->probes_end = &p->probes;
	p->imports_end = &p->imports;
	for (p->settings_end = &s->settings; *p->settings_end;)
		p->settings_end = &(*p->settings_end)->next;
	for (p->macros_end = &s->macros; *p->macros_end;)
		p->macros_end = &(*p->macros_end)->next;
	for (p->map_decls_end = &s->map_decls; *p->map_decls_end;)
		p->map_decls_end = &(*p->map_decls_end)->next;
	c_part = parse_open(p, file, &scanner);
	if (yyparse(scanner, p) && !diags_failed(p->diags))
		diag(p->diags, file, DIAG_NESTING, "this cannot be parsed");
	parse_close(p, scanner);
	if (!p->looks)
		import_all(p, p->imports);
	if (c_part.end > c_part.start)
		c_part_add(s, c_part);
	while (*end)
		end = &(*end)->next;
	*end = p->probes;
}

void parse_file(struct parse *importing, struct span file)
{
	struct parse p = {.arena = importing->arena, .source = importing->source, .diags = importing->diags,
		.script = importing->script, .imported = true};

	parse_text(&p, file);
}

struct script *parse(struct arena *a, struct source *src, struct diags *d)
{
	struct parse p = {.arena = a, .source = src, .diags = d};

	if (src->len > SOURCE_MAX) {
		diag(d, (struct span){}, DIAG_NESTING, "a script is %u MiB at most",
			SOURCE_MAX >> 20);
		return NULL;
	}
	p.script = arena_new_obj(a, struct script);
	p.script->arena = a;
	p.script->source = src;
	parse_text(&p, (struct span){0, (uint32_t)src->len});
	if (!diags_failed(d) && !p.script->probes)
		diag(d, (struct span){}, DIAG_SYNTAX, "there is no probe in this script");
	return diags_failed(d) ? NULL : p.script;
}

struct script *parse_typed(struct arena *a, struct source *src, const struct source *earlier,
	const struct language *lang, struct diags *d)
{
	struct parse p = {.arena = a, .source = src, .diags = d, .script = arena_new_obj(a, struct script)};
	struct parse before = {.arena = a, .source = src, .diags = d, .script = p.script, .earlier = true};
	uint32_t start;

	p.script->arena = a;
	p.script->source = src;
	if (line_is_statements(src->text, lang->providers))
		p.line = LINE_BEGINS;
	parse_text(&p, (struct span){0, (uint32_t)src->len});
	start = earlier && earlier->len ? source_add_file(a, src, earlier->name, earlier) : 0;
	if (start)
		parse_text(&before, (struct span){start, (uint32_t)src->len});
	return diags_failed(d) ? NULL : p.script;
}

bool line_is_unfinished(const char *text, const struct language *lang)
{
	struct arena *a = arena_new();
	struct source src = {.name = "", .text = text, .len = strlen(text)};
	struct parse p = {.arena = a, .source = &src, .diags = diags_new(a, &src),
		.script = arena_new_obj(a, struct script), .looks = true};

	p.script->arena = a;
	if (line_is_statements(text, lang->providers))
		p.line = LINE_BEGINS;
	parse_text(&p, (struct span){0, (uint32_t)src.len});
	arena_free(a);
	return p.unfinished;
}

struct expr *parse_expression(struct arena *a, const char *text)
{
	const char *script = arena_printf(a, "begin { _ = %s\n}", text);
	struct source src = {.name = "macro", .text = script, .len = strlen(script)};
	struct script *s = parse(a, &src, diags_new(a, &src));
	struct stmt *body = s ? s->probes->body->stmts : NULL;

	return body && !body->next && !s->probes->next && body->kind == STMT_EXPR ? body->expr : NULL;
}

void lex_dump(const struct source *src, FILE *out)
{
	struct arena *a = arena_new();
	struct diags *d = diags_new(a, src);
	struct source copy = *src;
	struct parse p = {.arena = a, .source = &copy, .diags = d};
	struct source_cursor c = {};
	struct span at;
	void *scanner;
	YYSTYPE value;
	int token;

	parse_open(&p, (struct span){0, (uint32_t)src->len}, &scanner);
	while ((token = yylex(&value, &at, scanner)) != 0) {
		source_move(src, &c, at.start);
		fprintf(out, "%u:%u %s %.*s\n", c.lines + 1, c.at - c.line_start + 1,
			token_name(token), (int)(at.end - at.start), src->text + at.start);
	}
	parse_close(&p, scanner);
	diags_print(d, out, false);
	arena_free(a);
}

/* ---- expected tokens ---- */

/* Tokens that begin an expression: an error names "an expression" instead. */
static const char *const starters[] = {
	"a name",
	"a $variable",
	"a @map",
	"a type",
	"'sizeof'",
	"'typeof'",
	"'offsetof'",
	"'container_of'",
	"'typeinfo'",
	"'comptime'",
	"'&'",
	"struct, union or enum",
	"a parameter",
	"true or false",
	"a number",
	"a string",
	"'!'",
	"'~'",
	"'-'",
	"'*'",
	"'('",
	"'++'",
	"'--'",
	"a block as a value",
	"an if as a value",
	/* Tokens that begin a statement. */
	"'if'",
	"'for'",
	"'while'",
	"'unroll'",
	"'let'",
	"'break'",
	"'continue'",
	"'return'",
	"'{'",
	"';'",
};

/* Tokens that continue an expression: an error names them only if nothing else is expected. */
static const char *const operators[] = {
	"'?'",
	"'?:'",
	"'||'",
	"'&&'",
	"'|'",
	"'^'",
	"'&'",
	"'=='",
	"'!='",
	"'<'",
	"'>'",
	"'<='",
	"'>='",
	"'<<'",
	"'>>'",
	"'+'",
	"'-'",
	"'*'",
	"'/'",
	"'%'",
	"'++'",
	"'--'",
	"'->'",
	"'.'",
	"'['",
	"'='",
	"an assignment",
	"'('",
};

/* The definitions that may stand outside of probes. */
static const char *const definitions[] = {"a config block", "a macro", "an import",
	"the declaration of a map"};

static bool among(const char *name, const char *const *names, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(name, names[i]))
			return true;
	return false;
}

static void add_expected(struct str *s, const char *name, unsigned *n)
{
	str_addf(s, "%s%s", *n ? "\1" : "", name);
	++*n;
}

/* names are separated by \1. Writes ", expected a, b or c". */
static void expected_text(struct str *out, const char *names)
{
	const char *sep = ", expected ", *end;

	for (; *names; names = *end ? end + 1 : end) {
		end = names + strcspn(names, "\1");
		str_addf(out, "%s%.*s", sep, (int)(end - names), names);
		sep = *end && !strchr(end + 1, '\1') ? " or " : ", ";
	}
}

static void list_expected(struct str *out, const char *const *expected, unsigned n)
{
	bool operand = among("a number", expected, n) && among("'('", expected, n);
	bool field =
		!operand && among("a name", expected, n) && among("'if'", expected, n);
	const char *const *hidden = operand ? starters : operators;
	size_t nhidden = operand ? ARRAY_SIZE(starters) : ARRAY_SIZE(operators);
	_cleanup_(str_done) struct str names = {};
	unsigned count = 0;

	if (operand)
		add_expected(&names,
			among("'let'", expected, n) ? "a statement" : "an expression",
			&count);
	if (field) /* a field's name may also be a keyword */
		add_expected(&names, "a name", &count);
	for (unsigned i = 0; !field && i < n; i++)
		if (!among(expected[i], hidden, nhidden) &&
			!among(expected[i], definitions, ARRAY_SIZE(definitions)))
			add_expected(&names, expected[i], &count);
	if (among("a macro", expected, n))
		add_expected(&names, "a definition", &count);
	for (unsigned i = 0; !count && i < n; i++)
		add_expected(&names, expected[i], &count);
	if (count <= 5)
		expected_text(out, str_text(&names));
}

static bool first_on_line(const struct source *s, uint32_t at)
{
	while (at > 0 && (s->text[at - 1] == ' ' || s->text[at - 1] == '\t'))
		at--;
	return at > 0 && s->text[at - 1] == '\n';
}

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* Finds the word that ends before `at`, skipping blanks. */
static bool word_before(const struct source *s, uint32_t at, char *ret, size_t size)
{
	uint32_t from;

	while (at > 0 && isspace((unsigned char)s->text[at - 1]))
		at--;
	for (from = at; from > 0 && is_word(s->text[from - 1]);)
		from--;
	snprintf(ret, size, "%.*s", (int)(at - from), s->text + from);
	return at > from;
}

/* Returns whether the token, or the word before it, is a word of bpftrace that strata lacks. */
static bool peer_word(const struct parse *p, struct span at, char *ret, size_t size)
{
	snprintf(ret, size, "%.*s", (int)(at.end - at.start), p->source->text + at.start);
	if (peer_has(PEER_WORD, ret))
		return true;
	return word_before(p->source, at.start, ret, size) &&
	       (peer_has(PEER_WORD, ret) || peer_has(PEER_FUNCTION, ret));
}

static bool is_tag(const char *text)
{
	return !strncmp(text, "struct ", 7) || !strncmp(text, "union ", 6) || !strncmp(text, "enum ", 5);
}

/* Adds a hint about the probable meaning. */
static void hint_unexpected(
	struct parse *p, struct span at, const char *const *expected, unsigned n)
{
	const char *text = p->source->text + at.start;
	char word[32] = "";

	if (at.end - at.start == 1 && *text == '=' && among("')'", expected, n))
		diag_hint(p->diags,
			"= assigns, and is a statement of its own; == compares");
	else if (at.end - at.start == 1 && *text == '=' && among("the '/' that ends the predicate", expected, n))
		diag_hint(p->diags, "did you mean ==? = assigns");
	else if (*text == ';' && among("'{'", expected, n))
		diag_hint(p->diags, "what if, while and for run is in braces: if (..) { .. }");
	else if (among("'..'", expected, n))
		diag_hint(p->diags, "a loop goes over a range, for ($i : 0..10) { }, or a map, for ($kv : @m) { }");
	else if (is_tag(text))
		diag_hint(p->diags, "definitions of C stand before the first probe and the config block");
	else if (peer_word(p, at, word, sizeof(word)))
		diag_hint(p->diags, "bpftrace has `%s`; strata does not yet", word);
	else if (word_before(p->source, at.start, word, sizeof(word)) && !strcmp(word, "import"))
		diag_hint(p->diags, "import stands outside of probes");
	else if (*text == '@' && !strcmp(word, "let"))
		diag_hint(p->diags, "maps are declared outside of probes: let @m = hash(100);");
	else if (among("';'", expected, n) && first_on_line(p->source, at.start))
		diag_hint(p->diags, "a ';' may be missing at the end of the line before");
}

void complain_unexpected(
	struct parse *p, struct span at, const char *const *expected, unsigned n)
{
	_cleanup_(str_done) struct str wanted = {};
	const char *text = p->source->text + at.start;
	size_t len = at.end - at.start, line = strcspn(text, "\r\n");

	list_expected(&wanted, expected, n);
	if (!len) {
		p->unfinished = true;
		while (at.start > 0 &&
			isspace((unsigned char)p->source->text[at.start - 1]))
			at.start--;
		at.end = at.start;
		diag(p->diags, at, DIAG_SYNTAX, "unexpected end of the script%s",
			str_text(&wanted));
	} else {
		diag(p->diags, at, DIAG_SYNTAX, "unexpected '%.*s'%s",
			(int)(len < line ? len : line), text, str_text(&wanted));
		hint_unexpected(p, at, expected, n);
	}
	/* At the end, or at a bracket of another kind, an unclosed bracket may be the cause. */
	if (p->innermost.c && (!len || (p->innermost.c != '{' && strchr("{})];", *text))))
		diag_note(
			p->diags, p->innermost.span, "'%c' opened here", p->innermost.c);
}
