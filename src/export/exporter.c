// SPDX-License-Identifier: Apache-2.0
/* exporter.c - a queue in memory, a spool on disk, and the thread that empties both.
 *
 *     exporter_push() -> queue -> thread -> POST -> taken, refused
 *                          |        ^         |
 *                          v        |         v
 *                          spool ---+       later: the queue goes to the spool until the receiver answers */
#include "exporter.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>
#include <time.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/owner.h"
#include "base/str.h"
#include "base/why.h"
#include "message.h"
#include "post.h"
#include "reply.h"
#include "spool.h"

#define SECOND 1000000000ull
/* OTLP allows 64 MiB for a body before compression. After a failure the thread waits for 1, 2, 4 .. 64 s, half more or
 * less, so that many hosts do not come at once. */
enum { QUEUE_MAX = 8 << 20, BODY_MAX = 64 << 20, BACK_OFF_MAX = 6, LIVE_SHARE = 3 };
/* At the end each answer gives a receiver as much time again, up to so many times. */
enum { PATIENCE = 3 };

struct exporter {
	struct poster *poster; /* used by the thread only */
	bool packs, encodes;
	pthread_t thread;
	pthread_mutex_t lock; /* for all below */
	pthread_cond_t wakes;
	struct message *first, **last;
	uint64_t queued, queue_bytes;
	struct spool spool;
	bool has_spool, stops, failing;
	uint64_t retry_at, deadline; /* CLOCK_MONOTONIC ns */
	uint64_t patience, last_deadline; /* ns for each answer at the end; CLOCK_MONOTONIC ns */
	unsigned failures, turn;     /* failures in a row */
	struct export_counts counts;
	struct str line;             /* the beginning of a line; for exporter_write() */
	bool skips;                  /* the rest of a line that is too long comes */
};

const char *export_drop_label(enum export_drop d)
{
	static const char *const labels[] = {
#define X(id, label, why) [EXPORT_##id] = label,
		EXPORT_DROPS(X)
#undef X
	};

	return labels[d];
}

const char *export_drop_why(enum export_drop d)
{
	static const char *const whys[] = {
#define X(id, label, why) [EXPORT_##id] = why,
		EXPORT_DROPS(X)
#undef X
	};

	return whys[d];
}

bool export_is_url(const char *name)
{
	return name && (!strncasecmp(name, "http://", 7) || !strncasecmp(name, "https://", 8));
}

/* ---- the queue ----------------------------------------------------------- */

static struct message *pop(struct exporter *e)
{
	struct message *m = e->first;

	if (!m)
		return NULL;
	e->first = m->next;
	if (!e->first)
		e->last = &e->first;
	m->next = NULL;
	e->queued--;
	e->queue_bytes -= m->body.len;
	return m;
}

static void push_first(struct exporter *e, struct message *m)
{
	m->next = e->first;
	e->first = m;
	if (!m->next)
		e->last = &m->next;
	e->queued++;
	e->queue_bytes += m->body.len;
}

static void prepare(const struct exporter *e, struct message *m)
{
	if (e->encodes)
		message_encode(m);
	if (e->packs)
		message_pack(m);
}

/* The oldest message leaves memory. */
static void evict(struct exporter *e, enum export_drop reason)
{
	struct message *m = pop(e);

	if (e->has_spool) {
		prepare(e, m);
		spool_put(&e->spool, m);
	} else {
		e->counts.dropped[reason]++;
	}
	message_free(m);
}

/* Adds the line to the last message of its kind, since the order of kinds has no meaning: a window has lines of
 * several, and a slow receiver gets one message of each. Returns false if the line needs a message of its own. */
static bool merge(struct exporter *e, const char *line, size_t n)
{
	enum message_kind kind = message_kind(line, n);
	struct message *last = NULL;
	size_t before;

	for (struct message *m = e->first; m; m = m->next)
		last = m->kind == kind ? m : last;
	if (!last)
		return false;
	before = last->body.len;
	if (!message_add(last, line, n))
		return false;
	e->queue_bytes += last->body.len - before;
	return true;
}

void exporter_push(struct exporter *e, const char *line, size_t n)
{
	struct message *m;

	pthread_mutex_lock(&e->lock);
	if (n > BODY_MAX) {
		e->counts.dropped[EXPORT_SIZE]++;
	} else if (!merge(e, line, n) && (m = message_new(line, n))) {
		*e->last = m;
		e->last = &m->next;
		e->queued++;
		e->queue_bytes += m->body.len;
	}
	while (e->queue_bytes > QUEUE_MAX && e->first->next)
		evict(e, EXPORT_QUEUE);
	pthread_cond_signal(&e->wakes);
	pthread_mutex_unlock(&e->lock);
}

