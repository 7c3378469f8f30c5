// SPDX-License-Identifier: Apache-2.0
/* cpart_errors.c - reads clang's errors. Some name types that the kernel's BTF can supply; the others are
 * reported at their places in the script. Messages are those of
 * clang/include/clang/Basic/Diagnostic*Kinds.td, LLVM 18 to 21; a message with other words is only
 * reported. */
#include "cpart.h"

#include <ctype.h>
#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/log.h"
#include "target/target.h"

struct complaint {
	const char *text;
	const char *file;  /* NULL for the script */
	void *cx_file;
	unsigned line;
	uint32_t at;       /* position in the script, if file is NULL */
	bool behind;       /* after the C part, in text that strata added */
};

/* Returns false if it is not an error. */
static bool read_complaint(struct cpart *c, unsigned i, struct complaint *ret)
{
	void *d = c->clang.getDiagnostic(c->unit, i);
	bool is_error = c->clang.getDiagnosticSeverity(d) >= CX_SEVERITY_ERROR;
	unsigned column, offset;

	*ret = (struct complaint){};
	if (is_error) {
		ret->text = cpart_string(c, c->clang.getDiagnosticSpelling(d));
		c->clang.getFileLocation(c->clang.getDiagnosticLocation(d), &ret->cx_file, &ret->line, &column,
			&offset);
		ret->file = ret->cx_file ? cpart_string(c, c->clang.getFileName(ret->cx_file)) : "";
		if (!strcmp(ret->file, c->file))
			ret->file = NULL;
		ret->at = offset;
		ret->behind = !ret->file && offset >= c->part.end;
	}
	c->clang.disposeDiagnostic(d);
	return is_error;
}

/* ---- missing names ----------------------------------------------------------- */

/* Returns the text in the last pair of quotes, or NULL if there is none. */
static const char *quoted(struct cpart *c, const char *text)
{
	const char *end = strrchr(text, '\''), *start = end;

	while (start > text && *--start != '\'')
		;
	return start < end ? arena_strndup(c->arena, start + 1, (size_t)(end - start - 1)) : NULL;
}

/* Types that a program includes from vmlinux.h come from BTF. */
static bool is_known_header(const struct cpart *c, const char *name)
{
	return cpart_is_kernel_header(name) || (c->is_program && !strcmp(name, "vmlinux.h"));
}

static bool add_header(struct cpart *c, const char *name)
{
	if (!name || !is_known_header(c, name) || !c->target || !target_has_btf(c->target))
		return false;
	for (size_t i = 0; i < c->missing.len; i++)
		if (!strcmp(c->missing.data[i], name))
			return false;
	vec_push(&c->missing, name);
	return true;
}

static bool add_wanted(struct cpart *c, struct cpart_name n)
{
	for (size_t i = 0; i < c->wanted.len; i++) {
		const struct cpart_name *have = &c->wanted.data[i];

		if (have->tag == n.tag && have->constant == n.constant && !strcmp(have->name, n.name))
			return false;
	}
	vec_push(&c->wanted, n);
	return true;
}

/* Handles "field has incomplete type 'struct list_head'". */
static bool add_incomplete(struct cpart *c, const char *text)
{
	static const struct {
		const char *word;
		enum type_tag tag;
	} tags[] = {{"'struct ", TAG_STRUCT}, {"'union ", TAG_UNION}, {"'enum ", TAG_ENUM}};

	for (size_t i = 0; i < sizeof(tags) / sizeof(tags[0]); i++) {
		const char *at = strstr(text, tags[i].word);
		const char *name = at ? at + strlen(tags[i].word) : "";
		size_t n = 0;

		while (isalnum((unsigned char)name[n]) || name[n] == '_')
			n++;
		if (n)
			return add_wanted(c,
				(struct cpart_name){tags[i].tag, arena_strndup(c->arena, name, n), false});
	}
	return false;
}

static bool add_for(struct cpart *c, const struct complaint *e)
{
	const char *name = quoted(c, e->text);

	if (strstr(e->text, "file not found"))
		return add_header(c, name);
	if (strstr(e->text, "unknown type name") && name)
		return add_wanted(c, (struct cpart_name){TAG_NAME, name, false});
	if (strstr(e->text, "incomplete"))
		return add_incomplete(c, e->text);
	if (strstr(e->text, "undeclared identifier") && name && !e->behind)
		return add_wanted(c, (struct cpart_name){TAG_NAME, name, true});
	return false;
}

