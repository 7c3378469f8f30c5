// SPDX-License-Identifier: Apache-2.0
/* show_stack.c - frames as text, in the mode of the stack's type; and single
 * addresses. A stack that ended early says so in its last line. */
#include <inttypes.h>
#include <string.h>

#include "base/str.h"
#include "bpf/record.h"
#include "parser/type.h"
#include "show.h"
#include "target/target.h"
#include "unwinders/unwinder.h"

/* ---- names -------------------------------------------------------------- */

static uint64_t kernel_address(uint64_t frame)
{
	return frame | 0xfULL << FRAME_LANG_SHIFT; /* the bits FRAME_LANG_KERNEL took */
}

static void add_safe(struct str *out, const char *text)
{
	str_add_safe(out, text, strlen(text));
}

static void kernel_name(const struct show *s, uint64_t addr, struct frame_name *ret)
{
	memset(ret, 0, sizeof(*ret));
	ret->lang = FRAME_LANG_KERNEL;
	ret->vaddr = addr;
	if (!target_ksym(s->target, addr, &ret->name, &ret->offset, &ret->module))
		ret->name = NULL;
	if (!ret->module || !*ret->module)
		ret->module = "kernel";
}

static void name_of(const struct show *s, uint64_t frame, struct frame_name *ret)
{
	if (frame >> FRAME_LANG_SHIFT == FRAME_LANG_KERNEL)
		kernel_name(s, kernel_address(frame), ret);
	else if (s->unwinders)
		unwinders_name(s->unwinders, frame, ret);
	else
		memset(ret, 0, sizeof(*ret));
}

static bool is_native(const struct frame_name *f)
{
	return f->lang == FRAME_LANG_NATIVE || f->lang == FRAME_LANG_KERNEL;
}

