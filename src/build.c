// SPDX-License-Identifier: Apache-2.0
/* build.c - strata build: compiles the script for any machine, and writes strata-run with the images after its end. */
#include "build.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/log.h"
#include "base/owner.h"
#include "base/str.h"
#include "base/why.h"
#include "cli/version.h"
#include "imagefile/imagefile.h"
#include "imagefile/program.h"
#include "model/facts.h"
#include "model/image.h"
#include "options.h"
#include "script.h"
#include "types/types.h"

#define RUN "strata-run"

/* ---- what cannot be built ----------------------------------------------- */

/* Returns an option that belongs to the built program, or that the code would be made for, or NULL. */
static const char *option_of_a_run(const struct options *o)
{
	return o->pids.len ? "-p" : o->command ? "-c" : o->format ? "-f" : o->duration > 0 ? "-d" :
		o->live > 0 ? "-t" : o->top ? "-n" : o->container ? "--container" : o->cgroup ? "--cgroup" :
		o->user_text ? "--user" : o->mode != SCRIPT_RUNS ? "--test and --bench" :
		o->has_filter ? "--probe-filter" : o->warn_reads ? "-k" : o->interactive ? "-i" :
		o->hosts ? "--host" : o->list ? "-l" : o->idle ? "--idle" : o->startup ? "--startup" :
		o->dry_run ? "--dry-run" : o->libraries.hidden.len ? "--hide" : o->libraries.only.len ? "--only" :
		o->buffer_all ? "-B full" : o->lacks_features ? "--no-feature" : NULL;
}

static bool may_build(const struct options *o)
{
	const char *option = option_of_a_run(o);

	if (option) {
		log_error("strata build takes no %s", option);
		log_hint("-c, -p, -d, -f, -t, -n and --dry-run are options of the program that it makes");
	} else if (!o->output) {
		log_error("strata build needs the name of the program: -o NAME");
	}
	return !option && o->output;
}

/* Kprobes stand in for fentry where the kernel has no trampolines: that code is for such kernels only. */
static void bind_stand_ins(struct facts *f)
{
	for (unsigned i = 0; i < f->npoints; i++) {
		const struct provider *p = f->points[i].provider;

		if (provider_by_name(providers, p->name, strlen(p->name)) != p)
			facts_bind(f, f->points[i].span, "this kernel has no BPF trampolines, others have");
	}
}

static bool is_bound(const struct compile *c, const struct facts *f)
{
	struct diags *d = diags_new(c->arena, &c->source);

	if (f->bound) {
		diag(d, f->bound_at, DIAG_CONTEXT, "this cannot leave the machine: %s", f->bound);
		diag_hint(d, "strata without build compiles the script where it runs");
		diags_print(d, stderr, c->colour);
	} else if (types_c_is_bound(c->req.types)) {
		log_error("%s cannot leave the machine: its C part takes types from headers, or from the kernel's BTF",
			c->source.name);
		log_hint("without #include, a script has the types of the kernel on which it runs; other types can be "
			"written in C");
	}
	return f->bound || types_c_is_bound(c->req.types);
}

/* ---- the images --------------------------------------------------------- */

static bool add_image(struct options *o, bool tree, struct str *out)
{
	struct compile c = {.arena = o->compile.arena, .source = o->compile.source, .is_again = tree};
	struct facts *f = arena_new_obj(c.arena, struct facts);
	struct imagefile file = {.tree = tree, .name = c.source.name};
	struct types *types = o->types;
	bool ok;

	f->arena = c.arena;
	o->types = types_new(c.arena, o->traced.target);
	script_prepare(o, &c);
	c.req.facts = c.codegen.facts = f;
	c.codegen.pid_tree = tree;
	c.codegen.counts = c.codegen.no_cookies = c.codegen.no_loops = false;
	c.codegen.pid_ns = true; /* the code asks where it runs */
	ok = compile(&c);
	bind_stand_ins(f);
	ok = ok && !is_bound(&c, f);
	if (ok && !c.image) {
		log_error("%s has no probes", c.source.name);
		ok = false;
	}
	if (ok) {
		file.image = c.image;
		file.settings = c.req.settings;
		ok = imagefile_write(&file, version(), out);
		if (!ok)
			log_error("the code of %s cannot be written: strata would not read it again", c.source.name);
	}
	types_close(o->types);
	o->types = types;
	return ok;
}

