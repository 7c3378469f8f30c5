// SPDX-License-Identifier: Apache-2.0
/* show_file.c - strata show: reads options, and makes a picture of a recording. */
#include "show_file.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/owner.h"
#include "base/str.h"
#include "base/why.h"
#include "output/output.h"
#include "output/pack.h"
#include "output/recording.h"
#include "output/recording_merge.h"
#include "output/recording_read.h"
#include "output/shorten.h"
#include "output/stream.h"
#include "values/hidden.h"

struct showing {
	const char *before, *output;
	char *const *files; /* of the command line */
	size_t nfiles;
	bool by_host;
	const struct output *format;
	struct picture picture;
	struct libraries libraries; /* --hide, --only */
	bool long_names;
};

/* val is the letter of the short option, or a number if there is none. */
static const struct show_option {
	const char *name;
	int val;
	bool has_short;
	const char *arg, *help;
} rows[] = {
	{"format", 'f', true, "FORMAT", "write in this format; by default, that of the file of -o, or text"},
	{"output", 'o', true, "FILE", "write to FILE instead of stdout"},
	{"diff", 'd', false, "BEFORE", "show the changes of FILE since this recording: red is more, blue is less"},
	{"by", 'B', false, "host", "several FILEs: do not add up hosts; each key begins with its host"},
	{"top", 'n', true, "N", "text: print the N largest entries of each map"},
	{"hide", 'H', false, "PATTERN", "omit frames of libraries whose path or name matches"},
	{"only", 'O', false, "PATTERN", "omit frames of all other libraries"},
	{"lines", 'l', false, NULL, "split functions by line"},
	{"labels", 'L', false, NULL, "omit non-stack key parts from the frames"},
	{"frames", 'F', false, NULL, "show non-stack key parts as frames in pprof, too"},
	{"long", 'W', false, NULL, "svg, html: show the whole names of C++ functions"},
	{"help", 'h', true, NULL, "print this help"},
};

static void help(FILE *out)
{
	fputs("Usage: strata show FILE.. [OPTIONS]\n\n"
	      "FILE is a recording (-o x.json, x.json.gz, x.json.zst), the output of -f json, or rows of a database\n"
	      "({\"stack\": [\"leaf\", \"main\"], \"value\": 3}); - is stdin. Several files, such as those of several\n"
	      "hosts, are added up.\n\n",
		out);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		char name[64];

		snprintf(name, sizeof(name), "%c%c%c --%s%s%s", rows[i].has_short ? '-' : ' ',
			rows[i].has_short ? rows[i].val : ' ', rows[i].has_short ? ',' : ' ', rows[i].name,
			rows[i].arg ? " " : "", rows[i].arg ? rows[i].arg : "");
		fprintf(out, "  %-24s %s\n", name, rows[i].help);
	}
	fputs("\nFormats:\n", out);
	for (const struct output *const *o = outputs; *o; o++)
		if ((*o)->render)
			fprintf(out, "  %-24s %s\n", (*o)->name, (*o)->help);
}

void show_complete(const char *text, FILE *out)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (!strncmp(text, "--", 2) && !strncmp(rows[i].name, text + 2, strlen(text + 2)))
			fprintf(out, "--%s\t%s\n", rows[i].name, rows[i].help);
}

static bool usage(const char *what, const char *arg)
{
	log_error("%s%s%s", what, arg ? " " : "", arg ? arg : "");
	log_hint("strata show -h lists the options");
	return false;
}

/* ---- options ------------------------------------------------------------- */

static bool set_format(struct showing *s, const char *name)
{
	const char *near;

	s->format = output_by_name(name);
	if (s->format && !s->format->render && !strcmp(name, "json"))
		s->format = output_by_name("recording");
	if (s->format && s->format->render)
		return true;
	near = output_nearest(name);
	log_error("unknown format: %s", name);
	log_hint(near ? "did you mean %s? strata show -h lists them" : "strata show -h lists them", near);
	return false;
}

static bool set_top(struct showing *s, const char *text)
{
	char *end;
	long n = strtol(text, &end, 10);

	s->picture.top = n;
	return (!*end && n >= 1 && n <= INT_MAX) || usage("--top needs a number of entries, 1 or more, not", text);
}

static bool set_option(struct showing *s, int c, const char *word)
{
	switch (c) {
	case 'd':
		s->before = optarg;
		return true;
	case 'B':
		s->by_host = true;
		return !strcmp(optarg, "host") || usage("--by takes the word host, not", optarg);
	case 'f':
		return set_format(s, optarg);
	case 'F':
		s->picture.frames = true;
		return true;
	case 'l':
		s->picture.lines = true;
		return true;
	case 'L':
		s->picture.labels = true;
		return true;
	case 'W':
		s->long_names = true;
		return true;
	case 'n':
		return set_top(s, optarg);
	case 'o':
		s->output = optarg;
		return true;
	case 'H':
		vec_push(&s->libraries.hidden, optarg);
		return true;
	case 'O':
		vec_push(&s->libraries.only, optarg);
		return true;
	default:
		return usage(optopt ? "this option needs an argument:" : "unknown option:", word);
	}
}

