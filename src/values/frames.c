// SPDX-License-Identifier: Apache-2.0
/* frames.c - a stack's frames as they are shown, and keys of equal stacks. See frames.h. */
#include "frames.h"

#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "base/vec.h"
#include "entries.h"
#include "hidden.h"
#include "match.h"
#include "model/type.h"
#include "show.h"
#include "target/target.h"

/* ---- a list ------------------------------------------------------------- */

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
		kernel_name(s, FRAME_ADDRESS(frame), ret);
	else if (s->unwinders)
		unwinders_name(s->unwinders, frame, ret);
	else
		memset(ret, 0, sizeof(*ret));
}

/* Modes with addresses print one for each frame of the stack. */
static bool is_of_addresses(enum stack_mode mode)
{
	return mode == STACK_RAW || mode == STACK_BUILD_ID;
}

/* Adds a frame and those into which it was inlined, without wrappers made by the compiler except in mode full. */
static void add_frame(const struct show *s, enum stack_mode mode, uint64_t frame, bool top,
	struct frame_list *l)
{
	bool one = is_of_addresses(mode), all = one || top || mode == STACK_FULL;
	struct frame_name first;

	name_of(s, frame, &first);
	for (const struct frame_name *f = &first; f; f = one ? NULL : f->caller)
		if ((all || !f->wrapper) && !(s->libraries && libraries_hide(s->libraries, f)))
			vec_push(l, (struct shown_frame){ *f, frame, f->line, false });
}

/* Returns how the stack ends whose frame this is: if the language's data could not be read, it is incomplete. */
static enum unwind_end end_by_name(const struct shown_frame *f)
{
	if (LANGS_LIST >> (f->frame >> FRAME_LANG_SHIFT) & 1 && !f->name.name)
		return UNWIND_LANGUAGE;
	return f->name.lacks_inlined ? UNWIND_INLINED : UNWIND_COMPLETE;
}

static void keep_last(struct frame_list *l, uint32_t last)
{
	size_t before = last && l->len > last ? l->len - last : 0;

	l->len -= before;
	if (before)
		memmove(l->data, l->data + before, l->len * sizeof(*l->data));
}

/* Returns the innermost frame from a position on whose function has the name; l->len: none. */
static size_t find_frame(const struct frame_list *l, size_t from, const char *name)
{
	const struct frame_pattern p = {.func = name};

	while (from < l->len && !frame_matches(&l->data[from].name, &p))
		from++;
	return from;
}

/* Keeps the frames from one name to another. If there is none, all frames remain. */
static void keep_part(struct frame_list *l, const char *from, const char *to)
{
	size_t first = from ? find_frame(l, 0, from) : 0, last = to && first < l->len ? find_frame(l, first, to) : 0;

	if (!l->len)
		return;
	if (first == l->len || last == l->len) {
		l->end = l->end == UNWIND_COMPLETE ? UNWIND_UNMATCHED : l->end;
		return;
	}
	if (to) {
		l->len = last + 1;
		l->end = UNWIND_COMPLETE; /* the rest is not wanted */
	}
	l->len -= first;
	memmove(l->data, l->data + first, l->len * sizeof(*l->data));
}

/* Returns the number of frames, at most the limit. *ret_end is UNWIND_COMPLETE before. */
static ssize_t stack_of(const struct show *s, const struct type *t, uint64_t id, const uint64_t **ret_frames,
	enum unwind_end *ret_end)
{
	ssize_t n = 0;

	if (id && s->unwinders)
		n = unwinders_stack(s->unwinders, id, ret_frames, ret_end);
	if (n < 0)
		*ret_end = UNWIND_LOST;
	return n > t->stack.limit ? t->stack.limit : n;
}

/* A script that names a limit wants no more. */
static enum unwind_end wanted_end(const struct type *t, enum unwind_end end)
{
	return end == UNWIND_LIMIT && t->stack.limited ? UNWIND_COMPLETE : end;
}

