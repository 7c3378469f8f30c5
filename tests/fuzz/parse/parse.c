// SPDX-License-Identifier: Apache-2.0
/* parse.c - any bytes as a script: parsed, resolved, checked, dumped, reported.
 * It may not crash, hang or leak, and every refused script must have an error message. */
#include <assert.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/diag.h"
#include "language.h"
#include "model/request.h"
#include "parser/ast.h"
#include "parser/settings.h"
#include "types/types.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static FILE *null_file(void)
{
	static FILE *f;

	if (!f)
		f = fopen("/dev/null", "w");
	return f;
}

#define EARLIER "struct earlier { int a; }\nmacro before(x) { x + 1 }\nlet @declared = hash(3);\n"

/* Every expression that codegen will read has a type, and no type is type_bad. */
static void passes(struct arena *a, struct source *src, struct diags *d, bool line)
{
	static const char *const params[] = {"17", "text"};
	struct request req = {
		.arena = a,
		.diags = d,
		.types = types_new(a, NULL),
		.cmd = {.params = params, .nparams = 2},
	};
	static const struct source earlier = {.name = "earlier", .text = EARLIER, .len = sizeof(EARLIER) - 1};
	struct script *s = line ? parse_typed(a, src, &earlier, &test_language, d) : parse(a, src, d);
	bool ok;

	assert(s || diags_failed(d));
	if (!s)
		return;
	ast_dump(s, false, null_file());
	ok = settings_read(s, d, &req.settings);
	ok = expand(s, &test_language, d) && ok;
	if (!ok)
		return;
	ok = resolve(s, &test_language, &req) && ok;
	names_dump(s, null_file());
	ok = check(s, &test_language, &req) && ok;
	assert(ok != diags_failed(d));
	ast_dump(s, true, null_file());
	for (struct map *m = s->maps; m && ok; m = m->next)
		assert(m->value);
}

/* The script as a line at a prompt. */
static void as_line(const uint8_t *data, size_t size)
{
	struct arena *a = arena_new();
	struct source src = {
		.name = "line",
		.text = arena_strndup(a, (const char *)data, size),
		.len = size,
	};
	struct diags *d = diags_new(a, &src);

	line_is_unfinished(src.text, &test_language);
	passes(a, &src, d, true);
	diags_print(d, null_file(), true);
	arena_free(a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena *a = arena_new();
	struct source src = {
		.name = "fuzz",
		.text = arena_strndup(a, (const char *)data, size),
		.len = size,
	};
	struct diags *d = diags_new(a, &src);

	lex_dump(&src, null_file());
	passes(a, &src, d, false);
	diags_print(d, null_file(), true);
	arena_free(a);
	as_line(data, size);
	return 0;
}
