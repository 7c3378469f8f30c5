// SPDX-License-Identifier: Apache-2.0
/* gen_place.c - the places of an image, and the values of `probe` and `func` in a program, which are
 * numbers of places. Places with the same name share a number, and so do functions with the same name. So a
 * name is one key of a map, and a uretprobe finds the `@start[func]` of the uprobe. */
#include <linux/bpf.h>
#include <string.h>

#include "base/arena.h"
#include "bpf/lib/record.h"
#include "gen.h"
#include "model/facts.h"
#include "model/regs.h"

/* A hash table with open addressing: each slot has an index into image.places, plus 1, or 0 if it is free. */
struct gen_names {
	uint32_t *slots, n, cap;
};

struct gen_places {
	struct gen_names names, funcs;
	unsigned cap; /* capacity of image.places */
};

static uint32_t hash_of(const char *text)
{
	uint32_t h = 2166136261u; /* FNV-1a */

	for (; *text; text++)
		h = (h ^ (unsigned char)*text) * 16777619u;
	return h;
}

static const char *text_of(const struct place *p, bool func)
{
	const char *text = func ? p->func : p->name;

	return text ? text : "";
}

/* Returns the slot of the text, or a free slot for it. */
static uint32_t *slot_of(const struct gen *g, const struct gen_names *names, bool func, const char *text)
{
	uint32_t i = hash_of(text);

	for (;; i++) {
		uint32_t *slot = &names->slots[i & (names->cap - 1)];

		if (!*slot || !strcmp(text_of(g->img->places[*slot - 1].place, func), text))
			return slot;
	}
}

static void grow(struct gen *g, struct gen_names *names, bool func)
{
	struct gen_names old = *names;

	names->cap = old.cap ? old.cap * 2 : 64;
	names->slots = arena_new_array(g->arena, uint32_t, names->cap);
	for (uint32_t i = 0; i < old.cap; i++)
		if (old.slots[i])
			*slot_of(g, names, func, text_of(g->img->places[old.slots[i] - 1].place, func)) = old.slots[i];
}

/* Returns the first place with the same text as place i. */
static uint32_t first_with(struct gen *g, struct gen_names *names, bool func, uint32_t i)
{
	uint32_t *slot;

	if (2 * names->n >= names->cap)
		grow(g, names, func);
	slot = slot_of(g, names, func, text_of(g->img->places[i].place, func));
	if (!*slot) {
		*slot = i + 1;
		names->n++;
	}
	return *slot - 1;
}

uint32_t gen_place_add(struct gen *g, const struct place *p)
{
	struct image *img = g->img;
	uint32_t i = img->nplaces;

	if (!g->places)
		g->places = arena_new_obj(g->arena, struct gen_places);
	if (i == g->places->cap) {
		struct image_place *more;

		g->places->cap = i ? i * 2 : 64;
		more = arena_new_array(g->arena, struct image_place, g->places->cap);
		if (i)
			memcpy(more, img->places, sizeof(*more) * i);
		img->places = more;
	}
	img->places[img->nplaces++].place = p;
	img->places[i].name = first_with(g, &g->places->names, false, i);
	img->places[i].func = first_with(g, &g->places->funcs, true, i);
	return i;
}

uint64_t gen_place_value(const struct gen *g, uint32_t i, bool func)
{
	const struct image_place *p = &g->img->places[i];

	return image_place_id(g->img->number, func ? p->func : p->name);
}

bool gen_place_id(struct gen *g, bool func, struct ir **ret)
{
	enum ctx_kind ctx = g->provider->ctx;
	bool has_cookie = !g->opt->no_cookies && ctx != CTX_NONE && ctx != CTX_RAW && ctx != CTX_ITER &&
		ctx != CTX_TRAMPOLINE;
	struct ir *cookie;

	*ret = ir_int(g->ir, gen_place_value(g, g->first_place, func));
	if (!has_cookie && g->is_open)
		return false;
	if (!has_cookie || (!g->place->next && !g->is_open))
		return !g->place->next || ctx == CTX_TRAMPOLINE || ctx == CTX_ITER; /* one function per program */
	cookie = gen_call(g, BPF_FUNC_get_attach_cookie, 1, gen_ctx(g));
	if (func)
		cookie = ir_binary(g->ir, IR_LSHR, cookie, ir_int(g->ir, IMAGE_COOKIE_FUNC));
	cookie = ir_binary(g->ir, IR_AND, cookie, ir_int(g->ir, IMAGE_PLACES_MAX - 1));
	*ret = ir_binary(g->ir, IR_OR, cookie, ir_int(g->ir, image_place_id(g->img->number, 0)));
	return true;
}

/* If the places differ, the event's own code decides: a place that is not at the start of a function has a program of
 * its own. */
struct ir *gen_skip(struct gen *g)
{
	/* Without the first byte, which may be the breakpoint of another tracer. */
	static const uint32_t endbr64 = 0xfa1e0f00, rest = 0xffffff00;
	struct ir *slot, *ip;
	uint8_t most = 0;
	bool differ = false;

	if (g->provider->ctx != CTX_PT_REGS || g->provider->has_retval)
		return ir_int(g->ir, 0);
	for (const struct place *p = g->place; p; p = g->bound_to_place ? NULL : p->next) {
		differ |= p->skip != g->place->skip;
		most = p->skip > most ? p->skip : most;
	}
	if (!differ)
		return ir_int(g->ir, most);
	facts_bind(g->opt->facts, g->at, "the instructions of a file differ between its versions");
	slot = gen_tmp(g, 8);
	ip = ir_load_ctx(g->ir, gen_ctx(g), (uint32_t)regs_ip(), 8, false);
	ir_store(g->ir, slot, 0, 8, ir_int(g->ir, 0));
	gen_call(g, BPF_FUNC_probe_read_user, 3, slot, ir_int(g->ir, 4),
		ir_binary(g->ir, IR_SUB, ip, ir_int(g->ir, most)));
	slot = ir_binary(g->ir, IR_AND, ir_load(g->ir, slot, 0, 4, false), ir_int(g->ir, rest));
	return ir_select(g->ir, ir_compare(g->ir, IR_EQ, slot, ir_int(g->ir, endbr64)),
		ir_int(g->ir, most), ir_int(g->ir, 0));
}
