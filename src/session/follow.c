// SPDX-License-Identifier: Apache-2.0
/* follow.c - perf's side-band records (linux/perf_event.h: MMAP2, FORK, COMM, EXIT) of all CPUs, sorted and
 * passed to the unwinders.
 *
 * Each CPU has a ring; the records of one batch are sorted by their time stamps, so that an exec on one CPU
 * comes before the mappings that follow on another.
 *
 * Waking a reader costs the traced program an interrupt on its own CPU, and an exec makes twenty records. So
 * a ring wakes nobody before it is half full. Instead a second event for each CPU, the bell, which has only
 * names, forks and exits, wakes strata. While a timer reads the rings, the bells are full: the kernel drops records
 * that do not fit, and then wakes nobody. */
#include "follow.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/owner.h"
#include "base/vec.h"
#include "base/why.h"
#include "probes/attach.h"
#include "session/pace.h"
#include "unwinders/unwinders.h"

enum { RING_PAGES = 64, BELL_PAGES = 1 };
enum { FIRST_NS = 1000000, PAUSE_NS = 4000000, IDLE_NS = 100000000 }; /* time between two reads */

struct cpu_ring {
	int fd;
	struct perf_event_mmap_page *page;
};

struct event {
	uint64_t time;
	struct perf_event_header *record; /* a copy, owned */
};

struct follow {
	struct unwinders *u;
	bool only_some;     /* the processes in tree, else all */
	size_t page_size;
	VEC(struct cpu_ring) rings;
	VEC(struct cpu_ring) bells; /* events that wake strata */
	int epoll;          /* for the rings' events, or a timer instead */
	int events;         /* the rings' events only */
	struct watch watch;
	bool has_read;      /* records were read since follow_rest() */
	uint64_t as_of;     /* CLOCK_MONOTONIC ns: follow_drain() passes on the records until then */
	VEC(struct event) batch;    /* in the order of time */
	size_t taken;               /* number of records in batch that were passed on */
	VEC(struct event) gathered; /* later records, in the order of arrival */
	VEC(uint32_t) tree; /* with only_some: the processes and their descendants */
};

/* ---- open --------------------------------------------------------------- */

static int open_ring(struct follow *f, struct perf_event_attr *attr, int cpu, size_t pages, struct cpu_ring *ret)
{
	struct epoll_event e = {.events = EPOLLIN};
	int r;

	ret->fd = syscall(SYS_perf_event_open, attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
	if (ret->fd < 0)
		return -errno;
	ret->page = mmap(NULL, (pages + 1) * f->page_size, PROT_READ | PROT_WRITE, MAP_SHARED, ret->fd, 0);
	if (ret->page == MAP_FAILED) {
		r = -errno;
		close(ret->fd);
		return r;
	}
	if (!epoll_ctl(f->events, EPOLL_CTL_ADD, ret->fd, &e))
		return 0;
	r = -errno;
	munmap(ret->page, (pages + 1) * f->page_size);
	close(ret->fd);
	return r;
}

static int open_cpu(struct follow *f, int cpu)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_DUMMY,
		.sample_type = PERF_SAMPLE_TIME,
		.mmap = 1,
		.mmap2 = 1,
		.task = 1,
		.comm = 1,
		.comm_exec = 1,
		.sample_id_all = 1,
		.watermark = 1,
		.wakeup_watermark = (uint32_t)(RING_PAGES * f->page_size / 2),
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
		.exclude_kernel = 1,
	};
	struct cpu_ring ring, bell;
	int r = open_ring(f, &attr, cpu, RING_PAGES, &ring);

	if (r)
		return r;
	vec_push(&f->rings, ring);
	attr.mmap = attr.mmap2 = attr.task = 0;
	attr.wakeup_watermark = 1;
	r = open_ring(f, &attr, cpu, BELL_PAGES, &bell);
	if (!r)
		vec_push(&f->bells, bell);
	return r;
}

static int open_cpus(struct follow *f)
{
	for (const int *cpu = online_cpus(); *cpu >= 0; cpu++) {
		int r = open_cpu(f, *cpu);

		if (r && r != -ENODEV) /* the CPU went offline */
			return r;
	}
	return 0;
}

static int open_events(struct follow *f)
{
	f->epoll = epoll_create1(EPOLL_CLOEXEC);
	f->events = f->epoll < 0 ? -1 : epoll_create1(EPOLL_CLOEXEC);
	return f->events < 0 ? -errno : watch_open(&f->watch, f->epoll, f->events, 0, 0);
}

int follow_open(struct unwinders *u, const int *pids, size_t n, struct follow **ret)
{
	struct follow *f = calloc(1, sizeof(*f));
	int r;

	if (!f)
		return -ENOMEM;
	f->u = u;
	f->only_some = n;
	f->page_size = sysconf(_SC_PAGESIZE);
	for (size_t i = 0; i < n; i++)
		vec_push(&f->tree, pids[i]);
	r = open_events(f);
	r = r ? r : open_cpus(f);
	if (r) {
		log_error("cannot follow processes by perf events: %s", why_errno(r));
		why_hint(r);
		follow_close(f);
		return r;
	}
	follow_rest(f);
	*ret = f;
	return 0;
}

