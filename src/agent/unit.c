// SPDX-License-Identifier: Apache-2.0
/* unit.c - see unit.h. */
#include "unit.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/allowance.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/notify.h"
#include "base/owner.h"
#include "base/vec.h"
#include "base/why.h"
#include "conf.h"
#include "process.h"
#include "series.h"

#define SECOND 1000000000ull
/* A process that says nothing for HANG_NS is killed; it speaks every two seconds (WATCHDOG). A start may compile for
 * long. */
#define HANG_NS (30 * SECOND)
#define START_NS (300 * SECOND)
#define WATCHDOG "8000000"
enum { SCRIPT_MAX = 1 << 20, BACK_OFF_MAX = 60, OVER_MAX = 3, FREE_WINDOWS = 3, OLD_WINDOWS = 3 };
/* A unit that is thinned takes at least one sample in THIN_MAX. After UNDER_MAX windows that used less than a quarter
 * of the budget, it takes twice as many again. */
enum { THIN_MAX = 32, UNDER_MAX = 30 };

#define NEW_FAILED "the new script failed: "

static const char *const state_names[] = {
	[UNIT_STARTS] = "starts", [UNIT_UP] = "up", [UNIT_ENDED] = "ended", [UNIT_FAILED] = "failed",
	[UNIT_OVER_BUDGET] = "over budget", [UNIT_DISABLED] = "disabled",
};

const char *unit_state_name(enum unit_state s)
{
	return state_names[s];
}

struct unit *unit_new(struct unit_env *env, const char *name, const char *path)
{
	struct unit *u = calloc(1, sizeof(*u));

	if (!u)
		out_of_memory();
	u->env = env;
	u->name = strdup(name);
	u->path = strdup(path);
	u->series = series_new(name);
	u->state = UNIT_STARTS;
	return u;
}

static size_t processes_of(const struct unit *u, struct process **ret)
{
	size_t n = 0;

	if (u->current)
		ret[n++] = u->current;
	if (u->next)
		ret[n++] = u->next;
	for (size_t i = 0; i < ARRAY_SIZE(u->leaving); i++)
		if (u->leaving[i])
			ret[n++] = u->leaving[i];
	return n;
}

size_t unit_processes(const struct unit *u, const struct process **ret)
{
	return processes_of(u, (struct process **)ret);
}

static void each(const struct unit *u, void (*f)(struct process *p))
{
	struct process *list[UNIT_PROCESSES];

	for (size_t i = 0, n = processes_of(u, list); i < n; i++)
		f(list[i]);
}

void unit_free(struct unit *u)
{
	each(u, process_kill); /* all of them before the first is waited for */
	each(u, process_free);
	series_free(u->series);
	str_done(&u->why);
	free(u->name);
	free(u->path);
	free(u->text);
	free(u);
}

void unit_stop(struct unit *u)
{
	u->restart_at = 0;
	each(u, process_stop);
}

void unit_remove(struct unit *u)
{
	unit_stop(u);
	free(TAKE(u->text));
}

bool unit_is_running(const struct unit *u)
{
	const struct process *list[UNIT_PROCESSES];

	return unit_processes(u, list);
}

struct process *unit_process(const struct unit *u, int pid)
{
	struct process *list[UNIT_PROCESSES];

	for (size_t i = 0, n = processes_of(u, list); i < n; i++)
		if (list[i]->pid == pid)
			return list[i];
	return NULL;
}

double unit_window(const struct unit *u)
{
	const struct unit_conf *c = conf_unit(u->env->conf, u->name);

	return c && c->window > 0 ? c->window : u->env->conf->window;
}

/* ---- a process ----------------------------------------------------------- */

static void on_line(void *arg, struct process *p, const char *line, size_t n)
{
	struct unit *u = arg;

	u->lines++;
	u->last_line = clock_ns(CLOCK_MONOTONIC);
	if (!strncmp(line, "{\"resourceMetrics\"", strlen("{\"resourceMetrics\"")))
		series_take(u->series, p->number, line, n);
	u->env->line(u->env->arg, u, line, n);
}

static struct process **free_place(struct unit *u)
{
	for (size_t i = 0; i < ARRAY_SIZE(u->leaving); i++)
		if (!u->leaving[i])
			return &u->leaving[i];
	return NULL;
}

