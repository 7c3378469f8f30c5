// SPDX-License-Identifier: Apache-2.0
/* session.c - a script running. One thread: it waits for the ring buffer, the side
 * band of processes, signals and the end of the traced process, whatever comes
 * first; nothing is polled by the clock. */
#include "session.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "base/owner.h"
#include "base/priority.h"
#include "base/str.h"
#include "bpf/lib/record.h"
#include "model/provider.h"
#include "model/type.h"
#include "runtime/attach.h"
#include "runtime/follow.h"
#include "runtime/forget.h"
#include "runtime/load.h"
#include "runtime/maps.h"
#include "runtime/output.h"
#include "runtime/show.h"
#include "runtime/stop.h"
#include "runtime/who.h"
#include "runtime/why.h"
#include "target/target.h"
#include "unwinders/maps/maps.h"
#include "unwinders/unwinders.h"

#define READ_RUNNING_NS 1000000000ull
#define MAP_WEIGHT      20
#define SLICE_NS        50000000ull /* of reading records, before other events are looked at */

enum event_from { FROM_RING, FROM_FOLLOW, FROM_SIGNAL, FROM_PROCESS, FROM_OUTPUT };

struct session {
	const struct image *img;
	struct target *target;
	const struct session_options *opt;
	struct load load;
	struct bpf_object *obj;   /* load's, when it is there */
	struct ring_buffer *ring;
	struct unwinders *unwinders;
	struct follow *follow;
	struct links links;
	struct show show;
	struct forget forget;
	FILE *out;        /* opt->out's */
	int epoll, process;
	uint64_t slice_end; /* when the reading of records is to be interrupted; 0: never */
	unsigned records; /* read so far; may wrap */
	unsigned long seen; /* records of the script, elements of maps: what there was to show */
	int *unread;      /* processes that ran before: read in the background */
	size_t nunread;
	bool ended;       /* exit(), a signal, or the process' end */
	bool exit_called;
	bool terminal;    /* a person reads what is printed */
	int code;
};

/* ---- records ------------------------------------------------------------ */

static void on_join(struct session *s, const struct image_record *r, const uint8_t *data)
{
	const struct join_record *j = (const struct join_record *)data;
	struct str line = {};

	for (uint64_t i = 0; i < j->n && i < JOIN_STRINGS; i++) {
		if (i)
			str_addn(&line, r->text, r->text_len);
		show_text((const uint8_t *)j->text[i], JOIN_LENGTH, &line);
	}
	fprintf(s->out, "%s\n", str_text(&line));
	str_done(&line);
}

static void print_text(struct session *s, struct str *text, bool newline)
{
	if (newline)
		str_addc(text, '\n');
	fwrite(str_text(text), 1, text->len, s->out);
	str_done(text);
}

static int print_map(struct session *s, const struct image_map *m, int64_t top, int64_t div, bool unset)
{
	struct map_print how = {
		.top = top ? top : s->opt->top,
		.div = div,
		.unset = unset,
		.shares = s->terminal,
	};

	return map_print(&s->show, s->obj, m, &how, s->out);
}

static bool prints(const struct image_record *r)
{
	return r->op != RECORD_CLEAR && r->op != RECORD_ZERO && r->op != RECORD_EXIT;
}

static void on_script(struct session *s, const struct image_record *r, const uint8_t *data)
{
	const struct image_map *map = &s->img->maps[r->map];
	struct str text = {};

	s->seen++;
	if (prints(r) && !output_has_time(s->opt->out)) {
		output_skip(s->opt->out);
		return;
	}
	switch (r->op) {
	case RECORD_PRINTF:
		show_format(&s->show, r, data, &text);
		print_text(s, &text, false);
		break;
	case RECORD_PRINT_VALUE:
		show_value(&s->show, r->args[0].type, data + r->args[0].offset, &text);
		print_text(s, &text, true);
		break;
	case RECORD_PRINT_MAP:
		print_map(s, map, r->top, r->div, true);
		break;
	case RECORD_CLEAR:
		map_clear(s->obj, map);
		break;
	case RECORD_ZERO:
		map_zero(s->obj, map);
		break;
	case RECORD_JOIN:
		on_join(s, r, data);
		break;
	case RECORD_EXIT:
		s->ended = s->exit_called = true;
		if (r->nargs)
			s->code = show_int(r->args[0].type, data + r->args[0].offset);
		break;
	}
	output_record(s->opt->out, r->op == RECORD_PRINT_MAP ? MAP_WEIGHT : 1);
}

