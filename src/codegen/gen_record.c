// SPDX-License-Identifier: Apache-2.0
/* gen_record.c - records for userspace. They are built in scratch memory and sent through the ring buffer;
 * a record that does not fit is counted. */
#include "gate.h"
#include "gen.h"

#include <errno.h>
#include <linux/bpf.h>
#include <stddef.h>
#include <stdlib.h>
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

void gen_record_head(struct gen *g, struct ir *mem, uint32_t id)
{
	struct ir *kind;

	if (!g->holds) {
		ir_store(g->ir, mem, 0, 8, ir_int(g->ir, (uint64_t)id << 32 | RECORD_SCRIPT));
		return;
	}
	kind = ir_binary(g->ir, IR_OR, ir_binary(g->ir, IR_SHL, gen_slot(g), ir_int(g->ir, 16)),
		ir_binary(g->ir, IR_SHL, gen_levels(g), ir_int(g->ir, 8)));
	ir_store(g->ir, mem, 0, 4, ir_binary(g->ir, IR_OR, kind, ir_int(g->ir, RECORD_SCRIPT)));
	ir_store(g->ir, mem, 4, 4, ir_int(g->ir, id));
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

static void count_lost(struct gen *g, struct ir *kind)
{
	static const char *const params[] = {"int"};

	gen_library(g, "count_lost", params, NULL, &kind, 1);
}

void gen_lost(struct gen *g, uint32_t kind)
{
	count_lost(g, ir_int(g->ir, kind));
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

/* A statement that is generated several times, such as in a loop of few rounds, counts as one place. */
static struct image_record *same_problem(const struct gen *g, enum problem what, uint32_t map)
{
	for (unsigned i = g->img->nrecords; i-- > 0;) {
		struct image_record *r = &g->img->records[i];

		if (r->span.start == g->at.start && r->span.end == g->at.end && !strcmp(r->kind, "problem") &&
			r->problem == what && r->map == map)
			return r;
	}
	return NULL;
}

/* Returns the id of the record that stands for the problem at the statement's place. */
static struct ir *problem_id(struct gen *g, enum problem what, uint32_t map)
{
	struct image_record *r = same_problem(g, what, map);

	r = r ? r : gen_record_new(g, "problem", g->at);
	r->problem = what;
	r->map = map;
	r->size = sizeof(struct record);
	return ir_int(g->ir, gen_record_id(g, r));
}

static void count_problem(struct gen *g, struct ir *id)
{
	static const char *const params[] = {"int"};

	gen_ring(g);
	g->img->problems = true;
	gen_library(g, "count_problem", params, NULL, &id, 1);
}

void gen_problem(struct gen *g, enum problem what)
{
	count_problem(g, problem_id(g, what, 0));
}

void gen_missing(struct gen *g, const struct map *m)
{
	count_problem(g, problem_id(g, PROBLEM_MISSING, m->index));
}

/* The helper says why: -E2BIG if the map is full, -EBUSY or -EDEADLK if the probe interrupts another update of it,
 * -ENOMEM if the kernel has no memory that it can take at once. Before Linux 6.4 the result is an int: the kernel calls
 * the map's own function instead of the helper (do_misc_fixups(), kernel/bpf/verifier.c). */
void gen_update_lost(struct gen *g, struct ir *result, const struct map *m)
{
	struct ir *error, *is_full, *full, *refused;

	if (!m->key) { /* an array, which is never full: Linux 6.1 would follow another branch through all loops */
		gen_lost(g, LOST_UPDATE);
		return;
	}
	error = ir_resize(g->ir, result, sizeof(int), true);
	is_full = ir_compare(g->ir, IR_EQ, error, ir_int(g->ir, (uint64_t)-E2BIG));
	count_lost(g, ir_select(g->ir, is_full, ir_int(g->ir, LOST_MAP), ir_int(g->ir, LOST_UPDATE)));
	full = problem_id(g, PROBLEM_FULL, m->index);
	refused = problem_id(g, PROBLEM_UPDATE, m->index);
	count_problem(g, ir_select(g->ir, is_full, full, refused));
}

/* GROWING_MAX is half of the smallest ring buffer, which a session has from its first line on. A script's
 * own ring buffer is made for its largest record. */
enum { GROWING_MAX = 128 << 10, RECORD_MAX = 16 << 20 };

static void check_size(struct gen *g, uint64_t size)
{
	uint32_t most = g->opt->image || g->opt->grows ? GROWING_MAX : RECORD_MAX;

	if (size <= most || g->mem_full)
		return;
	g->mem_full = true; /* one error is enough */
	diag(g->opt->diags, g->at, DIAG_TOO_LARGE, "at most %u KiB can be printed at once, not %llu",
		most >> 10, (unsigned long long)(size + 1023) / 1024);
	diag_hint(g->opt->diags, "print the members that are needed, not the whole");
}

static uint32_t arg_size(const struct type *t)
{
	return (t->size + 7) & ~7u;
}

/* Texts come last, since values after a shortened text have to be moved. */
static bool is_text(const struct expr *n)
{
	return n->type->kind == TYPE_STRING;
}

static void describe_args(struct gen *g, struct image_record *r, struct expr *args)
{
	struct image_arg *list;
	uint64_t at = sizeof(struct record);

	for (struct expr *n = args; n; n = n->next)
		r->nargs++;
	r->args = list = arena_new_array(g->arena, struct image_arg, r->nargs + 1);
	for (int texts = 0; texts < 2; texts++) {
		struct image_arg *arg = list;

		for (struct expr *n = args; n; n = n->next, arg++) {
			if (is_text(n) != texts)
				continue;
			*arg = (struct image_arg){
				.type = n->type, .offset = (uint32_t)at, .is_literal = n->kind == EXPR_INT,
			};
			at += arg_size(n->type);
		}
	}
	check_size(g, at);
	r->size = (uint32_t)at;
}

/* ---- sending -------------------------------------------------------------- */

/* A smaller text is sent whole, since moving it costs more than sending it. */
enum { TEXT_LEAST = 256 };

static void find_texts(const struct type *t, uint32_t offset, struct image_text *list, unsigned *n, unsigned max)
{
	if (t->kind == TYPE_STRING && t->size >= TEXT_LEAST && *n < max)
		list[(*n)++] = (struct image_text){offset, t->size};
	for (unsigned i = 0; t->kind == TYPE_TUPLE && i < t->tuple.n; i++)
		find_texts(t->tuple.members[i], offset + t->tuple.offsets[i], list, n, max);
}

static int by_offset(const void *a, const void *b)
{
	const struct image_text *x = a, *y = b;

	return x->offset < y->offset ? -1 : x->offset > y->offset;
}

/* More texts would make the program long. */
enum { TEXTS_MAX = 16 };

static void describe_texts(struct gen *g, struct image_record *r)
{
	struct image_text *list = arena_new_array(g->arena, struct image_text, TEXTS_MAX);

	for (unsigned i = 0; i < r->nargs; i++)
		find_texts(r->args[i].type, r->args[i].offset, list, &r->ntexts, TEXTS_MAX);
	qsort(list, r->ntexts, sizeof(*list), by_offset);
	r->texts = list;
}

struct ir *gen_output(struct gen *g, struct ir *mem, struct ir *size)
{
	return gen_call(g, BPF_FUNC_ringbuf_output, 4, gen_ring(g), mem, size, ir_int(g->ir, 0));
}

/* Moves the i-th text, and the values between it and the next text, to `at`. Returns the end. */
static struct ir *move_text(struct gen *g, const struct image_record *r, unsigned i, struct ir *mem, struct ir *at,
	struct ir_block *failed)
{
	const struct image_text *t = &r->texts[i];
	uint32_t behind = t->offset + t->size, fixed = (i + 1 < r->ntexts ? t[1].offset : r->size) - behind;
	struct ir_block *moved = ir_block(g->ir, "moved");
	struct ir *n = gen_call(g, BPF_FUNC_probe_read_kernel_str, 3, ir_index(g->ir, mem, at), ir_int(g->ir, t->size),
		ir_offset(g->ir, mem, t->offset));

	ir_branch(g->ir, ir_compare(g->ir, IR_SLT, n, ir_int(g->ir, 0)), failed, moved);
	ir_at(g->ir, moved);
	at = ir_binary(g->ir, IR_ADD, at, n);
	if (fixed)
		gen_call(g, BPF_FUNC_probe_read_kernel, 3, ir_index(g->ir, mem, at), ir_int(g->ir, fixed),
			ir_offset(g->ir, mem, behind));
	return ir_binary(g->ir, IR_ADD, at, ir_int(g->ir, fixed));
}

/* Moves the texts together, within the record. Each goes to its place or to a lower one, byte by byte from
 * its start, so it only overwrites bytes that were already moved. The verifier adds up the sizes: the end
 * never exceeds the record's end. Returns the result of sending. */
static struct ir *output_packed(struct gen *g, const struct image_record *r, struct ir *mem)
{
	struct ir_block *failed = ir_block(g->ir, "failed"), *end = ir_block(g->ir, "sent"), *sent;
	struct ir *at = ir_int(g->ir, r->texts[0].offset), *result;

	for (unsigned i = 0; i < r->ntexts; i++)
		at = move_text(g, r, i, mem, at, failed);
	result = gen_output(g, mem, at);
	sent = ir_here(g->ir);
	ir_jump(g->ir, end);
	ir_at(g->ir, failed);
	ir_jump(g->ir, end);
	ir_at(g->ir, end);
	return ir_phi(g->ir, result, sent, ir_int(g->ir, 1), failed);
}

/* Returns 0 if there was space. */
static struct ir *output(struct gen *g, const struct image_record *r, struct ir *mem)
{
	g->img->streams |= g->provider->run == RUN_ATTACHED && r->size > sizeof(struct record);
	if (g->img->record_max < r->size)
		g->img->record_max = r->size;
	return r->ntexts ? output_packed(g, r, mem) : gen_output(g, mem, ir_int(g->ir, r->size));
}

void gen_record_output(struct gen *g, struct image_record *r, struct ir *mem)
{
	gen_lost_event(g, output(g, r, mem));
}

/* Makes the record in memory. */
static struct ir *fill(struct gen *g, struct image_record *r, struct expr *args)
{
	uint32_t id = gen_record_id(g, r), i = 0;
	const struct image_arg *list;
	struct ir *mem;
	uint32_t size;

	describe_args(g, r, args); /* records of the arguments may move r, so all of it is set */
	describe_texts(g, r);
	list = r->args;
	size = r->size;
	mem = size <= 32 ? gen_tmp(g, size) : gen_mem(g, size);
	gen_record_head(g, mem, id);
	for (struct expr *n = args; n; n = n->next, i++) {
		if (arg_size(list[i].type) != list[i].type->size)
			gen_zero(g, ir_offset(g->ir, mem, list[i].offset),
				arg_size(list[i].type));
		gen_into(g, n, list[i].type, mem, list[i].offset);
	}
	return mem;
}

/* The arguments' own records may move the record. */
static struct image_record *record_at(struct gen *g, uint32_t number)
{
	return &g->img->records[number];
}

void gen_record_send(struct gen *g, struct image_record *r, struct expr *args)
{
	uint32_t number = (uint32_t)(r - g->img->records);
	struct ir *mem = fill(g, r, args);

	gen_record_output(g, record_at(g, number), mem);
}

void gen_record_send_or_leave(struct gen *g, struct image_record *r, struct expr *args)
{
	struct ir_block *sent = ir_block(g->ir, "holds"), *full = ir_block(g->ir, "no_space");
	uint32_t number = (uint32_t)(r - g->img->records);
	struct ir *mem = fill(g, r, args), *result = output(g, record_at(g, number), mem);

	ir_branch(g->ir, ir_compare(g->ir, IR_EQ, result, ir_int(g->ir, 0)), sent, full);
	ir_at(g->ir, full);
	gen_lost_event(g, result);
	ir_jump(g->ir, g->fn.leave);
	ir_at(g->ir, sent);
}