static void add_thin(const struct unit *u, struct str *to)
{
	str_addf(to, "it takes one sample or event in %u, which counts as %u", u->thin, u->thin);
}

static void promote(struct unit *u)
{
	if (u->thin > u->old_thin) {
		str_add(&u->why, "; ");
		add_thin(u, &u->why);
		log_warn("%s: %s", u->name, str_text(&u->why));
	} else if (u->thin && !u->why.len) {
		add_thin(u, &u->why);
	}
	u->current = TAKE(u->next);
	u->current->quiet = false;
	u->state = UNIT_UP;
	u->over = u->under = 0;
	u->old_thin = u->thin;
	u->measured_at = 0;
	log_info("%s is up", u->name);
}

static void on_ready(void *arg, struct process *p)
{
	struct unit *u = arg;
	struct process **place = free_place(u);

	if (u->next != p)
		return;
	u->reloads += u->current != NULL;
	if (u->current && !place) { /* four reloads within the time of one end: on_ended() promotes it */
		process_kill(u->current);
		return;
	}
	if (u->current) { /* it ends now: the new one has all events from here on */
		*place = TAKE(u->current);
		process_stop(*place);
	}
	promote(u);
}

static void on_ending(void *arg, struct process *p)
{
	struct unit *u = arg;

	if (u->env->hear)
		u->env->hear(u->env->arg);
}

static void forget(struct unit *u, struct process *p)
{
	if (p->killed) {
		u->kills++;
		log_error("%s: its process did not end in time, and was killed: its last window is lost", u->name);
	}
	process_measure(p);
	u->past.user_ns += p->user_ns;
	u->past.bpf_ns += p->bpf_ns;
	u->past.lost += p->lost;
	u->past.incomplete += p->incomplete;
	u->past.dropped += p->dropped;
	process_free(p);
}

/* A newer script takes the place of one that starts. */
static void give_up(struct unit *u)
{
	struct process *p = TAKE(u->next), **place = free_place(u);

	if (p->ready)
		process_stop(p);
	else
		process_kill(p);
	if (place)
		*place = p;
	else
		forget(u, p);
}

static void plan_restart(struct unit *u)
{
	u->restart_at = clock_ns(CLOCK_MONOTONIC) + (1ull << (u->crashes < 6 ? u->crashes : 6)) * SECOND;
	u->crashes++;
}

static void stop_over_budget(struct unit *u, const char *more)
{
	struct str why = {};

	str_addf(&why, "stopped: %s%s", str_text(&u->why), more);
	str_done(&u->why);
	u->why = why;
	log_error("%s: %s", u->name, str_text(&u->why));
	unit_stop(u);
	u->state = UNIT_OVER_BUDGET;
}

/* Returns whether a process that could not be started should take fewer samples: its script cannot be thinned. */
static bool was_thinned(struct unit *u)
{
	bool fewer = u->current && u->thin > u->old_thin;

	u->thin = u->old_thin;
	u->rigid |= fewer;
	return fewer;
}

/* The script could not be started. An older one goes on. After a crash it has run before, and is tried again. */
static void on_failed_start(struct unit *u, struct process *p)
{
	struct str text = {};

	if (was_thinned(u)) {
		log_info("%s: %s", u->name, str_text(&p->said));
		stop_over_budget(u, ", but the script cannot be thinned");
		return;
	}
	process_end_text(p, &text);
	u->failures++;
	str_clear(&u->why);
	str_addf(&u->why, "%s%s", u->current ? NEW_FAILED : "", p->said.len ? str_text(&p->said) : str_text(&text));
	log_error("%s could not be started (%s)%s", u->name, str_text(&text), u->current ? "; the old script goes on" :
		"");
	if (!u->current)
		u->state = UNIT_FAILED;
	if (!u->current && !u->env->once && (u->crashes || WIFSIGNALED(p->status)))
		plan_restart(u);
	str_done(&text);
}

/* After a crash it starts anew, after 1, 2, 4.. seconds. A script that calls exit() has ended. */
static void on_ended_current(struct unit *u, struct process *p)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC);

	if (p->stop_at || !p->status) {
		if (u->state == UNIT_UP)
			u->state = UNIT_ENDED;
		return;
	}
	if (now - p->ready_at > 10 * BACK_OFF_MAX * SECOND)
		u->crashes = 0;
	plan_restart(u);
	u->state = UNIT_FAILED;
	str_clear(&u->why);
	str_add(&u->why, "it ended with ");
	process_end_text(p, &u->why);
	if (p->said.len)
		str_addf(&u->why, ": %s", str_text(&p->said));
	log_error("%s: %s", u->name, str_text(&u->why));
}

