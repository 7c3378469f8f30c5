// SPDX-License-Identifier: Apache-2.0
/* records.c - the kinds of records that a script sends: codegen names one, and a row here handles it. */
#include "records.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "advice.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/owner.h"
#include "base/str.h"
#include "base/why.h"
#include "bpf/lib/record.h"
#include "bpf/lib/skb.h"
#include "command.h"
#include "holds.h"
#include "model/settings.h"
#include "model/type.h"
#include "output/output.h"
#include "output/stream.h"
#include "pcap.h"
#include "problems.h"
#include "shared.h"
#include "values/entries.h"
#include "values/show.h"

#define MAP_WEIGHT 20

struct record_row {
	const char *name;
	unsigned weight; /* weight of its text, see stream_record(); 0: prints nothing */
	void (*run)(struct record_env *env, const struct image_record *r, const uint8_t *data);
};

static void print_text(struct record_env *env, const struct image_record *r, struct str *text)
{
	env->out->output->text(env->out, r->kind, str_text(text), text->len);
	str_done(text);
}

/* The frames of a stack in the arguments, for a loop over them. Returns false if there is no such loop. */
static bool frames_of(struct record_env *env, const struct image_record *r, const uint8_t *data, unsigned *ret)
{
	for (unsigned i = 0; i < r->nargs; i++) {
		const struct type *t = r->args[i].type;

		if (t->kind == TYPE_FRAME && type_has_each(t)) {
			*ret = show_frames_of(env->out->show, t, (uint64_t)show_int(t, data + r->args[i].offset));
			return true;
		}
	}
	return false;
}

/* Calls run once, or for each frame of a loop. */
static void repeat(struct record_env *env, const struct image_record *r, const uint8_t *data,
	void (*run)(struct record_env *env, const struct image_record *r, const uint8_t *data))
{
	const struct show *whole = env->out->show;
	struct show one = *whole;
	unsigned n;

	if (!frames_of(env, r, data, &n)) {
		run(env, r, data);
		return;
	}
	env->out->show = &one;
	for (one.each = 1; one.each <= n; one.each++)
		run(env, r, data);
	env->out->show = whole;
}

static void print_format(struct record_env *env, const struct image_record *r, const uint8_t *data)
{
	struct str text = {};

	show_format(env->out->show, r, data, &text);
	print_text(env, r, &text);
}

static void run_printf(struct record_env *env, const struct image_record *r, const uint8_t *data)
{
	repeat(env, r, data, print_format);
}

static void run_system(struct record_env *env, const struct image_record *r, const uint8_t *data)
{
	struct str command = {}, text = {};
	struct show bytes = *env->out->show;

	bytes.text = SHOW_BYTES;
	show_format(&bytes, r, data, &command);
	stream_flush(env->out->stream); /* earlier text comes first */
	command_run(str_text(&command), &text);
	if (text.len && text.data[text.len - 1] != '\n')
		str_addc(&text, '\n');
	print_text(env, r, &text);
	str_done(&command);
}

static void run_cat(struct record_env *env, const struct image_record *r, const uint8_t *data)
{
	struct str path = {}, file = {}, text = {};
	struct show bytes = *env->out->show;
	int err;

	bytes.text = SHOW_BYTES;
	show_format(&bytes, r, data, &path);
	err = file_start(str_text(&path), env->settings->max_cat_bytes, &file);
	if (err)
		log_error("cat() cannot read %s: %s", str_text(&path), why_errno(err));
	show_text(env->out->show, str_text(&file), file.len, &text);
	print_text(env, r, &text);
	str_done(&path);
	str_done(&file);
}

static void run_skboutput(struct record_env *env, const struct image_record *r, const uint8_t *data)
{
	const struct skb_record *skb = (const struct skb_record *)data;
	uint64_t ns = skb->time + clock_ns(CLOCK_REALTIME) - clock_ns(CLOCK_BOOTTIME);
	int err = pcap_write(r->text, skb->data, skb->n <= SKB_MAX ? skb->n : 0, skb->length, ns);

	if (err)
		log_error("skboutput() cannot write %s: %s", r->text, why_write(err));
}

/* bpftrace's name for a program of -e, which readers of the message expect. */
static const char *message_file(const char *name)
{
	return strcmp(name, "-e") ? name : "stdin";
}

enum { USES_MAX = 16 };

static struct output_place place_of(const struct source *src, struct span at)
{
	struct output_place p = {.filename = message_file(source_spot(src, at.start).name)};

	source_position(src, at.start, &p.line, &p.col);
	source_position(src, at.end, &p.end_line, &p.end_col);
	return p;
}

/* Finds the uses of the macros that contain the place. The caller frees the lines' texts. */
static unsigned uses_of(const struct source *src, struct span at, struct output_place *ret)
{
	const struct source_use *use = source_spot(src, at.start).use;
	unsigned n = 0;

	for (; use && n < USES_MAX; use = source_spot(src, at.start).use) {
		struct source_spot spot;
		uint32_t line;

		at = use->from;
		spot = source_spot(src, at.start);
		for (line = spot.at; line > spot.start && src->text[line - 1] != '\n';)
			line--;
		ret[n] = place_of(src, at);
		ret[n++].text = strndup(src->text + line, strcspn(src->text + line, "\n"));
	}
	return n;
}

