// SPDX-License-Identifier: Apache-2.0
/* attach.c - links and perf events, as the providers request them. */
#include "attach.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/owner.h"
#include "base/priority.h"
#include "base/why.h"
#include "probes/ticks.h"
#include "target/target.h"

enum { DETACH_MS = 20 }; /* strata ends this long after the kernel began to detach, even if it is not done */

/* ---- detaching ---------------------------------------------------------- */

static void destroy(struct links *l)
{
	for (size_t i = 0; i < l->list.len; i++) {
		bpf_link__destroy(l->list.data[i]);
		priority_spend();
	}
	vec_done(&l->list);
}

/* Ends the process, which drops the last reference to each link, when the other end of the pipe is closed. It
 * closes the output first, so that the reader of a pipe need not wait for it. */
static void hold_links(int until)
{
	char byte;

	prctl(PR_SET_NAME, "strata-detach");
	close_range(0, 2, 0);
	priority_normal();
	while (read(until, &byte, 1) < 0 && errno == EINTR)
		;
	_exit(0);
}

void links_detach(struct links *l)
{
	int until[2];

	if (!l->list.len)
		return;
	if (!pipe2(until, O_CLOEXEC)) {
		l->detaching = fork();
		if (!l->detaching) {
			close(until[1]);
			hold_links(until[0]);
		}
		close(until[0]);
		destroy(l);
		close(until[1]);
		l->detached_by = clock_ns(CLOCK_MONOTONIC) + DETACH_MS * 1000000ull;
	}
	destroy(l);
}

/* Returns whether the process that detaches has ended by the time. */
static bool has_ended(pid_t pid, uint64_t by)
{
	_cleanup_(closep) int fd = (int)syscall(SYS_pidfd_open, pid, 0);
	struct pollfd end = {.fd = fd, .events = POLLIN};
	uint64_t now = clock_ns(CLOCK_MONOTONIC);

	if (fd >= 0 && now < by)
		poll(&end, 1, (int)((by - now + 999999) / 1000000));
	return waitpid(pid, NULL, WNOHANG) != 0;
}

void links_done(struct links *l)
{
	links_detach(l);
	if (l->detaching > 0 && !has_ended(l->detaching, l->detached_by))
		log_info("the kernel is still detaching the probes, in the background");
}

/* ---- attaching ---------------------------------------------------------- */

const struct place *probe_place(const struct loaded_probe *p, uint32_t i)
{
	return p->image->places[p->prog->first_place + i].place;
}

uint64_t probe_cookie(const struct loaded_probe *p, uint32_t i)
{
	return target_feature(p->target, FEATURE_COOKIE) ?
		image_place_cookie(&p->image->places[p->prog->first_place + i]) : 0;
}

int probe_link(struct loaded_probe *p, const struct place *place, struct bpf_link *link)
{
	int r = -errno;

	if (!link && r == -E2BIG && !probe_is_multi(p->target, p->image, p->prog)) {
		/* BPF_TRACE_MAX_PROGS, kernel/trace/bpf_trace.c */
		log_error("cannot attach to %s: the kernel runs at most 64 programs there, those of other tracers "
			"included", place->name);
		log_hint("each block of the script is a program: join those of this probe");
		return r;
	}
	if (!link) {
		log_error("cannot attach to %s: %s", place->name, why_errno(r));
		why_hint(r);
		return r;
	}
	vec_push(&p->links->list, link);
	priority_spend();
	return 0;
}

bool probe_is_multi(struct target *t, const struct image *img, const struct image_prog *prog)
{
	return prog->provider->multi_type && target_feature(t, prog->provider->multi_feature) &&
		!img->places[prog->first_place].place->alone;
}

/* The kernel lists entry probes newest first. Return probes are pushed on a stack of the thread, which
 * reverses the order again; multi links do not, because they use the function graph. */
bool probe_is_newest_first(struct target *t, const struct image *img, const struct image_prog *prog)
{
	unsigned since = prog->provider->multi_newest_first;

	return prog->provider->newest_first || (since && target_kernel_version(t) >= since &&
						       probe_is_multi(t, img, prog));
}