static void on_ended(void *arg, struct process *p)
{
	struct unit *u = arg;

	if (u->next == p) {
		u->next = NULL;
		if (p->ready || (u->env->once && !p->status))
			u->state = UNIT_ENDED;
		else if (!p->stop_at)
			on_failed_start(u, p);
	} else if (u->current == p) {
		u->current = NULL;
		if (u->next && u->next->ready)
			promote(u);
		else
			on_ended_current(u, p);
	}
	for (size_t i = 0; i < ARRAY_SIZE(u->leaving); i++)
		if (u->leaving[i] == p)
			u->leaving[i] = NULL;
	forget(u, p);
}

/* ---- the start ----------------------------------------------------------- */

typedef VEC(char *) word_list;

static void add_word(word_list *l, const char *text)
{
	char *word = strdup(text);

	vec_push(l, word);
}

char **unit_words(const struct unit *u, bool check)
{
	const struct unit_conf *c = conf_unit(u->env->conf, u->name);
	_cleanup_(freep) char *args = strdup(c && c->args ? c->args : "");
	word_list l = {};
	char window[32], *rest = args;

	snprintf(window, sizeof(window), "%.3f", unit_window(u));
	add_word(&l, "strata");
	add_word(&l, "-q");
	add_word(&l, "-f");
	add_word(&l, "otlp");
	add_word(&l, check ? "--dry-run" : u->env->once ? "--duration" : "--window");
	if (!check)
		add_word(&l, window);
	add_word(&l, u->path);
	for (char *word; (word = strsep(&rest, " \t"));)
		if (*word)
			add_word(&l, word);
	vec_push(&l, NULL);
	return l.data;
}

void words_free(char **words)
{
	for (char **w = words; *w; w++)
		free(*w);
	free(words);
}

static bool is_replaced(const char *variable)
{
	static const char *const names[] = {NOTIFY_FD "=", "NOTIFY_SOCKET=", "WATCHDOG_USEC=", "WATCHDOG_PID=",
		ALLOWANCE_FD "=", ALLOWANCE_AT "=", "OTEL_RESOURCE_ATTRIBUTES="};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (!strncmp(variable, names[i], strlen(names[i])))
			return true;
	return false;
}

static void add_variable(word_list *l, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void add_variable(word_list *l, const char *fmt, ...)
{
	char *text = NULL;
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&text, fmt, ap) < 0)
		out_of_memory();
	va_end(ap);
	vec_push(l, text);
}

/* A window of the unit's section, and the limit of memory, replace those of the script, as variables of the environment
 * do. */
static char **environment_of(const struct unit *u, uint32_t number)
{
	const struct unit_conf *c = conf_unit(u->env->conf, u->name);
	const char *attributes = getenv("OTEL_RESOURCE_ATTRIBUTES");
	int64_t memory = conf_unit_memory(u->env->conf, u->name);
	char weight[40] = "";
	word_list l = {};

	for (char **v = environ; *v; v++)
		if (!is_replaced(*v))
			add_word(&l, *v);
	add_variable(&l, NOTIFY_FD "=%d", NOTIFY_NUMBER);
	add_variable(&l, "WATCHDOG_USEC=" WATCHDOG);
	if (u->env->memory > 0) {
		add_variable(&l, ALLOWANCE_FD "=%d", ALLOWANCE_NUMBER);
		add_variable(&l, ALLOWANCE_AT "=%u", number % ALLOWANCES);
	}
	if (u->thin)
		snprintf(weight, sizeof(weight), ",strata.sample.weight=%u", u->thin);
	add_variable(&l, "OTEL_RESOURCE_ATTRIBUTES=%s%sstrata.unit=%s%s", attributes ? attributes : "", attributes ?
		"," : "", u->name, weight);
	if (c && c->window > 0 && !u->env->once)
		add_variable(&l, "BPFTRACE_WINDOW=%.0f", c->window * 1e9);
	if (u->thin)
		add_variable(&l, "BPFTRACE_THIN=%u", u->thin);
	if (memory)
		add_variable(&l, "BPFTRACE_MAX_MEMORY_MB=%" PRId64, memory >> 20 ? memory >> 20 : 1);
	vec_push(&l, NULL);
	return l.data;
}