static void free_events(struct follow *f)
{
	for (size_t i = 0; i < f->batch.len; i++)
		free(f->batch.data[i].record);
	for (size_t i = 0; i < f->gathered.len; i++)
		free(f->gathered.data[i].record);
	vec_done(&f->batch);
	vec_done(&f->gathered);
}

static void close_ring(const struct follow *f, struct cpu_ring *r, size_t pages)
{
	munmap(r->page, (pages + 1) * f->page_size);
	close(r->fd);
}

void follow_close(struct follow *f)
{
	if (!f)
		return;
	for (size_t i = 0; i < f->rings.len; i++)
		close_ring(f, &f->rings.data[i], RING_PAGES);
	for (size_t i = 0; i < f->bells.len; i++)
		close_ring(f, &f->bells.data[i], BELL_PAGES);
	free_events(f);
	watch_close(&f->watch);
	closep(&f->events);
	closep(&f->epoll);
	vec_done(&f->rings);
	vec_done(&f->bells);
	vec_done(&f->tree);
	free(f);
}

int follow_fd(const struct follow *f)
{
	return f->epoll;
}

/* Returns whether a bell rang. */
static bool has_rung(const struct follow *f)
{
	bool has = false;

	for (size_t i = 0; i < f->bells.len; i++) {
		const struct perf_event_mmap_page *p = f->bells.data[i].page;

		has |= __atomic_load_n(&p->data_head, __ATOMIC_ACQUIRE) != p->data_tail;
	}
	return has;
}

/* Empties the bells, whose records are also in the rings, or fills them: if the tail is just after the head, there is
 * no space. A record that comes meanwhile leaves space for some more. */
static void fill_bells(struct follow *f, bool full)
{
	for (size_t i = 0; i < f->bells.len; i++) {
		struct perf_event_mmap_page *p = f->bells.data[i].page;

		__atomic_store_n(&p->data_tail, __atomic_load_n(&p->data_head, __ATOMIC_ACQUIRE) + full,
			__ATOMIC_RELEASE);
	}
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
}

static bool has_records(const struct follow *f)
{
	bool has = false;

	for (size_t i = 0; i < f->rings.len; i++)
		has |= __atomic_load_n(&f->rings.data[i].page->data_head, __ATOMIC_ACQUIRE) !=
		       f->rings.data[i].page->data_tail;
	return has;
}

/* Sets the next read: an exec's mappings follow it soon. The bells are emptied before the last look at the rings, so no
 * exec is between them. */
void follow_rest(struct follow *f)
{
	bool rung = !f->watch.by_clock && has_rung(f), soon = rung || f->has_read;

	if (!soon) {
		fill_bells(f, false);
		soon = f->watch.by_clock && has_records(f);
	}
	if (soon) {
		fill_bells(f, true);
		watch_pause(&f->watch, rung ? FIRST_NS : PAUSE_NS);
	} else {
		watch_idle(&f->watch, IDLE_NS);
	}
	f->has_read = false;
}

/* ---- followed processes -------------------------------------------------- */

static bool ours(const struct follow *f, uint32_t pid)
{
	if (pid == 0 || pid == UINT32_MAX) /* in another PID namespace */
		return false;
	if (!f->only_some)
		return true;
	for (size_t i = 0; i < f->tree.len; i++)
		if (f->tree.data[i] == pid)
			return true;
	return false;
}

static void forget(struct follow *f, uint32_t pid)
{
	for (size_t i = 0; i < f->tree.len; i++)
		if (f->tree.data[i] == pid) {
			f->tree.data[i] = f->tree.data[--f->tree.len];
			return;
		}
}

/* ---- records ------------------------------------------------------------ */

struct mmap2_record {
	struct perf_event_header head;
	uint32_t pid, tid;
	uint64_t addr, len, pgoff;
	uint32_t maj, min;
	uint64_t ino, ino_generation;
	uint32_t prot, flags;
	char filename[];
};

struct task_record { /* FORK, EXIT */
	struct perf_event_header head;
	uint32_t pid, ppid;
	uint32_t tid, ptid;
	uint64_t time;
};

struct comm_record {
	struct perf_event_header head;
	uint32_t pid, tid;
};

static void on_mmap(struct follow *f, const struct mmap2_record *r)
{
	struct process_mmap m = {
		.pid = r->pid,
		.start = r->addr,
		.len = r->len,
		.offset = r->pgoff,
		.inode = r->ino,
		.dev_major = r->maj,
		.dev_minor = r->min,
		.exec = r->prot & PROT_EXEC,
		.write = r->prot & PROT_WRITE,
		.path = r->filename,
		.known_at = f->as_of,
	};

	if (ours(f, r->pid))
		unwinders_mmap(f->u, &m);
}

