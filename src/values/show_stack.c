// SPDX-License-Identifier: Apache-2.0
/* show_stack.c - frames as text, in the mode of the stack's type; and single addresses. The last line of a
 * stack that ended early has the reason. */
#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "base/str.h"
#include "bpf/lib/record.h"
#include "frames.h"
#include "match.h"
#include "model/type.h"
#include "show.h"
#include "target/target.h"
#include "unwinders/unwinders.h"

/* ---- names -------------------------------------------------------------- */

static void add_safe(struct str *out, const char *text)
{
	str_add_safe(out, text, strlen(text));
}

static bool is_native(const struct frame_name *f)
{
	return f->lang == FRAME_LANG_NATIVE || f->lang == FRAME_LANG_KERNEL;
}

static void add_number(char before, uint64_t v, struct str *out)
{
	str_addc(out, before);
	str_add_uint(out, v);
}

/* Appends "name file:line", or "name file:line:column", for a language's frame; "name file:3-7" for several stacks'
 * frames; "name file:~2" if only the line is known in which the function begins. */
static void add_source(const struct shown_frame *f, struct str *out)
{
	const struct frame_name *n = &f->name;

	add_safe(out, n->name ? n->name : "?");
	if (!n->file)
		return;
	str_addc(out, ' ');
	add_safe(out, n->file);
	if (!n->line) {
		if (n->begins)
			str_addf(out, ":~%u", n->begins);
		return;
	}
	add_number(':', n->line, out);
	if (f->last_line > n->line)
		add_number('-', f->last_line, out);
	else if (n->column && !f->inexact)
		add_number(':', n->column, out);
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

/* ---- modes -------------------------------------------------------------- */

/* An address without a name is shown with its file, by which it can be found. */
static void add_unknown(const struct shown_frame *f, struct str *out)
{
	const char *jit = f->inexact ? frames_jit_name(&f->name) : NULL;
	uint64_t addr = f->name.vaddr - (f->inexact ? f->name.offset : 0);

	if (jit) {
		str_add(out, jit);
	} else if (f->name.module && f->name.lang == FRAME_LANG_NATIVE) {
		add_safe(out, base_name(f->name.module));
		str_addf(out, "+0x%" PRIx64, addr);
	} else {
		str_addf(out, "0x%" PRIx64, addr);
	}
}

void show_function(const struct shown_frame *f, struct str *out)
{
	const struct frame_name *n = &f->name;

	if (n->name)
		add_safe(out, n->name);
	else
		add_unknown(&(struct shown_frame){ .name = *n, .inexact = true }, out);
	if (n->name && !is_native(n) && n->file) {
		str_addc(out, ' ');
		add_safe(out, n->file);
	}
}

/* An inlined function has no code of its own, in which it could have an offset. */
static void line_bpftrace(const struct shown_frame *f, struct str *out)
{
	str_add(out, "        ");
	if (!is_native(&f->name)) {
		add_source(f, out);
	} else if (f->name.name) {
		add_safe(out, f->name.name);
		if (!f->inexact && !f->name.caller)
			add_number('+', f->name.offset, out);
	} else {
		add_unknown(f, out);
	}
	str_addc(out, '\n');
}

/* Returns the end of a path: the file with its directory. */
static const char *with_directory(const char *path)
{
	const char *end = path + strlen(path);

	for (int slashes = 0; end > path; end--)
		if (end[-1] == '/' && ++slashes == 2)
			return end;
	return path;
}

/* "name dir/file.c:12"; without a line, like the other modes. */
static void line_line(const struct shown_frame *f, struct str *out)
{
	if (!is_native(&f->name) || !f->name.name || !f->name.file || !f->name.line) {
		line_bpftrace(f, out);
		return;
	}
	str_add(out, "        ");
	add_safe(out, f->name.name);
	str_addc(out, ' ');
	add_safe(out, with_directory(f->name.file));
	add_number(':', f->name.line, out);
	str_addc(out, '\n');
}

static void line_full(const struct shown_frame *shown, struct str *out)
{
	const struct frame_name *f = &shown->name;

	str_add(out, "        ");
	if (!is_native(f)) {
		add_source(shown, out);
		if (f->caller)
			str_add(out, " [inlined]");
	} else {
		if (f->name) {
			add_safe(out, f->name);
			if (!f->caller)
				str_addf(out, "+0x%" PRIx64, f->offset);
		} else {
			str_addf(out, "0x%" PRIx64, f->vaddr);
		}
		if (f->file) {
			str_addc(out, ' ');
			add_safe(out, f->file);
			str_addf(out, ":%u", f->line);
		}
		if (f->caller)
			str_add(out, " [inlined]");
		if (f->module) {
			str_add(out, " (");
			add_safe(out, f->module);
			str_addc(out, ')');
		}
	}
	str_addc(out, '\n');
}

static void line_perf(const struct shown_frame *shown, struct str *out)
{
	const struct frame_name *f = &shown->name;

	str_addf(out, "\t%" PRIx64 " ", f->vaddr);
	if (!is_native(f)) {
		add_source(shown, out);
	} else if (f->name) {
		add_safe(out, f->name);
		if (!f->caller)
			add_number('+', f->offset, out);
	} else {
		str_addf(out, "0x%" PRIx64, f->vaddr);
	}
	if (f->lang != FRAME_LANG_KERNEL) { /* as in bpftrace */
		str_add(out, " (");
		add_safe(out, is_native(f) && f->caller ? "inlined" : f->module ? f->module : "[unknown]");
		str_addc(out, ')');
	}
	str_addc(out, '\n');
}

static void line_build_id(const struct show *s, const struct shown_frame *f, struct str *out)
{
	uint8_t id[64];
	size_t n = s->unwinders ? unwinders_build_id(s->unwinders, f->frame, id) : 0;

	for (size_t i = 0; i < n; i++)
		str_addf(out, "%02x", id[i]);
	str_addf(out, "%s0x%" PRIx64 "\n", n ? " " : "", f->name.vaddr);
}

/* The frame's texts may go before the explanation is printed. */
static void explain_begin(const struct show *s, enum stack_mode mode, const struct frame_name *n)
{
	struct str text = {};

	if (!s->begins || *s->begins || is_native(n) || n->line || !n->begins || !n->file || mode == STACK_RAW ||
		mode == STACK_BUILD_ID)
		return;
	add_safe(&text, n->file);
	str_addf(&text, ":~%u: the line is not known; ", n->begins);
	add_safe(&text, n->name ? n->name : "the function");
	str_addf(&text, " begins in line %u", n->begins);
	*s->begins = text.data;
}

static void add_line(const struct show *s, enum stack_mode mode, const struct shown_frame *f,
	struct str *out)
{
	explain_begin(s, mode, &f->name);
	switch (mode) {
	case STACK_LINE:
		line_line(f, out);
		break;
	case STACK_FUNC:
	case STACK_ADDR:
	case STACK_BPFTRACE:
		line_bpftrace(f, out);
		break;
	case STACK_FULL:
		line_full(f, out);
		break;
	case STACK_PERF:
		line_perf(f, out);
		break;
	case STACK_RAW:
		str_addf(out, "%" PRIx64 "\n", f->name.vaddr);
		break;
	case STACK_BUILD_ID:
		line_build_id(s, f, out);
		break;
	case STACK_FOLDED:
	case STACK_MODE_MAX:
		break;
	}
}

static const char *nothing(enum frame_lang lang)
{
	static const char *const text[FRAME_LANGS] = {
#define L(id, stem, builtin, kind, name) [FRAME_LANG_##id] = "no " name " frames",
#include "bpf/languages.def"
#undef L
	};

	return lang < FRAME_LANGS ? text[lang] : NULL;
}

/* ---- a stack ------------------------------------------------------------ */

const char *show_end(const struct type *t, const struct frame_list *l)
{
	if (l->end != UNWIND_COMPLETE && l->end != UNWIND_NO_USER)
		return unwind_end_text(l->end);
	return l->len ? NULL : nothing(t->stack.lang);
}

void show_frames(const struct show *s, const struct type *t, const struct frame_list *l,
	struct str *out)
{
	const char *why = show_end(t, l);

	if (t->stack.mode == STACK_FOLDED) {
		show_folded(t, l, out);
		return;
	}
	str_addc(out, '\n');
	for (size_t i = 0; i < l->len; i++)
		add_line(s, t->stack.mode, &l->data[i], out);
	if (why)
		str_addf(out, "        [%s]\n", why);
}

void show_stack(const struct show *s, const struct type *t, uint64_t id, struct str *out)
{
	struct frame_list l;

	frames_get(s, t, id, &l);
	show_frames(s, t, &l, out);
	frames_done(&l);
}

/* ---- one frame ---------------------------------------------------------- */

/* Appends the language in small letters. */
static void add_lang(enum frame_lang lang, struct str *out)
{
	static const char *const names[FRAME_LANGS] = {
#define L(id, stem, builtin, kind, name) [FRAME_LANG_##id] = name,
#include "bpf/languages.def"
#undef L
	};
	const char *name = lang < FRAME_LANGS ? names[lang] : NULL;

	if (!name)
		name = lang == FRAME_LANG_KERNEL ? "kernel" : "native";
	for (; *name; name++)
		str_addc(out, (char)tolower(*name));
}

static void add_part(enum frame_part part, const struct shown_frame *f, struct str *out)
{
	const struct frame_name *n = &f->name;

	switch (part) {
	case FRAME_PART_FUNC:
		if (n->name)
			add_safe(out, n->name);
		else
			add_unknown(&(struct shown_frame){ .name = *n, .inexact = true }, out);
		break;
	case FRAME_PART_FILE:
		add_safe(out, n->file ? n->file : "?");
		break;
	case FRAME_PART_LINE:
		if (n->line)
			str_addf(out, "%u", n->line);
		else
			str_addc(out, '?');
		break;
	case FRAME_PART_MODULE:
		add_safe(out, n->module ? n->module : n->file ? n->file : "?");
		break;
	case FRAME_PART_LANG:
		add_lang((enum frame_lang)n->lang, out);
		break;
	case FRAME_PART_ALL:
	case FRAME_PART_HAS:
		show_function(f, out);
		break;
	}
}

/* Nothing is known of a stack whose frames never came. */
static void add_has_frame(const struct type *t, const struct frame_list *l, struct str *out)
{
	if (l->end == UNWIND_LOST)
		str_addf(out, "[%s]", unwind_end_text(l->end));
	else
		str_add(out, frames_match(l, t->frame.pattern) ? "true" : "false");
}

/* A frame that is counted from the outermost one is not known if the stack has no end. */
void show_frame(const struct show *s, const struct type *t, uint64_t id, struct str *out)
{
	int64_t i = t->frame.index == FRAME_EACH ? (int64_t)s->each - 1 : t->frame.index;
	struct frame_list l;
	const char *why;

	if (t->frame.index == FRAME_EACH && !s->each) {
		str_add(out, (const char *)(uintptr_t)id);
		return;
	}
	frames_get(s, t->frame.stack, id, &l);
	why = show_end(t->frame.stack, &l);
	if (type_is_has_frame(t)) {
		add_has_frame(t, &l, out);
		frames_done(&l);
		return;
	}
	if (i < 0 && !why)
		i += (int64_t)l.len;
	if (i >= 0 && i < (int64_t)l.len)
		add_part(t->frame.part, &l.data[i], out);
	else
		str_addf(out, "[%s]", why ? why : "no such frame");
	frames_done(&l);
}

unsigned show_frames_of(const struct show *s, const struct type *t, uint64_t id)
{
	struct frame_list l;
	unsigned n;

	frames_get(s, t->frame.stack, id, &l);
	n = (unsigned)l.len;
	frames_done(&l);
	return n;
}

/* ---- single addresses --------------------------------------------------- */

void show_ksym(const struct show *s, uint64_t addr, struct str *out)
{
	const char *name, *module;
	uint64_t offset;

	if (addr >> 62 == KSYM_PLACE >> 62)
		show_place_name(s, true, addr & ~KSYM_PLACE, out);
	else if (target_ksym(s->target, addr, &name, &offset, &module) && name)
		add_safe(out, name);
	else
		str_addf(out, "0x%" PRIx64, addr);
}

void show_usym(const struct show *s, const uint8_t *data, struct str *out)
{
	struct frame_name f = {};
	struct usym u;

	memcpy(&u, data, sizeof(u));
	if (s->unwinders)
		unwinders_name_address(s->unwinders, u.pid, u.addr, &f);
	if (f.name)
		add_safe(out, f.name);
	else
		str_addf(out, "0x%" PRIx64, (uint64_t)u.addr);
}
