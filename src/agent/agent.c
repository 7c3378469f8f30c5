// SPDX-License-Identifier: Apache-2.0
/* agent.c - one loop for signals, changes of the directory, pages, and the units' processes. */
#include "agent.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/inotify.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/un.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/notify.h"
#include "base/owner.h"
#include "base/rights.h"
#include "base/str.h"
#include "base/why.h"
#include "conf.h"
#include "export/exporter.h"
#include "http.h"
#include "memory.h"
#include "pages.h"
#include "process.h"
#include "unit.h"
#include "watch.h"

#define SECOND 1000000000ull
/* A change of the directory is looked at when it has been quiet for SETTLE_NS: editors write in several steps. */
#define SETTLE_NS (SECOND / 5)
#define ENDING ".bt"
/* A round takes a second at most, unless the agent was stopped. */
#define GAP_NS (5 * SECOND)
enum { MESSAGES_MAX = 64 /* of a round */, OVER_MAX = 3, LAST_SECONDS = 5 /* for sending the last windows */ };

struct agent {
	const char *conf_path, *given; /* -c, DIR */
	bool check, once;
	struct conf conf;
	struct watches loop;
	struct watch signals, changes, socket;
	int notify;            /* the units' end of the socket */
	struct unit_env env;
	struct unit *units; /* sorted by name */
	struct pages pages;
	struct http *http;
	struct exporter *exporter; /* NULL: nothing is sent */
	struct memory memory;
	int stats;          /* keeps the kernel counting the time of BPF programs; -1: it does not */
	uint64_t rescan_at; /* CLOCK_MONOTONIC ns; 0: nothing has changed */
	uint64_t measured_at, measured; /* of all units */
	unsigned over;
	bool stops;
};

#define OWNER(w, member) ((struct agent *)((char *)(w) - offsetof(struct agent, member)))

/* ---- options ------------------------------------------------------------- */

static const struct agent_option {
	const char *name;
	int val;
	const char *arg, *help;
} rows[] = {
	{"config", 'c', "FILE", "read FILE instead of /etc/strata/agent.conf and agent.conf.d/*.conf"},
	{"check", 'C', NULL, "load each script without attaching it; print the errors"},
	{"once", '1', NULL, "run each script for one window; print the metrics"},
	{"verbose", 'v', NULL, "print the steps of the agent"},
	{"help", 'h', NULL, "print this help"},
};

static void help(FILE *out)
{
	fputs("Usage: strata agent [OPTIONS] [DIR]\n\n"
	      "Runs the scripts DIR/*.bt (by default /etc/strata/scripts) until a signal ends it. SIGHUP, or a change\n"
	      "of the directory, loads new versions.\n\n", out);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		bool is_short = strchr("cvh", rows[i].val);
		char name[64];

		snprintf(name, sizeof(name), "%c%c%c --%s%s%s", is_short ? '-' : ' ', is_short ? rows[i].val : ' ',
			is_short ? ',' : ' ', rows[i].name, rows[i].arg ? " " : "", rows[i].arg ? rows[i].arg : "");
		fprintf(out, "  %-24s %s\n", name, rows[i].help);
	}
}

void agent_complete(const char *text, FILE *out)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (!strncmp(text, "--", 2) && !strncmp(rows[i].name, text + 2, strlen(text + 2)))
			fprintf(out, "--%s\t%s\n", rows[i].name, rows[i].help);
}

static bool usage(const char *what, const char *arg)
{
	log_error("%s %s", what, arg);
	log_hint("strata agent -h lists the options");
	return false;
}

static bool read_options(struct agent *a, int argc, char **argv)
{
	struct option longs[ARRAY_SIZE(rows) + 1] = {};
	int c;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		longs[i] = (struct option){rows[i].name, rows[i].arg != NULL, NULL, rows[i].val};
	opterr = 0;
	while ((c = getopt_long(argc, argv, "c:vh", longs, NULL)) != -1) {
		if (c == 'h') {
			help(stdout);
			exit(fflush(stdout) ? 1 : 0);
		}
		if (c == '?')
			return usage(optopt && strchr("c", optopt) ? "this option needs an argument:" :
				"unknown option:",
				argv[optind - 1]);
		if (c == 'c')
			a->conf_path = optarg;
		log_level += c == 'v';
		a->check |= c == 'C';
		a->once |= c == '1';
	}
	a->given = argv[optind];
	return optind + 1 >= argc || usage("one directory is enough:", argv[optind + 1]);
}