/* A walk that was given up is finished by what was known of its process at that time, and
 * a language's frames are named: not by an exec or an exit that came after. */
static void catch_up(struct session *s, const struct record *head, size_t size)
{
	const struct walk_record *walk = (const struct walk_record *)head;
	const struct miss_record *miss = (const struct miss_record *)head;
	const struct lang_record *lang = (const struct lang_record *)head;

	if (head->kind == RECORD_WALK && size >= sizeof(*walk))
		follow_drain(s->follow, walk->time);
	else if (head->kind == RECORD_MISS && size >= sizeof(*miss))
		follow_drain(s->follow, miss->time);
	else if (head->kind == RECORD_LANG && size >= sizeof(*lang) && lang->time)
		follow_drain(s->follow, lang->time);
}

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

/* Records may come faster than they are printed: the ring is never empty then. */
static bool is_interrupted(struct session *s)
{
	if (!s->slice_end)
		return false;
	return s->ended || stop_asked() || (!(++s->records % 64) && now_ns() >= s->slice_end);
}

static bool has_stack(const struct type *t)
{
	bool has = t && (t->kind == TYPE_STACK || t->kind == TYPE_USYM);

	for (unsigned i = 0; t && t->kind == TYPE_TUPLE && i < t->tuple.n; i++)
		has |= has_stack(t->tuple.members[i]);
	return has;
}

static bool maps_have_stacks(const struct image *img)
{
	bool have = false;

	for (unsigned i = 0; i < img->nmaps; i++)
		have |= has_stack(img->maps[i].key) || has_stack(img->maps[i].value);
	return have;
}

/* What is known of stacks is of no use where none will be printed any more. */
static bool names_matter(const struct session *s)
{
	return output_has_time(s->opt->out) || maps_have_stacks(s->img);
}

static int on_record(void *ctx, void *data, size_t size)
{
	const struct record *head = data;
	struct session *s = ctx;

	if (size < sizeof(*head))
		return 0;
	if (head->kind != RECORD_SCRIPT) {
		if (s->follow && names_matter(s))
			catch_up(s, head, size);
		if (s->unwinders && names_matter(s))
			unwinders_record(s->unwinders, head, size);
	} else if (head->id < s->img->nrecords && size >= s->img->records[head->id].size &&
		!s->exit_called) {
		on_script(s, &s->img->records[head->id], data);
	}
	return is_interrupted(s) ? -EINTR : 0;
}

/* What is in the ring, all of it where slice_ns is 0. */
static void drain(struct session *s, uint64_t slice_ns)
{
	s->slice_end = slice_ns ? now_ns() + slice_ns : 0;
	if (s->ring)
		ring_buffer__consume(s->ring);
	if (s->follow)
		follow_drain(s->follow, FOLLOW_NOW);
	if (!output_flush(s->opt->out))
		s->ended = true;
	forget_step(&s->forget);
}

/* ---- set-up ------------------------------------------------------------- */

static int watch(struct session *s, int fd, enum event_from from)
{
	struct epoll_event e = {.events = EPOLLIN, .data.u32 = from};

	return epoll_ctl(s->epoll, EPOLL_CTL_ADD, fd, &e) ? -errno : 0;
}

static int open_signals(struct session *s)
{
	int fd = stop_open();

	if (s->opt->child)
		stop_kills(s->opt->child->pid);
	return fd < 0 ? fd : watch(s, fd, FROM_SIGNAL);
}

/* The end of who reads a pipe is heard of; of other files there is nothing to hear. */
static void watch_output(struct session *s)
{
	struct epoll_event e = {.data.u32 = FROM_OUTPUT};

	epoll_ctl(s->epoll, EPOLL_CTL_ADD, output_fd(s->opt->out), &e);
}

static int open_process(struct session *s)
{
	int pid = s->opt->child ? s->opt->child->pid : s->opt->pid;

	if (!pid)
		return 0;
	s->process = syscall(SYS_pidfd_open, pid, 0);
	if (s->process < 0) {
		int r = -errno;

		log_error("cannot watch process %d: %s", pid, why_errno(r));
		return r;
	}
	return watch(s, s->process, FROM_PROCESS);
}

