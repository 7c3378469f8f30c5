// SPDX-License-Identifier: Apache-2.0
/* live.c - maps on the terminal's other screen, which is left before they are printed for good. */
#include "live.h"

#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/str.h"
#include "model/image.h"
#include "runtime/maps.h"
#include "runtime/output/screen.h"
#include "runtime/session.h"
#include "runtime/shared.h"

static void add_map(struct screen *screen, const struct session *s, const struct shared_map *m, struct str *out)
{
	const struct map_wanted all = {};
	struct map_content c;

	if (!map_read(session_show(s), m->fd, m->script, &all, &c)) {
		str_addf(out, "\033[1m@%s\033[0m\n", m->script->name);
		screen_map(screen, session_show(s), &c, out);
	}
	map_content_done(&c);
}

/* The maps share the screen's rows. */
static void draw(const struct session *s)
{
	const struct shared *shared = session_maps(s);
	struct screen screen = {};
	struct winsize w = {};
	struct str lines = {};
	unsigned n = 0;

	for (size_t i = 0; i < shared->maps.len; i++)
		n += shared->maps.data[i].script && shared->maps.data[i].print;
	ioctl(STDOUT_FILENO, TIOCGWINSZ, &w);
	screen.columns = w.ws_col ? w.ws_col : 80;
	screen.rows = n && w.ws_row / n > 3 ? w.ws_row / n - 2 : 1;
	for (size_t i = 0; i < shared->maps.len; i++)
		if (shared->maps.data[i].script && shared->maps.data[i].print)
			add_map(&screen, s, &shared->maps.data[i], &lines);
	screen_put(&lines);
	str_done(&lines);
	screen_done(&screen);
}

void live_run(struct session *s, double seconds, bool terminal)
{
	uint64_t every = (uint64_t)(seconds * 1e9), next = clock_ns(CLOCK_MONOTONIC) + every, now;

	if (terminal)
		screen_switch(true);
	do {
		now = clock_ns(CLOCK_MONOTONIC);
		if (now < next)
			continue;
		next = now + every;
		if (terminal)
			draw(s);
		else
			session_print_maps(s);
	} while (session_poll(s, next > now ? (int)((next - now) / 1000000) + 1 : 0));
	if (terminal)
		screen_switch(false);
}
