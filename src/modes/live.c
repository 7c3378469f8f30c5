// SPDX-License-Identifier: Apache-2.0
/* live.c - draws maps on the terminal's other screen, and leaves it before the final print. */
#include "live.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/str.h"
#include "model/image.h"
#include "output/view.h"
#include "session/session.h"
#include "session/shared.h"
#include "values/entries.h"

struct live {
	struct session *session;
	struct view view;
	VEC(char *) names; /* names of the maps, with the @, in the session's order */
};

static void read_maps(struct live *l)
{
	const struct shared *shared = session_maps(l->session);
	const struct map_wanted all = {};
	size_t n = 0;

	for (size_t i = 0; i < shared->maps.len; i++) {
		const struct shared_map *m = &shared->maps.data[i];
		struct str name = {};

		if (!m->script || !m->print)
			continue;
		if (n == l->names.len) {
			str_addf(&name, "@%s", m->script->name);
			vec_push(&l->names, name.data);
		}
		map_read(l->view.show, m->fd, m->script, &all, view_content(&l->view, l->names.data[n++]));
	}
}

static void draw(struct live *l)
{
	struct winsize w = {};

	if (!l->view.frozen)
		read_maps(l);
	ioctl(STDOUT_FILENO, TIOCGWINSZ, &w);
	view_draw(&l->view, w.ws_col ? w.ws_col : 80, w.ws_row ? w.ws_row : 24);
}

static void print_loop(struct session *s, uint64_t every, uint64_t end)
{
	uint64_t next = clock_ns(CLOCK_MONOTONIC) + every, now;

	while (session_poll(s, clock_ms_until(next < end ? next : end)) && (now = clock_ns(CLOCK_MONOTONIC)) < end)
		if (now >= next) {
			next = now + every;
			session_print_maps(s);
		}
}

static void screen_loop(struct live *l, uint64_t every, uint64_t end)
{
	uint64_t next = clock_ns(CLOCK_MONOTONIC) + every, now = 0;

	while (!l->view.left && now < end) {
		struct pollfd fds[] = {{.fd = session_fd(l->session), .events = POLLIN},
			{.fd = STDIN_FILENO, .events = POLLIN}};

		poll(fds, 1 + l->view.has_keys,
			session_is_reading(l->session) ? 0 : clock_ms_until(next < end ? next : end));
		if (fds[1].revents)
			view_keys(&l->view);
		if (fds[1].revents || view_resumed())
			draw(l);
		if (!session_poll(l->session, 0))
			return;
		now = clock_ns(CLOCK_MONOTONIC);
		if (now < next)
			continue;
		next = now + every;
		if (!l->view.frozen)
			draw(l);
	}
}

void live_run(struct session *s, double seconds, bool terminal, uint64_t end)
{
	struct live l = {.session = s, .view = {.show = session_show(s), .leave = "end"}};
	uint64_t every = (uint64_t)(seconds * 1e9);

	if (!terminal) {
		print_loop(s, every, end);
		return;
	}
	view_open(&l.view, true);
	screen_loop(&l, every, end);
	view_close(&l.view);
	for (size_t i = 0; i < l.names.len; i++)
		free(l.names.data[i]);
	vec_done(&l.names);
}
