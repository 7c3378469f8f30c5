// SPDX-License-Identifier: Apache-2.0
/* option_rows.c - uses getopt with options in rows. */
#include "option_rows.h"

#include <ctype.h>
#include <getopt.h>
#include <string.h>

#include "base/log.h"
#include "base/str.h"
#include "peer_options.h"

enum { ROWS_MAX = 64 };

bool usage(const char *what, const char *arg)
{
	log_error("%s%s%s", what, arg ? " " : "", arg ? arg : "");
	log_hint("strata -h lists the options");
	return false;
}

static const struct option_row *find(const struct option_row *rows, int val)
{
	while (rows->name && rows->val != val)
		rows++;
	return rows->name ? rows : NULL;
}

/* Handles getopt's '?': an unknown option, an option without its argument, or an option of bpftrace's. */
static bool bad_option(const struct option_row *rows, size_t n, struct options *o, int argc, char **argv)
{
	const char *word = argv[optind - 1];
	const struct peer_option *peer = peer_option(word);

	if (!optopt && !strncmp(word, "--", 2) && rows[n - 1].other(o, word + 2, argc, argv))
		return true;
	if (!peer)
		return usage(optopt && find(rows, optopt) ? "this option needs an argument:" :
			"unknown option:", word);
	if (!peer->instead) {
		optind += peer->takes_arg && !strchr(word, '=') && optind < argc;
		return true;
	}
	log_error("strata has no option %s", peer->name);
	log_hint("%s", peer->instead);
	return false;
}

/* '+' makes getopt stop at the first word that is not an option. */
static void make_getopt(const struct option_row *row, char *shorts, struct option *longs)
{
	*shorts++ = '+';
	for (; row->name; row++) {
		*longs++ = (struct option){row->name, !row->arg ? no_argument : *row->arg == '[' ? optional_argument :
			required_argument, NULL, row->val};
		if (row->val < 256)
			*shorts++ = (char)row->val;
		if (row->val < 256 && row->arg)
			*shorts++ = ':';
	}
	*shorts = 0;
}

/* Returns whether the next word is a long option that the tool has. getopt would take it for the beginning of a row's
 * name. */
static bool takes_other(const struct option_row *rows, size_t n, struct options *o, int argc, char **argv)
{
	const char *word = optind < argc ? argv[optind] : "";
	size_t size = strcspn(word, "=");

	if (strncmp(word, "--", 2) || !rows[n - 1].is_other || !rows[n - 1].is_other(o, word + 2))
		return false;
	for (const struct option_row *row = rows; row->name; row++)
		if (strlen(row->name) == size - 2 && !strncmp(row->name, word + 2, size - 2))
			return false;
	optind++;
	return rows[n - 1].other(o, word + 2, argc, argv);
}

bool option_rows_read(const struct option_row *rows, size_t n, struct options *o, int argc, char **argv)
{
	struct option longs[ROWS_MAX] = {};
	char shorts[2 * ROWS_MAX + 2];
	int c;

	make_getopt(rows, shorts, longs);
	opterr = 0; /* strata prints the error itself */
	for (;;) {
		const struct option_row *row;

		if (takes_other(rows, n, o, argc, argv))
			continue;
		c = getopt_long(argc, argv, shorts, longs, NULL);
		if (c == -1)
			return true;
		row = find(rows, c);
		if (c == '?' ? !bad_option(rows, n, o, argc, argv) : !row || !row->set(o, row, optarg))
			return false;
	}
}

/* Returns whether getopt has passed "--". */
static bool is_over(char **argv)
{
	return optind > 1 && !strcmp(argv[optind - 1], "--");
}

/* -5 is a word, not an option. */
static bool is_option(const char *arg)
{
	return arg[0] == '-' && arg[1] && !isdigit((unsigned char)arg[1]);
}

/* Returns whether it is --name, or its beginning. */
static bool is_known(const struct option_row *row, const char *arg)
{
	size_t n = strcspn(arg, "=");

	if (strncmp(arg, "--", 2) || !arg[2] || peer_option(arg))
		return true;
	for (; row->name; row++)
		if (!strncmp(row->name, arg + 2, n - 2))
			return true;
	return false;
}

bool option_rows_words(const struct option_row *rows, size_t n, struct options *o, int argc, char **argv,
	void (*word)(struct options *o, const char *arg))
{
	bool over = is_over(argv);
	int first = optind;

	while (optind < argc) {
		bool is_scripts = optind > first && !is_known(rows, argv[optind]);

		if (over || is_scripts || !is_option(argv[optind]))
			word(o, argv[optind++]);
		else if (!option_rows_read(rows, n, o, argc, argv))
			return false;
		else
			over = is_over(argv);
	}
	return true;
}

void option_rows_help(const struct option_row *row, size_t n, FILE *out)
{
	for (; row->name && row->help; row++) {
		struct str name = {};

		if (row->val < 256)
			str_addf(&name, "-%c, ", row->val);
		else
			str_add(&name, "    ");
		str_addf(&name, "--%s", row->name);
		if (row->arg)
			str_addf(&name, "%s%s", *row->arg == '[' ? "" : " ", row->arg);
		fprintf(out, "  %-24s %s\n", str_text(&name), row->help);
		str_done(&name);
	}
}
