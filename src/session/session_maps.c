// SPDX-License-Identifier: Apache-2.0
/* session_maps.c - prints the scripts' maps: at the end, at the prompt, and when a window ends. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/owner.h"
#include "base/str.h"
#include "base/why.h"
#include "output/stream.h"
#include "session/about.h"
#include "session/session_priv.h"

/* Returns the maps to print, sorted by name. To be free()d. */
static const struct image_map **maps_to_print(const struct session *s, size_t *ret_n)
{
	const struct image_map **sorted = calloc(s->shared.maps.len + 1, sizeof(*sorted));

	*ret_n = 0;
	for (size_t i = 0; sorted && i < s->shared.maps.len; i++) {
		const struct shared_map *m = &s->shared.maps.data[i];
		size_t at = *ret_n;

		if (!m->script || !m->print)
			continue;
		for (; at && strcmp(sorted[at - 1]->name, m->script->name) > 0; at--)
			sorted[at] = sorted[at - 1];
		sorted[at] = m->script;
		++*ret_n;
	}
	return sorted;
}

/* ---- windows ------------------------------------------------------------- */

/* A file of stacks has the sum of all windows. */
int session_open_window(struct session *s)
{
	uint64_t ns = s->opt.settings->window;
	struct timespec length = {.tv_sec = (time_t)(ns / 1000000000), .tv_nsec = (long)(ns % 1000000000)};
	struct itimerspec at = {.it_value = length, .it_interval = length};

	if (!ns || s->ended || s->opt.is_prompt || s->out.output->content == OUTPUT_STACKS)
		return 0;
	s->window = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (s->window < 0 || timerfd_settime(s->window, 0, &at, NULL) || session_watch(s, s->window, FROM_WINDOW))
		{
		int r = -errno;

		log_error("cannot make a timer: %s", why_errno(r));
		return r;
	}
	return 0;
}

/* The window ends: prints its aggregations. */
void session_end_window(struct session *s)
{
	struct record_env env = {.out = &s->out, .shared = &s->shared, .top = s->opt.top};
	struct str time = {};
	uint64_t passed;
	size_t all, n = 0;

	if (read(s->window, &passed, sizeof(passed)) != sizeof(passed))
		return;
	_cleanup_(freep) const struct image_map **maps = maps_to_print(s, &all);
	for (size_t i = 0; i < all; i++)
		if (maps[i]->taken)
			maps[n++] = maps[i];
	show_time("%H:%M:%S\n", clock_ns(CLOCK_REALTIME), &time);
	if (!s->out.output->has_times)
		s->out.output->text(&s->out, "time", str_text(&time), time.len);
	str_done(&time);
	s->seen += record_take_maps(&env, maps, n, (struct map_wanted){});
	stream_flush(s->opt.stream);
}

/* ---- the end, the prompt -------------------------------------------------- */

/* Advice about stacks is for a person who has not chosen what to see. */
static bool wants_advice(const struct session *s)
{
	return s->out.terminal && s->out.output->content == OUTPUT_TEXT && !s->opt.libraries && !s->opt.top;
}

void session_print_last(struct session *s)
{
	struct record_env env = {
		.out = &s->out,
		.shared = &s->shared,
		.top = s->opt.top,
		.idle = &s->advice,
		.advice = wants_advice(s) ? &s->advice : NULL,
	};
	size_t n;
	_cleanup_(freep) const struct image_map **maps = maps_to_print(s, &n);

	if (s->out.output->end)
		s->out.output->end(&s->out, maps, n);
	session_print_answers(s, maps, n);
	session_print_table(s, maps, &n);
	for (size_t i = 0; i < n; i++)
		if (record_print_last(&env, maps[i]) > 0)
			s->seen++;
	about_session(s, str_text(&s->about_whom), &s->about);
	s->out.about = str_text(&s->about);
	if (s->out.output->finish)
		s->out.output->finish(&s->out);
	output_end_packed(&s->out);
}

void session_print_maps(struct session *s)
{
	struct record_env env = {.out = &s->out, .shared = &s->shared, .top = s->opt.top};
	size_t n;
	_cleanup_(freep) const struct image_map **maps = maps_to_print(s, &n);

	session_print_table(s, maps, &n);
	for (size_t i = 0; i < n; i++)
		record_print_map(&env, maps[i], 0, 0, false);
	if (s->out.output->content == OUTPUT_TEXT)
		fputc('\n', s->out.file);
	stream_flush(s->opt.stream);
}
