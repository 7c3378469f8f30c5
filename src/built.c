// SPDX-License-Identifier: Apache-2.0
/* built.c - strata-run, the program without a compiler: it runs the image that `strata build` put after its end, or the
 * images of the file that its first argument names. */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/files.h"
#include "base/log.h"
#include "base/number.h"
#include "base/owner.h"
#include "base/stop.h"
#include "base/vec.h"
#include "base/why.h"
#include "cli/needs.h"
#include "cli/stdout.h"
#include "cli/version.h"
#include "imagefile/imagefile.h"
#include "imagefile/program.h"
#include "model/provider.h"
#include "modes/run.h"
#include "modes/traced.h"
#include "output/output.h"
#include "start/start.h"
#include "target/target.h"
#include "types/types.h"

struct built {
	struct arena *arena;
	struct types *types;
	struct imagefile images[2]; /* without and with a tree of processes */
	void *data;                 /* their bytes */
	unsigned nimages;
	struct traced traced;
	VEC(int) pids;
	const char *command, *output, *name;
	const struct output *format;
	double duration, live;
	int top;
	bool dry_run;
};

/* ---- the images --------------------------------------------------------- */

static int read_images(struct built *b, const uint8_t *data, size_t size)
{
	for (size_t at = 0; at < size && b->nimages < ARRAY_SIZE(b->images); b->nimages++) {
		size_t n = imagefile_size(data + at, size - at);
		int r = !n ? -EINVAL :
			imagefile_read(b->arena, providers, version(), data + at, n, &b->images[b->nimages]);

		if (r)
			return r;
		at += n;
	}
	return b->nimages ? 0 : -EINVAL;
}

static int read_file(struct built *b, const char *path)
{
	_cleanup_(closep) int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t size = 0;
	int r = fd < 0 ? -errno : program_read(fd, &b->data, &size);

	return r ? r : read_images(b, b->data, size);
}

/* Without images of its own, strata-run reads those of the file that its first argument names: then *ret_named is 1. */
static bool load(struct built *b, int argc, char **argv, int *ret_named)
{
	const char *path = argv[0];
	int r = read_file(b, "/proc/self/exe");

	*ret_named = r == -ENOENT && argc > 1 && *argv[1] != '-';
	if (*ret_named) {
		path = argv[1];
		r = read_file(b, path);
	}
	if (r == -ENOENT)
		log_error("%s has no script: strata build makes programs with one", path);
	else if (r == -ESTALE)
		log_error("%s was built by another version of strata, or for another processor", path);
	else if (r == -EINVAL)
		log_error("%s is damaged", path);
	else if (r)
		log_error("cannot read %s: %s", path, why_errno(r));
	return !r;
}

/* ---- options ------------------------------------------------------------ */

static void help(const struct built *b)
{
	printf("Usage: %s [OPTIONS]\n\nRuns the script %s, which strata build compiled.\n\n"
		"  -c COMMAND     run and trace a command and its children; stop when it ends\n"
		"  -p PID         trace this process; stop when it ends; several: -p 1,2 or -p 1 -p 2\n"
		"  -d TIME        stop after TIME: 10 (seconds), 500ms, 2m; --duration is the same\n"
		"  -o FILE        write to FILE; the ending of its name chooses the format\n"
		"  -f FORMAT      write in this format: text, json, svg, pprof ..\n"
		"  -n N           print the N largest entries of each map\n"
		"  -t SECONDS     redraw the maps every SECONDS while the script runs\n"
		"  -q             print only the script's output\n"
		"  -v             print the steps of strata; -vv: the verifier's log, too\n"
		"  --dry-run      load the script without attaching its probes\n"
		"  --version      print the version of strata that built the program\n"
		"  -h, --help     print this help\n\n"
		"The parameters ($1) and options of the script are part of the program: give them to strata build.\n",
		b->name, b->images[0].name);
}

static bool wrong(const char *what, const char *arg)
{
	log_error("%s%s%s", what, arg ? " " : "", arg ? arg : "");
	return false;
}

static bool add_pids(struct built *b, char *text)
{
	char *rest = text;

	for (char *word; (word = strsep(&rest, ",")); ) {
		uint64_t n;

		if (!number_is(word, &n) || !n || n > INT32_MAX)
			return wrong("-p takes process ids, not", word);
		vec_push(&b->pids, (int)n);
	}
	b->traced.pid = b->pids.data[0];
	b->traced.tree = b->pids.len > 1;
	return true;
}

static bool set_format(struct built *b, const char *name)
{
	b->format = output_by_name(name);
	return b->format || wrong("unknown format:", name);
}

static bool set_top(struct built *b, const char *text)
{
	uint64_t n;

	if (!number_is(text, &n) || !n || n > INT32_MAX)
		return wrong("-n takes a number above 0, not", text);
	b->top = (int)n;
	return true;
}

enum { OPT_DRY_RUN = 256, OPT_NO_WARNINGS, OPT_VERSION };

#define LETTERS "c:d:f:hn:o:p:qt:v"

/* word: the last one that getopt() has read. */
static bool wrong_option(int opt, const char *word)
{
	if (opt == ':')
		log_error("%s needs a value", word);
	else if (optopt && !strchr(LETTERS, optopt)) /* one of several letters, such as -qx */
		log_error("unknown option: -%c", optopt);
	else
		log_error("unknown option: %s", word);
	log_hint("--help lists the options of this program");
	return false;
}