size_t exporter_write(void *arg, const char *text, size_t size)
{
	struct exporter *e = arg;
	size_t left = size;

	for (const char *end; (end = memchr(text, '\n', left)); left -= (size_t)(end + 1 - text), text = end + 1) {
		if (e->skips) {
			e->skips = false;
			continue;
		}
		str_addn(&e->line, text, (size_t)(end - text));
		if (e->line.len)
			exporter_push(e, e->line.data, e->line.len);
		str_done(&e->line);
	}
	if (e->line.len + left > BODY_MAX && !e->skips) {
		pthread_mutex_lock(&e->lock);
		e->counts.dropped[EXPORT_SIZE]++;
		pthread_mutex_unlock(&e->lock);
		str_done(&e->line);
		e->skips = true;
	} else if (left && !e->skips)
		str_addn(&e->line, text, left);
	return size;
}

/* ---- sending ------------------------------------------------------------- */

static void plan_retry(struct exporter *e, const struct post_reply *r)
{
	unsigned shift = e->failures < BACK_OFF_MAX ? e->failures : BACK_OFF_MAX;
	uint32_t chance; /* differs on each host */
	double seconds, wanted = reply_retry_after(r->retry_after, (uint64_t)time(NULL));

	if (getrandom(&chance, sizeof(chance), GRND_NONBLOCK) != sizeof(chance))
		chance = (uint32_t)clock_ns(CLOCK_MONOTONIC);
	seconds = (double)(1u << shift) * (0.5 + (double)chance / UINT32_MAX);
	if (wanted > 0)
		seconds = wanted;
	e->retry_at = clock_ns(CLOCK_MONOTONIC) + (uint64_t)(seconds * 1e9);
	e->failures++;
	if (!e->failing)
		log_warn("%s; output waits%s", r->trouble, e->has_spool ? " in the spool" : " in memory");
	e->failing = true;
}

/* A receiver that is slow but takes messages gets those that are in memory, such as the last windows of all units. */
static void extend(struct exporter *e)
{
	uint64_t wanted = clock_ns(CLOCK_MONOTONIC) + e->patience;

	if (!e->stops || !e->first)
		return;
	e->deadline = wanted < e->last_deadline ? wanted : e->last_deadline;
	poster_end_by(e->poster, e->deadline);
}

static void on_taken(struct exporter *e, const struct message *m, const struct post_reply *r)
{
	char reason[200];
	uint64_t n = reply_rejected(str_text(&r->body), r->body.len, reason, sizeof(reason));

	if (e->failing)
		log_info("the receiver takes messages again");
	e->failing = false;
	e->failures = 0;
	e->counts.sent++;
	e->counts.sent_bytes += m->body.len;
	e->counts.rejected += n;
	extend(e);
	if (n || *reason)
		log_warn("the receiver rejected %" PRIu64 " records%s%s", n, *reason ? ": " : "", reason);
}

/* Handles the answer. Returns whether the message is done with. */
static bool on_reply(struct exporter *e, const struct message *m, const struct post_reply *r)
{
	snprintf(e->counts.trouble, sizeof(e->counts.trouble), "%s", r->trouble);
	switch (reply_verdict(r->status)) {
	case REPLY_TAKEN:
		on_taken(e, m, r);
		return true;
	case REPLY_REFUSED:
		log_warn("%s; %s are lost", r->trouble, message_name(m->kind));
		e->counts.dropped[EXPORT_REFUSED]++;
		e->failures = 0;
		e->failing = false;
		return true;
	case REPLY_LATER:
		break;
	}
	e->counts.retried++;
	plan_retry(e, r);
	return false;
}

/* Two spooled messages for each live one. */
static bool takes_spool(struct exporter *e)
{
	return e->has_spool && spool_count(&e->spool) && (!e->first || e->turn++ % LIVE_SHARE);
}

/* Sends one message; unlocks meanwhile, when exporter_push() may evict the same file of the spool. */
static void send_one(struct exporter *e)
{
	bool spooled = takes_spool(e);
	uint64_t number = spooled ? e->spool.files.data[e->spool.first].number : 0;
	struct message *m = spooled ? spool_read(&e->spool) : pop(e);
	struct post_reply r = {};
	bool done;

	if (!m)
		return;
	pthread_mutex_unlock(&e->lock);
	prepare(e, m);
	poster_send(e->poster, m, &r);
	pthread_mutex_lock(&e->lock);
	done = on_reply(e, m, &r);
	if (spooled && done && spool_count(&e->spool) && e->spool.files.data[e->spool.first].number == number)
		spool_drop(&e->spool);
	if (!spooled && !done)
		push_first(e, TAKE(m));
	message_free(m);
	str_done(&r.body);
}

