// SPDX-License-Identifier: Apache-2.0
/* editor.c - libedit reads keys through get_key(), which waits for keys and for events together. Output
 * that comes meanwhile lifts the line: the line is erased, and drawn again below the output. */
#include "editor.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>
#include <wchar.h>

#include "base/log.h"
#include "base/owner.h"
#include "base/stop.h"
#include "base/str.h"
#include "output/screen.h"
#include "prompt/history.h"

enum {
	KEY_MS = 200,       /* the bytes of one key follow each other faster */
	HELD_MS = 300,      /* how long text without a newline is held back */
	HELD_MAX = 1 << 20,
};

#define PROMPT      "strata> "
#define PASTE_ON    "\033[?2004h"
#define PASTE_OFF   "\033[?2004l"
#define PASTE_BEGIN "\033[200~"
#define PASTE_END   "\033[201~"

struct editor {
	const struct libedit *lib;
	struct editor_calls calls;
	EditLine *el;
	struct history history;
	bool colour;
	bool reading;         /* within editor_read() */
	bool lifted;          /* the line is not shown */
	bool holds;           /* see editor_hold() */
	bool suggests;        /* a suggestion is on the screen */
	bool pasting;
	bool has_line;        /* Enter was pressed */
	enum editor_result result;
	struct str held;      /* text whose line has not ended */
	struct str text;      /* the result of editor_read() */
	unsigned char keys[32]; /* keys that were read, but not given to libedit */
	volatile size_t nkeys, stale; /* stale: number of keys typed before Ctrl-C */
	FILE *old_stderr, *out;
};

static struct editor *the_editor;
static volatile sig_atomic_t interrupted, resized, suspended;
static struct termios at_start; /* the terminal's modes */
static bool has_modes;

/* On Ctrl-C the terminal drops its input, and so does the editor. Input that is read from now on came after
 * it. */
static void on_interrupt(int sig)
{
	interrupted = 1;
	if (the_editor)
		the_editor->stale = the_editor->nkeys;
}

static void on_resize(int sig)
{
	resized = 1;
}

static void on_suspend(int sig)
{
	suspended = 1;
}

/* ---- the terminal -------------------------------------------------------- */

static void restore_terminal(void)
{
	if (has_modes)
		tcsetattr(STDIN_FILENO, TCSADRAIN, &at_start);
}

/* Keys typed between two lines are not echoed, since they belong to the next line. */
static void quiet_terminal(void)
{
	struct termios quiet = at_start;

	quiet.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
	quiet.c_iflag &= ~(tcflag_t)IXON; /* Ctrl-S would stop the output */
	if (has_modes)
		tcsetattr(STDIN_FILENO, TCSADRAIN, &quiet);
}

static void take_terminal(void)
{
	has_modes = !tcgetattr(STDIN_FILENO, &at_start);
	quiet_terminal();
	stop_restores(restore_terminal);
}

/* ---- the screen ---------------------------------------------------------- */

static void put(const char *text, size_t n)
{
	while (n) {
		ssize_t r = write(STDOUT_FILENO, text, n);
		struct pollfd p = {.fd = STDOUT_FILENO, .events = POLLOUT};

		if (r < 0 && errno == EAGAIN)
			poll(&p, 1, 100);
		else if (r < 0 && (errno != EINTR || stop_asked()))
			return;
		text += r > 0 ? r : 0;
		n -= r > 0 ? (size_t)r : 0;
	}
}

static void puts_(const char *text)
{
	put(text, strlen(text));
}

void editor_size(const struct editor *e, unsigned *columns, unsigned *rows)
{
	struct winsize w = {};

	ioctl(STDOUT_FILENO, TIOCGWINSZ, &w);
	*columns = w.ws_col ? w.ws_col : 80;
	*rows = w.ws_row ? w.ws_row : 24;
}