static void send_message(struct record_env *env, const struct image_record *r, const uint8_t *data, bool is_error)
{
	const struct source *src = env->image->source;
	struct str text = {};
	struct output_place uses[USES_MAX];
	struct output_message m = {.is_error = is_error, .uses = uses};
	struct output_event e = {.kind = OUTPUT_MESSAGE, .message = &m};
	struct show show = *env->out->show;

	if (!is_error && !log_warnings)
		return;
	if (!env->out->output->escapes)
		show.text = isatty(STDERR_FILENO) ? SHOW_LINES : SHOW_BYTES;
	show_format(&show, r, data, &text);
	m.text = str_text(&text);
	m.filename = message_file(src->name);
	source_position(src, r->span.start, &m.line, &m.col);
	source_position(src, r->span.end, &m.end_line, &m.end_col);
	m.nuses = uses_of(src, r->span, uses);
	env->out->output->event(env->out, &e);
	for (unsigned i = 0; i < m.nuses; i++)
		free((char *)uses[i].text);
	str_done(&text);
}

static void run_errorf(struct record_env *env, const struct image_record *r, const uint8_t *data)
{
	send_message(env, r, data, true);
}

static void run_warnf(struct record_env *env, const struct image_record *r, const uint8_t *data)
{
	send_message(env, r, data, false);
}

static void run_join(struct record_env *env, const struct image_record *r, const uint8_t *data)
{
	const struct join_record *j = (const struct join_record *)data;
	struct str line = {};

	for (uint64_t i = 0; i < j->n && i < JOIN_STRINGS; i++) {
		if (i)
			str_addn(&line, r->text, r->text_len);
		show_text(env->out->show, j->text[i], strnlen(j->text[i], JOIN_LENGTH), &line);
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

static void print_value(struct record_env *env, const struct image_record *r, const uint8_t *data)
{
	env->out->output->value(env->out, r->args[0].type, data + r->args[0].offset);
}

static void run_print(struct record_env *env, const struct image_record *r, const uint8_t *data)
{
	repeat(env, r, data, print_value);
}

static int print_map(struct record_env *env, const struct image_map *m, int fd, struct map_wanted wanted)
{
	struct map_content content;
	int r;

	wanted.top = wanted.top ? wanted.top : env->top;
	r = map_read(env->out->show, fd, m, &wanted, &content);
	content.taken = wanted.taken;

	if (r)
		log_error("cannot read @%s, whose values are lost: %s", m->name, why_errno(r));
	else
		env->out->output->map(env->out, &content);
	if (!r && env->idle)
		advice_idle(env->idle, &content);
	if (!r && env->advice)
		advice_map(env->advice, env->out->show, &content);
	r = r ? r : (int)content.n;
	map_content_done(&content);
	return r;
}

int record_print_map(struct record_env *env, const struct image_map *m, int64_t top, int64_t div,
	bool unset)
{
	return print_map(env, m, shared_fd(env->shared, m->bpf_name),
		(struct map_wanted){.top = top, .div = div, .unset = unset});
}

int record_print_last(struct record_env *env, const struct image_map *m)
{
	return print_map(env, m, shared_fd(env->shared, m->bpf_name), (struct map_wanted){.taken = m->taken});
}

size_t record_take_maps(struct record_env *env, const struct image_map *const *maps, size_t n,
	struct map_wanted wanted)
{
	_cleanup_(freep) int *taken = calloc(n + 1, sizeof(*taken));
	size_t elements = 0;

	if (!taken)
		out_of_memory();
	for (size_t i = 0; i < n; i++)
		taken[i] = shared_take(env->shared, maps[i]->bpf_name);
	for (size_t i = 0; i < n; i++) {
		_cleanup_(closep) int fd = taken[i];
		int r;

		if (fd < 0)
			log_error("cannot empty @%s, which keeps its values: %s", maps[i]->name, why_errno(fd));
		wanted.taken = fd >= 0;
		r = print_map(env, maps[i], fd < 0 ? shared_fd(env->shared, maps[i]->bpf_name) : fd, wanted);
		elements += r > 0 ? (size_t)r : 0;
	}
	return elements;
}

static void run_print_map(struct record_env *env, const struct image_record *r, const uint8_t *data)
{
	const struct image_map *m = &env->image->maps[r->map];

	if (r->takes)
		record_take_maps(env, &m, 1, (struct map_wanted){.top = r->top, .div = r->div, .unset = true});
	else
		record_print_map(env, m, r->top, r->div, true);
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
	problem_first(env->out, env->shared, env->image, r, env->warn_reads);
}

static void run_gate(struct record_env *env, const struct image_record *r, const uint8_t *data)
{
	if (env->holds)
		holds_decide(env->holds, env->out->show, r, data);
}

static void run_apply(struct record_env *env, const struct image_record *r, const uint8_t *data)
{
	if (env->holds)
		holds_apply(env->holds, r, data);
}

static void run_hold(struct record_env *env, const struct image_record *r, const uint8_t *data)
{
	if (env->holds)
		holds_begin(env->holds, r, data);
}

static void run_keep(struct record_env *env, const struct image_record *r, const uint8_t *data)
{
	if (env->holds)
		holds_keep(env->holds, r, data, env->again, env->again_arg);
}

static void run_drop(struct record_env *env, const struct image_record *r, const uint8_t *data)
{
	if (env->holds)
		holds_drop(env->holds, r, data);
}

static const struct record_row kinds[] = {
	{"apply", 0, run_apply},
	{"cat", 1, run_cat},
	{"clear", 0, run_clear},
	{"drop", 0, run_drop},
	{"errorf", 1, run_errorf},
	{"exit", 0, run_exit},
	{"gate", 0, run_gate},
	{"hold", 0, run_hold},
	{"join", 1, run_join},
	{"keep", 0, run_keep},
	{"print", 1, run_print},
	{"print-map", MAP_WEIGHT, run_print_map},
	{"printf", 1, run_printf},
	{"problem", 0, run_problem},
	{"skboutput", 1, run_skboutput},
	{"system", 1, run_system},
	{"time", 1, run_time},
	{"warnf", 1, run_warnf},
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
