// SPDX-License-Identifier: Apache-2.0
/* code.c - code positions in Java by frame: method, file, line and inlined methods.
 *
 * A code position is read from the process when the kernel half first sends it. If the process has ended by then, or
 * the code is gone, only the record's method and file are known. */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/str.h"
#include "hotspot.h"
#include "target/code.h"
#include "unwinders/frame_store.h"
#include "unwinders/texts.h"
#include "unwinders/unwinders.h"

#define INLINED_MAX 128

struct hotspot_codes {
	struct texts *texts;
	struct frame_store frames;
	struct str klass, name, file; /* reused */
	struct code *code;  /* of the machine; NULL: not opened, or not available */
	uint32_t machine;
};

struct hotspot_codes *hotspot_codes_new(void)
{
	struct hotspot_codes *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	frame_store_open(&c->frames);
	c->texts = texts_new();
	if (!c->texts) {
		hotspot_codes_free(c);
		return NULL;
	}
	return c;
}

void hotspot_codes_free(struct hotspot_codes *c)
{
	if (!c)
		return;
	frame_store_done(&c->frames);
	texts_free(c->texts);
	str_done(&c->klass);
	str_done(&c->name);
	str_done(&c->file);
	code_close(c->code);
	free(c);
}

/* Sets the name from the texts: class names have '/'. */
static void take_texts(struct hotspot_codes *c, struct frame_name *ret)
{
	ret->lang = FRAME_LANG_JAVA;
	for (size_t i = 0; i < c->klass.len; i++)
		if (c->klass.data[i] == '/')
			c->klass.data[i] = '.';
	if (c->klass.len && c->name.len) {
		str_addc(&c->klass, '.');
		str_addn(&c->klass, c->name.data, c->name.len);
		ret->name = texts_keep(c->texts, c->klass.data);
	}
	if (c->file.len)
		ret->file = texts_keep(c->texts, c->file.data);
}

static void clear_texts(struct hotspot_codes *c)
{
	str_clear(&c->klass);
	str_clear(&c->name);
	str_clear(&c->file);
}

/* Returns false if it is not a method. */
static bool name_method(struct hotspot_codes *c, const struct hotspot_vm *vm, uint64_t method, int32_t bci,
	struct frame_name *ret)
{
	struct hotspot_method m = { .klass = &c->klass, .name = &c->name, .file = &c->file };

	clear_texts(c);
	if (!hotspot_method(vm, method, &m))
		return false;
	take_texts(c, ret);
	ret->line = hotspot_line(vm, &m, bci < 0 ? 0 : (uint32_t)bci);
	ret->wrapper = m.hidden;
	return true;
}

static void name_by_record(struct hotspot_codes *c, const struct hotspot_record *r, struct frame_name *ret)
{
	clear_texts(c);
	hotspot_append(&r->klass, &c->klass);
	hotspot_append(&r->name, &c->name);
	hotspot_append(&r->file, &c->file);
	take_texts(c, ret);
}

static void name_stub(struct hotspot_codes *c, const struct hotspot_record *r, struct frame_name *ret)
{
	clear_texts(c);
	str_addc(&c->name, '<');
	hotspot_append(&r->name, &c->name);
	str_addc(&c->name, '>');
	ret->lang = FRAME_LANG_JAVA;
	ret->name = texts_keep(c->texts, c->name.data);
}

static bool name_compiled(struct hotspot_codes *c, const struct hotspot_vm *vm, const struct hotspot_record *r,
	struct frame_name *ret)
{
	struct hotspot_scope scopes[INLINED_MAX];
	size_t n = hotspot_scopes(vm, r->blob, r->pc, r->exact, scopes, INLINED_MAX);

	if (!n || scopes[n - 1].method != r->method)
		return name_method(c, vm, r->method, -1, ret) && (ret->line = 0, true);
	for (size_t i = 0; i < n; i++) {
		struct frame_name *caller;

		if (!name_method(c, vm, scopes[i].method, scopes[i].bci, ret))
			return false;
		if (i + 1 == n)
			break;
		caller = arena_new_obj(c->frames.frames.arena, struct frame_name);
		ret->caller = caller;
		ret = caller;
	}
	return true;
}

static bool begins_with(const struct str *text, const struct hotspot_text *t)
{
	size_t n = t->size < HOTSPOT_TEXT_MAX ? t->size : HOTSPOT_TEXT_MAX;

	return text->len >= n && (!n || !memcmp(text->data, t->chars, n));
}

/* Returns whether the code, or the method, is still the one that was sent: a class that was loaded since may have the
 * addresses of one that was unloaded. */
static bool is_same(struct hotspot_codes *c, const struct hotspot_vm *vm, const struct hotspot_record *r)
{
	struct hotspot_method m = { .klass = &c->klass, .name = &c->name, .file = &c->file };
	uint32_t id;

	clear_texts(c);
	if (!hotspot_method(vm, r->method, &m) || m.constant != r->constant || !begins_with(&c->klass, &r->klass) ||
		!begins_with(&c->name, &r->name))
		return false;
	return !r->blob || (hotspot_int(vm, r->blob, vm->layout->proc.compile_id, &id) && id == r->compile_id);
}

/* Returns the decoder of the machine's instructions, or NULL. */
static struct code *decoder(struct hotspot_codes *c, uint32_t machine)
{
	if (c->machine == machine)
		return c->code;
	code_close(c->code);
	c->code = NULL;
	c->machine = machine;
	if (code_open((uint16_t)machine, false, &c->code))
		c->code = NULL;
	return c->code;
}

static bool name_live(struct hotspot_codes *c, const struct hotspot_vm *process, const struct hotspot_record *r,
	struct frame_name *ret)
{
	struct hotspot_vm with_code = *process, *vm = &with_code;

	if (!is_same(c, vm, r))
		return false;
	if (r->exact)
		vm->code = decoder(c, vm->layout->machine);
	if (r->kind == HOTSPOT_COMPILED)
		return name_compiled(c, vm, r, ret) && is_same(c, vm, r);
	return name_method(c, vm, r->method, (int32_t)r->bci, ret) && is_same(c, vm, r);
}

/* ---- the store ---- */

void hotspot_codes_record(struct hotspot_codes *c, const struct hotspot_record *r, const struct hotspot_vm *vm)
{
	bool known;
	struct frame_name *name = frame_store_add(&c->frames, r->frame, &known);

	if (!name || known)
		return;
	if (!r->method) {
		name_stub(c, r, name);
	} else if (!vm || !name_live(c, vm, r, name)) {
		*name = (struct frame_name){ .lacks_inlined = r->kind == HOTSPOT_COMPILED };
		name_by_record(c, r, name);
	}
}

bool hotspot_codes_name(const struct hotspot_codes *c, uint64_t frame, struct frame_name *ret)
{
	const struct frame_name *known = frame_store_find(&c->frames, frame);

	if (frame == FRAME_JAVA(1))
		*ret = (struct frame_name){ .lang = FRAME_LANG_JAVA, .name = "[continuation]" };
	else
		*ret = known ? *known : (struct frame_name){ .lang = FRAME_LANG_JAVA };
	return ret->name;
}
