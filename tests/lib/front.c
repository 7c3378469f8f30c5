// SPDX-License-Identifier: Apache-2.0
/* front.c - the parser (src/parser/) as a program, with the test language:
 *
 *     front [-d lex|ast|names|types] FILE [PARAM..]
 */
#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "language.h"
#include "model/provider.h"
#include "model/request.h"
#include "parser/ast.h"
#include "parser/settings.h"

static bool is(const char *stage, const char *name)
{
	return stage && !strcmp(stage, name);
}

/* As src/driver/driver.c does: reports errors of names and of types together. */
static bool passes(struct arena *a, struct source *src, struct diags *d,
	const char *stage, char **params, int nparams)
{
	struct request req = {
		.arena = a,
		.diags = d,
		.cmd = {.params = (const char *const *)params, .nparams = (unsigned)nparams},
	};
	struct script *s = parse(a, src, d);
	bool ok;

	if (s && is(stage, "ast"))
		ast_dump(s, false, stdout);
	if (!s || is(stage, "ast"))
		return s != NULL;
	ok = settings_read(s, d, &req.settings);
	ok = resolve(s, &test_language, &req) && ok;
	if (is(stage, "names"))
		names_dump(s, stdout);
	ok = check(s, &test_language, &req) && ok;
	if (ok && is(stage, "types"))
		ast_dump(s, true, stdout);
	return ok;
}

int main(int argc, char **argv)
{
	struct arena *a = arena_new();
	const char *stage = NULL;
	struct source src;
	struct diags *d;
	bool ok;
	int i = 1;

	for (; i < argc && argv[i][0] == '-' && argv[i][1]; i++)
		if (!strcmp(argv[i], "-d") && i + 1 < argc)
			stage = argv[++i];
	if (i >= argc || source_read(a, argv[i], &src) < 0) {
		fprintf(stderr, "usage: front [-d lex|ast|names|types] FILE [PARAM..]\n");
		return 2;
	}
	if (is(stage, "lex")) {
		lex_dump(&src, stdout);
		arena_free(a);
		return 0;
	}
	d = diags_new(a, &src);
	ok = passes(a, &src, d, stage, argv + i + 1, argc - i - 1);
	fflush(stdout);
	diags_print(d, stderr, false);
	arena_free(a);
	return !ok;
}