static int open_ring(struct session *s)
{
	int fd = bpf_object__find_map_fd_by_name(s->obj, "ring");

	if (!s->img->ring || fd < 0)
		return 0;
	s->ring = ring_buffer__new(fd, on_record, s, NULL);
	return s->ring ? watch(s, ring_buffer__epoll_fd(s->ring), FROM_RING) : -errno;
}

/* The command's tables are made before it runs: it may live 5 ms. */
static void preload_command(struct session *s, struct child *c)
{
	char *exe = c->traced ? proc_exe(s->target, c->pid) : NULL;
	const char *path = c->traced ? exe : target_which(s->target, c->argv[0]);
	const char *const *files = path ? target_closure(s->target, path) : NULL;

	for (; files && *files; files++)
		unwinders_preload_file(s->unwinders, *files);
	if (c->traced)
		unwinders_add_process(s->unwinders, c->pid);
	unwinders_preload_done(s->unwinders);
	free(exe);
}

static void preload(struct session *s)
{
	if (s->opt->pid)
		unwinders_add_process(s->unwinders, s->opt->pid);
	if (s->opt->child)
		preload_command(s, s->opt->child);
}

static uint64_t cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

/* What runs now is seen in the first samples, and finishing those later goes without what is
 * not on the stack: it is read before there are any, but for what takes too long. */
static void read_running(struct session *s)
{
	uint64_t end = cpu_ns() + READ_RUNNING_NS;
	size_t n = s->nunread;

	s->nunread = 0;
	for (size_t i = 0; i < n; i++)
		if (cpu_ns() < end && s->unread[i] != getpid() && proc_running(s->target, s->unread[i]))
			unwinders_add_process(s->unwinders, s->unread[i]);
		else
			s->unread[s->nunread++] = s->unread[i];
	if (s->nunread < n)
		unwinders_preload_done(s->unwinders);
}

static int attach_raw(struct session *s, const char *program, const char *tracepoint)
{
	struct bpf_program *prog = bpf_object__find_program_by_name(s->obj, program);
	struct bpf_link *link = prog ? bpf_program__attach_raw_tracepoint(prog, tracepoint) : NULL;

	if (prog && !link)
		return -errno;
	if (link)
		vec_push(&s->links.list, link);
	return 0;
}

static int open_unwinders(struct session *s)
{
	int pid = s->opt->child ? s->opt->child->pid : s->opt->pid, r = 0;

	if (!s->img->user_stacks && !s->img->user_symbols && !s->img->kernel_stacks)
		return 0;
	if (!s->load.maps)
		r = walk_maps_memory(&s->load.maps);
	if (r)
		return r;
	r = unwinders_new(s->target, s->load.maps, &s->unwinders);
	s->load.maps = NULL; /* taken */
	if (r)
		return r;
	unwinders_limit(s->unwinders, s->img->cache_limit, s->img->memory_limit);
	if (s->img->js_source_maps)
		unwinders_use_source_maps(s->unwinders);
	s->show.unwinders = s->unwinders;
	if (!s->img->user_stacks && !s->img->user_symbols)
		return 0;
	r = follow_open(s->unwinders, pid, &s->follow);
	for (const int *fd = r ? NULL : follow_fds(s->follow); fd && *fd >= 0; fd++)
		watch(s, *fd, FROM_FOLLOW);
	if (!r)
		preload(s);
	if (!r && !pid && s->img->user_stacks) {
		s->nunread = proc_list(s->target, &s->unread);
		read_running(s);
	}
	return r;
}

/* What was told of a process before an exec is forgotten at once; of those until now, here. */
static void forget_programs(struct session *s)
{
	if (!s->follow)
		return;
	if (attach_raw(s, "forget_program", "task_rename"))
		log_info("execs are heard of by perf's events alone: no raw tracepoint task_rename");
	follow_drain(s->follow, FOLLOW_NOW);
}

static int open_tree(struct session *s)
{
	struct bpf_map *tree = bpf_object__find_map_by_name(s->obj, "tree");
	uint32_t one = 1, pid;

	if (!tree || !s->opt->child)
		return 0;
	pid = s->opt->child->pid;
	if (bpf_map_update_elem(bpf_map__fd(tree), &pid, &one, BPF_ANY))
		return -errno;
	return attach_raw(s, "tree_fork", "sched_process_fork");
}

/* ---- programs ----------------------------------------------------------- */

static struct bpf_program *find_program(struct session *s, const struct image_prog *p)
{
	return bpf_object__find_program_by_name(s->obj, p->name);
}

