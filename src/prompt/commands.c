// SPDX-License-Identifier: Apache-2.0
/* commands.c - the commands `:name`, one row for each. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/log.h"
#include "base/owner.h"
#include "base/regular.h"
#include "base/str.h"
#include "base/why.h"
#include "cli/help.h"
#include "cli/list.h"
#include "driver/driver.h"
#include "output/output.h"
#include "output/recording.h"
#include "prompt/priv.h"
#include "session/session.h"
#include "session/shared.h"
#include "values/entries.h"
#include "values/show.h"

static void run_help(struct prompt *p, const char *args)
{
	char usage[64];

	if (*args) {
		help_name(args, stderr);
		return;
	}
	fputs("Lines:\n"
	      "  profile:hz:99 { @[ustack] = count(); }    a script: it runs until it is dropped\n"
	      "  @    clear(@)    1 + 2                    statements: they run once\n"
	      "  macro, struct, #define, let @m            definitions for later lines\n"
	      "  cpu -d 5    offcpu    locks -p 1234       tools, as on the command line (strata list)\n\n"
	      "Commands:\n", stderr);
	for (const struct command *c = prompt_commands; c->name; c++) {
		snprintf(usage, sizeof(usage), ":%s %s", c->name, c->args);
		fprintf(stderr, "  %-21s %s\n", usage, c->help);
	}
}

static void run_probes(struct prompt *p, const char *args)
{
	struct compile c = {.arena = arena_new()};
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	p->opt.prepare(p->opt.arg, &c);
	c.req.listing = true;
	if (out) {
		list_probes(&c.req, *args ? args : "*", false, out);
		fclose(out);
		fwrite(text, 1, size, stderr);
	}
	free(text);
	arena_free(c.arena);
}

/* Prints the first line of the text, cut if it is long. */
static void print_text(const char *text, unsigned most)
{
	size_t n = strcspn(text, "\n");

	if (!text[n] && n <= most)
		fprintf(stderr, "%s\n", text);
	else
		fprintf(stderr, "%.*s...\n", (int)(n < most ? n : most - 3), text);
}

static void run_running(struct prompt *p, const char *args)
{
	unsigned columns, rows, n = 0;

	editor_size(p->editor, &columns, &rows);
	for (size_t i = 0; i < p->lines.all.len; i++) {
		const struct line *l = p->lines.all.data[i];
		uint64_t ns, runs;

		if (!l || !l->runs)
			continue;
		if (!n++)
			fprintf(stderr, "%4s %12s %10s  %s\n", "", "runs", "CPU ms", "script");
		session_cost(p->session, l->compile.image->number, &ns, &runs);
		fprintf(stderr, "%4u %12" PRIu64 " %10.1f  ", l->number, runs, (double)ns / 1e6);
		print_text(l->text, columns > 50 ? columns - 31 : 20);
	}
	if (!n)
		fputs("nothing runs\n", stderr);
}

static void run_drop(struct prompt *p, const char *args)
{
	char *end;
	unsigned long number = strtoul(args, &end, 10);

	if (!strcmp(args, "all")) {
		for (unsigned i = 0; i < p->lines.all.len; i++)
			lines_drop(&p->lines, i);
		return;
	}
	if (end == args || *end) {
		log_error(":drop takes the number of a script, or all");
		log_hint(":running lists them");
	} else if (number > UINT32_MAX || !lines_drop(&p->lines, (unsigned)number)) {
		log_error("no script %s runs", args);
	}
}

/* "-f FILE" replaces an existing file. */
static void run_save(struct prompt *p, const char *args)
{
	bool over = !strncmp(args, "-f ", 3);
	const char *path = over ? args + 2 + strspn(args + 2, " ") : args;
	FILE *out;
	int fd;

	if (!*path) {
		log_error(":save takes the name of a file");
		return;
	}
	fd = regular_create(path, over);
	out = fd < 0 ? NULL : fdopen(fd, "w");
	if (out)
		lines_save(&p->lines, out);
	if (fd < 0)
		log_error("cannot write %s: %s", path, fd == -ENOENT ? why_write(fd) : regular_why(fd));
	else if (!out || ferror(out) || fclose(out))
		log_error("cannot write %s: %s", path, why_write(-errno));
	else
		fprintf(stderr, "saved: strata %s runs it\n", path);
	if (fd == -EEXIST)
		log_hint(":save -f %s writes over it", path);
}

static void run_load(struct prompt *p, const char *args)
{
	struct arena *a = arena_new();
	struct source source;
	int r = *args ? source_read_regular(a, args, &source) : -EINVAL;

	if (r == -ENOENT && prompt_tool(p, args)) {
		arena_free(a);
		return;
	}
	if (!*args)
		log_error(":load takes the name of a file");
	else if (r)
		log_error("cannot read %s: %s", args, regular_why(r));
	else
		prompt_line(p, source.text);
	arena_free(a);
}

bool prompt_read_map(struct prompt *p, const char *name, struct map_content *ret)
{
	const struct image_map *m = *name == '@' ? lines_map(&p->lines, name + 1) : NULL;
	const struct map_wanted all = {};
	int r;

	*ret = (struct map_content){};
	if (!m) {
		log_error(*name == '@' ? "there is no map %s" : "the name of a map is wanted: @name%s", name);
		return false;
	}
	r = map_read(session_show(p->session), shared_fd(session_maps(p->session), m->bpf_name), m, &all, ret);
	if (r)
		log_error("cannot read %s: %s", name, why_errno(r));
	return !r;
}

