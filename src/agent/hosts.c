// SPDX-License-Identifier: Apache-2.0
/* hosts.c - a child process for each host. Its standard input is a pipe whose end asks the far strata to end and to
 * print its maps (--until-eof): so nothing goes on there when the near end, or the connection, is gone. */
#include "hosts.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/owner.h"
#include "base/str.h"
#include "base/why.h"
#include "output/recording.h"
#include "output/recording_merge.h"
#include "output/recording_read.h"
#include "process.h"
#include "push.h"
#include "watch.h"

/* A host's recording is kept in memory until all have ended. */
/* timeout(1) sends a signal twice: to the process, and to its group. */
#define SAME_SIGNAL_NS 100000000ull
/* A host has END_NS to print its maps after it was asked to end, and START_NS to compile the script. */
#define SECOND 1000000000ull
#define END_NS (15 * SECOND)
#define START_NS (60 * SECOND)
enum { RECORDING_MAX = 1 << 30, HOSTS_MAX = 4096, NAME_MAX_BYTES = 256 };

struct host {
	const char *name;
	struct hosts *all;
	struct process *process; /* NULL: it could not be started */
	struct watch input;      /* our end of its standard input; fd -1: closed. Ready while the program is sent */
	struct str text;         /* its recording */
	size_t sent;             /* bytes of push_bytes() */
	bool sends, ended, failed, late;
};

struct hosts {
	struct watches loop;
	struct watch signals;
	struct host *list;
	size_t n, running;
	uint64_t stops; /* CLOCK_MONOTONIC ns of the first signal; 0: none */
	uint64_t end;   /* until which they have to answer; UINT64_MAX: when they like */
	unsigned hinted;
	uint64_t limit; /* ns from a start to end; 0: none */
	struct push *push; /* NULL: strata is installed on the hosts */
};

/* ---- names --------------------------------------------------------------- */

/* A name that begins with "-" would be an option of ssh. A host that is named twice is asked once. */
static bool add_name(host_list *l, const char *name, size_t n)
{
	char *copy;

	if (!n)
		return true;
	if (*name == '-' || n >= NAME_MAX_BYTES || l->len >= HOSTS_MAX)
		return false;
	for (size_t i = 0; i < l->len; i++)
		if (!strncmp(l->data[i], name, n) && !l->data[i][n])
			return true;
	copy = strndup(name, n);
	vec_push(l, copy);
	return true;
}

static int add_file(host_list *l, const char *path)
{
	_cleanup_(fclosep) FILE *file = fopen(path, "re");
	char line[4096];

	if (!file)
		return -errno;
	while (fgets(line, sizeof(line), file)) {
		size_t begin = strspn(line, " \t");

		if (!add_name(l, line + begin, strcspn(line + begin, "# \t\r\n")))
			return -EINVAL;
	}
	return 0;
}

int hosts_read(const char *text, host_list *ret)
{
	int r = 0;

	for (size_t n; !r && *text; text += n + (text[n] == ',')) {
		n = strcspn(text, ",");
		if (*text == '@') {
			char *path = strndup(text + 1, n - 1);

			r = add_file(ret, path);
			free(path);
		} else if (!add_name(ret, text, n)) {
			r = -EINVAL;
		}
	}
	return r ? r : ret->len ? 0 : -EINVAL;
}

void hosts_done(host_list *l)
{
	for (size_t i = 0; i < l->len; i++)
		free(l->data[i]);
	vec_done(l);
}

/* ---- a host -------------------------------------------------------------- */

/* Says how much of the program the hosts have that want it. */
static void show_progress(const struct hosts *a)
{
	size_t sent = 0, n = 0, sending = 0, size;

	for (size_t i = 0; i < a->n; i++) {
		sent += a->list[i].sent;
		n += a->list[i].sent > 0;
		sending += a->list[i].sends;
	}
	if (!sending) {
		log_progress(NULL);
		return;
	}
	push_bytes(a->push, &size);
	log_progress("sending strata to %zu host%s: %zu of %zu MB", n, n > 1 ? "s" : "", sent >> 20, n * size >> 20);
}

static void end_sending(struct host *h)
{
	if (h->sends)
		watch_remove(&h->all->loop, &h->input);
	h->sends = false;
	show_progress(h->all);
}

