// SPDX-License-Identifier: Apache-2.0
/* cpart_constants.c - enumerators and macros. Macros are not declarations, so the text for clang ends with
 * two declarations for each name that the script uses and that is a macro:
 *
 *     #ifdef NAME
 *     static const char strata_text_NAME[] = "its replacement";
 *     static const __typeof__(NAME) strata_value_NAME = NAME;
 *     #endif
 *
 * If the macro is not a constant expression, the second declaration is an error, which is ignored. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "cpart.h"
#include "guard.h"

enum { WORDS_MAX = 4096, WORD_MAX = 255, SLOTS = 4 * WORDS_MAX };

/* ---- the words of the script -------------------------------------------- */

struct words {
	VEC(const char *) list;
	const char *slots[SLOTS]; /* open addressing; at most a quarter is used */
};

static bool begins_word(char c)
{
	return isalpha((unsigned char)c) || c == '_';
}

static bool continues_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

static void add_word(struct cpart *c, struct words *w, const char *text, size_t n)
{
	uint32_t h = 0x811c9dc5; /* FNV-1a */

	if (n > WORD_MAX || w->list.len == WORDS_MAX)
		return;
	for (size_t i = 0; i < n; i++)
		h = (h ^ (unsigned char)text[i]) * 0x01000193;
	for (h %= SLOTS; w->slots[h]; h = (h + 1) % SLOTS)
		if (!strncmp(w->slots[h], text, n) && !w->slots[h][n])
			return;
	w->slots[h] = arena_strndup(c->arena, text, n);
	vec_push(&w->list, w->slots[h]);
}

/* Called at the first byte of a string. Returns the byte after the string. */
static const char *string_end(const char *p)
{
	for (p++; *p && *p != '"' && *p != '\n'; p++)
		p += *p == '\\' && p[1];
	return *p ? p + 1 : p;
}

/* Words after $, @ and . are variables, maps and members, which do not count. */
static void read_words(struct cpart *c, struct words *w)
{
	const char *text = c->source->text, *p = text, *end;

	while (p < text + c->source->len) {
		if (p == text + c->part.start && c->part.end > c->part.start) {
			p = text + c->part.end;
			continue;
		}
		for (end = p; continues_word(*end); end++)
			;
		if (*p == '"') {
			p = string_end(p);
		} else if ((*p && strchr("$@.", *p)) || (*p == '-' && p[1] == '>')) {
			p += *p == '-' ? 2 : 1;
			while (continues_word(*p))
				p++;
		} else {
			if (begins_word(*p))
				add_word(c, w, p, (size_t)(end - p));
			p = end > p ? end : p + 1;
		}
	}
}

static void add_texts(struct cpart *c, const char *const *words, size_t n)
{
	for (size_t i = 0; i < n; i++)
		str_addf(&c->text, "#ifdef %s\nstatic const char " CPART_TEXT "%s[] = strata_expanded(%s);\n#endif\n",
			words[i], words[i], words[i]);
}

/* The values come after all texts, since an unbalanced bracket in a value makes later declarations
 * unreadable. */
static void add_values(struct cpart *c, const char *const *words, size_t n)
{
	for (size_t i = 0; i < n; i++)
		str_addf(&c->text, "#ifdef %s\nstatic const __typeof__(%s) " CPART_VALUE "%s = %s;\n#endif\n",
			words[i], words[i], words[i], words[i]);
}

void cpart_add_words(struct cpart *c)
{
	struct words *words = calloc(1, sizeof(*words));

	if (!words)
		return;
	read_words(c, words);
	str_add(&c->text, "#define strata_text(...) #__VA_ARGS__\n"
			  "#define strata_expanded(...) strata_text(__VA_ARGS__)\n");
	add_texts(c, words->list.data, words->list.len);
	add_values(c, words->list.data, words->list.len);
	vec_done(&words->list);
	free(words);
}

/* ---- values ----------------------------------------------------------------- */

/* In C an enumerator is an int; here it has the enum's type. */
static bool enumerator(struct cpart *c, struct decl *d, struct constant *ret)
{
	ret->type = cpart_type(c, c->clang.getCursorType(c->clang.getCursorSemanticParent(d->cursor)));
	ret->value = (uint64_t)c->clang.getEnumConstantDeclValue(d->cursor);
	return ret->type->kind == TYPE_INT;
}

struct evaluation {
	struct cpart *part;
	struct decl *decl;
	void *result;
};

static void evaluate(void *arg)
{
	struct evaluation *e = arg;

	e->result = e->part->clang.Cursor_Evaluate(e->decl->cursor);
}

static const struct guard_limits limits = {.ms = 1000, .bytes = 64 << 20};

static bool evaluated(struct cpart *c, struct decl *d, struct constant *ret)
{
	const struct type *t = cpart_type(c, c->clang.getCursorType(d->cursor));
	struct evaluation ev = {c, d, NULL};
	void *e = guarded(evaluate, &ev, &limits) == GUARD_ENDED ? ev.result : NULL;
	int kind = e ? c->clang.EvalResult_getKind(e) : 0;

	*ret = (struct constant){.type = t};
	if (kind == CX_EVAL_INT)
		ret->value = (uint64_t)c->clang.EvalResult_getAsLongLong(e);
	else if (kind == CX_EVAL_STRING)
		ret->text = arena_strdup(c->arena, c->clang.EvalResult_getAsStr(e));
	if (e)
		c->clang.EvalResult_dispose(e);
	return (kind == CX_EVAL_INT && (t->kind == TYPE_INT || t->kind == TYPE_BOOL)) ||
		(kind == CX_EVAL_STRING && t->kind == TYPE_STRING);
}

bool cpart_constant(void *state, const char *name, struct constant *ret)
{
	struct cpart *c = state;
	struct decl *d = decl_find(c, CX_VAR_DECL, arena_printf(c->arena, CPART_VALUE "%s", name));

	if (d && evaluated(c, d, ret))
		return true;
	d = decl_find(c, CX_ENUM_CONSTANT_DECL, name);
	return d && enumerator(c, d, ret);
}

const char *cpart_macro(void *state, const char *name)
{
	struct cpart *c = state;
	struct decl *d = decl_find(c, CX_VAR_DECL, arena_printf(c->arena, CPART_TEXT "%s", name));
	struct constant value;

	/* A macro with parameters that is used without arguments stands for itself. */
	return d && evaluated(c, d, &value) && strcmp(value.text, name) != 0 ? value.text : NULL;
}
