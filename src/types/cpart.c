// SPDX-License-Identifier: Apache-2.0
/* cpart.c - a script's C part as a source of types. clang reads it, and reads it again if something is
 * missing that the kernel's BTF has. */
#include "cpart.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/log.h"
#include "guard.h"

enum { READINGS_MAX = 24 };

/* Reading all of the kernel's headers takes a second, and less than 300 MB. */
static const struct guard_limits limits = {.ms = 10000, .bytes = (size_t)1 << 30};

/* ---- clang's input ------------------------------------------------------- */

/* Returns the script's path, so that headers next to it are found. clang reads our own file by that name. */
static const char *main_file(struct cpart *c)
{
	char dir[4096];
	const char *name = source_spot(c->source, c->part.start).name;

	if (name[0] == '/')
		return name;
	if (!getcwd(dir, sizeof(dir)))
		return arena_printf(c->arena, "/%s", name);
	return arena_printf(c->arena, "%s/%s", dir, name);
}

/* Replaces the text before the C part by blanks. */
static void set_text(struct cpart *c)
{
	const char *text = c->source->text;

	for (uint32_t i = 0; i < c->part.start; i++)
		str_addc(&c->text, text[i] == '\n' ? '\n' : ' ');
	str_addn(&c->text, text + c->part.start, c->part.end - c->part.start);
	str_addc(&c->text, '\n');
	c->reads_headers = c->options->nfiles || strstr(str_text(&c->text), "include");
	cpart_add_words(c);
}

static void add_file(struct cpart *c, const char *name, const char *text, size_t len)
{
	vec_push(&c->files, (struct cx_unsaved){name, text, len});
}

static void call_clang(void *arg)
{
	struct cpart *c = arg;
	unsigned flags = c->is_program ? CX_KEEP_GOING : CX_KEEP_GOING | CX_SKIP_FUNCTION_BODIES;

	if (!c->index)
		c->index = c->clang.createIndex(0, 0);
	if (c->unit)
		c->clang.disposeTranslationUnit(c->unit);
	c->unit = NULL;
	if (!c->index || c->clang.parseTranslationUnit2(c->index, c->file, c->args.data, (int)c->args.len,
			c->files.data, (unsigned)c->files.len, flags, &c->unit))
		c->unit = NULL;
}

struct span cpart_first_line(const struct cpart *c)
{
	return (struct span){c->part.start, c->part.start +
		(uint32_t)strcspn(c->source->text + c->part.start, "\r\n")};
}

/* Reports that clang could not read the part. */
static bool gave_up(struct cpart *c, enum guard_end how)
{
	struct span at = cpart_first_line(c);

	c->unit = c->index = NULL;
	if (how == GUARD_LATE)
		return diag(c->diags, at, DIAG_C, "libclang has not read this C part within %u seconds",
			limits.ms / 1000);
	return diag(c->diags, at, DIAG_C, "libclang cannot read this C part: it crashed, gave up, or needs more "
		"than %zu MB", limits.bytes >> 20);
}

static bool read_once(struct cpart *c)
{
	size_t nfiles = c->files.len;
	enum guard_end how;

	add_file(c, c->file, str_text(&c->text), c->text.len);
	add_file(c, CPART_BTF, str_text(&c->btf), c->btf.len);
	for (size_t i = 0; i < c->missing.len; i++)
		add_file(c, arena_printf(c->arena, CPART_DIR "/%s", c->missing.data[i]), "", 0);
	how = guarded(call_clang, c, &limits);
	c->files.len = nfiles;
	return how == GUARD_ENDED && c->unit ? true : gave_up(c, how);
}

static bool read_part(struct cpart *c)
{
	bool again = true;

	for (unsigned i = 0; i < READINGS_MAX && again; i++) {
		if (!read_once(c))
			return false;
		again = cpart_add_missing(c);
		if (again)
			cpart_print_btf(c);
	}
	/* The C library has some of these headers, too, with fewer definitions. */
	if (c->missing.len || (c->included && !c->has_kernel))
		types_miss_header(c->types, c->missing.len ? c->missing.data[0] : c->included);
	for (size_t i = 0; i < c->missing.len; i++)
		log_info("<%s> is passed over: there are no headers of the kernel, its types come from BTF",
			c->missing.data[i]);
	return true;
}