void frames_get(const struct show *s, const struct type *t, uint64_t id, struct frame_list *ret)
{
	const uint64_t *frames = NULL;
	ssize_t n;

	*ret = (struct frame_list){ .end = UNWIND_COMPLETE };
	n = stack_of(s, t, id, &frames, &ret->end);
	if (n > 0)
		vec_reserve(ret, (size_t)n);
	if (n > 0)
		unwinders_name_stack(s->unwinders, frames, (size_t)n);
	for (ssize_t i = 0; i < n; i++)
		add_frame(s, t->stack.mode, frames[i], !i, ret);
	keep_part(ret, t->stack.from, t->stack.to);
	keep_last(ret, t->stack.last);
	ret->end = wanted_end(t, ret->end);
	for (size_t i = 0; i < ret->len && ret->end == UNWIND_COMPLETE; i++)
		ret->end = end_by_name(&ret->data[i]);
}

void frames_done(struct frame_list *l)
{
	vec_done(l);
}

/* ---- equal stacks ------------------------------------------------------- */

void frames_key_add(struct frames_key *k, const void *data, size_t size)
{
	const uint8_t *p = data;

	for (size_t i = 0; i < size; i++) {
		k->a = (k->a ^ p[i]) * 0x100000001b3ULL;
		k->b = STACK_HASH(k->b, p[i]);
	}
	k->b = STACK_HASH(k->b, size);
}

/* Adds a text and its length, eight bytes at a time. */
static void add_text(struct frames_key *k, const char *text)
{
	size_t n = text ? strlen(text) + 1 : 0;
	uint64_t v;

	for (size_t i = 0; i < n; i += sizeof(v)) {
		v = 0;
		memcpy(&v, text + i, n - i < sizeof(v) ? n - i : sizeof(v));
		k->a = (k->a ^ v) * 0x100000001b3ULL;
		k->a ^= k->a >> 32;
		k->b = STACK_HASH(k->b, v);
	}
	k->b = STACK_HASH(k->b, n);
}

/* Native functions are found by their names. Debug information names the file of the line, which need not be the
 * function's: code that is included, or that a generator wrote. */
static bool has_own_file(const struct frame_name *f)
{
	return f->lang != FRAME_LANG_NATIVE && f->lang != FRAME_LANG_KERNEL;
}

/* Adds a function's shown data: name and file, or its start if it has no name. */
void frames_key_function(struct frames_key *k, const struct frame_name *f)
{
	uint64_t start = f->vaddr - f->offset;

	add_text(k, f->name);
	add_text(k, f->name ? has_own_file(f) ? f->file : NULL : f->module);
	if (!f->name && !frames_jit_name(f))
		frames_key_add(k, &start, sizeof(start));
}

const char *frames_jit_name(const struct frame_name *f)
{
	if (f->name || !f->module || f->lang != FRAME_LANG_NATIVE)
		return NULL;
	return !strcmp(f->module, "[anon]") ? "<jit>" : !strcmp(f->module, "[v8]") ? "<regexp>" : NULL;
}

/* Adds the position in its function, like bpftrace's text. */
static void add_position(struct frames_key *k, const struct frame_name *f)
{
	uint64_t at = !has_own_file(f) ? f->offset : (uint64_t)f->line << 32 | f->column;

	frames_key_add(k, &at, sizeof(at));
	if (!f->name)
		frames_key_add(k, &f->vaddr, sizeof(f->vaddr));
}

static void add_build_id(const struct show *s, struct frames_key *k, uint64_t frame)
{
	uint8_t id[64];

	frames_key_add(k, id, s->unwinders ? unwinders_build_id(s->unwinders, frame, id) : 0);
}

/* Adds the data of a frame that the mode shows. */
static void add_frame_key(const struct show *s, enum stack_mode mode, const struct shown_frame *f,
	struct frames_key *k)
{
	const struct frame_name *n = &f->name;