/* "name file:line", or "name file:line:column", of a language's frame. */
static void add_source(const struct frame_name *f, struct str *out)
{
	add_safe(out, f->name ? f->name : "?");
	if (f->file) {
		str_addc(out, ' ');
		add_safe(out, f->file);
		if (f->line)
			str_addf(out, ":%u", f->line);
		if (f->line && f->column)
			str_addf(out, ":%u", f->column);
	}
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

/* ---- modes -------------------------------------------------------------- */

/* An address nobody has a name for is told with its file, which is what finds it. */
static void add_unknown(const struct frame_name *f, struct str *out)
{
	if (f->module && f->lang == FRAME_LANG_NATIVE) {
		add_safe(out, base_name(f->module));
		str_addf(out, "+0x%" PRIx64, f->vaddr);
	} else {
		str_addf(out, "0x%" PRIx64, f->vaddr);
	}
}

static void line_bpftrace(const struct frame_name *f, struct str *out)
{
	str_add(out, "        ");
	if (!is_native(f)) {
		add_source(f, out);
	} else if (f->name) {
		add_safe(out, f->name);
		str_addf(out, "+%" PRIu64, f->offset);
	} else {
		add_unknown(f, out);
	}
	str_addc(out, '\n');
}

static void line_full(const struct frame_name *f, struct str *out)
{
	str_add(out, "        ");
	if (!is_native(f)) {
		add_source(f, out);
	} else {
		if (f->name) {
			add_safe(out, f->name);
			str_addf(out, "+0x%" PRIx64, f->offset);
		} else {
			str_addf(out, "0x%" PRIx64, f->vaddr);
		}
		if (f->file) {
			str_addc(out, ' ');
			add_safe(out, f->file);
			str_addf(out, ":%u", f->line);
		}
		if (f->module) {
			str_add(out, " (");
			add_safe(out, f->module);
			str_addc(out, ')');
		}
	}
	str_addc(out, '\n');
}

static void line_perf(const struct frame_name *f, struct str *out)
{
	str_addf(out, "\t%" PRIx64 " ", f->vaddr);
	if (!is_native(f)) {
		add_source(f, out);
	} else if (f->name) {
		add_safe(out, f->name);
		str_addf(out, "+%" PRIu64, f->offset);
	} else {
		str_addf(out, "0x%" PRIx64, f->vaddr);
	}
	str_add(out, " (");
	add_safe(out, f->module ? f->module : "[unknown]");
	str_add(out, ")\n");
}

static void line_build_id(const struct show *s, uint64_t frame, const struct frame_name *f,
	struct str *out)
{
	uint8_t id[64];
	size_t n = s->unwinders ? unwinders_build_id(s->unwinders, frame, id) : 0;

	str_add(out, "        ");
	for (size_t i = 0; i < n; i++)
		str_addf(out, "%02x", id[i]);
	str_addf(out, "%s0x%" PRIx64 "\n", n ? " " : "", f->vaddr);
}

static void add_line(const struct show *s, enum stack_mode mode, uint64_t frame,
	const struct frame_name *f, struct str *out)
{
	switch (mode) {
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
		str_addf(out, "        %" PRIx64 "\n", f->vaddr);
		break;
	case STACK_BUILD_ID:
		line_build_id(s, frame, f, out);
		break;
	case STACK_FOLDED:
		break;
	}
}

/* A frame and those that it was inlined into; of addresses, one. What a compiler put
 * between two functions is left out. */
static void add_frame(const struct show *s, enum stack_mode mode, uint64_t frame, bool top,
	struct str *out)
{
	bool one = mode == STACK_RAW || mode == STACK_BUILD_ID;
	struct frame_name first;

	name_of(s, frame, &first);
	for (const struct frame_name *f = &first; f; f = one ? NULL : f->caller)
		if (one || top || !f->wrapper)
			add_line(s, mode, frame, f, out);
}

/* *sep: what comes before the next frame. */
static void folded_frame(const struct frame_name *f, bool top, const char **sep, struct str *out)
{
	if (f->caller)
		folded_frame(f->caller, top, sep, out);
	if (f->wrapper && !top)
		return;
	str_add(out, *sep);
	*sep = ";";
	if (!is_native(f))
		add_source(f, out);
	else if (f->name)
		add_safe(out, f->name);
	else
		add_unknown(f, out);
}

/* outermost;...;innermost on one line, as flame graph tools want it. */
static void folded(const struct show *s, const uint64_t *frames, size_t n,
	enum unwind_end end, struct str *out)
{
	const char *sep = "";

	if (end != UNWIND_COMPLETE) {
		str_addf(out, "[%s]", unwind_end_text(end));
		sep = ";";
	}
	for (size_t i = n; i-- > 0;) {
		struct frame_name f;

		name_of(s, frames[i], &f);
		folded_frame(&f, !i, &sep, out);
	}
}

/* A stack is not whole either when what a language says of a frame cannot be read. */
static enum unwind_end true_end(const struct show *s, const uint64_t *frames, ssize_t n,
	enum unwind_end end)
{
	for (ssize_t i = 0; i < n && end == UNWIND_COMPLETE; i++) {
		struct frame_name f;

		if (frames[i] >> FRAME_LANG_SHIFT != FRAME_LANG_PYTHON)
			continue;
		name_of(s, frames[i], &f);
		if (!f.name)
			end = UNWIND_LANGUAGE;
	}
	return end;
}

void show_stack(const struct show *s, const struct type *t, uint64_t id, struct str *out)
{
	enum unwind_end end = UNWIND_COMPLETE;
	const uint64_t *frames = NULL;
	ssize_t n = 0;

	if (id && s->unwinders)
		n = unwinders_stack(s->unwinders, id, &frames, &end);
	end = true_end(s, frames, n, end);
	if (t->stack.mode == STACK_FOLDED) {
		folded(s, frames, n > 0 ? n : 0, end, out);
		return;
	}
	str_addc(out, '\n');
	if (n < 0) {
		str_addf(out, "        [%s]\n", unwind_end_text(UNWIND_LOST));
		return;
	}
	if (n > t->stack.limit)
		n = t->stack.limit;
	for (ssize_t i = 0; i < n; i++)
		add_frame(s, t->stack.mode, frames[i], !i, out);
	if (end != UNWIND_COMPLETE && end != UNWIND_NO_USER)
		str_addf(out, "        [%s]\n", unwind_end_text(end));
}

/* ---- single addresses --------------------------------------------------- */

void show_ksym(const struct show *s, uint64_t addr, struct str *out)
{
	struct frame_name f;

	kernel_name(s, addr, &f);
	if (f.name)
		add_safe(out, f.name);
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