static bool set_option(struct built *b, int opt, char *arg)
{
	switch (opt) {
	case 'c':
		b->command = arg;
		return true;
	case 'd':
		return loop_read_time(arg, &b->duration) || wrong("-d takes a time such as 10, 500ms or 2m, not", arg);
	case 'f':
		return set_format(b, arg);
	case 'h':
		help(b);
		exit(stdout_check(0));
	case 'n':
		return set_top(b, arg);
	case 'o':
		b->output = arg;
		return true;
	case 'p':
		return add_pids(b, arg);
	case 'q':
		log_level = -1;
		return true;
	case 't':
		return loop_read_time(arg, &b->live) || wrong("-t takes a number of seconds, not", arg);
	case 'v':
		log_level++;
		return true;
	case OPT_NO_WARNINGS:
		log_warnings = false;
		return true;
	case OPT_DRY_RUN:
		return b->dry_run = true;
	case OPT_VERSION:
		puts(version());
		exit(stdout_check(0));
	default:
		return false;
	}
}

static bool options(struct built *b, int argc, char **argv)
{
	static const struct option longs[] = {
		{"cmd", 1, NULL, 'c'}, {"dry-run", 0, NULL, OPT_DRY_RUN}, {"duration", 1, NULL, 'd'},
		{"format", 1, NULL, 'f'}, {"help", 0, NULL, 'h'}, {"live", 1, NULL, 't'},
		{"no-warnings", 0, NULL, OPT_NO_WARNINGS}, {"output", 1, NULL, 'o'}, {"pid", 1, NULL, 'p'},
		{"quiet", 0, NULL, 'q'}, {"top", 1, NULL, 'n'}, {"verbose", 0, NULL, 'v'},
		{"version", 0, NULL, OPT_VERSION}, {},
	};

	opterr = 0;
	for (int opt; (opt = getopt_long(argc, argv, ":" LETTERS, longs, NULL)) != -1; )
		if (opt == '?' || opt == ':' ? !wrong_option(opt, argv[optind - 1]) : !set_option(b, opt, optarg))
			return false;
	if (optind < argc) {
		wrong("the parameters of the script were given to strata build; there is no place for", argv[optind]);
		return false;
	}
	if (b->command && b->pids.len)
		return wrong("-c and -p cannot be combined", NULL);
	return true;
}

/* ---- the run ------------------------------------------------------------ */

static const struct imagefile *choose(const struct built *b)
{
	bool tree = b->traced.child.pid > 0 || b->traced.tree;

	for (unsigned i = 0; i < b->nimages; i++)
		if (b->images[i].tree == tree)
			return &b->images[i];
	log_error("this program was built without -c and several -p");
	return NULL;
}

static struct request request(struct built *b, const struct imagefile *f)
{
	return (struct request){
		.arena = b->arena,
		.target = b->traced.target,
		.types = b->types,
		.cmd = {
			.pid = b->traced.child.pid ? b->traced.child.pid : b->traced.pid,
			.child = b->traced.child.pid,
			.unsafe = true, /* the build asked */
		},
		.hooks = {.find_exe = traced_find, .traced_files = traced_files, .find_arg = &b->traced},
		.settings = f->settings,
	};
}

static int run_built(struct built *b, const struct imagefile *f)
{
	const struct output *format = b->format ? b->format : output_by_file(b->output);
	struct run_options opt = {
		.target = b->traced.target,
		.image = f->image,
		.path = b->output,
		.session = {
			.pid = b->traced.pid,
			.roots = {.pids = b->pids.data, .n = b->traced.tree ? b->pids.len : 0},
			.child = b->traced.child.pid ? &b->traced.child : NULL,
			.quiet = log_level < 0,
			.top = b->top,
			.is_last = true,
			.dry_run = b->dry_run,
			.settings = &f->settings,
			.output = format,
		},
		.loop = {
			.live = b->live, .duration = b->duration, .terminal = !b->output && isatty(STDOUT_FILENO),
			.image = f->image,
		},
	};

	return run_image(&opt);
}

static int run(struct built *b)
{
	const struct imagefile *f;
	struct request req;

	if (!needs_met(b->traced.target))
		return 1;
	if (b->command && child_start(b->traced.target, b->command, &b->traced.child))
		return 1;
	f = choose(b);
	if (!f)
		return 1;
	req = request(b, f);
	return start_image(&req, f->image) ? run_built(b, f) : 1;
}

int main(int argc, char **argv)
{
	struct built b = {.arena = arena_new(), .name = argv[0]};
	int code = 1, named;

	stop_survive();
	b.traced.target = target_open("/");
	files_raise();
	b.types = types_new(b.arena, b.traced.target);
	if (b.traced.target && load(&b, argc, argv, &named) && options(&b, argc - named, argv + named))
		code = stdout_check(run(&b));
	child_stop(&b.traced.child);
	free(b.traced.exe);
	vec_done(&b.pids);
	types_close(b.types);
	target_close(b.traced.target);
	arena_free(b.arena);
	free(b.data);
	return code;
}