/* ---- the file ----------------------------------------------------------- */

/* strata-run is next to strata where it is built, and in a directory of its own where it is installed. */
static int open_run(struct arena *a)
{
	static const char *const places[] = {"", "../libexec/strata/", "../lib/strata/"};
	char exe[4096];
	ssize_t n = readlink("/proc/self/exe", exe, sizeof(exe) - 1);

	if (n <= 0)
		return -errno;
	exe[n] = '\0';
	*(strrchr(exe, '/') + 1) = '\0';
	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
		int fd = open(arena_printf(a, "%s%s" RUN, exe, places[i]), O_RDONLY | O_CLOEXEC);

		if (fd >= 0)
			return fd;
	}
	return -ENOENT;
}

static int write_all(int fd, const void *data, size_t size)
{
	for (size_t done = 0; done < size; ) {
		ssize_t n = write(fd, (const char *)data + done, size - done);

		if (n < 0)
			return -errno;
		done += (size_t)n;
	}
	return 0;
}

static int copy(int from, int to)
{
	char buffer[65536];
	ssize_t n;
	int r = 0;

	while (!r && (n = read(from, buffer, sizeof(buffer))) > 0)
		r = write_all(to, buffer, (size_t)n);
	return r ? r : n < 0 ? -errno : 0;
}

static bool ends_with(const char *text, const char *end)
{
	size_t n = strlen(text), m = strlen(end);

	return n > m && !strcmp(text + n - m, end);
}

/* NAME.image has only the images, for strata-run NAME.image. */
static int write_program(struct options *o, int fd, const struct str *images)
{
	struct program_tail tail = {.size = images->len, .magic = PROGRAM_MAGIC};
	bool bare = ends_with(o->output, ".image");
	_cleanup_(closep) int run = bare ? -1 : open_run(o->compile.arena);
	int r = 0;

	if (!bare && run < 0) {
		log_error("strata build needs the program " RUN ", which is not next to strata: %s", why_errno(run));
		log_hint("packages of strata have it, the static binary has not; -o NAME.image writes only the code");
		return -ECANCELED;
	}
	if (!bare)
		r = copy(run, fd);
	if (!r)
		r = write_all(fd, images->data, images->len);
	if (!r && !bare)
		r = write_all(fd, &tail, sizeof(tail));
	return r;
}

/* The file appears when it is complete. */
static int write_file(struct options *o, const struct str *images)
{
	const char *name = arena_printf(o->compile.arena, "%s.%d.new", o->output, (int)getpid());
	_cleanup_(closep) int fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	int r = fd < 0 ? -errno : write_program(o, fd, images);
	mode_t mask = umask(0);

	umask(mask);
	if (!r && (fchmod(fd, (ends_with(o->output, ".image") ? 0666 : 0777) & ~mask) || rename(name, o->output)))
		r = -errno;
	if (fd >= 0 && r)
		unlink(name);
	if (r && r != -ECANCELED)
		log_error("cannot write %s: %s", o->output, why_write(r));
	return r;
}

void build_help(void)
{
	static const char *const lines[] = {
		"Usage: strata build [OPTIONS] FILE [ARGS...] -o NAME",
		"",
		"Compiles the script into one program, which runs without strata and without a compiler, also on other",
		"machines and kernels from Linux 5.17 on. NAME.image is only the code, for strata-run NAME.image.",
		"",
		"  -o NAME          write the program to NAME",
		"  -e PROGRAM       build this one-liner",
		"  --unsafe         allow functions that change the system, such as system()",
		"  -I DIR           search headers of the script's C definitions in DIR first",
		"  --include FILE   read a header before the script's C definitions",
		"  --window TIME    print the aggregations every TIME and begin them anew",
		"",
		"ARGS are the parameters ($1) and options of the script; they become a part of the program, whose own",
		"options are -c, -p, -d, -o, -f, -n, -t, -q, -v, --dry-run and --help.",
	};

	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++)
		puts(lines[i]);
}

int build_program(struct options *o)
{
	struct str images = {};
	int code = 1;

	if (may_build(o) && script_load(o) && add_image(o, false, &images) && add_image(o, true, &images))
		code = write_file(o, &images) ? 1 : 0;
	str_done(&images);
	return code;
}