static void wait_until(struct exporter *e, uint64_t at)
{
	struct timespec t = {.tv_sec = (time_t)(at / SECOND), .tv_nsec = (long)(at % SECOND)};

	if (at == UINT64_MAX)
		pthread_cond_wait(&e->wakes, &e->lock);
	else
		pthread_cond_timedwait(&e->wakes, &e->lock, &t);
}

static void *run(void *arg)
{
	struct exporter *e = arg;

	pthread_mutex_lock(&e->lock);
	for (;;) {
		uint64_t now = clock_ns(CLOCK_MONOTONIC);

		if (e->has_spool)
			spool_expire(&e->spool);
		while (e->failing && e->has_spool && e->first)
			evict(e, EXPORT_QUEUE);
		if (e->stops && (now >= e->deadline || (!e->first && !(e->has_spool && spool_count(&e->spool)))))
			break;
		if (!e->first && !(e->has_spool && spool_count(&e->spool)))
			wait_until(e, UINT64_MAX);
		else if (e->failing && now < e->retry_at)
			wait_until(e, e->stops && e->deadline < e->retry_at ? e->deadline : e->retry_at);
		else
			send_one(e);
	}
	pthread_mutex_unlock(&e->lock);
	return NULL;
}

/* ---- opening and closing ------------------------------------------------- */

static int open_spool(struct exporter *e, const struct export_options *opt)
{
	int r = opt->spool ? spool_open(opt->spool, opt->spool_bytes, opt->spool_age, &e->spool) : 0;

	e->has_spool = opt->spool && !r;
	if (r == -EBUSY)
		log_error("another process uses the spool %s", opt->spool);
	else if (r == -EPERM)
		log_error("the spool %s is refused: only root, or the user of this process, may own it and write to it",
			opt->spool);
	else if (r)
		log_error("cannot use the spool %s: %s", opt->spool, why_errno(r));
	return r;
}

/* The thread gets no signals: they are for the loop. */
static int start_thread(struct exporter *e)
{
	sigset_t all, before;
	int r;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	r = pthread_create(&e->thread, NULL, run, e);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (r)
		log_error("cannot start the thread that sends: %s", why_errno(-r));
	return -r;
}

static void free_all(struct exporter *e)
{
	poster_close(e->poster);
	if (e->spool.dir >= 0)
		spool_close(&e->spool);
	str_done(&e->line);
	free(e);
}

int exporter_open(const struct export_options *opt, struct exporter **ret)
{
	struct exporter *e = calloc(1, sizeof(*e));
	pthread_condattr_t monotonic;
	int r;

	if (!e)
		out_of_memory();
	e->last = &e->first;
	e->spool.dir = e->spool.lock = -1;
	e->packs = !opt->plain && post_packs();
	e->encodes = post_encodes();
	pthread_mutex_init(&e->lock, NULL);
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&e->wakes, &monotonic);
	json_open(); /* before there are two threads */
	r = poster_open(opt, &e->poster);
	r = r ? r : open_spool(e, opt);
	r = r ? r : start_thread(e);
	if (r)
		free_all(e);
	else
		*ret = e;
	return r;
}

static void count(struct exporter *e, struct export_counts *ret)
{
	*ret = e->counts;
	ret->queued = e->queued;
	ret->queue_bytes = e->queue_bytes;
	if (!e->has_spool)
		return;
	ret->dropped[EXPORT_FULL] = e->spool.full;
	ret->dropped[EXPORT_AGE] = e->spool.aged;
	ret->dropped[EXPORT_DISK] = e->spool.failed;
	ret->spooled = spool_count(&e->spool);
	ret->spool_bytes = e->spool.bytes;
}

void exporter_counts(struct exporter *e, struct export_counts *ret)
{
	pthread_mutex_lock(&e->lock);
	count(e, ret);
	pthread_mutex_unlock(&e->lock);
}

void exporter_close(struct exporter *e, double seconds, struct export_counts *ret)
{
	if (!e)
		return;
	pthread_mutex_lock(&e->lock);
	e->stops = true;
	e->patience = (uint64_t)(seconds * 1e9);
	e->deadline = clock_ns(CLOCK_MONOTONIC) + e->patience;
	e->last_deadline = clock_ns(CLOCK_MONOTONIC) + PATIENCE * e->patience;
	e->retry_at = e->failing ? 0 : e->retry_at; /* a last attempt */
	poster_end_by(e->poster, e->deadline);
	pthread_cond_signal(&e->wakes);
	pthread_mutex_unlock(&e->lock);
	pthread_join(e->thread, NULL);
	while (e->first)
		evict(e, EXPORT_END);
	if (ret)
		count(e, ret);
	free_all(e);
}