/* Computes row (from 0) and column after a text that begins at the column. */
static void measure(const char *text, size_t size, unsigned columns, unsigned *row, unsigned *column)
{
	mbstate_t state = {};
	const char *end = text + size;

	for (wchar_t c; text < end;) {
		size_t n = mbrtowc(&c, text, (size_t)(end - text), &state);
		int width = n > 4 || !n ? 1 : wcwidth(c);

		if (n > 4 || !n) {
			n = 1;
			memset(&state, 0, sizeof(state));
		}
		if (*text == '\n') {
			++*row;
			*column = 0;
		} else {
			*column += *text == '\t' ? 8 - *column % 8 : width > 0 ? (unsigned)width : 0;
		}
		if (*column >= columns) {
			++*row;
			*column = 0;
		}
		text += n;
	}
}

/* Erases the line; output continues at its place. */
static void lift(struct editor *e)
{
	const LineInfo *line = e->lib->el_line(e->el);
	unsigned columns, rows, row = 0, column = strlen(PROMPT);
	char up[32] = "";

	if (!e->reading || e->lifted)
		return;
	editor_size(e, &columns, &rows);
	measure(line->buffer, (size_t)(line->cursor - line->buffer), columns, &row, &column);
	if (row)
		snprintf(up, sizeof(up), "\033[%uA", row);
	puts_(up);
	puts_("\r\033[J");
	e->lifted = true;
	e->suggests = false;
}

static void draw(struct editor *e)
{
	if (!e->lifted)
		return;
	e->lifted = false;
	e->lib->el_set(e->el, EL_REFRESH);
}

static void release(struct editor *e)
{
	if (!e->held.len)
		return;
	lift(e);
	put(str_text(&e->held), e->held.len);
	puts_("\n");
	str_clear(&e->held);
}

size_t editor_write(struct editor *e, const char *text, size_t size)
{
	size_t whole = size;

	if (e->holds) {
		if (e->held.len < HELD_MAX)
			str_addn(&e->held, text, size);
		return size;
	}
	while (whole && text[whole - 1] != '\n')
		whole--;
	if (whole) {
		lift(e);
		put(str_text(&e->held), e->held.len);
		str_clear(&e->held);
		put(text, whole);
	}
	str_addn(&e->held, text + whole, size - whole);
	if (e->held.len > 4096)
		release(e);
	return size;
}

void editor_hold(struct editor *e, bool hold)
{
	e->holds = hold;
	if (!hold)
		release(e);
}

/* The stream is stderr, which libraries that were loaded meanwhile keep (libstdc++), so it is never closed. */
static ssize_t write_cookie(void *cookie, const char *text, size_t size)
{
	return the_editor ? (ssize_t)editor_write(the_editor, text, size) : write(STDERR_FILENO, text, size);
}

/* ---- suggestions --------------------------------------------------------- */

/* Returns the rest of the newest line that begins like this one, or NULL if there is none. */
static const char *suggestion(const struct editor *e)
{
	const LineInfo *line = e->lib->el_line(e->el);
	size_t n = (size_t)(line->lastchar - line->buffer);

	if (!n || line->cursor != line->lastchar || memchr(line->buffer, '\n', n))
		return NULL;
	return history_rest(&e->history, line->buffer, n);
}

/* Shows the suggestion in grey after the cursor, which does not move. */
static void suggest(struct editor *e)
{
	const char *rest = e->colour && !e->nkeys ? suggestion(e) : NULL;
	const LineInfo *line = e->lib->el_line(e->el);
	unsigned columns, rows, row = 0, column = strlen(PROMPT);
	struct str shown = {};

	if (!rest)
		return;
	editor_size(e, &columns, &rows);
	measure(line->buffer, (size_t)(line->cursor - line->buffer), columns, &row, &column);
	for (; (unsigned char)*rest >= ' ' && (unsigned char)*rest < 0x7f && column + 1 < columns; rest++, column++)
		str_addc(&shown, *rest);
	if (shown.len) {
		puts_("\0337\033[90m");
		put(str_text(&shown), shown.len);
		puts_("\033[0m\0338");
		e->suggests = true;
	}
	str_done(&shown);
}