/* Returns whether the error means that a place cannot be probed; -524: the kernel's ENOTSUPP. */
static bool place_refused(int r)
{
	return r == -524 || r == -EOPNOTSUPP || r == -EINVAL || r == -EILSEQ || r == -EIO ||
		r == -ESRCH || r == -EADDRNOTAVAIL || r == -ENOENT;
}

int probe_link_halved(struct loaded_probe *p, const struct place *const *places,
	struct bpf_link *(*link)(const void *batch, size_t from, size_t n), const void *batch,
	size_t from, size_t n)
{
	struct bpf_link *l = link(batch, from, n);
	int r = -errno;

	if (l || !place_refused(r)) {
		errno = l ? 0 : -r;
		return probe_link(p, places[from], l);
	}
	if (n == 1) {
		log_info("skipped %s: %s", places[from]->name, why_errno(r));
		p->links->skipped++;
		return 0;
	}
	r = probe_link_halved(p, places, link, batch, from, n / 2);
	return r ? r : probe_link_halved(p, places, link, batch, from + n / 2, n - n / 2);
}

int probe_perf_event(struct loaded_probe *p, const struct place *place,
	struct perf_event_attr *attr, int cpu, uint64_t cookie)
{
	LIBBPF_OPTS(bpf_perf_event_opts, opts, .bpf_cookie = cookie);
	struct bpf_link *link;
	int fd;

	attr->size = sizeof(*attr);
	fd = syscall(SYS_perf_event_open, attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0)
		return probe_link(p, place, NULL);
	link = bpf_program__attach_perf_event_opts(p->bpf, fd, &opts); /* takes fd */
	if (!link) {
		int r = errno;

		close(fd);
		errno = r;
	}
	return probe_link(p, place, link);
}

/* Returns 0 on success, -errno on failure. */
static int follow_ticks(struct loaded_probe *p, uint32_t i, int cpu, uint64_t period)
{
	LIBBPF_OPTS(bpf_perf_event_opts, opts, .bpf_cookie = probe_cookie(p, i));
	_cleanup_(closep) int fd = ticks_event(), kept = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, 0);
	struct bpf_link *link;
	struct bpf_map *runs = bpf_object__find_map_by_name(p->obj, IMAGE_TICKS);
	size_t n = p->prog - p->image->progs;

	if (!runs || n >= IMAGE_TICKS_MAX || kept < 0)
		return fd < 0 ? fd : -ENOENT;
	link = bpf_program__attach_perf_event_opts(p->bpf, fd, &opts);
	if (!link)
		return -errno;
	TAKE_FD(fd);
	vec_push(&p->links->list, link);
	return ticks_add(p->ticks, &(struct tick){.image = p->image->number, .prog = n, .event = TAKE_FD(kept),
		.cpu = cpu, .period = period}, bpf_map__fd(runs));
}

int probe_timer(struct loaded_probe *p, uint32_t i, int cpu, uint64_t period_ns)
{
	const struct place *place = probe_place(p, i);
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = period_ns,
	};
	int r = probe_perf_event(p, place, &attr, cpu, probe_cookie(p, i)), lossy;

	if (r || !p->ticks || !ticks_wants(period_ns))
		return r;
	lossy = follow_ticks(p, i, cpu, period_ns);
	if (lossy)
		log_info("%s: ticks may be lost beside other probes: %s", place->name, why_errno(lossy));
	return 0;
}

/* "0-3,5" */
static int parse_cpus(const char *text, int *list, int max)
{
	int n = 0;

	while (*text && *text != '\n') {
		char *end;
		long from = strtol(text, &end, 10), to = from;

		if (end == text)
			break;
		if (*end == '-')
			to = strtol(end + 1, &end, 10);
		for (long i = from; i <= to && n < max; i++)
			list[n++] = i;
		text = *end == ',' ? end + 1 : end;
	}
	return n;
}

const int *online_cpus(void)
{
	enum { CPUS = 8192 };
	static int list[CPUS + 1];
	static int n;
	char text[4096] = "0";
	_cleanup_(fclosep) FILE *f = NULL;

	if (n)
		return list;
	f = fopen("/sys/devices/system/cpu/online", "re");
	if (f && !fgets(text, sizeof(text), f))
		strcpy(text, "0");
	n = parse_cpus(text, list, CPUS);
	list[n] = -1;
	return list;
}
