// SPDX-License-Identifier: Apache-2.0
/* tools.c - the rows of tools, and the comments at the start of their scripts. A script begins with a
 * comment:
 *
 *     // NAME - the question that it answers, in one line
 *     //
 *     // ..its help.. */
#include "tools.h"

#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/owner.h"

#define T(stem) extern const char tool_##stem[];
#include "tools/tools.def"
#undef T

const struct tool tools[] = {
#define T(stem) {.name = #stem, .script = tool_##stem},
#include "tools/tools.def"
#undef T
	{.name = "build", .command = TOOL_BUILD,
		.help = "a script as one program that needs neither strata nor a compiler: strata build x.bt -o x"},
	{.name = "agent", .command = TOOL_AGENT,
		.help = "the scripts of a directory, always on, with metrics for Prometheus: strata agent -h"},
	{.name = "dump", .command = TOOL_DUMP,
		.help = "all current stacks of a process, by thread; several -p PID are possible"},
	{.name = "record", .script = tool_cpu, .output = "strata.json",
		.help = "cpu, recorded to a file (-o; strata.json by default)"},
	{.name = "show", .command = TOOL_SHOW,
		.help = "a recording as a picture, or compared with another: strata show x.json -o x.svg"},
	{.name = "top", .script = tool_cpu, .live = 1, .help = "cpu on the screen, redrawn every second"},
	{.name = "tools", .command = TOOL_LIST, .help = "list the tools"},
	{},
};

const struct tool *tool_by_name(const char *name)
{
	for (const struct tool *t = tools; name && t->name; t++)
		if (!strcmp(t->name, name))
			return t;
	return NULL;
}

const char *tool_nearest(const char *written)
{
	const char *names[ARRAY_SIZE(tools)];
	size_t n = 0;

	for (; tools[n].name; n++)
		names[n] = tools[n].name;
	return nearest(written, names, n);
}

/* Returns the next line of a comment without its "//", or NULL at the end of the comment. */
static const char *next_line(struct arena *a, const char **text)
{
	const char *line = *text;
	size_t n = strcspn(line, "\n");

	if (strncmp(line, "//", 2) != 0)
		return NULL;
	*text += n + (line[n] == '\n');
	line += 2;
	n -= 2;
	return arena_strndup(a, line + (*line == ' '), n - (*line == ' '));
}

/* The first line of a script is for the shell, the second has the licence. */
static const char *head(const struct tool *t)
{
	const char *text = strstr(t->script, "\n//");

	text = text ? strstr(text + 1, "\n//") : NULL;
	return text ? text + 1 : t->script;
}

const char *tool_help(const struct tool *t, struct arena *a)
{
	const char *text, *line;

	if (t->help)
		return t->help;
	text = head(t);
	line = next_line(a, &text);
	text = line ? strstr(line, " - ") : NULL;
	return text ? text + 3 : "";
}

void tools_list(struct arena *a, FILE *out)
{
	fputs("Questions by name: strata NAME [OPTIONS]\n\n", out);
	for (const struct tool *t = tools; t->name; t++)
		fprintf(out, "  %-9s %s\n", t->name, tool_help(t, a));
	fputs("\nstrata NAME --help lists the options, strata --print NAME prints the script.\n"
	      "All tools that are scripts take -p PID, -c COMMAND, -d SECONDS, -o FILE, -f FORMAT and -t SECONDS.\n",
		out);
}

void tool_print_head(const struct tool *t, struct arena *a, FILE *out)
{
	const char *text = t->script ? head(t) : "", *line = next_line(a, &text);

	fprintf(out, "strata %s: %s\n", t->name, tool_help(t, a));
	while (line && (line = next_line(a, &text)))
		fprintf(out, "%s\n", line);
}

/* Returns the text after the getopt("NAME" of the script that has the default, or after another one. Returns NULL if
 * the script has no such option. */
static const char *find_option(const struct tool *t, const char *name)
{
	const char *found = NULL;
	size_t n = strlen(name);

	for (const char *at = t->script; at && (at = strstr(at, "getopt(\""));) {
		at += strlen("getopt(\"");
		if (!strncmp(at, name, n) && at[n] == '"')
			found = at + n + 1;
		if (found == at + n + 1 && *found == ',')
			break;
	}
	return found;
}

bool tool_has_option(const struct tool *t, const char *name)
{
	return find_option(t, name);
}

/* An option whose default is not a truth value takes a value. */
bool tool_option_takes_value(const struct tool *t, const char *name)
{
	const char *at = find_option(t, name);

	at += at ? strspn(at, ", ") : 0;
	return at && *at && !strchr(")tf", *at);
}

bool tool_option_is_number(const struct tool *t, const char *name)
{
	const char *at = find_option(t, name);

	at += at ? strspn(at, ", ") : 0;
	return at && *at >= '0' && *at <= '9';
}

size_t tool_options(const struct tool *t, char (*ret)[64], size_t max)
{
	size_t n = 0;

	for (const char *at = t->script; at && n < max && (at = strstr(at, "getopt(\""));) {
		bool is_new = true;

		at += strlen("getopt(\"");
		snprintf(ret[n], sizeof(ret[n]), "%.*s", (int)strcspn(at, "\""), at);
		for (size_t i = 0; i < n; i++)
			is_new &= strcmp(ret[i], ret[n]) != 0;
		n += is_new;
	}
	return n;
}

/* If several calls of getopt() have the same NAME, the one with a help counts. */
void tool_complete(const struct tool *t, const char *text, FILE *out)
{
	for (const char *at = t->script; at && (at = strstr(at, "getopt(\""));) {
		const char *name = at += strlen("getopt(\""), *help;
		int n = (int)strcspn(name, "\""), given = (int)strlen(text) - 2;

		help = memchr(name + n + 1, '"', strcspn(name + n + 1, ")"));
		if (help && (given <= 0 || !strncmp(name, text + 2, (size_t)given)))
			fprintf(out, "--%.*s\t%.*s\n", n, name, (int)strcspn(help + 1, "\""), help + 1);
	}
}