static int write_picture(const struct recording *r, const struct output *format, const char *path)
{
	const struct picture picture = {.recording = r};
	int fd = regular_create(path, true), err = fd < 0 ? fd : -ENOMEM;
	FILE *f = fd < 0 ? NULL : fdopen(fd, "w"), *packed = f ? pack_write(output_pack(format, path), f) : NULL;

	if (packed)
		err = format->render(&picture, packed);
	if (packed && fclose(packed) && !err)
		err = -EIO;
	if (f && fclose(f) && !err)
		err = -errno;
	return err;
}

/* The picture has stacks by address and line, whatever the prompt shows. */
static int draw_flame(struct prompt *p, const struct image_map *m, const char *path)
{
	const struct output *format = output_by_file(path);
	const struct map_wanted all = {};
	struct show show = *session_show(p->session);
	struct map_content c;
	struct recording *r = recording_new();
	int err;

	if (format->content != OUTPUT_STACKS)
		format = &output_svg;
	show.exact = true;
	err = map_read(&show, shared_fd(session_maps(p->session), m->bpf_name), m, &all, &c);
	if (!err)
		recording_add(r, &show, &c);
	map_content_done(&c);
	if (!err)
		err = write_picture(r, format, path);
	recording_free(r);
	return err;
}

static void say_drawn(const char *path, bool over)
{
	if (output_by_file(path)->compares)
		fprintf(stderr, "%s: %sopen it in a browser\n", path, over ? "written over; " : "");
	else
		fprintf(stderr, "%s is written%s\n", path, over ? " over" : "");
}

static void run_flame(struct prompt *p, const char *args)
{
	size_t n = strcspn(args, " \t");
	_cleanup_(freep) char *name = strndup(args, n);
	const char *path = args + n + strspn(args + n, " \t");
	const struct image_map *m = *name == '@' ? lines_map(&p->lines, name + 1) : NULL;
	bool over;
	int r;

	if (!*path) {
		log_error(":flame takes a map keyed by stacks and the name of a file: :flame @ x.svg");
	} else if (!m) {
		log_error("there is no map %s", name);
	} else if (!recording_takes(m)) {
		log_error("%s has no stacks in its key", name);
	} else if (output_check_file(path)) {
		over = !access(path, F_OK);
		r = draw_flame(p, m, path);
		if (r)
			log_error("cannot write %s: %s", path, r == -ENOEXEC ? regular_why(r) : why_write(r));
		else
			say_drawn(path, over);
	}
}

static void run_top(struct prompt *p, const char *args)
{
	size_t n = strcspn(args, " \t");
	_cleanup_(freep) char *name = strndup(args, n);
	double seconds = args[n] ? atof(args + n) : 1;
	struct map_content c = {};
	bool found;

	if (!*name) {
		log_error(":top takes a map, and how often it is drawn: :top @ 2");
		return;
	}
	found = prompt_read_map(p, name, &c);
	map_content_done(&c);
	if (found && isatty(0))
		prompt_top(p, name, seconds >= 0.05 ? seconds : 1);
}

static void run_quit(struct prompt *p, const char *args)
{
	p->leaving = true;
}

const struct command prompt_commands[] = {
	{"help", "[NAME]", "this list, or the help on a name of the language", run_help},
	{"probes", "PATTERN", "list the probes that match, like strata -l", run_probes},
	{"running", "", "list the running scripts with their costs", run_running},
	{"drop", "N|all", "detach a script's probes; its maps stay", run_drop},
	{"save", "[-f] FILE", "write the typed lines as a script; -f: replace an existing file", run_save},
	{"load", "FILE", "run a script as if it were typed, or a tool", run_load},
	{"top", "@MAP [SECONDS]", "redraw a map repeatedly, largest entries first", run_top},
	{"flame", "@MAP FILE", "write a map with stacks as keys as a flame graph for a browser", run_flame},
	{"quit", "", "leave, and print the maps", run_quit},
	{},
};

static void unknown(const char *name)
{
	const char *names[16], *near;
	size_t n = 0;

	for (const struct command *c = prompt_commands; c->name; c++)
		names[n++] = c->name;
	near = nearest(name, names, n);
	log_error("there is no command :%s", name);
	if (near)
		log_hint("did you mean :%s?", near);
	else
		log_hint(":help lists the commands");
}

/* A name may be shortened if only one command begins that way. */
void prompt_command(struct prompt *p, const char *line)
{
	_cleanup_(freep) char *text = strdup(line);
	char *args = text + strcspn(text, " \t\n"), *end = text + strlen(text);
	const struct command *found = NULL;
	unsigned n = 0;

	while (end > text && strchr(" \t\n", end[-1]))
		*--end = 0;
	if (*args)
		*args++ = 0;
	args += strspn(args, " \t\n");
	for (const struct command *c = prompt_commands; *text && c->name; c++)
		if (!strncmp(c->name, text, strlen(text))) {
			found = c;
			n++;
		}
	if (n == 1)
		found->run(p, args);
	else
		unknown(text);
}
