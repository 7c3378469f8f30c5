// SPDX-License-Identifier: Apache-2.0
/* ticks.c - counts of runs, and page faults that replace a clock. See ticks.h. */
#include "ticks.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/owner.h"

/* Time by which a tick may be late before it counts as lost. For shorter periods strata would wake too often. */
enum { LATE_MAX_NS = 20000000, PERIOD_MIN_NS = 5000000 };

int ticks_open(struct ticks *t)
{
	t->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	return t->timer < 0 ? -errno : 0;
}

bool ticks_wants(uint64_t period)
{
	return period >= PERIOD_MIN_NS;
}

/* libbpf enables the event together with the program: the huge period prevents a run before it is disabled. */
int ticks_event(void)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_PAGE_FAULTS,
		.sample_period = 1ull << 60,
		.exclude_kernel = 1,
		.disabled = 1,
	};
	int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

static uint64_t count(const struct tick *k)
{
	return __atomic_load_n(&k->runs[k->prog], __ATOMIC_RELAXED);
}

static uint64_t late(uint64_t period)
{
	return period / 4 < LATE_MAX_NS ? period / 4 : LATE_MAX_NS;
}

static void set_timer(const struct ticks *t)
{
	struct itimerspec at = {};
	uint64_t first = UINT64_MAX;

	for (size_t i = 0; i < t->list.len; i++)
		first = t->list.data[i].next < first ? t->list.data[i].next : first;
	if (first != UINT64_MAX)
		at.it_value = (struct timespec){(time_t)(first / 1000000000), (long)(first % 1000000000)};
	timerfd_settime(t->timer, TFD_TIMER_ABSTIME, &at, NULL);
}

int ticks_add(struct ticks *t, const struct tick *new, int map)
{
	_cleanup_(closep) int fd = new->event;
	struct tick k = *new;
	uint64_t one = 1;

	if (ioctl(fd, PERF_EVENT_IOC_DISABLE, 0) || ioctl(fd, PERF_EVENT_IOC_PERIOD, &one))
		return -errno;
	k.runs = mmap(NULL, (size_t)sysconf(_SC_PAGESIZE), PROT_READ, MAP_SHARED, map, 0);
	if (k.runs == MAP_FAILED)
		return -errno;
	k.event = TAKE_FD(fd);
	k.next = clock_ns(CLOCK_MONOTONIC) + k.period + late(k.period);
	vec_push(&t->list, k);
	set_timer(t);
	return 0;
}

/* The page is new, so the write is a page fault, by this thread in user mode. */
static void make_run(const struct tick *k)
{
	size_t size = (size_t)sysconf(_SC_PAGESIZE);
	volatile char *page = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (page == MAP_FAILED)
		return;
	if (!ioctl(k->event, PERF_EVENT_IOC_ENABLE, 0)) {
		*page = 1;
		ioctl(k->event, PERF_EVENT_IOC_DISABLE, 0);
	}
	munmap((void *)page, size);
}

/* The tick may be late, not lost: then its run is still going on, or comes during that of make_run(). On the CPU of the
 * timer there is only one at a time, so a script sees one tick after another. Another CPU is used if this one is not
 * allowed. */
static void make_run_there(const struct tick *k)
{
	cpu_set_t before, one;
	bool moved;

	CPU_ZERO(&one);
	CPU_SET(k->cpu, &one); /* does nothing from CPU_SETSIZE on */
	moved = !sched_getaffinity(0, sizeof(before), &before) && !sched_setaffinity(0, sizeof(one), &one);
	if (count(k) == k->seen)
		make_run(k);
	if (moved)
		sched_setaffinity(0, sizeof(before), &before);
}

/* If strata itself was delayed for long, it makes one run for all lost ticks. */
static void look(struct tick *k, uint64_t now)
{
	if (now < k->next)
		return;
	if (count(k) == k->seen)
		make_run_there(k);
	k->seen = count(k);
	k->next += ((now - k->next) / k->period + 1) * k->period;
}

void ticks_run(struct ticks *t)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC);

	for (size_t i = 0; i < t->list.len; i++)
		look(&t->list.data[i], now);
	set_timer(t);
}

static void done(struct tick *k)
{
	munmap(k->runs, (size_t)sysconf(_SC_PAGESIZE));
	closep(&k->event);
}

void ticks_drop(struct ticks *t, uint32_t image)
{
	size_t kept = 0;

	for (size_t i = 0; i < t->list.len; i++)
		if (t->list.data[i].image == image)
			done(&t->list.data[i]);
		else
			t->list.data[kept++] = t->list.data[i];
	t->list.len = kept;
	set_timer(t);
}

void ticks_close(struct ticks *t)
{
	for (size_t i = 0; i < t->list.len; i++)
		done(&t->list.data[i]);
	vec_done(&t->list);
	if (t->timer > 0)
		closep(&t->timer);
	*t = (struct ticks){};
}
