// SPDX-License-Identifier: Apache-2.0
/* help.c - the rows of builtins, providers and outputs, one at a time. */
#include "help.h"

#include <string.h>

#include "base/diag.h"
#include "base/log.h"
#include "base/vec.h"
#include "model/builtin.h"
#include "model/provider.h"
#include "runtime/output/output.h"

/* "int [int] -> int64" as "name(int[, int]) -> int64". */
static void print_builtin(const struct builtin *b, FILE *out)
{
	const char *arrow = strstr(b->sig, "->"), *p = b->sig;
	bool first = true;

	fputs(b->name, out);
	if (!(b->flags & BUILTIN_VAR) || arrow > b->sig + 1) {
		putc('(', out);
		for (p += strspn(p, " "); p < arrow; p += strspn(p, " ")) {
			size_t n = strcspn(p, " ");

			fprintf(out, "%s%.*s", first ? "" : ", ", (int)n, p);
			first = false;
			p += n;
		}
		putc(')', out);
	}
	if (strcmp(arrow + 3, "special") && strcmp(arrow + 3, "none"))
		fprintf(out, " -> %s", arrow + 3);
	fprintf(out, "\n    %s\n", b->help);
	if (b->flags & BUILTIN_AGG)
		fprintf(out, "    @m = %s(..) or @m[key] = %s(..)\n", b->name, b->name);
}

static void print_provider(const struct provider *p, FILE *out)
{
	fputs(p->form, out);
	if (p->short_name)
		fprintf(out, "    (%s)", p->short_name);
	fprintf(out, "\n    %s\n", p->help);
}

static void hint(const char *name)
{
	VEC(const char *) names = {};
	const char *near;

	for (const struct builtin *const *family = builtin_families; *family; family++)
		for (const struct builtin *b = *family; b->name; b++)
			vec_push(&names, b->name);
	for (const struct provider *const *p = providers; *p; p++)
		vec_push(&names, (*p)->name);
	near = nearest(name, names.data, names.len);
	if (near)
		log_hint("did you mean %s?", near);
	vec_done(&names);
}

bool help_name(const char *name, FILE *out)
{
	const struct provider *p = provider_by_name(providers, name, strlen(name));
	const struct output *o = output_by_name(name);
	bool found = p || o;

	for (const struct builtin *const *family = builtin_families; *family; family++)
		for (const struct builtin *b = *family; b->name; b++)
			if (!strcmp(b->name, name)) {
				print_builtin(b, out);
				found = true;
			}
	if (p)
		print_provider(p, out);
	if (o)
		fprintf(out, "-f %s\n    %s\n", o->name, o->help);
	if (!found) {
		log_error("nothing of the language is called %s", name);
		hint(name);
	}
	return found;
}
