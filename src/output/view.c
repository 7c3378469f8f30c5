// SPDX-License-Identifier: Apache-2.0
/* view.c - maps on a terminal, with keys. */
#include "view.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "base/regular.h"
#include "base/stop.h"
#include "base/why.h"
#include "model/image.h"
#include "output.h"
#include "pack.h"
#include "recording.h"
#include "values/show.h"

/* ---- the terminal -------------------------------------------------------- */

/* Signal handlers' data of the open view. */
static struct {
	bool has_keys;
	struct termios old, raw;
	void (*outer)(void); /* former handler of stop_restores() */
	struct sigaction suspend, resume; /* the former handlers */
} screen;
static volatile sig_atomic_t resumed;

static void enter(void)
{
	screen_switch(true);
	if (screen.has_keys)
		tcsetattr(STDIN_FILENO, TCSADRAIN, &screen.raw);
}

static void leave(void)
{
	screen_switch(false);
	if (screen.has_keys)
		tcsetattr(STDIN_FILENO, TCSADRAIN, &screen.old);
}

/* Restores the terminal before strata ends. */
static void restore(void)
{
	leave();
	if (screen.outer)
		screen.outer();
}

static void on_resume(int sig)
{
	int saved = errno;

	enter();
	resumed = 1;
	errno = saved;
}

/* Gives the terminal back to the shell until strata continues. */
static void on_suspend(int sig)
{
	struct sigaction stop = {.sa_handler = SIG_DFL}, ours;
	int saved = errno;
	sigset_t this;

	restore();
	sigemptyset(&this);
	sigaddset(&this, sig);
	sigaction(sig, &stop, &ours);
	raise(sig);
	sigprocmask(SIG_UNBLOCK, &this, NULL); /* this stops strata */
	sigprocmask(SIG_BLOCK, &this, NULL);
	sigaction(sig, &ours, NULL);
	on_resume(sig);
	errno = saved;
}

bool view_resumed(void)
{
	bool was = resumed;

	resumed = 0;
	return was;
}

static void catch_signals(void)
{
	struct sigaction suspend = {.sa_handler = on_suspend}, resume = {.sa_handler = on_resume};

	screen.outer = stop_restores(restore);
	sigaction(SIGTSTP, &suspend, &screen.suspend);
	sigaction(SIGCONT, &resume, &screen.resume);
}

void view_open(struct view *v, bool signals)
{
	screen.has_keys = v->has_keys = isatty(STDIN_FILENO) && !tcgetattr(STDIN_FILENO, &screen.old);
	screen.raw = screen.old;
	screen.raw.c_iflag &= ~(tcflag_t)IXON;
	screen.raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO | (signals ? 0 : ISIG));
	screen.raw.c_cc[VMIN] = 1;
	screen.raw.c_cc[VTIME] = 0;
	screen_set_locale();
	catch_signals();
	enter();
}

void view_close(struct view *v)
{
	sigaction(SIGTSTP, &screen.suspend, NULL);
	sigaction(SIGCONT, &screen.resume, NULL);
	leave();
	stop_restores(screen.outer);
	for (size_t i = 0; i < v->maps.len; i++) {
		map_content_done(&v->maps.data[i].content);
		screen_done(&v->maps.data[i].screen);
	}
	vec_done(&v->maps);
	str_done(&v->typed);
	str_done(&v->filter);
	str_done(&v->note);
}

struct map_content *view_content(struct view *v, const char *name)
{
	for (size_t i = 0; i < v->maps.len; i++)
		if (!strcmp(v->maps.data[i].name, name)) {
			map_content_done(&v->maps.data[i].content);
			v->maps.data[i].content = (struct map_content){};
			return &v->maps.data[i].content;
		}
	vec_push(&v->maps, (struct view_map){.name = name});
	return &v->maps.data[v->maps.len - 1].content;
}

/* ---- drawing ------------------------------------------------------------- */

static void add_state(const struct view *v, const struct view_map *m, struct str *out)
{
	bool folds = m && m->content.map && recording_takes(m->content.map);

	str_addf(out, "%s%s%s%s", v->frozen ? "(paused)  " : "", v->filter.len ? "filter: " : "",
		str_text(&v->filter), v->filter.len ? "  " : "");
	if (v->has_keys)
		str_addf(out, "%s%sp: pause  s: by %s  /: filter  w: save  q: %s",
			folds ? "up, down, space: fold  " : "",
			v->maps.len > 1 ? "tab: next map  " : "", v->by_name ? "value" : "name", v->leave);
}

/* Appends the first line. */
static void add_help(const struct view *v, const struct view_map *m, unsigned columns, struct str *out)
{
	const char *name = m && v->maps.len == 1 ? m->name : "";
	unsigned used = (unsigned)strlen(name) + 2;
	struct str text = {};

	if (v->typing != VIEW_KEYS)
		str_addf(&text, "%s %s", v->typing == VIEW_FILTER ? "filter:" : "save as (x.svg, x.html, x.json ..):",
			str_text(&v->typed));
	else if (v->note.len)
		str_add(&text, str_text(&v->note));
	else
		add_state(v, m, &text);
	if (*name)
		str_addf(out, "\033[1m%s\033[0m  ", name);
	screen_add_cut(out, str_text(&text), *name && used < columns ? columns - used : columns);
	str_addc(out, '\n');
	str_done(&text);
}

