// SPDX-License-Identifier: Apache-2.0
/* requests.c - see requests.h.
 *
 * No event says that a process publishes its context: it does so some time after its start, and again when an attribute
 * changes. So processes are looked at again: new ones after 0.1, 0.2, 0.4.. seconds; those with the
 * threads' variable until their context is found; a known context when its time has changed. */
#include "requests.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/owner.h"
#include "base/vec.h"
#include "context.h"
#include "target/target.h"
#include "tls.h"
#include "unwinders/host/walk.h"
#include "unwinders/idmap.h"

#define POLL_NS    100000000ULL
#define NODE_OBJECT_MAX 4096 /* bytes of an object in which the record's address lies */
#define TEXTS_MAX  64           /* resource attributes of a process */
#define RENEWAL    10           /* polls after which a context is looked at again */
#define LOOKS_AT_ONCE 64
#define SPREAD     8
#define LOOKS_MAX  8            /* at processes without the threads' variable */

#if defined(__aarch64__)
enum { DTV_GLIBC = 0, DTV_MUSL = -8 };
#else
enum { DTV_GLIBC = 8, DTV_MUSL = 8 };
#endif

struct worker {
	uint32_t pid;
	struct request_proc proc;
	uint64_t context_at;      /* address of the context; 0: not found */
	uint64_t published;       /* its time, when it was read */
	unsigned looks, due;      /* looks so far; polls until the next one */
	VEC(uint64_t) keys, texts; /* hashes of its elements in the maps */
	VEC(uint64_t) old_keys, old_texts; /* those of before, while new ones are set */
};

struct requests {
	struct target *target;
	struct request_maps maps;
	int timer; /* -1: not made */
	struct idmap by_pid; /* struct worker * */
	size_t next;         /* slot of by_pid at which the next poll begins */
};

uint64_t request_hash(const char *name, size_t size)
{
	uint64_t h = REQUEST_HASH_SEED;

	for (size_t i = 0; i < size; i++)
		h = REQUEST_HASH(h, (uint8_t)name[i]);
	return h;
}

struct requests *requests_new(struct target *t, const struct request_maps *maps)
{
	struct requests *rs = calloc(1, sizeof(*rs));

	if (!rs)
		return NULL;
	rs->target = t;
	rs->maps = *maps;
	rs->timer = -1;
	return rs;
}

static void worker_free(struct worker *w)
{
	vec_done(&w->keys);
	vec_done(&w->texts);
	vec_done(&w->old_keys);
	vec_done(&w->old_texts);
	free(w);
}

void requests_free(struct requests *rs)
{
	if (!rs)
		return;
	for (size_t i = 0; i < rs->by_pid.cap; i++)
		if (rs->by_pid.slot[i].key)
			worker_free((void *)(uintptr_t)rs->by_pid.slot[i].value);
	idmap_done(&rs->by_pid);
	closep(&rs->timer);
	free(rs);
}

int requests_fd(struct requests *rs)
{
	const struct itimerspec at = {{0, POLL_NS}, {0, POLL_NS}};

	if (rs->timer >= 0)
		return rs->timer;
	rs->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (rs->timer >= 0 && timerfd_settime(rs->timer, 0, &at, NULL))
		closep(&rs->timer);
	return rs->timer < 0 ? -errno : rs->timer;
}

/* ---- workers ---------------------------------------------------------------- */

static struct worker *find(const struct requests *rs, uint32_t pid)
{
	return idmap_pointer(&rs->by_pid, pid);
}

static struct worker *worker_of(struct requests *rs, uint32_t pid)
{
	struct worker *w = find(rs, pid);

	if (w)
		return w;
	w = calloc(1, sizeof(*w));
	if (!w)
		return NULL;
	w->pid = pid;
	w->proc.dtv = DTV_GLIBC;
	w->due = 1;
	idmap_set(&rs->by_pid, pid, (uintptr_t)w);
	return w;
}

/* Returns whether its threads can say what they work on. */
static bool says(const struct worker *w)
{
	bool has = w->proc.go.curg;

	for (unsigned i = 0; i < REQUEST_VARIABLES; i++)
		has |= w->proc.variable[i].kind != TLS_NONE;
	return has;
}

/* Returns whether its labels have numbers, whose names a context has. */
static bool needs_context(const struct worker *w)
{
	return w->proc.variable[REQUEST_RECORD].kind != TLS_NONE || w->proc.variable[REQUEST_NODE].kind != TLS_NONE;
}

static void publish(struct requests *rs, const struct worker *w)
{
	if (says(w))
		bpf_map_update_elem(rs->maps.procs, &w->pid, &w->proc, BPF_ANY);
}

static bool has(const uint64_t *list, size_t n, uint64_t hash)
{
	while (n && list[n - 1] != hash)
		n--;
	return n;
}