static void erase_suggestion(struct editor *e)
{
	if (e->suggests)
		puts_("\033[K");
	e->suggests = false;
}

/* ---- keys ---------------------------------------------------------------- */

static void read_keys(struct editor *e)
{
	ssize_t n = read(STDIN_FILENO, e->keys + e->nkeys, sizeof(e->keys) - e->nkeys);

	if (n > 0)
		e->nkeys += (size_t)n;
	else if (n == 0 || (errno != EAGAIN && errno != EINTR))
		e->result = EDITOR_END;
}

static void drop_keys(struct editor *e, size_t n)
{
	e->nkeys -= n;
	e->stale -= n < e->stale ? n : e->stale;
	memmove(e->keys, e->keys + n, e->nkeys);
}

static bool next_is(const struct editor *e, const char *keys)
{
	return e->nkeys >= strlen(keys) && !memcmp(e->keys, keys, strlen(keys));
}

/* Returns whether the input is the beginning of these keys. */
static bool may_become(const struct editor *e, const char *keys)
{
	return e->nkeys && e->nkeys < strlen(keys) && !memcmp(e->keys, keys, e->nkeys);
}

/* A terminal marks pasted text: a tab in it is not a key. */
static bool take_paste_mark(struct editor *e)
{
	bool begins = next_is(e, PASTE_BEGIN), ends = next_is(e, PASTE_END);

	if (begins || ends) {
		e->pasting = begins;
		drop_keys(e, strlen(PASTE_BEGIN));
	}
	return begins || ends;
}

/* Decodes the next character. Returns 0 if it is not complete yet. all: no more bytes will come. */
static size_t decode(struct editor *e, bool all, wchar_t *ret)
{
	mbstate_t state = {};
	size_t n = mbrtowc(ret, (const char *)e->keys, e->nkeys, &state);

	if (n == (size_t)-2 && e->nkeys < 4 && !all)
		return 0;
	if (n == (size_t)-1 || n == (size_t)-2) {
		*ret = L'?';
		n = 1;
	}
	if (e->pasting && *ret == '\t')
		*ret = ' ';
	return n ? n : 1;
}

static bool take_key(struct editor *e, bool all, wchar_t *ret)
{
	size_t n;

	while (take_paste_mark(e))
		;
	if (!e->nkeys || (may_become(e, PASTE_BEGIN) && !all))
		return false;
	n = decode(e, all, ret);
	drop_keys(e, n);
	return n;
}

enum waited { GOT_KEYS, GOT_EVENT, GOT_NOTHING };

/* Waits for a key or an event. If no more bytes follow soon, the bytes of a key are complete. */
static enum waited wait_for_keys(struct editor *e, bool soon)
{
	struct pollfd fds[] = {{.fd = STDIN_FILENO, .events = POLLIN}, {.fd = e->calls.fd, .events = POLLIN}};
	int n = poll(fds, 2, soon ? 0 : e->nkeys ? KEY_MS : e->held.len ? HELD_MS : -1);

	if (n > 0 && fds[0].revents) {
		read_keys(e);
		return GOT_KEYS;
	}
	return n || soon ? GOT_EVENT : GOT_NOTHING; /* also after a signal */
}

/* Handles Ctrl-Z: the shell gets the terminal with its first modes. */
static void suspend(struct editor *e)
{
	struct sigaction stop = {.sa_handler = SIG_DFL}, old;

	lift(e);
	e->lib->el_set(e->el, EL_PREP_TERM, 0);
	restore_terminal();
	sigaction(SIGTSTP, &stop, &old);
	raise(SIGTSTP);
	sigaction(SIGTSTP, &old, NULL);
	quiet_terminal();
	e->lib->el_set(e->el, EL_PREP_TERM, 1);
}

/* libedit crashes if its lines have no space. */
static bool is_too_small(const struct editor *e)
{
	unsigned columns, rows;

	editor_size(e, &columns, &rows);
	return has_modes && (columns < 2 * strlen(PROMPT) || rows < 4);
}

/* libedit keeps the cursor's old position, and would write a key there, beyond its smaller lines: it draws first, which
 * sets the position. */