void view_draw(struct view *v, unsigned columns, unsigned rows)
{
	struct str lines = {};
	unsigned n = (unsigned)v->maps.len, left = rows > 2 ? rows - 2 : 1;

	add_help(v, v->current < v->maps.len ? &v->maps.data[v->current] : NULL, columns, &lines);
	for (size_t i = 0; i < n; i++) {
		struct view_map *m = &v->maps.data[i];

		m->screen.columns = columns;
		m->screen.rows = n == 1 ? left : left / n > 2 ? left / n - 1 : 1;
		m->screen.has_keys = v->has_keys && i == v->current;
		m->screen.by_name = v->by_name;
		m->screen.filter = v->filter.len ? str_text(&v->filter) : NULL;
		if (n > 1)
			str_addf(&lines, "%s%s\033[0m\n", m->screen.has_keys ? "\033[1;4m" : "\033[1m", m->name);
		if (m->content.map)
			screen_map(&m->screen, v->show, &m->content, &lines);
	}
	screen_put(&lines);
	str_done(&lines);
}

/* ---- keys ---------------------------------------------------------------- */

/* Returns false, with errno, on failure. */
static bool write_maps(struct view *v, const char *path, FILE *file)
{
	struct out o = {.output = output_by_file(path), .show = v->show};
	bool ok;

	o.file = pack_write(output_pack(o.output, path), file);
	if (!o.file)
		return false;
	for (size_t i = 0; i < v->maps.len; i++)
		if (v->maps.data[i].content.map)
			o.output->map(&o, &v->maps.data[i].content);
	if (o.output->finish)
		o.output->finish(&o);
	ok = !fflush(o.file) && !ferror(o.file);
	return !fclose(o.file) && ok;
}

/* Saves in the format of the file's name: x.svg, x.html, x.json.gz..; else as text. */
static void save(struct view *v)
{
	const char *path = str_text(&v->typed);
	bool over = !access(path, F_OK), ok;
	int fd = regular_create(path, true), error;
	FILE *file = fd < 0 ? NULL : fdopen(fd, "w");

	ok = file && write_maps(v, path, file);
	error = fd < 0 ? fd : -errno;
	ok &= file && !fclose(file);
	str_clear(&v->note);
	if (ok)
		str_addf(&v->note, over ? "%s: written over" : "%s: written", path);
	else
		str_addf(&v->note, "cannot write %s: %s", path,
			error == -ENOEXEC ? regular_why(error) : why_write(error));
}

static void end_typing(struct view *v)
{
	if (v->typing == VIEW_FILTER) {
		str_clear(&v->filter);
		str_add(&v->filter, str_text(&v->typed));
	} else if (v->typed.len) {
		save(v);
	}
	v->typing = VIEW_KEYS;
}

static void type(struct view *v, const char *key)
{
	if (strchr("\r\n", key[0]))
		end_typing(v);
	else if (key[0] == '\033')
		v->typing = VIEW_KEYS;
	else if (strchr("\177\b", key[0]) && v->typed.len)
		v->typed.data[--v->typed.len] = 0;
	else if ((unsigned char)key[0] >= ' ' && key[0] != '\177')
		str_addc(&v->typed, key[0]);
}

static void move(struct view *v, int by)
{
	struct screen *s = &v->maps.data[v->current].screen;

	if (by < 0 && s->cursor)
		s->cursor--;
	else if (by > 0 && s->cursor + 1 < s->lines)
		s->cursor++;
}

static void begin_typing(struct view *v, enum view_typing what)
{
	v->typing = what;
	str_clear(&v->typed);
}

static void on_key(struct view *v, const char *key)
{
	if (strchr("qQ\003\004", key[0]) || !strcmp(key, "\033"))
		v->left = true;
	else if (key[0] == 'p' || key[0] == 'f')
		v->frozen = !v->frozen;
	else if (key[0] == 's')
		v->by_name = !v->by_name;
	else if (key[0] == '/')
		begin_typing(v, VIEW_FILTER);
	else if (key[0] == 'w')
		begin_typing(v, VIEW_SAVE);
	else if (!v->maps.len)
		return;
	else if (key[0] == '\t')
		v->current = (v->current + 1) % v->maps.len;
	else if (!strcmp(key, "\033[A") || !strcmp(key, "\033OA") || key[0] == 'k')
		move(v, -1);
	else if (!strcmp(key, "\033[B") || !strcmp(key, "\033OB") || key[0] == 'j')
		move(v, 1);
	else if (strchr(" \r\n", key[0]) || !strcmp(key, "\033[C") || !strcmp(key, "\033[D"))
		screen_toggle(&v->maps.data[v->current].screen);
}

enum { KEY_MS = 20 }; /* within this time, the bytes of a key arrive */

static bool has_input(int timeout_ms)
{
	struct pollfd p = {.fd = STDIN_FILENO, .events = POLLIN};

	return poll(&p, 1, timeout_ms) > 0;
}

/* Reads one key: an arrow has three bytes. Returns false if the terminal is gone. */
static bool read_key(char key[4])
{
	size_t n = read(STDIN_FILENO, key, 1) == 1;

	while (n && n < 3 && key[0] == '\033' && (n == 1 || strchr("[O", key[1])) && has_input(KEY_MS) &&
		read(STDIN_FILENO, key + n, 1) == 1)
		n++;
	key[n] = 0;
	return n;
}

/* Keys after the one that leaves are not for the view. */
void view_keys(struct view *v)
{
	char key[4];

	str_clear(&v->note);
	do {
		if (!read_key(key))
			v->left = true;
		else if (v->typing != VIEW_KEYS)
			type(v, key);
		else
			on_key(v, key);
	} while (!v->left && has_input(0));
}
