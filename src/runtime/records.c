// SPDX-License-Identifier: Apache-2.0
/* records.c - the kinds of records that a script sends: codegen names one, a row here does it. */
#include "records.h"

#include <string.h>

#include "base/clock.h"
#include "base/owner.h"
#include "base/str.h"
#include "bpf/lib/record.h"
#include "maps.h"
#include "output/output.h"
#include "output/stream.h"
#include "problems.h"
#include "shared.h"
#include "show.h"

#define MAP_WEIGHT 20

struct record_row {
	const char *name;
	unsigned weight; /* of what it prints, see stream_record(); 0: it prints nothing */
	void (*run)(struct record_env *env, const struct image_record *r, const uint8_t *data);
};

static void print_text(struct record_env *env, const struct image_record *r, struct str *text)
{
	env->out->output->text(env->out, r->kind, str_text(text), text->len);
	str_done(text);
}

static void run_printf(struct record_env *env, const struct image_record *r, const uint8_t *data)
{
	struct str text = {};

	show_format(env->out->show, r, data, &text);
	print_text(env, r, &text);
}

static void run_join(struct record_env *env, const struct image_record *r, const uint8_t *data)
{
	const struct join_record *j = (const struct join_record *)data;
	struct str line = {};

	for (uint64_t i = 0; i < j->n && i < JOIN_STRINGS; i++) {
		if (i)
			str_addn(&line, r->text, r->text_len);
		show_text((const uint8_t *)j->text[i], JOIN_LENGTH, &line);
	}
	str_addc(&line, '\n');
	print_text(env, r, &line);
}

static void run_time(struct record_env *env, const struct image_record *r, const uint8_t *data)
{
	struct str text = {};

	show_time(r->text, clock_ns(CLOCK_REALTIME), &text);
	print_text(env, r, &text);
}

static void run_print(struct record_env *env, const struct image_record *r, const uint8_t *data)
{
	env->out->output->value(env->out, r->args[0].type, data + r->args[0].offset);
}

int record_print_map(struct record_env *env, const struct image_map *m, int64_t top, int64_t div,
	bool unset)
{
	struct map_wanted wanted = {.top = top ? top : env->top, .div = div, .unset = unset};
	struct map_content content;
	int r = map_read(env->out->show, shared_fd(env->shared, m->bpf_name), m, &wanted, &content);

	if (!r)
		env->out->output->map(env->out, &content);
	r = r ? r : (int)content.n;
	map_content_done(&content);
	return r;
}

static void run_print_map(struct record_env *env, const struct image_record *r, const uint8_t *data)
{
	record_print_map(env, &env->image->maps[r->map], r->top, r->div, true);
}

static int map_fd(const struct record_env *env, const struct image_record *r)
{
	return shared_fd(env->shared, env->image->maps[r->map].bpf_name);
}

static void run_clear(struct record_env *env, const struct image_record *r, const uint8_t *data)
{
	map_clear(map_fd(env, r), &env->image->maps[r->map]);
}

static void run_zero(struct record_env *env, const struct image_record *r, const uint8_t *data)
{
	map_zero(map_fd(env, r), &env->image->maps[r->map]);
}

static void run_exit(struct record_env *env, const struct image_record *r, const uint8_t *data)
{
	env->exit_called = true;
	if (r->nargs)
		env->code = (int)show_int(r->args[0].type, data + r->args[0].offset);
}

static void run_problem(struct record_env *env, const struct image_record *r, const uint8_t *data)
{
	problem_first(env->image, r, env->warn_reads);
}

static const struct record_row kinds[] = {
	{"clear", 0, run_clear},
	{"exit", 0, run_exit},
	{"join", 1, run_join},
	{"print", 1, run_print},
	{"print-map", MAP_WEIGHT, run_print_map},
	{"printf", 1, run_printf},
	{"problem", 0, run_problem},
	{"time", 1, run_time},
	{"zero", 0, run_zero},
};

const struct record_row *record_row_by_name(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (!strcmp(kinds[i].name, name))
			return &kinds[i];
	return NULL;
}

void record_run(const struct record_row *k, struct record_env *env, const struct image_record *r,
	const uint8_t *data)
{
	struct stream *stream = env->out->stream;

	if (k->weight && !stream_has_time(stream)) {
		stream_skip(stream);
		return;
	}
	k->run(env, r, data);
	stream_record(stream, k->weight ? k->weight : 1);
}