static void resize(struct editor *e)
{
	lift(e);
	if (is_too_small(e))
		return;
	e->lib->el_resize(e->el);
	draw(e);
}

/* libedit checks the size whenever it begins a line. */
static void wait_for_space(struct editor *e)
{
	bool soon = false;

	while (e->result == EDITOR_LINE && is_too_small(e)) {
		struct pollfd p = {.fd = e->calls.fd, .events = POLLIN};

		poll(&p, 1, soon ? 0 : 200);
		if (interrupted)
			e->result = EDITOR_INTERRUPTED;
		else if (!e->calls.events(e->calls.arg, &soon))
			e->result = EDITOR_STOPPED;
	}
}

static void handle_signals(struct editor *e)
{
	if (suspended) {
		suspended = 0;
		suspend(e);
	}
	if (resized) {
		resized = 0;
		resize(e);
	}
	if (interrupted && e->result == EDITOR_LINE) {
		const LineInfo *line = e->lib->el_line(e->el);

		drop_keys(e, e->stale);
		e->result = line->lastchar > line->buffer ? EDITOR_CANCELLED : EDITOR_INTERRUPTED;
	}
}

/* Called by libedit. Returns the next character, or -1 at the end of input. */
static int get_key(EditLine *el, wchar_t *ret)
{
	struct editor *e = the_editor;
	bool soon = false, all = false;

	for (;;) {
		handle_signals(e); /* comes first, since keys typed after Ctrl-C belong to the next line */
		if (e->result != EDITOR_LINE)
			break;
		if (take_key(e, all, ret)) {
			erase_suggestion(e);
			return 1;
		}
		draw(e);
		if (!e->suggests)
			suggest(e);
		all = false;
		switch (wait_for_keys(e, soon)) {
		case GOT_KEYS:
			break;
		case GOT_EVENT:
			if (!e->calls.events(e->calls.arg, &soon))
				e->result = EDITOR_STOPPED;
			break;
		case GOT_NOTHING:
			all = e->nkeys;
			if (!all)
				release(e);
			break;
		}
	}
	draw(e);
	erase_suggestion(e);
	return -1;
}

/* Takes the line as the result of editor_read(). */
static void take_line(struct editor *e, const char *line)
{
	str_clear(&e->text);
	str_add(&e->text, line);
	while (e->text.len && e->text.data[e->text.len - 1] == '\n')
		e->text.data[--e->text.len] = 0;
	history_add(&e->history, str_text(&e->text));
	e->has_line = true;
}

/* ---- functions of keys --------------------------------------------------- */

static unsigned char on_enter(EditLine *el, int key)
{
	struct editor *e = the_editor;
	const LineInfo *line = e->lib->el_line(el);
	_cleanup_(str_done) struct str text = {};

	str_addn(&text, line->buffer, (size_t)(line->lastchar - line->buffer));
	if (e->calls.is_whole(e->calls.arg, str_text(&text))) {
		take_line(e, str_text(&text));
		lift(e);
		e->lib->el_cursor(el, (int)(line->lastchar - line->cursor));
		draw(e);
		puts_("\n");
		return CC_NEWLINE;
	}
	return e->lib->el_insertstr(el, "\n") ? CC_ERROR : CC_REFRESH;
}

/* At the end of the line, takes the suggestion; elsewhere moves by `by` characters, or to the end. */
static unsigned char go_right(EditLine *el, int by)
{
	struct editor *e = the_editor;
	const LineInfo *line = e->lib->el_line(el);
	const char *rest = suggestion(e);

	if (rest)
		return e->lib->el_insertstr(el, rest) ? CC_ERROR : CC_REFRESH;
	if (line->cursor == line->lastchar)
		return CC_ERROR;
	e->lib->el_cursor(el, by ? by : (int)(line->lastchar - line->cursor));
	return CC_CURSOR;
}

static unsigned char on_right(EditLine *el, int key)
{
	return go_right(el, 1);
}