/* From now on new elements take the place of the present ones. */
static void begin_texts(struct worker *w)
{
	for (size_t i = 0; i < w->keys.len; i++)
		vec_push(&w->old_keys, w->keys.data[i]);
	for (size_t i = 0; i < w->texts.len; i++)
		vec_push(&w->old_texts, w->texts.data[i]);
	w->keys.len = w->texts.len = 0;
}

/* Deletes the old elements that have no new value. */
static void end_texts(struct requests *rs, struct worker *w)
{
	struct request_key key = {.pid = w->pid};

	for (size_t i = 0; i < w->old_keys.len; i++) {
		key.hash = w->old_keys.data[i];
		if (!has(w->keys.data, w->keys.len, key.hash))
			bpf_map_delete_elem(rs->maps.keys, &key);
	}
	for (size_t i = 0; i < w->old_texts.len; i++) {
		key.hash = w->old_texts.data[i];
		if (!has(w->texts.data, w->texts.len, key.hash))
			bpf_map_delete_elem(rs->maps.texts, &key);
	}
	w->old_keys.len = w->old_texts.len = 0;
}

/* ---- what a process says of itself -------------------------------------------- */

static void set_text(struct requests *rs, struct worker *w, struct context_text name, const char *value, size_t size)
{
	struct request_key key = {.hash = request_hash(name.text, name.size), .pid = w->pid};
	struct request_text text = {};

	if (w->texts.len >= TEXTS_MAX)
		return;
	memcpy(text.text, value, size < sizeof(text.text) ? size : sizeof(text.text) - 1);
	if (!bpf_map_update_elem(rs->maps.texts, &key, &text, BPF_ANY) && !has(w->texts.data, w->texts.len, key.hash))
		vec_push(&w->texts, key.hash);
}

static void set_key(struct requests *rs, struct worker *w, struct context_text name, uint32_t number)
{
	struct request_key key = {.hash = request_hash(name.text, name.size), .pid = w->pid};

	if (!bpf_map_update_elem(rs->maps.keys, &key, &number, BPF_ANY))
		vec_push(&w->keys, key.hash);
}

#define SERVICE ((struct context_text){"service.name", sizeof("service.name") - 1})

/* OTEL_RESOURCE_ATTRIBUTES is NAME=VALUE,.. */
static void set_list(struct requests *rs, struct worker *w, const char *list)
{
	for (const char *end; *list; list = *end ? end + 1 : end) {
		const char *is = strchrnul(list, '=');
		struct context_text name = {list, (size_t)(is - list)};

		end = strchrnul(list, ',');
		if (is < end)
			set_text(rs, w, name, is + 1, (size_t)(end - is - 1));
	}
}

/* Names of the OpenTelemetry specification (1.60, "Environment Variable Specification"), and of Datadog. A later one
 * takes the place of an earlier one. */
static void read_environment(struct requests *rs, struct worker *w)
{
	static const char *const names[] = {"DD_SERVICE=", "OTEL_RESOURCE_ATTRIBUTES=", "OTEL_SERVICE_NAME="};
	_cleanup_(freep) char *text = NULL;
	size_t size = 0;

	text = proc_environment(rs->target, (int)w->pid, &size);
	for (unsigned i = 0; text && i < ARRAY_SIZE(names); i++)
		for (const char *p = text; p < text + size; p += strlen(p) + 1) {
			const char *value = p + strlen(names[i]);

			if (strncmp(p, names[i], strlen(names[i])) != 0)
				continue;
			if (i == 1)
				set_list(rs, w, value);
			else
				set_text(rs, w, SERVICE, value, strlen(value));
		}
}

static int read_process(void *arg, uint64_t addr, void *buf, size_t size)
{
	const struct worker *w = arg;
	struct host_process m;

	host_process_init(&m, (int)w->pid);
	return m.memory.read(&m.memory, addr, buf, size);
}

static void take_context(struct requests *rs, struct worker *w, uint64_t at)
{
	struct context c;

	if (context_read(read_process, w, at, &c))
		return;
	begin_texts(w);
	read_environment(rs, w);
	for (size_t i = 0; i < c.nresource; i++)
		set_text(rs, w, c.resource[i].key, c.resource[i].value, strlen(c.resource[i].value));
	if (c.record_offset && c.record_offset < NODE_OBJECT_MAX)
		w->proc.node_record = (uint32_t)c.record_offset;
	publish(rs, w);
	for (size_t i = 0; i < c.nkeys; i++)
		set_key(rs, w, c.key[i], (uint32_t)i);
	end_texts(rs, w);
	w->context_at = at;
	w->published = c.published;
	w->due = RENEWAL;
	context_done(&c);
}