static bool read_options(struct showing *s, int argc, char **argv)
{
	struct option longs[ARRAY_SIZE(rows) + 1] = {};
	int c;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		longs[i] = (struct option){
			rows[i].name, rows[i].arg ? required_argument : no_argument, NULL, rows[i].val};
	opterr = 0; /* strata prints the error itself */
	while ((c = getopt_long(argc, argv, "f:o:n:h", longs, NULL)) != -1) {
		if (c == 'h') {
			help(stdout);
			exit(0);
		}
		if (!set_option(s, c, argv[optind - 1]))
			return false;
	}
	if (optind >= argc)
		return usage("show takes the file of a recording", NULL);
	s->files = argv + optind;
	s->nfiles = (size_t)(argc - optind);
	if (s->output && !strcmp(s->output, "-"))
		s->output = NULL;
	if (s->output && !s->format && !output_check_file(s->output))
		return false;
	if (!s->format)
		s->format = output_by_file(s->output);
	if (!s->format->render)
		return set_format(s, s->format->name);
	if (s->before && !s->format->compares) {
		log_error("-f %s cannot show a difference", s->format->name);
		log_hint("-f svg and -f html can");
		return false;
	}
	return true;
}

/* ---- reading ------------------------------------------------------------- */

static struct recording *read_file(const char *path)
{
	bool is_stdin = !strcmp(path, "-");
	int fd = is_stdin ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC);
	FILE *f = fd < 0 ? NULL : pack_read(fd);
	struct recording *r;

	if (!f) {
		log_error("cannot read %s: %s", path, why_errno(-errno));
		return NULL;
	}
	r = recording_read(f, is_stdin ? "the standard input" : path);
	fclose(f);
	return r;
}

static void free_all(struct recording **list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		recording_free(list[i]);
	free(list);
}

/* One file is shown as it is: each print of a map is a map of its own. */
static struct recording *read_files(const struct showing *s)
{
	struct recording **list, *sum = NULL;
	size_t n = 0;

	if (s->nfiles == 1 && !s->by_host)
		return read_file(s->files[0]);
	list = calloc(s->nfiles, sizeof(*list));
	while (list && n < s->nfiles && (list[n] = read_file(s->files[n])))
		n++;
	if (n == s->nfiles)
		sum = recording_merge(list, (const char *const *)s->files, n, s->by_host);
	free_all(list, n);
	return sum;
}

/* A recording may have only maps without stacks; a picture cannot. */
static bool has_stacks(const struct showing *s, const struct recording *r, const char *path)
{
	for (size_t i = 0; i < r->maps.len; i++)
		if (r->maps.data[i]->total)
			return true;
	if (r->tables.len && !strcmp(s->format->name, "recording"))
		return true;
	log_error("%s: there is no stack in it", path);
	log_hint("strata -o x.json records maps keyed by stacks, as @[ustack] = count()");
	return false;
}

/* ---- writing ------------------------------------------------------------- */

static int render(const struct showing *s, struct stream *stream)
{
	FILE *file = pack_write(output_pack(s->format, s->output), stream_file(stream));
	int r = file ? s->format->render(&s->picture, file) : -ENOMEM;

	if (file && fclose(file) && !r)
		r = -EIO;
	if (r)
		log_error("cannot make %s: %s", s->format->name, why_errno(r));
	return r;
}

static int write_picture(struct showing *s)
{
	struct stream *stream = NULL;
	int r = stream_open(s->output, &stream), code;

	if (r) {
		log_error("cannot write %s: %s", s->output ? s->output : "the output", why_write(r));
		return 1;
	}
	s->picture.terminal = isatty(stream_fd(stream));
	r = render(s, stream);
	code = stream_close(stream);
	return code ? code : r ? 1 : 0;
}

static int show(struct showing *s)
{
	struct recording *recording = read_files(s), *before = NULL;
	bool ok = recording;
	int code = 1;

	if (ok && s->before)
		ok = (before = read_file(s->before)) != NULL;
	if (ok && s->format->content == OUTPUT_STACKS)
		ok = has_stacks(s, recording, s->files[0]) && (!before || has_stacks(s, before, s->before));
	if (ok) {
		recording_hide(recording, &s->libraries);
		if (before)
			recording_hide(before, &s->libraries);
		if (s->format->is_picture && !s->long_names) {
			shorten_recording(recording);
			if (before)
				shorten_recording(before);
		}
		if (before)
			recording_pair(recording, before);
		s->picture.recording = recording;
		s->picture.before = before;
		code = write_picture(s);
	}
	recording_free(recording);
	recording_free(before);
	return code;
}

int show_recording(struct recording *r, const struct show_options *opt)
{
	char *const name = "the answer";
	struct showing s = {
		.files = &name, .nfiles = 1, .output = opt->output, .format = opt->format,
			.long_names = opt->long_names,
		.picture = {.recording = r, .top = opt->top},
	};

	for (size_t i = 0; i < r->lines.len && strcmp(s.format->name, "text") != 0; i++)
		if (r->lines.data[i].problem)
			log_warn("%s", r->lines.data[i].problem);
	if (s.format->content == OUTPUT_STACKS && !has_stacks(&s, r, name))
		return 1;
	recording_hide(r, opt->libraries);
	if (s.format->is_picture && !s.long_names)
		shorten_recording(r);
	return write_picture(&s);
}

int show_main(int argc, char **argv)
{
	struct showing s = {};
	int code = read_options(&s, argc, argv) ? show(&s) : 1;

	libraries_done(&s.libraries);
	return code;
}