	switch (mode) {
	case STACK_FUNC:
	case STACK_FOLDED:
		frames_key_function(k, n);
		break;
	case STACK_LINE:
		frames_key_function(k, n);
		frames_key_add(k, &n->line, sizeof(n->line));
		if (!has_own_file(n))
			add_text(k, n->file);
		break;
	case STACK_ADDR:
	case STACK_BPFTRACE:
		frames_key_function(k, n);
		add_position(k, n);
		break;
	case STACK_FULL:
	case STACK_PERF:
		frames_key_function(k, n);
		add_position(k, n);
		add_text(k, n->module);
		frames_key_add(k, &n->vaddr, sizeof(n->vaddr));
		break;
	case STACK_BUILD_ID:
		add_build_id(s, k, f->frame);
		frames_key_add(k, &n->vaddr, sizeof(n->vaddr));
		break;
	case STACK_RAW:
	case STACK_MODE_MAX:
		frames_key_add(k, &n->vaddr, sizeof(n->vaddr));
		break;
	}
}

static enum stack_mode key_mode(const struct show *s, enum stack_mode mode)
{
	bool by_name = mode == STACK_FUNC || mode == STACK_LINE || mode == STACK_FOLDED;

	return s->exact && by_name ? STACK_ADDR : mode;
}

/* ---- keys of stacks ------------------------------------------------------ */

/* The key of a stack is made of the keys of its shown frames, and of its end. A map's stacks share most frames, so
 * these are kept: a frame of a stack is shown as several if functions were inlined there. */
enum { MEMO_SHIFT = 11, MEMO_SHOWN = 4 };

struct memo_entry {
	uint64_t frame;
	enum unwind_end end;  /* of a stack with this frame, if the others are whole */
	uint8_t mode;         /* enum stack_mode + 1; 0: the entry is free */
	bool top;
	uint8_t n;
	struct frames_key of[MEMO_SHOWN];
};

struct frames_memo {
	struct memo_entry all[1 << MEMO_SHIFT];
};

struct frames_memo *frames_memo_new(void)
{
	return calloc(1, sizeof(struct frames_memo));
}

static void add_key(struct frames_key *k, const struct frames_key *of)
{
	k->a = (k->a ^ of->a) * 0x100000001b3ULL;
	k->a ^= k->a >> 32;
	k->b = STACK_HASH(k->b, of->b);
}

static void add_shown(const struct show *s, const struct type *t, const struct shown_frame *f, struct frames_key *k)
{
	struct frames_key of = {};

	add_frame_key(s, key_mode(s, t->stack.mode), f, &of);
	add_key(k, &of);
}

/* Returns false if the frame is shown as too many. */
static bool fill_memo(const struct show *s, const struct type *t, uint64_t frame, bool top, struct memo_entry *e)
{
	struct frame_list l = {.end = UNWIND_COMPLETE};

	*e = (struct memo_entry){.frame = frame, .top = top, .end = UNWIND_COMPLETE};
	add_frame(s, t->stack.mode, frame, top, &l);
	for (size_t i = 0; i < l.len && i < MEMO_SHOWN; i++) {
		add_frame_key(s, key_mode(s, t->stack.mode), &l.data[i], &e->of[i]);
		e->end = e->end == UNWIND_COMPLETE ? end_by_name(&l.data[i]) : e->end;
	}
	e->n = (uint8_t)l.len;
	if (l.len <= MEMO_SHOWN)
		e->mode = (uint8_t)(t->stack.mode + 1);
	frames_done(&l);
	return e->mode;
}

/* Returns false, with any key, if the stack has frames that the memo cannot hold. */
static bool key_by_memo(const struct show *s, const struct type *t, uint64_t id, struct frames_memo *memo,
	struct frames_key *k)
{
	enum unwind_end end = UNWIND_COMPLETE;
	const uint64_t *frames = NULL;
	ssize_t n = stack_of(s, t, id, &frames, &end);
	bool named = false;

	end = wanted_end(t, end);
	for (ssize_t i = 0; i < n; i++) {
		struct memo_entry *e = &memo->all[frames[i] * 0x9e3779b97f4a7c15ull >> (64 - MEMO_SHIFT)];

		if (e->frame != frames[i] || e->top != !i || e->mode != t->stack.mode + 1) {
			if (!named)
				unwinders_name_stack(s->unwinders, frames, (size_t)n);
			named = true;
			if (!fill_memo(s, t, frames[i], !i, e))
				return false;
		}
		for (unsigned j = 0; j < e->n; j++)
			add_key(k, &e->of[j]);
		end = end == UNWIND_COMPLETE ? e->end : end;
	}
	frames_key_add(k, &end, sizeof(end));
	return true;
}