static void close_input(struct host *h)
{
	if (h->sends)
		end_sending(h);
	closep(&h->input.fd);
	h->input.fd = -1;
}

/* Its time begins when it has the program. */
static void begin_time(struct hosts *a)
{
	if (a->limit && !a->stops)
		a->end = clock_ns(CLOCK_MONOTONIC) + a->limit;
}

/* Sends more of the program. */
static void on_room(struct watch *w, uint32_t events)
{
	struct host *h = (struct host *)((char *)w - offsetof(struct host, input));
	size_t n;
	const char *bytes = push_bytes(h->all->push, &n);
	ssize_t done = write(w->fd, bytes + h->sent, n - h->sent);

	if (done < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (done < 0) { /* the host has ended, or will say why it does not read */
		close_input(h);
		return;
	}
	h->sent += (size_t)done;
	begin_time(h->all);
	if (h->sent >> 20 != (h->sent - (size_t)done) >> 20)
		show_progress(h->all);
	if (h->sent == n)
		end_sending(h);
}

static void send_program(struct host *h)
{
	h->input.ready = on_room;
	h->sends = h->input.fd >= 0 && !fcntl(h->input.fd, F_SETFL, O_NONBLOCK) &&
		!watch_add(&h->all->loop, &h->input, EPOLLOUT);
	if (!h->sends)
		close_input(h);
}

static void on_line(void *arg, struct process *p, const char *line, size_t n)
{
	struct host *h = arg;

	if (h->all->push && !h->sends && !h->sent && push_is_wanted(line, n)) {
		str_clear(&h->text); /* drops the shell's greeting */
		send_program(h);
		return;
	}
	if (h->text.len + n > RECORDING_MAX) {
		h->failed = true;
		return;
	}
	str_addn(&h->text, line, n);
	str_addc(&h->text, '\n');
}

/* Returns the last line of what it said, without the hints that follow. */
static const char *last_words(struct process *p)
{
	char *text = p->said.data, *line = NULL;

	while (p->said.len) {
		while (p->said.len && text[p->said.len - 1] == '\n')
			text[--p->said.len] = '\0';
		line = strrchr(text, '\n');
		if (!line || strncmp(line + 1, "hint: ", 6) != 0)
			break;
		*line = '\0';
		p->said.len = (size_t)(line - text);
	}
	return line ? line + 1 : p->said.len ? text : "no reason was given";
}

static void on_ended(void *arg, struct process *p)
{
	struct host *h = arg;

	h->ended = true;
	h->all->running--;
	close_input(h);
	if (!p->status && !h->failed && h->text.len) {
		if (p->said.len)
			log_warn("%s: %s", h->name, last_words(p));
		return;
	}
	log_error("%s: %s", h->name, h->late ? "it does not answer" : h->failed ? "its answer is too large" :
		last_words(p));
	if (!h->all->push && WIFEXITED(p->status) && WEXITSTATUS(p->status) == 127 && !h->all->hinted++)
		log_hint("--push brings strata to hosts that have none");
	h->failed = true;
}

static void start(struct host *h, const char *ssh, const char *command)
{
	struct str shell = {};
	int input[2];
	char *words[] = {"sh", "-c", NULL, "sh", (char *)h->name, (char *)command, NULL};
	struct process_plan plan = {
		.name = h->name, .program = "/bin/sh", .argv = words, .environment = environ, .quiet = true,
		.calls = {.arg = h, .line = on_line, .ended = on_ended},
	};
	int r;

	str_addf(&shell, "exec %s \"$@\"", ssh);
	words[2] = shell.data;
	r = pipe2(input, O_CLOEXEC) ? -errno : 0;
	plan.input = r ? -1 : input[0];
	r = r ? r : process_start(&h->all->loop, &plan, &h->process);
	if (plan.input >= 0)
		close(plan.input);
	h->input.fd = plan.input >= 0 ? input[1] : -1;
	str_done(&shell);
	h->all->running += !r;
	h->failed = r;
	if (r)
		log_error("%s: cannot start a process: %s", h->name, why_errno(r));
}

/* ---- all ----------------------------------------------------------------- */

/* Ends the connections. */
static void kill_all(struct hosts *a, bool are_late)
{
	for (size_t i = 0; i < a->n; i++)
		if (a->list[i].process && !a->list[i].ended) {
			a->list[i].late |= are_late;
			process_kill(a->list[i].process);
		}
}

/* The first signal asks all to end, the second ends the connections. */
static void on_signal(struct watch *w, uint32_t events)
{
	struct hosts *a = (struct hosts *)((char *)w - offsetof(struct hosts, signals));
	struct signalfd_siginfo info;
	uint64_t now = clock_ns(CLOCK_MONOTONIC);

	if (read(w->fd, &info, sizeof(info)) != sizeof(info) || (a->stops && now - a->stops < SAME_SIGNAL_NS))
		return;
	for (size_t i = 0; i < a->n; i++)
		close_input(&a->list[i]);
	if (a->stops)
		kill_all(a, false);
	else
		a->end = a->end < now + END_NS ? a->end : now + END_NS;
	a->stops = a->stops ? a->stops : now;
}

static int open_loop(struct hosts *a)
{
	int r = watches_open(&a->loop);
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signal(SIGPIPE, SIG_IGN);
	a->signals = (struct watch){r ? -1 : signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK), on_signal};
	if (!r)
		r = a->signals.fd < 0 ? -errno : watch_add(&a->loop, &a->signals, EPOLLIN);
	return r;
}