/* ---- units --------------------------------------------------------------- */

static const char *directory(const struct agent *a)
{
	return a->given ? a->given : a->conf.scripts;
}

/* Others could add scripts, which root runs. A read-only file system, such as that of a ConfigMap, cannot be written
 * to. */
static bool may_use(const char *path)
{
	struct statvfs fs;
	struct stat st;

	if (stat(path, &st)) {
		log_error("cannot read the directory of scripts %s: %s", path, why_errno(-errno));
		return false;
	}
	if (!statvfs(path, &fs) && fs.f_flag & ST_RDONLY)
		return true;
	if ((st.st_uid && st.st_uid != geteuid()) || st.st_mode & (S_IWGRP | S_IWOTH)) {
		log_error("%s is refused: only root, or the user of the agent, may be able to write to it", path);
		return false;
	}
	return true;
}

static int is_script(const struct dirent *d)
{
	size_t n = strlen(d->d_name), end = strlen(ENDING);

	return *d->d_name != '.' && n > end && !strcmp(d->d_name + n - end, ENDING);
}

/* Finds the unit of a file, or adds it in the order of names. */
static struct unit *unit_of(struct agent *a, const char *dir, const char *file)
{
	char name[256], path[4096];
	struct unit **at = &a->units, *u;

	snprintf(name, sizeof(name), "%.*s", (int)(strlen(file) - strlen(ENDING)), file);
	for (char *c = name; *c; c++) /* it is a label, and a part of names of metrics */
		if ((unsigned char)*c < ' ' || strchr("\"\\\x7f", *c) || *c & 0x80)
			*c = '_';
	while (*at && strcmp((*at)->name, name) < 0)
		at = &(*at)->next_unit;
	if (*at && !strcmp((*at)->name, name))
		return *at;
	snprintf(path, sizeof(path), "%s/%s", dir, file);
	u = unit_new(&a->env, name, path);
	u->next_unit = *at;
	*at = u;
	return u;
}

/* Two units, or a unit and the agent, would give one name to their metrics: a-b and a_b, agent.. */
static bool same_metrics(const char *a, const char *b)
{
	for (; *a && *b; a++, b++)
		if (*a != *b && (isalnum((unsigned char)*a) || isalnum((unsigned char)*b)))
			return false;
	return *a == *b;
}

static const char *taken_by(const struct agent *a, const char *name)
{
	static const char *const own[] = {"agent", "unit", "export", "lost", "stacks"};

	for (size_t i = 0; i < ARRAY_SIZE(own); i++)
		if (!strcmp(name, own[i]))
			return "the agent";
	for (const struct unit *u = a->units; u; u = u->next_unit)
		if (u->seen && strcmp(u->name, name) != 0 && same_metrics(u->name, name))
			return u->name;
	return NULL;
}

/* Marks the unit as seen, unless its name is refused. */
static void see(struct agent *a, const char *dir, const char *file)
{
	struct unit *u = unit_of(a, dir, file);
	const char *other = taken_by(a, u->name);

	u->seen = !other;
	if (other)
		log_error("%s/%s is refused: its metrics would have the names of those of %s", dir, file, other);
}

/* Returns false if the directory cannot be read; then the units go on. */
static bool find_units(struct agent *a)
{
	const char *dir = directory(a);
	struct dirent **list;
	int n;

	if (!may_use(dir))
		return false;
	n = scandir(dir, &list, is_script, alphasort);
	if (n < 0) {
		log_error("cannot read %s: %s", dir, why_errno(-errno));
		return false;
	}
	for (struct unit *u = a->units; u; u = u->next_unit)
		u->seen = false;
	for (int i = 0; i < n; i++) {
		see(a, dir, list[i]->d_name);
		free(list[i]);
	}
	free(list);
	return true;
}

/* Units without a file end; they are freed when their processes have ended. */
static void update_units(struct agent *a, bool again)
{
	for (struct unit *u = a->units; u; u = u->next_unit)
		if (u->seen)
			unit_update(u, again);
		else
			unit_remove(u);
}

static void drop_units(struct agent *a)
{
	for (struct unit **at = &a->units, *u; (u = *at);) {
		if (u->seen || unit_is_running(u)) {
			at = &u->next_unit;
			continue;
		}
		*at = u->next_unit;
		unit_free(u);
	}
}