bool cpart_add_missing(struct cpart *c)
{
	unsigned n = c->clang.getNumDiagnostics(c->unit);
	bool added = false;

	for (unsigned i = 0; i < n; i++) {
		struct complaint e;

		if (read_complaint(c, i, &e))
			added |= add_for(c, &e);
	}
	return added;
}

/* ---- reporting ---------------------------------------------------------- */

struct inclusion {
	struct cpart *part;
	void *file;
	uint32_t at;
	bool found;
};

static void at_inclusion(void *file, struct cx_location *stack, unsigned n, void *arg)
{
	struct inclusion *inc = arg;
	void *main_file;
	unsigned line, column, offset;

	if (file != inc->file || !n || inc->found)
		return;
	inc->part->clang.getFileLocation(stack[n - 1], &main_file, &line, &column, &offset);
	inc->at = offset;
	inc->found = offset < inc->part->part.end && offset >= inc->part->part.start;
}

/* Returns the line of the script that includes the file, or the part's first line for --include. */
static struct span inclusion_span(struct cpart *c, void *file)
{
	struct inclusion inc = {.part = c, .file = file};
	const char *text = c->source->text;
	uint32_t start;

	c->clang.getInclusions(c->unit, at_inclusion, &inc);
	start = inc.found ? inc.at : c->part.start;
	while (inc.found && start > c->part.start && text[start - 1] != '\n')
		start--;
	return (struct span){start, start + (uint32_t)strcspn(text + start, "\r\n")};
}

/* Returns the word or sign at the place. */
static struct span word_span(struct cpart *c, uint32_t at)
{
	uint32_t end = at;

	while (end < c->part.end && (isalnum((unsigned char)c->source->text[end]) || c->source->text[end] == '_'))
		end++;
	if (end == at && c->source->text[at] == '<')
		end += (uint32_t)strcspn(c->source->text + at, ">\n");
	return (struct span){at, end > at ? end : at + 1};
}

static void hint_missing(struct cpart *c, const char *header)
{
	if (header && cpart_is_kernel_header(header) && !c->has_kernel)
		diag_hint(c->diags, "install the kernel's headers: the package linux-headers-$(uname -r) of Debian "
			"and Ubuntu, kernel-devel of Fedora");
	else
		diag_hint(c->diags, "-I DIR adds a directory where headers are looked for");
}

/* Scripts of bpftrace leave out the ';'. */
static bool is_forgiven(const struct cpart *c, const struct complaint *e)
{
	return !e->file && !c->is_program && !strncmp(e->text, "expected ';' after ", 19);
}

static void report(struct cpart *c, const struct complaint *e)
{
	if (e->behind || is_forgiven(c, e))
		return;
	/* A header defines a type again that came from BTF, which is the kernel's definition. */
	if (e->file && (cpart_in_kernel_dir(c, e->file) || (c->btf.len && strstr(e->text, "redefinition")))) {
		log_info("%s:%u: %s", e->file, e->line, e->text);
		return;
	}
	if (!e->file)
		diag(c->diags, word_span(c, e->at), DIAG_C, "%s", e->text);
	else if (!strcmp(e->file, CPART_BTF))
		diag(c->diags, inclusion_span(c, NULL), DIAG_C, "in the kernel's types: %s", e->text);
	else if (!*e->file)
		diag(c->diags, inclusion_span(c, NULL), DIAG_C, "--include: %s", e->text);
	else
		diag(c->diags, inclusion_span(c, e->cx_file), DIAG_C, "%s:%u: %s", e->file, e->line, e->text);
	if (strstr(e->text, "file not found"))
		hint_missing(c, quoted(c, e->text));
}

void cpart_report(struct cpart *c)
{
	unsigned n = c->clang.getNumDiagnostics(c->unit);

	for (unsigned i = 0; i < n && !diags_full(c->diags); i++) {
		struct complaint e;

		if (read_complaint(c, i, &e))
			report(c, &e);
	}
}