/* Returns NULL if its answer is not a recording, which is reported. */
static struct recording *recording_of(struct host *h)
{
	FILE *file = fmemopen(h->text.data, h->text.len, "r");
	struct recording *r = file ? recording_read(file, h->name) : NULL;

	if (file)
		fclose(file);
	if (r)
		r->host = arena_strdup(r->arena, h->name);
	h->failed |= !r;
	return r;
}

static struct recording *sum_of(struct hosts *a, bool by_host, size_t *ret_failed)
{
	struct recording **list = calloc(a->n, sizeof(*list)), *sum = NULL;
	const char **names = calloc(a->n, sizeof(*names));
	size_t n = 0;

	if (!list || !names)
		out_of_memory();
	for (size_t i = 0; i < a->n; i++) {
		names[n] = a->list[i].name;
		list[n] = a->list[i].failed ? NULL : recording_of(&a->list[i]);
		n += list[n] != NULL;
	}
	*ret_failed = a->n - n;
	if (n)
		sum = recording_merge(list, names, n, by_host);
	for (size_t i = 0; i < n; i++)
		recording_free(list[i]);
	free(list);
	free(names);
	return sum;
}

struct recording *hosts_run(const host_list *l, const struct hosts_plan *plan, size_t *ret_failed)
{
	struct hosts a = {.n = l->len, .signals.fd = -1, .end = UINT64_MAX, .push = plan->push};
	_cleanup_(freep) char *pushed = plan->push ? push_command(plan->push, plan->command) : NULL;
	struct recording *sum = NULL;
	int r = open_loop(&a);

	a.list = calloc(a.n, sizeof(*a.list));
	if (!a.list)
		out_of_memory();
	if (r)
		log_error("cannot wait for hosts: %s", why_errno(r));
	for (size_t i = 0; i < a.n && !r; i++) {
		a.list[i] = (struct host){.name = l->data[i], .all = &a, .input.fd = -1};
		start(&a.list[i], plan->ssh, pushed ? pushed : plan->command);
	}
	a.limit = plan->seconds > 0 ? START_NS + (uint64_t)(plan->seconds * 1e9) : 0;
	begin_time(&a);
	while (a.running && !r) {
		r = watches_run(&a.loop, clock_ms_until(a.end));
		if (clock_ns(CLOCK_MONOTONIC) < a.end)
			continue;
		kill_all(&a, true);
		a.end = UINT64_MAX;
	}
	if (!r)
		sum = sum_of(&a, plan->by_host, ret_failed);
	for (size_t i = 0; i < a.n; i++) {
		process_free(a.list[i].process);
		str_done(&a.list[i].text);
	}
	free(a.list);
	closep(&a.signals.fd);
	watches_close(&a.loop);
	return sum;
}
