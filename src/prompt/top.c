// SPDX-License-Identifier: Apache-2.0
/* top.c - :top: a map that is drawn again and again, on the terminal's other screen, until a key ends it. */
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/str.h"
#include "model/image.h"
#include "prompt/priv.h"
#include "runtime/maps.h"
#include "runtime/output/profile.h"
#include "runtime/output/screen.h"
#include "runtime/session.h"

struct top {
	struct prompt *prompt;
	const char *name;
	struct screen screen;
	uint64_t every_ns;
	bool paused, left;
};

static void draw(struct top *t)
{
	struct str text = {};
	struct map_content c;
	unsigned rows;

	editor_size(t->prompt->editor, &t->screen.columns, &rows);
	t->screen.rows = rows > 3 ? rows - 2 : 1;
	if (prompt_read_map(t->prompt, t->name, &c)) {
		str_addf(&text, "\033[1m%s\033[0m%s%s  p: pause  q: back\n", t->name, t->paused ? "  (paused)" : "",
			profile_is_map(c.map) ? "  up, down, space: fold" : "");
		screen_map(&t->screen, session_show(t->prompt->session), &c, &text);
	} else {
		t->left = true;
	}
	map_content_done(&c);
	screen_put(&text);
	str_done(&text);
}

static void move(struct top *t, int by)
{
	if (by < 0 && t->screen.cursor)
		t->screen.cursor--;
	else if (by > 0 && t->screen.cursor + 1 < t->screen.lines)
		t->screen.cursor++;
}

/* What a key's bytes mean. */
static void on_keys(struct top *t)
{
	char keys[16] = "";
	ssize_t n = read(STDIN_FILENO, keys, sizeof(keys) - 1);

	if (n <= 0 || strchr("qQ\003\004", keys[0]) || !strcmp(keys, "\033"))
		t->left = true;
	else if (!strcmp(keys, "\033[A") || !strcmp(keys, "\033OA") || keys[0] == 'k')
		move(t, -1);
	else if (!strcmp(keys, "\033[B") || !strcmp(keys, "\033OB") || keys[0] == 'j')
		move(t, 1);
	else if (strchr(" \r\n", keys[0]) || !strcmp(keys, "\033[C") || !strcmp(keys, "\033[D"))
		screen_toggle(&t->screen);
	else if (keys[0] == 'p')
		t->paused = !t->paused;
}

static void loop(struct top *t)
{
	uint64_t next = 0;

	while (!t->left) {
		struct pollfd fds[] = {{.fd = STDIN_FILENO, .events = POLLIN},
			{.fd = session_fd(t->prompt->session), .events = POLLIN}};
		uint64_t now = clock_ns(CLOCK_MONOTONIC);
		bool key;

		if (now >= next && !t->paused) {
			draw(t);
			next = now + t->every_ns;
		}
		poll(fds, 2, t->paused || next <= now ? 200 : (int)((next - now) / 1000000) + 1);
		key = fds[0].revents;
		if (key) {
			on_keys(t);
			draw(t);
		}
		if (!session_poll(t->prompt->session, 0))
			t->left = true;
	}
}

void prompt_top(struct prompt *p, const char *name, double seconds)
{
	struct top t = {.prompt = p, .name = name, .every_ns = (uint64_t)(seconds * 1e9), .screen.has_keys = true};
	struct termios old, raw;

	if (tcgetattr(STDIN_FILENO, &old))
		return;
	raw = old;
	raw.c_iflag &= ~(tcflag_t)IXON;
	raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO | ISIG);
	raw.c_cc[VMIN] = 1;
	raw.c_cc[VTIME] = 0;
	tcsetattr(STDIN_FILENO, TCSADRAIN, &raw);
	editor_hold(p->editor, true);
	screen_switch(true);
	loop(&t);
	screen_switch(false);
	editor_hold(p->editor, false);
	tcsetattr(STDIN_FILENO, TCSADRAIN, &old);
	screen_done(&t.screen);
}