/* again: also start units that have failed, ended or were stopped. A broken agent.conf changes nothing. */
static void reload(struct agent *a, bool again)
{
	struct conf conf;

	notify_send("RELOADING=1\nMONOTONIC_USEC=%" PRIu64, clock_ns(CLOCK_MONOTONIC) / 1000);
	a->rescan_at = 0;
	a->pages.reloads++;
	if (conf_read(a->conf_path, &conf)) {
		conf_done(&a->conf);
		a->conf = conf;
	} else {
		conf_done(&conf);
		a->pages.reload_failures++;
		log_error("the old settings go on");
	}
	if (find_units(a))
		update_units(a, again);
	else
		a->pages.reload_failures++;
	notify_send("READY=1");
}

/* ---- events -------------------------------------------------------------- */

static void stop(struct agent *a)
{
	a->stops = true;
	notify_send("STOPPING=1");
	for (struct unit *u = a->units; u; u = u->next_unit)
		unit_stop(u);
}

static void on_signal(struct watch *w, uint32_t events)
{
	struct agent *a = OWNER(w, signals);
	struct signalfd_siginfo info;

	if (read(w->fd, &info, sizeof(info)) != sizeof(info))
		return;
	if (info.ssi_signo == SIGHUP) {
		if (!a->stops)
			reload(a, true);
	} else if (!a->stops)
		stop(a);
	else
		for (struct unit *u = a->units; u; u = u->next_unit)
			if (u->current)
				process_kill(u->current);
}

static void on_change(struct watch *w, uint32_t events)
{
	struct agent *a = OWNER(w, changes);
	char buf[4096];

	if (read(w->fd, buf, sizeof(buf)) > 0)
		a->rescan_at = clock_ns(CLOCK_MONOTONIC) + SETTLE_NS;
}

/* The kernel names the sender. Returns false if no message waits. */
static bool hear(struct agent *a)
{
	char text[4096], control[CMSG_SPACE(sizeof(struct ucred))] __attribute__((aligned(8)));
	struct iovec part = {text, sizeof(text) - 1};
	struct msghdr m = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = control,
		.msg_controllen = sizeof(control)};
	ssize_t n = recvmsg(a->socket.fd, &m, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	struct cmsghdr *c = n >= 0 ? CMSG_FIRSTHDR(&m) : NULL;
	struct ucred sender;

	if (n < 0)
		return false;
	if (!c || c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_CREDENTIALS)
		return true;
	memcpy(&sender, CMSG_DATA(c), sizeof(sender));
	text[n] = '\0';
	for (struct unit *u = a->units; u; u = u->next_unit) {
		struct process *p = unit_process(u, sender.pid);

		if (p) {
			process_hear(p, text);
			return true;
		}
	}
	return true;
}

/* The other events of a round come after so many. */
static void hear_all(void *arg)
{
	struct agent *a = arg;

	for (int i = 0; i < MESSAGES_MAX && hear(a); i++)
		;
}

static void on_message(struct watch *w, uint32_t events)
{
	hear_all(OWNER(w, socket));
}

static void on_line(void *arg, struct unit *u, const char *line, size_t n)
{
	struct agent *a = arg;

	if (a->exporter)
		exporter_push(a->exporter, line, n);
}

/* ---- the start ----------------------------------------------------------- */

static int open_signals(struct agent *a)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signal(SIGPIPE, SIG_IGN);
	a->signals = (struct watch){signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK), on_signal};
	return a->signals.fd < 0 ? -errno : watch_add(&a->loop, &a->signals, EPOLLIN);
}

/* The units inherit one end, so that only they can send. */
static int open_socket(struct agent *a)
{
	int ends[2], one = 1;

	if (socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends))
		return -errno;
	a->socket = (struct watch){ends[0], on_message};
	a->notify = ends[1];
	if (setsockopt(a->socket.fd, SOL_SOCKET, SO_PASSCRED, &one, sizeof(one)))
		return -errno;
	return watch_add(&a->loop, &a->socket, EPOLLIN);
}