/* ---- the source --------------------------------------------------------- */

static void cpart_close(void *state)
{
	struct cpart *c = state;

	if (c->unit)
		c->clang.disposeTranslationUnit(c->unit);
	if (c->index)
		c->clang.disposeIndex(c->index);
	c->unit = c->index = NULL;
	decls_free(c);
	str_done(&c->text);
	str_done(&c->btf);
	vec_done(&c->args);
	vec_done(&c->kernel_dirs);
	vec_done(&c->missing);
	vec_done(&c->files);
	vec_done(&c->wanted);
	vec_done(&c->called);
}

static bool open_clang(struct cpart *c)
{
	struct span at = cpart_first_line(c);

	switch (clang_open(&c->clang)) {
	case CLANG_OPEN:
		return true;
	case CLANG_MISSING:
		diag(c->diags, at, DIAG_C, "this needs libclang, which cannot be loaded");
		diag_hint(c->diags, "install libclang1-19 (Debian, Ubuntu) or clang-libs (Fedora)");
		return false;
	case CLANG_LEFT_OUT:
		diag(c->diags, at, DIAG_C, "this build of strata has no parser for C");
		diag_hint(c->diags, "definitions in C need the packaged strata, which loads libclang");
		return false;
	}
	return false;
}

/* It may also be in a comment: the C part is then taken for one that includes. */
static bool has_include(const struct cpart *c)
{
	return memmem(c->source->text + c->part.start, c->part.end - c->part.start, "include", 7);
}

static bool add_part(struct cpart *c)
{
	bool ok = open_clang(c);
	struct type_source s;

	if (ok) {
		c->file = main_file(c);
		set_text(c);
		cpart_set_args(c);
		/* libclang runs in the thread of guarded(), which replaces libclang's own protection: that
		 * one does not help when the stack is full. */
		setenv("LIBCLANG_NOTHREADS", "1", 1);
		setenv("LIBCLANG_DISABLE_CRASH_RECOVERY", "1", 1);
		ok = cpart_includes_files(c) && read_part(c);
		unsetenv("LIBCLANG_NOTHREADS");
		unsetenv("LIBCLANG_DISABLE_CRASH_RECOVERY");
	}
	if (c->unit)
		cpart_report(c);
	if (c->btf.len || c->is_program || c->options->nfiles || c->missing.len || has_include(c))
		types_bind_c(c->types);
	s = (struct type_source){.state = c, .find = cpart_find, .constant = cpart_constant,
		.macro = cpart_macro, .names = cpart_names, .close = cpart_close,
		.function = c->is_program ? cpart_function : NULL, .compile = c->is_program ? cpart_compile : NULL};
	types_add_source(c->types, &s);
	return ok && !diags_failed(c->diags);
}

static struct cpart *new_part(struct types *ts, struct diags *d, const struct source *src, struct span part,
	const struct c_options *opt)
{
	struct cpart *c = arena_new_obj(types_arena(ts), struct cpart);

	*c = (struct cpart){.types = ts, .target = types_target(ts), .arena = types_arena(ts), .diags = d,
		.source = src, .part = part, .options = opt};
	return c;
}

bool types_add_c(struct types *ts, struct diags *d, const struct source *src, struct span part,
	const struct c_options *opt)
{
	if (!opt->nfiles && (part.start == part.end || cpart_plain(ts, src, part)))
		return true;
	return add_part(new_part(ts, d, src, part, opt));
}

bool types_add_c_program(struct types *ts, struct diags *d, const struct source *src, struct span file,
	const struct c_options *opt)
{
	struct cpart *c = new_part(ts, d, src, file, opt);

	c->is_program = true;
	return add_part(c);
}