static unsigned char on_end(EditLine *el, int key)
{
	return go_right(el, 0);
}

static unsigned char on_delete(EditLine *el, int key)
{
	struct editor *e = the_editor;
	const LineInfo *line = e->lib->el_line(el);

	if (line->lastchar == line->buffer) {
		e->result = EDITOR_END;
		return CC_EOF;
	}
	if (line->cursor == line->lastchar)
		return CC_ERROR;
	e->lib->el_cursor(el, 1);
	e->lib->el_deletestr(el, 1);
	return CC_REFRESH;
}

/* ---- completion ---------------------------------------------------------- */

static unsigned char on_tab(EditLine *el, int key)
{
	struct editor *e = the_editor;
	const LineInfo *line = e->lib->el_line(el);
	_cleanup_(str_done) struct str text = {};
	_cleanup_(str_done) struct str list = {};
	_cleanup_(choices_done) struct choices c = {};
	size_t cursor = (size_t)(line->cursor - line->buffer), common;
	unsigned columns, rows;

	str_addn(&text, line->buffer, (size_t)(line->lastchar - line->buffer));
	e->calls.complete(e->calls.arg, str_text(&text), cursor, &c);
	if (!c.texts.len)
		return CC_ERROR;
	common = choices_common(&c);
	if (common > c.replaces) {
		c.texts.data[0][common] = 0;
		return e->lib->el_insertstr(el, c.texts.data[0] + c.replaces) ? CC_ERROR : CC_REFRESH;
	}
	editor_size(e, &columns, &rows);
	choices_list(&c, columns, rows > 8 ? rows - 4 : 4, &list);
	lift(e);
	put(str_text(&list), list.len);
	e->lifted = false;
	return CC_REDISPLAY;
}

/* ---- one line ------------------------------------------------------------ */

static char *prompt_text(EditLine *el)
{
	static char coloured[] = "\1\033[1;36m\1" PROMPT "\1\033[0m\1", plain[] = PROMPT;

	return the_editor->colour ? coloured : plain;
}

static void add_keys(struct editor *e)
{
	static const struct {
		const char *name;
		unsigned char (*run)(EditLine *, int);
		const char *keys[6];
	} rows[] = {
		{"strata-enter", on_enter, {"^J", "^M"}},
		{"strata-tab", on_tab, {"^I"}},
		{"strata-right", on_right, {"\033[C", "\033OC", "^F"}},
		{"strata-end", on_end, {"\033[F", "\033OF", "\033[4~", "^E"}},
		{"strata-delete", on_delete, {"^D"}},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		e->lib->el_set(e->el, EL_ADDFN, rows[i].name, "", rows[i].run);
		for (const char *const *key = rows[i].keys; *key; key++)
			e->lib->el_set(e->el, EL_BIND, *key, rows[i].name, NULL);
	}
	e->lib->el_set(e->el, EL_BIND, "\033[3~", "ed-delete-next-char", NULL);
	e->lib->el_set(e->el, EL_BIND, "\033[H", "ed-move-to-beg", NULL);
	e->lib->el_set(e->el, EL_BIND, "\033[1~", "ed-move-to-beg", NULL);
	e->lib->el_set(e->el, EL_BIND, "^R", "em-inc-search-prev", NULL);
	e->lib->el_set(e->el, EL_BIND, "\033[1;5C", "em-next-word", NULL);
	e->lib->el_set(e->el, EL_BIND, "\033[1;5D", "ed-prev-word", NULL);
}

static void catch_signals(void)
{
	struct sigaction interrupt = {.sa_handler = on_interrupt}, resize = {.sa_handler = on_resize};
	struct sigaction suspend = {.sa_handler = on_suspend};

	sigaction(SIGINT, &interrupt, NULL);
	sigaction(SIGWINCH, &resize, NULL);
	sigaction(SIGTSTP, &suspend, NULL);
	signal(SIGQUIT, SIG_IGN); /* SIGQUIT would not restore the terminal */
}

