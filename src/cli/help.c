// SPDX-License-Identifier: Apache-2.0
/* help.c - prints an entry for each feature of the language: the rows of builtins, providers and outputs,
 * and reference.def. */
#include "help.h"

#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/log.h"
#include "base/vec.h"
#include "model/builtin.h"
#include "model/provider.h"
#include "model/type.h"
#include "output/output.h"
#include "reference.h"

static void print_example(const char *script, FILE *out)
{
	if (script)
		fprintf(out, "\n    %s\n", script);
}

/* Prints "int [int] -> int64" as "name(int[, int]) -> int64". */
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
	print_example(language_example(b->name), out);
}

/* Prints the modes after an entry for a stack. */
static void print_modes(const struct builtin *b, FILE *out)
{
	enum frame_lang lang;

	if (!stack_lang_by_name(b->name, &lang))
		return;
	fprintf(out, "\n    The modes, as in %s(perf, 10):\n\n", b->name);
	for (const struct language_entry *m = language_modes; m->name; m++)
		fprintf(out, "    %-9s %s\n", m->name, m->help);
}

static void print_provider(const struct provider *p, FILE *out)
{
	fputs(p->form, out);
	if (p->short_name)
		fprintf(out, "    (%s)", p->short_name);
	fprintf(out, "\n    %s\n", p->help);
	print_example(language_example(p->name), out);
}

static void print_entry(const struct language_entry *e, FILE *out)
{
	fprintf(out, "%s\n    %s\n", e->form ? e->form : e->name, e->help);
	print_example(e->example, out);
}

static const struct language_entry *find_entry(const struct language_entry *list, const char *name)
{
	while (list->name && strcmp(list->name, name) != 0)
		list++;
	return list->name ? list : NULL;
}

static void print_entries(const char *heading, const struct language_entry *list, FILE *out)
{
	fprintf(out, "\n%s\n", heading);
	for (; list->name; list++) {
		putc('\n', out);
		print_entry(list, out);
	}
}

/* arg0 also stands for arg1 and so on. */
static bool is_numbered(const char *name)
{
	return strcspn(name, "0123456789") < strlen(name);
}

static int by_name(const void *a, const void *b)
{
	return strcmp((*(const struct builtin *const *)a)->name, (*(const struct builtin *const *)b)->name);
}

static void print_builtins(FILE *out)
{
	VEC(const struct builtin *) list = {};

	for (const struct builtin *const *family = builtin_families; *family; family++)
		for (const struct builtin *b = *family; b->name; b++)
			if (!is_numbered(b->name))
				vec_push(&list, b);
	qsort(list.data, list.len, sizeof(*list.data), by_name);
	for (size_t i = 0; i < list.len; i++) {
		putc('\n', out);
		print_builtin(list.data[i], out);
	}
	vec_done(&list);
}

/* If two providers have the same name, only the first is printed; the second is its substitute. */
static void print_all(FILE *out)
{
	fputs("Probes\n", out);
	for (const struct provider *const *p = providers; *p; p++)
		if (provider_by_name(providers, (*p)->name, strlen((*p)->name)) == *p) {
			putc('\n', out);
			print_provider(*p, out);
		}
	print_entries("Statements and values", language_statements, out);
	fputs("\nFunctions and variables\n", out);
	print_builtins(out);
	print_entries("Settings", language_settings, out);
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
	for (const struct language_entry *e = language_statements; e->name; e++)
		vec_push(&names, e->name);
	for (const struct language_entry *e = language_settings; e->name; e++)
		vec_push(&names, e->name);
	near = nearest(name, names.data, names.len);
	if (near)
		log_hint("did you mean %s?", near);
	else
		log_hint("strata --help all has the whole language");
	vec_done(&names);
}

bool help_name(const char *name, FILE *out)
{
	const struct provider *p = provider_by_name(providers, name, strlen(name));
	const struct output *o = output_by_name(name);
	const struct language_entry *statement = find_entry(language_statements, name);
	const struct language_entry *setting = find_entry(language_settings, name);
	bool found = p || o || statement || setting;

	if (!strcmp(name, "all")) {
		print_all(out);
		return true;
	}
	for (const struct builtin *const *family = builtin_families; *family; family++)
		for (const struct builtin *b = *family; b->name; b++)
			if (!strcmp(b->name, name)) {
				print_builtin(b, out);
				print_modes(b, out);
				found = true;
			}
	if (p)
		print_provider(p, out);
	if (o)
		fprintf(out, "-f %s\n    %s\n", o->name, o->help);
	if (statement)
		print_entry(statement, out);
	if (setting)
		print_entry(setting, out);
	if (!found) {
		log_error("nothing of the language is called %s", name);
		hint(name);
	}
	return found;
}