/* Without inotify, SIGHUP remains. */
static void open_changes(struct agent *a)
{
	a->changes = (struct watch){inotify_init1(IN_CLOEXEC | IN_NONBLOCK), on_change};
	if (a->changes.fd < 0 || inotify_add_watch(a->changes.fd, directory(a),
		IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM |
		IN_DELETE | IN_ATTRIB | IN_CREATE) < 0 || watch_add(&a->loop, &a->changes, EPOLLIN))
		log_warn("changes of %s are only seen after SIGHUP: %s", directory(a), why_errno(-errno));
}

static bool open_http(struct agent *a)
{
	int r;

	if (!*a->conf.listen || !strcmp(a->conf.listen, "none"))
		return true;
	r = http_open(&a->loop, a->conf.listen, pages_print, &a->pages, &a->http);
	if (r == -EINVAL)
		log_error("listen = %s: the form is ADDRESS:PORT, such as 127.0.0.1:9436", a->conf.listen);
	else if (r)
		log_error("cannot listen at %s: %s", a->conf.listen, why_errno(r));
	return !r;
}

/* Without an endpoint in the configuration, that of the environment counts. */
static bool open_exporter(struct agent *a)
{
	const struct export_options opt = {
		.endpoint = a->conf.endpoint, .headers_file = a->conf.headers_file, .spool = a->conf.spool,
		.spool_bytes = a->conf.spool_bytes, .spool_age = a->conf.spool_age, .timeout = a->conf.timeout,
		.plain = !a->conf.gzip,
	};

	if (!a->conf.endpoint && !getenv("OTEL_EXPORTER_OTLP_ENDPOINT"))
		return true;
	if (a->conf.endpoint && !export_is_url(a->conf.endpoint)) {
		log_error("endpoint = %s: the form is http://HOST:PORT", a->conf.endpoint);
		return false;
	}
	return !exporter_open(&opt, &a->exporter);
}

static void open_stats(struct agent *a)
{
	a->stats = bpf_enable_stats(BPF_STATS_RUN_TIME);
	a->pages.stats = a->stats >= 0;
	if (a->stats < 0)
		log_warn("budgets and metrics lack the time of BPF programs, which the kernel counts only for "
			"CAP_SYS_ADMIN (sysctl kernel.bpf_stats_enabled=1 counts it for all)");
}

static bool open_all(struct agent *a)
{
	int r = watches_open(&a->loop);

	r = r ? r : open_signals(a);
	r = r ? r : open_socket(a);
	r = r ? r : memory_open(&a->memory);
	if (r)
		log_error("the agent cannot wait for events: %s", why_errno(r));
	a->env = (struct unit_env){.loop = &a->loop, .conf = &a->conf, .notify = a->notify,
		.memory = a->memory.fd, .once = a->once,
		.line = on_line, .hear = hear_all, .arg = a};
	a->pages = (struct pages){.units = &a->units, .memory = &a->memory, .started = clock_ns(CLOCK_REALTIME)};
	if (r || (!a->once && !a->check && !open_http(a)))
		return false;
	if (!a->check && !a->once && !open_exporter(a))
		return false;
	a->pages.exporter = a->exporter;
	open_stats(a);
	if (!a->once && !a->check)
		open_changes(a);
	return true;
}

/* ---- running ------------------------------------------------------------- */

/* Stops the unit that uses the most if all together use too much. */
static void check_budget(struct agent *a, uint64_t now)
{
	struct unit *most = NULL;
	uint64_t used = 0;
	double share;

	if (a->conf.cpu_all <= 0 || now - a->measured_at < (uint64_t)(a->conf.window * 1e9))
		return;
	for (struct unit *u = a->units; u; u = u->next_unit) {
		if (u->state == UNIT_UP)
			most = !most || u->share > most->share ? u : most;
		used += u->state == UNIT_UP ? (uint64_t)(u->share * 1e9) : 0;
	}
	share = (double)used / 1e9;
	a->over = share > a->conf.cpu_all ? a->over + 1 : 0;
	a->measured_at = now;
	if (a->over < OVER_MAX || !most || most->next)
		return;
	a->over = 0;
	unit_over_budget(most, share, a->conf.cpu_all, "all units together");
}

static bool any_runs(const struct agent *a)
{
	bool runs = false;

	for (const struct unit *u = a->units; u; u = u->next_unit)
		runs |= unit_is_running(u) || u->restart_at;
	return runs;
}