static void start(struct unit *u)
{
	uint32_t number = ++u->env->nprocesses;
	char **words = unit_words(u, false), **environment = environment_of(u, number);
	struct process_plan plan = {
		.name = u->name, .number = number, .argv = words, .environment = environment,
		.notify = u->env->notify, .memory = u->env->memory,
		.quiet = u->thin > u->old_thin, /* if it fails, the script cannot be thinned, which is no error of it */
		.calls = {.arg = u, .line = on_line, .ready = on_ready, .ending = on_ending, .ended = on_ended},
	};
	int r;

	if (u->next)
		give_up(u);
	u->restart_at = 0;
	if (u->thin == u->old_thin)
		str_clear(&u->why);
	r = process_start(u->env->loop, &plan, &u->next);
	words_free(words);
	words_free(environment);
	u->starts++;
	if (!u->current)
		u->state = UNIT_STARTS;
	if (!r)
		return;
	log_error("%s: cannot start a process: %s", u->name, why_errno(r));
	u->restart_at = clock_ns(CLOCK_MONOTONIC) + BACK_OFF_MAX * SECOND;
}

/* ---- the script ---------------------------------------------------------- */

static void fail(struct unit *u, const char *why)
{
	u->failures++;
	str_clear(&u->why);
	str_addf(&u->why, "%s%s", u->current ? NEW_FAILED : "", why);
	log_error("%s: %s%s", u->path, why, u->current ? "; the old script goes on" : "");
	if (!u->current)
		u->state = UNIT_FAILED;
}

/* A script can read all memory: only root, or the user who runs the agent, may be able to change it. */
static const char *refusal(const struct stat *st)
{
	if (!S_ISREG(st->st_mode))
		return "it is not a regular file";
	if (st->st_uid && st->st_uid != geteuid())
		return "refused: its owner is neither root nor the user of the agent";
	if (st->st_mode & (S_IWGRP | S_IWOTH))
		return "refused: users other than its owner can write to it (chmod go-w)";
	return st->st_size > SCRIPT_MAX ? "it is larger than 1 MiB" : NULL;
}

/* Returns the words and the script's text, or NULL after an error. To be freed. */
static char *read_text(struct unit *u)
{
	_cleanup_(fclosep) FILE *file = fopen(u->path, "re");
	const struct unit_conf *c = conf_unit(u->env->conf, u->name);
	struct str text = {};
	const char *why;
	struct stat st;
	char buf[4096];
	size_t n;

	why = !file || fstat(fileno(file), &st) ? why_errno(-errno) : refusal(&st);
	if (why) {
		fail(u, why);
		return NULL;
	}
	str_addf(&text, "%.3f %" PRId64 "\n%d %s\n", unit_window(u), conf_unit_memory(u->env->conf, u->name),
		c && c->window > 0, c && c->args ? c->args : "");
	while ((n = fread(buf, 1, sizeof(buf), file)))
		str_addn(&text, buf, n);
	return text.data;
}

bool unit_may_run(struct unit *u)
{
	_cleanup_(freep) char *text = read_text(u);

	return text;
}

void unit_update(struct unit *u, bool again)
{
	const struct unit_conf *c = conf_unit(u->env->conf, u->name);
	char *text;

	if (c && c->disabled) {
		unit_stop(u);
		u->state = UNIT_DISABLED;
		free(TAKE(u->text));
		return;
	}
	text = read_text(u);
	if (!text)
		return;
	if (u->text && !strcmp(u->text, text) && (u->current || u->next || !again)) {
		free(text);
		return;
	}
	free(u->text);
	u->text = text;
	u->crashes = 0;
	u->thin = u->old_thin = 0;
	u->rigid = false;
	start(u);
}

/* ---- time ---------------------------------------------------------------- */

static void check_hang(struct unit *u, struct process *p, uint64_t now)
{
	uint64_t allowed = p->ready ? HANG_NS : START_NS;

	if (p->stop_at)
		process_stop(p);
	else if (now > p->heard + allowed && p->pid) {
		log_error("%s: its process said nothing for %" PRIu64 " seconds, and is killed", u->name,
			(uint64_t)((now - p->heard) / SECOND));
		p->killed = true;
		process_kill(p);
	}
}