/* Makes messages on stderr appear above the line, too. */
static void take_stderr(struct editor *e)
{
	const cookie_io_functions_t calls = {.write = write_cookie};
	FILE *f = isatty(STDERR_FILENO) ? fopencookie(NULL, "w", calls) : NULL;

	if (!f)
		return;
	setvbuf(f, NULL, _IOLBF, BUFSIZ);
	e->old_stderr = stderr;
	stderr = f;
}

int editor_open(const struct editor_calls *calls, const char *history, bool colour, struct editor **ret)
{
	const struct libedit *lib = libedit();
	struct editor *e;

	if (!lib) {
		log_error("the prompt needs libedit, which cannot be loaded");
		log_hint("install libedit2 (Debian, Ubuntu) or libedit (Fedora)");
		return -ENOENT;
	}
	e = calloc(1, sizeof(*e));
	if (!e)
		return -ENOMEM;
	the_editor = *ret = e;
	e->lib = lib;
	e->calls = *calls;
	e->colour = colour;
	screen_set_locale();
	take_terminal();
	e->out = fdopen(dup(STDOUT_FILENO), "w"); /* its errors do not affect stdout */
	e->el = e->out ? lib->el_init("strata", stdin, e->out, stderr) : NULL;
	if (!e->el || history_open(&e->history, lib, history))
		return -ENOMEM;
	lib->el_set(e->el, EL_PROMPT_ESC, prompt_text, '\1');
	lib->el_set(e->el, EL_EDITOR, "emacs");
	lib->el_set(e->el, EL_HIST, lib->history, e->history.lines_of_libedit);
	lib->el_set(e->el, EL_GETCFN, get_key);
	add_keys(e);
	catch_signals();
	take_stderr(e);
	return 0;
}

/* If the input is not a terminal, libedit returns lines without handling keys. */
static void read_plain(struct editor *e, const char *line)
{
	_cleanup_(str_done) struct str text = {};
	int n;

	for (; line; line = e->lib->el_gets(e->el, &n)) {
		str_add(&text, line);
		while (text.len && strchr("\r\n", text.data[text.len - 1]))
			text.data[--text.len] = 0;
		if (e->calls.is_whole(e->calls.arg, str_text(&text)))
			break;
		str_addc(&text, '\n');
	}
	take_line(e, str_text(&text));
}

enum editor_result editor_read(struct editor *e, const char **ret)
{
	const char *line;
	int n = 0;

	fflush(stdout);
	release(e);
	e->result = EDITOR_LINE;
	e->lifted = e->has_line = false;
	e->reading = true;
	if (interrupted) { /* while the previous line ran */
		interrupted = 0;
		drop_keys(e, e->stale);
	}
	wait_for_space(e);
	puts_(has_modes ? PASTE_ON : "");
	line = e->result == EDITOR_LINE ? e->lib->el_gets(e->el, &n) : NULL;
	if (line && !e->has_line && !has_modes)
		read_plain(e, line);
	quiet_terminal(); /* libedit has turned echo on */
	puts_(has_modes ? PASTE_OFF : "");
	e->reading = false;
	e->pasting = false;
	if (e->has_line && (e->result == EDITOR_LINE || !has_modes)) {
		*ret = str_text(&e->text);
		return EDITOR_LINE;
	}
	if (e->result == EDITOR_LINE)
		e->result = interrupted ? EDITOR_INTERRUPTED : EDITOR_END;
	if (e->result == EDITOR_INTERRUPTED || e->result == EDITOR_CANCELLED)
		puts_("^C");
	puts_("\n");
	e->lib->el_reset(e->el);
	return e->result;
}

void editor_close(struct editor *e)
{
	if (!e)
		return;
	release(e);
	if (e->old_stderr) {
		fflush(stderr);
		stderr = e->old_stderr;
	}
	if (e->el)
		e->lib->el_end(e->el);
	if (e->out)
		fclose(e->out);
	restore_terminal();
	stop_restores(NULL);
	history_close(&e->history);
	str_done(&e->held);
	str_done(&e->text);
	free(e);
	the_editor = NULL;
}