void frames_key_stack(const struct show *s, const struct type *t, uint64_t id, struct frames_memo *memo,
	struct frames_key *k)
{
	struct frames_key before = *k;
	struct frame_list l;

	if (memo && !t->stack.from && !t->stack.to && !t->stack.last && key_by_memo(s, t, id, memo, k))
		return;
	*k = before;
	frames_get(s, t, id, &l);
	for (size_t i = 0; i < l.len; i++)
		add_shown(s, t, &l.data[i], k);
	frames_key_add(k, &l.end, sizeof(l.end));
	frames_done(&l);
}

/* Line 0 means unknown: the known lines stay. */
static void widen_lines(struct shown_frame *to, const struct shown_frame *from)
{
	if (!from->name.line)
		return;
	if (!to->name.line || from->name.line < to->name.line)
		to->name.line = from->name.line;
	if (from->last_line > to->last_line)
		to->last_line = from->last_line;
}

void frames_widen(struct frame_list *l, const struct frame_list *other)
{
	for (size_t i = 0; i < l->len && i < other->len; i++) {
		struct shown_frame *to = &l->data[i];
		const struct shown_frame *from = &other->data[i];

		to->inexact |= from->inexact || from->name.offset != to->name.offset ||
			from->name.column != to->name.column || (!to->name.name && from->name.vaddr != to->name.vaddr);
		widen_lines(to, from);
	}
}

/* ---- stacks of a map's key ---------------------------------------------- */

void frames_of_entry(const struct show *s, const struct type *t, const struct map_entry *e,
	uint32_t at, struct frame_list *ret)
{
	struct frame_list other;

	frames_get(s, t, show_int(t, e->key + at), ret);
	for (const struct map_alike *a = e->alike; a; a = a->next) {
		frames_get(s, t, show_int(t, a->key + at), &other);
		frames_widen(ret, &other);
		frames_done(&other);
	}
}

void frames_add_other(const struct show *s, const struct type *t, const struct map_entry *e, uint32_t at,
	struct str *out)
{
	size_t from = out->len, n = 0;

	show_value(s, t, e->key + at, out);
	if (t->kind != TYPE_USYM || strncmp(str_text(out) + from, "0x", 2) != 0)
		return;
	for (const struct map_alike *a = e->alike; a; a = a->next)
		n += memcmp(a->key + at, e->key + at, t->size) != 0;
	if (n)
		str_addf(out, " and %zu more", n);
}

enum key_part key_part(const struct type *t)
{
	if (t->kind != TYPE_STACK)
		return PART_OTHER;
	return t->stack.lang == FRAME_LANG_KERNEL ? PART_KERNEL : PART_USER;
}

static void append_frames(const struct show *s, const struct type *t, const struct map_entry *e,
	uint32_t at, struct frame_list *l)
{
	struct frame_list more;

	frames_get(s, t, show_int(t, e->key + at), &more);
	for (size_t i = 0; i < more.len; i++)
		vec_push(l, more.data[i]);
	frames_done(&more);
}

static void append_part(const struct show *s, const struct type *t, const struct map_entry *e,
	uint32_t at, enum key_part part, struct frame_list *l)
{
	if (t->kind == TYPE_TUPLE)
		for (unsigned i = 0; i < t->tuple.n; i++)
			append_part(s, t->tuple.members[i], e, at + t->tuple.offsets[i], part, l);
	else if (key_part(t) == part)
		append_frames(s, t, e, at, l);
}

void frames_of_key(const struct show *s, const struct image_map *m, const struct map_entry *e,
	struct frame_list *ret)
{
	*ret = (struct frame_list){};
	append_part(s, m->key, e, 0, PART_KERNEL, ret);
	append_part(s, m->key, e, 0, PART_USER, ret);
}