static void forgive(struct process *p)
{
	p->heard = clock_ns(CLOCK_MONOTONIC);
}

void unit_forgive(struct unit *u)
{
	each(u, forgive);
}

struct unit_sums unit_sums(const struct unit *u)
{
	struct unit_sums s = {u->past.user_ns, u->past.bpf_ns, u->past.lost, u->past.incomplete, u->past.dropped};
	const struct process *list[UNIT_PROCESSES];

	for (size_t i = 0, n = unit_processes(u, list); i < n; i++) {
		s.user_ns += list[i]->user_ns;
		s.bpf_ns += list[i]->bpf_ns;
		s.lost += list[i]->lost;
		s.incomplete += list[i]->incomplete;
		s.dropped += list[i]->dropped;
	}
	return s;
}

uint64_t unit_memory(const struct unit *u)
{
	const struct process *list[UNIT_PROCESSES];
	uint64_t bytes = 0;

	for (size_t i = 0, n = unit_processes(u, list); i < n; i++)
		bytes += process_memory(list[i]);
	return bytes;
}

void unit_over_budget(struct unit *u, double share, double allowed, const char *whose)
{
	double times = share / allowed;
	unsigned thin = (u->thin ? u->thin : 1) * (times < THIN_MAX ? (unsigned)times + 1 : THIN_MAX);

	str_clear(&u->why);
	str_addf(&u->why, "%s used %.2f %% of a CPU in %d windows, and %.2f %% is allowed", whose, 100 * share,
		OVER_MAX, 100 * allowed);
	u->over = 0;
	if (u->rigid || u->thin == THIN_MAX) {
		stop_over_budget(u, u->rigid ? ", but the script cannot be thinned" : "");
		return;
	}
	u->thin = thin < THIN_MAX ? thin : THIN_MAX;
	start(u);
}

/* It uses little: a busy time is over. */
static void thin_less(struct unit *u)
{
	u->under = 0;
	u->thin /= 2;
	u->thin = u->thin > 1 ? u->thin : 0;
	str_clear(&u->why);
	if (u->thin)
		add_thin(u, &u->why);
	log_info("%s: it takes more samples or events again", u->name);
	start(u);
}

/* Compares a window's CPU time with the budget. The first windows have the price of the start: tables and names of all
 * programs that run. */
static void check_budget(struct unit *u, uint64_t now)
{
	double allowed = conf_unit_cpu(u->env->conf, u->name);
	uint64_t used = u->current->user_ns + u->current->bpf_ns;

	if (!u->measured_at || now - u->measured_at >= (uint64_t)(unit_window(u) * 1e9)) {
		u->share = u->measured_at ? (double)(used - u->measured) / (double)(now - u->measured_at) : 0;
		u->over = u->measured_at && allowed > 0 && u->share > allowed ? u->over + 1 : 0;
		u->under = u->measured_at && u->share < allowed / 4 ? u->under + 1 : 0;
		u->measured_at = now;
		u->measured = used;
	}
	if (u->over >= OVER_MAX)
		unit_over_budget(u, u->share, allowed, "it");
	else if (u->thin && u->under >= UNDER_MAX)
		thin_less(u);
}

/* A gauge of an old window is not a value of now. */
static void expire(struct unit *u, uint64_t now)
{
	uint64_t old = (uint64_t)(OLD_WINDOWS * unit_window(u) * 1e9);

	if (!u->env->once && now > old)
		series_expire(u->series, now - old);
}

void unit_tick(struct unit *u, uint64_t now)
{
	struct process *list[UNIT_PROCESSES];

	for (size_t i = 0, n = processes_of(u, list); i < n; i++) {
		process_measure(list[i]);
		check_hang(u, list[i], now);
	}
	expire(u, now);
	if (u->restart_at && now >= u->restart_at && !u->current && !u->next) {
		u->restarts++;
		start(u);
	}
	if (u->current && !u->current->stop_at && !u->next && u->state == UNIT_UP && /* what starts may need less */
		now - u->current->ready_at > (uint64_t)(FREE_WINDOWS * unit_window(u) * 1e9))
		check_budget(u, now);
}