/* The context was unmapped: another one may come. */
static void lose_context(struct requests *rs, struct worker *w)
{
	begin_texts(w);
	read_environment(rs, w);
	end_texts(rs, w);
	w->context_at = 0;
	w->looks = 0;
	w->due = 1;
}

/* A kernel without names of anonymous memory shows only the memfd's. */
static bool is_context(const struct proc_map *m)
{
	static const char *const names[] = {"[anon_shmem:OTEL_CTX]", "[anon:OTEL_CTX]", "/memfd:OTEL_CTX"};

	for (unsigned i = 0; i < ARRAY_SIZE(names); i++)
		if (!strncmp(m->path, names[i], strlen(names[i])))
			return true;
	return false;
}

static void look_for_context(struct requests *rs, struct worker *w)
{
	_cleanup_(freep) struct proc_map *maps = NULL;
	ssize_t n = proc_maps(rs->target, (int)w->pid, &maps);

	w->looks++;
	w->due = 1U << (w->looks < 7 ? w->looks : 6);
	for (ssize_t i = 0; i < n && !w->context_at; i++)
		if (is_context(&maps[i]))
			take_context(rs, w, maps[i].start);
}

static void poll_context(struct requests *rs, struct worker *w)
{
	uint64_t now;
	int r = context_time(read_process, w, w->context_at, &now);

	if (!r && now != w->published)
		take_context(rs, w, w->context_at);
	else if (r && r != -EAGAIN)
		lose_context(rs, w);
}

/* Returns whether the process was looked at, which takes long. */
static bool poll_worker(struct requests *rs, struct worker *w)
{
	if (w->due && --w->due)
		return false;
	if (w->context_at) {
		poll_context(rs, w);
		return false;
	}
	if (w->looks >= LOOKS_MAX && !needs_context(w))
		return false;
	look_for_context(rs, w);
	return true;
}

void requests_poll(struct requests *rs)
{
	unsigned most = LOOKS_AT_ONCE;
	uint64_t passed;

	if (read(rs->timer, &passed, sizeof(passed)) != sizeof(passed))
		return;
	/* The next poll goes on with the rest: the ring of events must be read meanwhile. */
	for (size_t i = 0; i < rs->by_pid.cap && most; i++, rs->next++) {
		size_t k = rs->next % rs->by_pid.cap;

		if (rs->by_pid.slot[k].key)
			most -= poll_worker(rs, (void *)(uintptr_t)rs->by_pid.slot[k].value);
	}
}

/* ---- events ------------------------------------------------------------------- */

void requests_file(struct requests *rs, uint32_t pid, const struct request_file *f, uint64_t bias)
{
	struct worker *w = worker_of(rs, pid);

	if (!w)
		return;
	for (unsigned i = 0; i < REQUEST_VARIABLES; i++) {
		if (f->variable[i].kind == TLS_NONE) /* the last file wins: a library may be opened again elsewhere */
			continue;
		w->proc.variable[i] = f->variable[i];
		tls_move(&w->proc.variable[i], bias);
	}
	if (!w->proc.go.curg)
		w->proc.go = f->go;
	if (f->node_record)
		w->proc.node_record = f->node_record;
	publish(rs, w);
}

void requests_musl(struct requests *rs, uint32_t pid)
{
	struct worker *w = worker_of(rs, pid);

	if (!w || w->proc.is_musl)
		return;
	w->proc.is_musl = true;
	w->proc.dtv = DTV_MUSL;
	publish(rs, w);
}

void requests_process(struct requests *rs, uint32_t pid)
{
	struct worker *w = worker_of(rs, pid);

	if (!w || w->looks)
		return;
	read_environment(rs, w);
	look_for_context(rs, w);
	w->due += pid % SPREAD; /* not all in one poll */
}

/* The context's memory is not inherited (MADV_DONTFORK); the environment is. */
void requests_fork(struct requests *rs, uint32_t parent, uint32_t child)
{
	const struct worker *from = find(rs, parent);
	struct worker *w;

	requests_exit(rs, child);
	w = from ? worker_of(rs, child) : NULL;
	if (!w)
		return;
	w->proc = from->proc;
	publish(rs, w);
	read_environment(rs, w);
}

void requests_exec(struct requests *rs, uint32_t pid)
{
	struct worker *w;

	requests_exit(rs, pid);
	w = worker_of(rs, pid);
	if (w)
		read_environment(rs, w);
}

void requests_exit(struct requests *rs, uint32_t pid)
{
	struct worker *w = find(rs, pid);

	if (!w)
		return;
	begin_texts(w);
	end_texts(rs, w);
	bpf_map_delete_elem(rs->maps.procs, &pid);
	idmap_remove(&rs->by_pid, pid);
	worker_free(w);
}
