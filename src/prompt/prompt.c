// SPDX-License-Identifier: Apache-2.0
/* prompt.c - reads lines and runs them, until the user leaves or the session ends. */
#include "prompt.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/log.h"
#include "base/owner.h"
#include "base/why.h"
#include "output/stream.h"
#include "parser/settings.h"
#include "prompt/priv.h"

static size_t on_output(void *arg, const char *text, size_t size)
{
	struct prompt *p = arg;

	return editor_write(p->editor, text, size);
}

static void drop_exited(struct prompt *p)
{
	unsigned number;

	while ((number = lines_drop_exited(&p->lines)))
		fprintf(stderr, "[%u] has called exit()\n", number);
	fflush(stderr);
}

static bool on_events(void *arg, bool *ret_soon)
{
	struct prompt *p = arg;
	bool goes_on = session_poll(p->session, 0);

	drop_exited(p);
	*ret_soon = session_is_reading(p->session);
	return goes_on;
}

static bool is_command(const char *text)
{
	return text[strspn(text, " \t\n")] == ':';
}

/* Two newlines in a row also end an incomplete script; its error names the missing part. */
static bool is_whole(void *arg, const char *text)
{
	size_t n = strlen(text);

	return is_command(text) || (n && text[n - 1] == '\n') || !compile_is_unfinished(text);
}

/* Handles words of users who look for the way out, or for help. */
static const char *plain_word(const char *text)
{
	static const char *const words[][2] = {
		{"exit", ":quit"}, {"quit", ":quit"}, {"q", ":quit"}, {"help", ":help"}, {"?", ":help"}};

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (!strcmp(text, words[i][0]))
			return words[i][1];
	return text;
}

void prompt_line(struct prompt *p, const char *text)
{
	const struct line *n;

	drop_exited(p);
	text = plain_word(text + strspn(text, " \t\n"));
	if (!*text)
		return;
	if (*text == ':') {
		prompt_command(p, text + 1);
		return;
	}
	if (prompt_tool(p, text))
		return;
	n = lines_add(&p->lines, text);
	if (n && n->probes)
		fprintf(stderr, "[%u] %u probe%s\n", n->number, n->probes, n->probes == 1 ? "" : "s");
}

static void on_interrupt(struct prompt *p)
{
	if (p->asked)
		p->leaving = true;
	else
		fputs("Ctrl-C once more, Ctrl-D or :quit leaves; :drop N ends one script\n", stderr);
	p->asked = true;
}

/* Reports why the session ended by itself. */
static void say_why(const struct prompt *p)
{
	const struct session_options *opt = &p->opt.session;

	if (opt->child)
		fputs("the command has ended\n", stderr);
	else if (opt->pid && kill(opt->pid, 0) && errno == ESRCH)
		fprintf(stderr, "process %d has ended\n", opt->pid);
}

static void loop(struct prompt *p)
{
	const char *text;

	while (!p->leaving) {
		switch (editor_read(p->editor, &text)) {
		case EDITOR_LINE:
			p->asked = false;
			prompt_line(p, text);
			break;
		case EDITOR_CANCELLED:
			p->asked = false;
			break;
		case EDITOR_INTERRUPTED:
			on_interrupt(p);
			break;
		case EDITOR_STOPPED:
			say_why(p);
			p->leaving = true;
			break;
		case EDITOR_END:
			p->leaving = true;
			break;
		}
		fflush(stderr);
	}
}

static const char *history_path(struct arena *a)
{
	const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");

	if (state && *state == '/')
		return arena_printf(a, "%s/strata/history", state);
	return home && *home == '/' ? arena_printf(a, "%s/.local/state/strata/history", home) : NULL;
}

static int open_all(struct prompt *p, struct arena *a)
{
	struct editor_calls calls = {
		.arg = p, .fd = session_fd(p->session), .events = on_events, .is_whole = is_whole,
		.complete = prompt_complete,
	};
	int r = editor_open(&calls, history_path(a), p->opt.colour, &p->editor);

	return r ? r : lines_begin(&p->lines) ? 0 : -1;
}

static int open_session(struct prompt *p)
{
	int r = stream_open_to(on_output, p, &p->stream);

	if (r)
		return r;
	p->settings = settings_default();
	p->opt.session.stream = p->stream;
	p->opt.session.settings = &p->settings;
	p->opt.session.grows = true;
	p->opt.session.is_prompt = p->opt.session.is_last = true;
	p->lines.opt = &p->opt;
	r = session_open(p->opt.target, &p->opt.session, &p->session);
	p->lines.session = p->session;
	return r;
}

static void greet(void)
{
	fputs("strata: type a script, an expression, or :help. TAB completes, Ctrl-D leaves.\n", stderr);
}

int prompt_run(const struct prompt_options *opt)
{
	struct prompt p = {.opt = *opt};
	struct arena *a = arena_new();
	int stats = bpf_enable_stats(BPF_STATS_RUN_TIME), code = 1;

	greet();
	if (!open_session(&p) && !open_all(&p, a)) {
		loop(&p);
		code = session_finish(p.session);
	}
	stream_close(p.stream);
	editor_close(p.editor);
	session_close(p.session);
	lines_done(&p.lines);
	closep(&stats);
	arena_free(a);
	return code;
}