/* begin and end: the kernel runs them here and now. */
static int run_programs(struct session *s, enum provider_run when)
{
	for (unsigned i = 0; i < s->img->nprogs; i++) {
		const struct image_prog *p = &s->img->progs[i];
		LIBBPF_OPTS(bpf_test_run_opts, opts);
		int r;

		if (p->provider->run != when)
			continue;
		r = bpf_prog_test_run_opts(bpf_program__fd(find_program(s, p)), &opts);
		if (r) {
			log_error("cannot run %s: %s", p->provider->name, why_errno(r));
			return r;
		}
		drain(s, 0);
	}
	return 0;
}

static int attach(struct session *s, const struct image_prog *p)
{
	struct loaded_probe lp = {
		.image = s->img,
		.prog = p,
		.bpf = find_program(s, p),
		.target = s->target,
		.pid = s->opt->pid,
		.links = &s->links,
	};

	return p->provider->attach ? p->provider->attach(&lp) : 0;
}

/* In such an order that the kernel runs programs of one place in that of the script. */
static int attach_all(struct session *s, unsigned *ret_places)
{
	unsigned n = s->img->nprogs;
	int r = 0;

	for (unsigned i = 0; i < 2 * n && !r && !stop_asked(); i++) {
		const struct image_prog *p = &s->img->progs[i < n ? i : 2 * n - 1 - i];

		if (probe_is_newest_first(s->target, s->img, p) == (i < n))
			continue;
		r = attach(s, p);
		*ret_places += p->nplaces;
	}
	return r;
}

/* Of begin and end alone there is nothing to wait for. */
static bool has_attached(const struct session *s)
{
	for (unsigned i = 0; i < s->img->nprogs; i++)
		if (s->img->progs[i].provider->attach)
			return true;
	return false;
}

static void say_attached(struct session *s, unsigned places)
{
	unsigned skipped = s->links.skipped;

	if (s->opt->quiet)
		return;
	fprintf(stderr, "Attached %u probe%s\n", places - skipped,
		places - skipped == 1 ? "" : "s");
	if (skipped)
		log_warn("%u place%s skipped: the kernel cannot probe the instruction there "
			 "(-v lists them)", skipped, skipped == 1 ? " was" : "s were");
}

/* ---- running ------------------------------------------------------------ */

static void on_event(struct session *s, enum event_from from)
{
	switch (from) {
	case FROM_RING:
	case FROM_FOLLOW:
		drain(s, SLICE_NS);
		break;
	case FROM_SIGNAL:
	case FROM_PROCESS:
	case FROM_OUTPUT:
		s->ended = true;
		break;
	}
}

/* Between events, one at a time: a script that asks for the stacks of the whole machine
 * does not wait for all of its processes to be read. */
static void read_one_process(struct session *s)
{
	unwinders_add_process(s->unwinders, s->unread[--s->nunread]);
}

static void loop(struct session *s)
{
	struct epoll_event events[16];

	while (!s->ended) {
		int n = epoll_wait(s->epoll, events, 16, s->nunread ? 0 : -1);

		if (n < 0 && errno != EINTR)
			return;
		for (int i = 0; i < n; i++)
			on_event(s, events[i].data.u32);
		if (n <= 0 && s->nunread)
			read_one_process(s);
	}
}

static void report_lost(struct session *s)
{
	static const char *const what[LOST_MAX] = {
		[LOST_RING] = "events lost: the ring buffer was full",
		[LOST_SCRATCH] = "events lost: programs interrupted one another too deeply",
		[LOST_MAP] = "updates lost: a map was full (config max_map_keys)",
		[LOST_STACK] = "stacks lost their frames: the ring buffer was full",
		[LOST_LOOP] = "loops were ended early: a loop has at most 8388608 rounds (256 before Linux 5.17)",
	};
	int fd = bpf_object__find_map_fd_by_name(s->obj, "lost");
	int ncpus = libbpf_num_possible_cpus();
	_cleanup_(freep) uint64_t *v = calloc(ncpus, sizeof(*v));

	for (uint32_t k = 0; v && fd >= 0 && k < LOST_MAX; k++) {
		uint64_t sum = 0;

		if (bpf_map_lookup_elem(fd, &k, v))
			continue;
		for (int i = 0; i < ncpus; i++)
			sum += v[i];
		if (sum)
			log_warn("%" PRIu64 " %s", sum, what[k]);
	}
}