static bool is_exec(const struct perf_event_header *h, uint32_t pid)
{
	return h->type == PERF_RECORD_COMM && h->misc & PERF_RECORD_MISC_COMM_EXEC &&
	       ((struct comm_record *)h)->pid == pid;
}

/* Returns whether the parent has had an exec since the fork. If not, its present mappings are those of the fork. */
static bool has_execed(struct follow *f, uint32_t pid)
{
	bool has = false;

	follow_gather(f);
	for (size_t i = f->taken; i < f->batch.len; i++)
		has |= is_exec(f->batch.data[i].record, pid);
	for (size_t i = 0; i < f->gathered.len; i++)
		has |= is_exec(f->gathered.data[i].record, pid);
	return has;
}

/* A child may end before anyone can read it. If its parent was not known, the child has only its parent's mappings. */
static void on_fork(struct follow *f, uint32_t parent, uint32_t child)
{
	bool is_new = !unwinders_knows(f->u, parent);

	if (is_new && unwinders_add_process(f->u, (int)parent))
		unwinders_exit(f->u, parent); /* it may also be a kernel thread */
	else if (!is_new || !has_execed(f, parent))
		unwinders_fork(f->u, parent, child);
}

static void on_task(struct follow *f, const struct task_record *r)
{
	bool exit = r->head.type == PERF_RECORD_EXIT;

	if (exit && r->pid == r->tid && ours(f, r->pid)) {
		unwinders_exit(f->u, r->pid);
		if (f->only_some)
			forget(f, r->pid);
	} else if (!exit && r->pid != r->ppid && ours(f, r->ppid)) {
		if (f->only_some)
			vec_push(&f->tree, r->pid);
		on_fork(f, r->ppid, r->pid);
	}
}

static void on_record(struct follow *f, struct perf_event_header *h)
{
	switch (h->type) {
	case PERF_RECORD_MMAP2:
		on_mmap(f, (struct mmap2_record *)h);
		break;
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
		on_task(f, (struct task_record *)h);
		break;
	case PERF_RECORD_COMM:
		if ((h->misc & PERF_RECORD_MISC_COMM_EXEC) &&
			ours(f, ((struct comm_record *)h)->pid))
			unwinders_exec(f->u, ((struct comm_record *)h)->pid);
		break;
	case PERF_RECORD_LOST:
		unwinders_lost(f->u);
		break;
	}
}

/* ---- rings -------------------------------------------------------------- */

static void copy_out(const struct follow *f, const struct cpu_ring *r, uint64_t at, void *to,
	size_t n)
{
	const char *data = (const char *)r->page + f->page_size;
	size_t size = RING_PAGES * f->page_size, from = at % size;
	size_t first = size - from < n ? size - from : n;

	memcpy(to, data + from, first);
	memcpy((char *)to + first, data, n - first);
}

static void read_ring(struct follow *f, struct cpu_ring *r)
{
	uint64_t head = __atomic_load_n(&r->page->data_head, __ATOMIC_ACQUIRE);
	uint64_t tail = r->page->data_tail;

	while (tail < head) {
		struct perf_event_header h;
		struct event e;

		copy_out(f, r, tail, &h, sizeof(h));
		if (h.size < sizeof(h) + 8)
			break;
		e.record = malloc(h.size + 1);
		if (!e.record)
			break;
		copy_out(f, r, tail, e.record, h.size);
		((char *)e.record)[h.size] = 0;
		/* sample_id_all puts the time stamp into the record's last word. */
		memcpy(&e.time, (char *)e.record + h.size - 8, 8);
		vec_push(&f->gathered, e);
		f->has_read = true;
		tail += h.size;
	}
	__atomic_store_n(&r->page->data_tail, tail, __ATOMIC_RELEASE);
}

static int by_time(const void *a, const void *b)
{
	const struct event *x = a, *y = b;

	return (x->time > y->time) - (x->time < y->time);
}

void follow_gather(struct follow *f)
{
	for (size_t i = 0; i < f->rings.len; i++)
		read_ring(f, &f->rings.data[i]);
}

static void sort_gathered(struct follow *f)
{
	if (!f->gathered.len)
		return;
	for (size_t i = 0; i < f->gathered.len; i++)
		vec_push(&f->batch, f->gathered.data[i]);
	f->gathered.len = 0;
	qsort(f->batch.data, f->batch.len, sizeof(*f->batch.data), by_time);
}

void follow_drain(struct follow *f, uint64_t until)
{
	f->as_of = until == FOLLOW_NOW ? clock_ns(CLOCK_MONOTONIC) : until;
	follow_gather(f);
	sort_gathered(f);
	for (f->taken = 0; f->taken < f->batch.len && f->batch.data[f->taken].time <= until;) {
		struct perf_event_header *record = f->batch.data[f->taken++].record;

		on_record(f, record); /* this may gather records */
		free(record);
	}
	f->batch.len -= f->taken;
	memmove(f->batch.data, f->batch.data + f->taken, f->batch.len * sizeof(*f->batch.data));
	f->taken = 0;
}
