// SPDX-License-Identifier: Apache-2.0
/* top.c - :top draws a map repeatedly on the terminal's other screen, until a key ends it. */
#include <poll.h>
#include <unistd.h>

#include "base/clock.h"
#include "output/view.h"
#include "prompt/priv.h"
#include "session/session.h"
#include "values/entries.h"

struct top {
	struct prompt *prompt;
	const char *name;
	struct view view;
	uint64_t every_ns;
};

static void draw(struct top *t)
{
	unsigned columns, rows;

	editor_size(t->prompt->editor, &columns, &rows);
	if (!t->view.frozen && !prompt_read_map(t->prompt, t->name, view_content(&t->view, t->name)))
		t->view.left = true;
	else
		view_draw(&t->view, columns, rows);
}

static void loop(struct top *t)
{
	uint64_t next = 0;

	while (!t->view.left) {
		struct pollfd fds[] = {{.fd = STDIN_FILENO, .events = POLLIN},
			{.fd = session_fd(t->prompt->session), .events = POLLIN}};
		uint64_t now = clock_ns(CLOCK_MONOTONIC);

		if (now >= next && !t->view.frozen) {
			draw(t);
			next = now + t->every_ns;
		}
		poll(fds, 2, t->view.frozen || next <= now ? 200 : (int)((next - now) / 1000000) + 1);
		if (fds[0].revents)
			view_keys(&t->view);
		if (fds[0].revents || view_resumed())
			draw(t);
		if (!session_poll(t->prompt->session, 0))
			t->view.left = true;
	}
}

void prompt_top(struct prompt *p, const char *name, double seconds)
{
	struct top t = {
		.prompt = p,
		.name = name,
		.view = {.show = session_show(p->session), .leave = "back"},
		.every_ns = (uint64_t)(seconds * 1e9),
	};

	editor_hold(p->editor, true);
	view_open(&t.view, false);
	loop(&t);
	view_close(&t.view);
	editor_hold(p->editor, false);
}