static void tick(struct agent *a, uint64_t now)
{
	for (struct unit *u = a->units; u; u = u->next_unit)
		unit_tick(u, now);
	memory_share(&a->memory, a->units, a->conf.memory_all, now);
	http_tick(a->http, now);
	if (!a->stops)
		check_budget(a, now);
	drop_units(a);
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
	return b && b < a ? b : a;
}

static void run(struct agent *a)
{
	uint64_t watchdog = notify_watchdog() / 2, now = clock_ns(CLOCK_MONOTONIC), next = now, said = now, round;

	while (!((a->stops || a->once) && !any_runs(a))) {
		if (watches_run(&a->loop, clock_ms_until(earlier(next, a->stops ? 0 : a->rescan_at))) < 0)
			break;
		round = now;
		now = clock_ns(CLOCK_MONOTONIC);
		if (now - round > GAP_NS)
			for (struct unit *u = a->units; u; u = u->next_unit)
				unit_forgive(u);
		if (a->rescan_at && now >= a->rescan_at && !a->stops)
			reload(a, false);
		if (now < next)
			continue;
		tick(a, now);
		next = now + SECOND;
		if (watchdog && now - said >= watchdog) {
			notify_send("WATCHDOG=1");
			said = now;
		}
	}
}

static int finish_once(struct agent *a)
{
	const char *type;
	struct str text = {};
	int code = 0;

	pages_print(&a->pages, "/metrics", &text, &type);
	fputs(str_text(&text), stdout);
	str_done(&text);
	for (const struct unit *u = a->units; u; u = u->next_unit)
		code |= u->state == UNIT_FAILED;
	return fflush(stdout) ? 1 : code;
}

/* ---- --check -------------------------------------------------------------- */

static void on_checked(void *arg, struct process *p)
{
	*(bool *)arg = true;
}

static void ignore_line(void *arg, struct process *p, const char *line, size_t n)
{
}

/* Loads the script as the agent would. Returns whether the kernel takes it. */
static bool check_unit(struct agent *a, struct unit *u)
{
	bool ended = false;
	char **words = unit_words(u, true);
	struct process_plan plan = {
		.name = u->name, .number = 1, .argv = words, .environment = environ,
		.calls = {.arg = &ended, .line = ignore_line, .ended = on_checked},
	};
	struct process *p = NULL;
	bool ok = !process_start(&a->loop, &plan, &p);

	words_free(words);
	while (ok && !ended && watches_run(&a->loop, -1) >= 0 && !a->stops)
		;
	ok &= ended && !p->status;
	printf("%s: %s\n", u->name, ok ? "ok" : "failed");
	fflush(stdout);
	process_free(p);
	return ok;
}

static int check(struct agent *a)
{
	bool ok = find_units(a);

	for (struct unit *u = a->units; u && !a->stops; u = u->next_unit)
		ok &= u->seen && unit_may_run(u) && check_unit(a, u);
	return ok && !a->stops ? 0 : 1;
}

/* ---- all ------------------------------------------------------------------ */

static int start(struct agent *a)
{
	if (!conf_read(a->conf_path, &a->conf) || !open_all(a))
		return 1;
	if (a->check)
		return check(a);
	rights_warn(RIGHTS_USER | RIGHTS_KERNEL);
	if (!find_units(a))
		return 1;
	update_units(a, true);
	if (!a->units)
		log_warn("%s has no scripts (*" ENDING ") yet", directory(a));
	notify_send("READY=1\nSTATUS=the units start");
	run(a);
	return a->once ? finish_once(a) : 0;
}

int agent_main(int argc, char **argv)
{
	struct agent a = {.stats = -1, .signals.fd = -1, .memory.fd = -1, .changes.fd = -1, .socket.fd = -1,
		.notify = -1, .loop.epoll = -1};
	int code = 1;

	notify_open();
	if (read_options(&a, argc, argv))
		code = start(&a);
	while (a.units) {
		struct unit *u = a.units;

		a.units = u->next_unit;
		unit_free(u);
	}
	exporter_close(a.exporter, LAST_SECONDS, NULL);
	http_close(a.http);
	closep(&a.signals.fd);
	closep(&a.changes.fd);
	closep(&a.socket.fd);
	closep(&a.notify);
	closep(&a.stats);
	memory_close(&a.memory);
	if (a.loop.epoll >= 0)
		watches_close(&a.loop);
	conf_done(&a.conf);
	return code;
}
