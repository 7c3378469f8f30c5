// SPDX-License-Identifier: Apache-2.0
/* gen_record.c - records for userspace: built in scratch memory, sent
 * through the ring buffer, counted when it does not fit. */
#include "gen.h"

#include <linux/bpf.h>
#include <stddef.h>
#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "bpf/lib/record.h"

struct image_record *gen_record_new(struct gen *g, const char *kind, struct span span)
{
	struct image *img = g->img;

	if (img->nrecords == g->records_cap) {
		struct image_record *more;

		g->records_cap = g->records_cap ? g->records_cap * 2 : 16;
		more = arena_new_array(g->arena, struct image_record, g->records_cap);
		if (img->nrecords)
			memcpy(more, img->records, sizeof(*more) * img->nrecords);
		img->records = more;
	}
	img->records[img->nrecords] = (struct image_record){.kind = kind, .span = span};
	return &img->records[img->nrecords++];
}

static bool is_plain(const char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text < ' ' || *text == 127)
			return false;
	return true;
}

void gen_own_text(struct gen *g, const char *text)
{
	struct image *img = g->img;
	const char **more;

	for (unsigned i = 0; i < img->ntexts; i++)
		if (!strcmp(img->texts[i], text))
			return;
	if (is_plain(text))
		return;
	if (img->ntexts % 16 == 0) {
		more = arena_new_array(g->arena, const char *, img->ntexts + 16);
		if (img->ntexts)
			memcpy(more, img->texts, sizeof(*more) * img->ntexts);
		img->texts = more;
	}
	img->texts[img->ntexts++] = text;
}

uint32_t gen_record_id(const struct gen *g, const struct image_record *r)
{
	return image_record_id(g->img->number, (uint32_t)(r - g->img->records));
}

struct ir *gen_ring(struct gen *g)
{
	const struct ir_map m = {
		.name = "ring",
		.type = BPF_MAP_TYPE_RINGBUF,
		.max_entries = RING_BYTES,
	};

	if (!g->ring)
		g->ring = ir_map_extern(g->ir, &m);
	g->img->ring = true;
	return g->ring;
}

void gen_lost(struct gen *g, uint32_t kind)
{
	static const char *const params[] = {"int"};
	struct ir *arg = ir_int(g->ir, kind);

	gen_library(g, "count_lost", params, NULL, &arg, 1);
}

void gen_lost_event(struct gen *g, struct ir *result)
{
	static const char *const params[] = {"u64"};
	struct ir_block *lost = ir_block(g->ir, "lost"), *sent = ir_block(g->ir, "sent");
	struct ir *place;

	ir_branch(g->ir, ir_compare(g->ir, IR_EQ, result, ir_int(g->ir, 0)), sent, lost);
	ir_at(g->ir, lost);
	if (!gen_place_id(g, false, &place))
		place = ir_int(g->ir, gen_place_value(g, g->first_place, false) | LOST_PROGRAM);
	gen_library(g, "count_lost_event", params, NULL, &place, 1);
	ir_jump(g->ir, sent);
	ir_at(g->ir, sent);
}

void gen_problem(struct gen *g, enum gen_problem what)
{
	static const char *const params[] = {"int"};
	struct image_record *r = gen_record_new(g, "problem", g->at);
	struct ir *id = ir_int(g->ir, gen_record_id(g, r));

	r->text = what == PROBLEM_READ ? "read" : "division";
	r->text_len = strlen(r->text);
	r->size = sizeof(struct record);
	gen_ring(g);
	g->img->problems = true;
	gen_library(g, "count_problem", params, NULL, &id, 1);
}

enum { RECORD_MAX = 128 * 1024 }; /* half of the smallest ring buffer */

static void check_size(struct gen *g, uint64_t size)
{
	if (size <= RECORD_MAX || g->mem_full)
		return;
	g->mem_full = true; /* one error is enough */
	diag(g->opt->diags, g->at, DIAG_TOO_LARGE, "at most %d KiB can be printed at once, not %llu",
		RECORD_MAX / 1024, (unsigned long long)(size + 1023) / 1024);
	diag_hint(g->opt->diags, "print the members that are needed, not the whole");
}

static uint32_t arg_size(const struct type *t)
{
	return (t->size + 7) & ~7u;
}

static void describe_args(struct gen *g, struct image_record *r, struct expr *args)
{
	struct image_arg *list;
	uint64_t at = sizeof(struct record);

	for (struct expr *n = args; n; n = n->next)
		r->nargs++;
	r->args = list = arena_new_array(g->arena, struct image_arg, r->nargs + 1);
	for (struct expr *n = args; n; n = n->next, list++) {
		*list = (struct image_arg){
			.type = n->type, .offset = (uint32_t)at, .is_literal = n->kind == EXPR_INT,
		};
		at += arg_size(n->type);
	}
	check_size(g, at);
	r->size = (uint32_t)at;
}

void gen_record_send(struct gen *g, struct image_record *r, struct expr *args)
{
	uint32_t id = gen_record_id(g, r), i = 0;
	const struct image_arg *list;
	struct ir *mem, *result;
	uint32_t size;

	describe_args(g, r, args);
	list = r->args;
	size = r->size;
	mem = size <= 32 ? gen_tmp(g, size) : gen_mem(g, size);
	ir_store(g->ir, mem, 0, 8, ir_int(g->ir, (uint64_t)id << 32 | RECORD_SCRIPT));
	for (struct expr *n = args; n; n = n->next, i++) {
		if (arg_size(list[i].type) != list[i].type->size)
			gen_zero(g, ir_offset(g->ir, mem, list[i].offset),
				arg_size(list[i].type));
		gen_into(g, n, list[i].type, mem, list[i].offset);
	}
	result = gen_call(g, BPF_FUNC_ringbuf_output, 4, gen_ring(g), mem,
		ir_int(g->ir, size), ir_int(g->ir, 0));
	gen_lost_event(g, result);
}