static void print_maps(struct session *s)
{
	_cleanup_(freep) const struct image_map **sorted = calloc(s->img->nmaps + 1,
		sizeof(*sorted));
	unsigned n = 0;

	for (unsigned i = 0; sorted && i < s->img->nmaps; i++) {
		unsigned at = n++;

		for (; at && strcmp(sorted[at - 1]->name, s->img->maps[i].name) > 0; at--)
			sorted[at] = sorted[at - 1];
		sorted[at] = &s->img->maps[i];
	}
	for (unsigned i = 0; i < n; i++)
		if (print_map(s, sorted[i], 0, 0, false) > 0)
			s->seen++;
}

/* What reads a flame graph's input reads all of it. */
static bool only_folded(const struct image *img)
{
	bool all = img->print_maps && img->nmaps;

	for (unsigned i = 0; i < img->nmaps; i++)
		all &= map_is_folded(&img->maps[i]);
	return all;
}

static void stats(struct session *s)
{
	struct str text = {};

	if (s->unwinders && log_level >= 1) {
		unwinders_stats(s->unwinders, &text);
		fputs(str_text(&text), stderr);
		str_done(&text);
	}
}

static void finish(struct session *s)
{
	who_stop(s->obj);
	links_detach(&s->links);
	drain(s, 0);
	output_last(s->opt->out);
	s->exit_called = false;
	run_programs(s, RUN_END);
	drain(s, 0);
	priority_normal();
	if (!only_folded(s->img))
		fputs("\n\n", s->out);
	if (s->img->print_maps)
		print_maps(s);
	output_flush(s->opt->out);
	if (!output_has_reader(s->opt->out))
		return;
	report_lost(s);
	if (!s->seen && has_attached(s) && s->img->print_maps && !s->opt->quiet)
		log_hint("no events: no probe fired, or every event was filtered out");
	stats(s);
}

/* Processes are read while the kernel verifies. */
static int load(struct session *s)
{
	int r, verified;

	s->load.only_pid = s->opt->child ? 0 : s->opt->pid;
	r = load_start(s->img, s->target, &s->load);
	if (!r && !s->opt->dry_run)
		r = open_unwinders(s);
	verified = s->load.obj ? load_wait(s->img, &s->load) : 0;
	if (r || verified)
		return r ? r : verified;
	s->obj = s->load.obj;
	return 0;
}

static int start(struct session *s)
{
	unsigned places = 0;
	int r = 0;

	priority_raise(); /* what -c runs was forked before */
	if (!s->opt->dry_run)
		r = open_process(s);
	if (!r)
		r = load(s); /* until then a signal ends strata: there is nothing to print */
	if (!r && !s->opt->dry_run)
		r = open_signals(s);
	if (r || s->opt->dry_run)
		return r;
	forget_programs(s);
	watch_output(s);
	r = open_ring(s);
	s->forget = (struct forget){ s->img, s->obj, s->ring, s->unwinders };
	if (!r)
		r = open_tree(s);
	if (!r)
		r = run_programs(s, RUN_BEGIN);
	if (!r && !s->ended)
		r = attach_all(s, &places);
	if (!r && !s->ended)
		say_attached(s, places);
	if (!has_attached(s))
		s->ended = true;
	if (!r && s->opt->child && !s->ended)
		r = child_release(s->opt->child);
	return r;
}

static void session_done(struct session *s)
{
	links_done(&s->links);
	follow_close(s->follow);
	ring_buffer__free(s->ring);
	unwinders_free(s->unwinders);
	if (s->load.maps)
		s->load.maps->free(s->load.maps);
	bpf_object__close(s->load.obj);
	free(s->unread);
	closep(&s->process);
	closep(&s->epoll);
}

int session_run(const struct image *img, struct target *t, const struct session_options *opt)
{
	struct session s = {
		.img = img,
		.target = t,
		.opt = opt,
		.show = {.image = img, .target = t},
		.terminal = isatty(output_fd(opt->out)),
		.epoll = epoll_create1(EPOLL_CLOEXEC),
		.out = output_file(opt->out),
		.process = -1,
	};
	int r = s.epoll < 0 ? -errno : start(&s);

	if (!r && !opt->dry_run) {
		loop(&s);
		finish(&s);
	}
	session_done(&s);
	return r ? 1 : s.code;
}
