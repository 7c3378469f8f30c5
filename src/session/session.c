// SPDX-License-Identifier: Apache-2.0
/* session.c - running scripts. One thread waits for the ring buffer, events of processes, signals, and the
 * end of the traced process and of the reader. */
#include "session.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/owner.h"
#include "base/priority.h"
#include "base/stop.h"
#include "base/str.h"
#include "base/why.h"
#include "output/stream.h"
#include "session/about.h"
#include "session/entries.h"
#include "session/follow.h"
#include "session/holds.h"
#include "session/losses.h"
#include "session/pcap.h"
#include "session/problems.h"
#include "session/session_priv.h"
#include "session/trials.h"
#include "target/target.h"
#include "unwinders/maps/maps.h"
#include "unwinders/requests/requests.h"
#include "unwinders/unwinders.h"

#define SLICE_NS 50000000ull /* time for reading records before other events are handled */

/* ---- set-up ------------------------------------------------------------- */

/* Logs "cannot .." and returns r. */
static int failed(const char *what, int r)
{
	char limit[128];

	memory_limit(limit, sizeof(limit));
	log_error("cannot %s: %s%s", what, r == -ENOMEM ? "out of memory: " : "", r == -ENOMEM ? limit : why_errno(r));
	return r;
}

static void drain_all(void *arg)
{
	session_drain(arg, 0);
}

int session_watch(struct session *s, int fd, enum event_from from)
{
	struct epoll_event e = {.events = EPOLLIN, .data.u32 = from};

	return epoll_ctl(s->epoll, EPOLL_CTL_ADD, fd, &e) ? -errno : 0;
}

void session_unwatch(const struct session *s, int fd)
{
	epoll_ctl(s->epoll, EPOLL_CTL_DEL, fd, NULL);
}

static int open_signals(struct session *s)
{
	int fd = stop_open(!s->opt.is_prompt);

	if (s->opt.child)
		stop_kills(s->opt.child->pid);
	fd = fd < 0 ? fd : session_watch(s, fd, FROM_SIGNAL);
	return fd < 0 ? failed("wait for signals", fd) : 0;
}

/* Blocks the signals, so that they can be read, before there are threads that could get them. */
static int open_self(struct session *s, const struct image *img)
{
	uint64_t wanted = image_signals(img);
	bool is_new = s->signals < 0;

	if (!wanted)
		return 0;
	for (int i = 1; i < 64; i++)
		if (wanted >> i & 1)
			sigaddset(&s->wanted, i);
	sigprocmask(SIG_BLOCK, &s->wanted, NULL);
	s->signals = signalfd(s->signals, &s->wanted, SFD_CLOEXEC | SFD_NONBLOCK);
	if (s->signals < 0)
		return failed("wait for the script's signals", -errno);
	return is_new && session_watch(s, s->signals, FROM_SELF) ? failed("wait for the script's signals", -errno) : 0;
}

static void drain_slice(void *arg)
{
	session_drain(arg, SLICE_NS);
}

static void on_self(struct session *s)
{
	struct signalfd_siginfo info;

	while (!s->ended && read(s->signals, &info, sizeof(info)) == sizeof(info))
		for (size_t i = 0; i < s->objects.len && !s->ended; i++)
			if (session_object(s, i))
				image_object_run(s->objects.data[i], RUN_SIGNAL, info.ssi_signo, drain_slice, s);
}

/* The kernel reports the end of a pipe's reader; for other files it reports nothing. */
static void watch_output(struct session *s)
{
	struct epoll_event e = {.data.u32 = FROM_OUTPUT};

	epoll_ctl(s->epoll, EPOLL_CTL_ADD, stream_fd(s->opt.stream), &e);
}

static int open_process(struct session *s)
{
	int pid = s->opt.child ? s->opt.child->pid : s->opt.pid;

	if (s->opt.roots.n)
		return roots_watch(s);
	if (!pid)
		return 0;
	s->process = syscall(SYS_pidfd_open, pid, 0);
	if (s->process < 0) {
		int r = -errno;

		log_error("cannot watch process %d: %s", pid, why_errno(r));
		return r;
	}
	return session_watch(s, s->process, FROM_PROCESS) ? failed("wait for the process", -errno) : 0;
}

static int open_ring(struct session *s, const struct image *img, int fd)
{
	int r;

	if (s->ring || !img->ring || fd < 0)
		return 0;
	s->ring = session_new_ring(s, fd);
	s->forget.pace = &s->pace;
	r = s->ring ? pace_open(&s->pace, s->ring, s->epoll, FROM_RING, FROM_TIMER) : -errno;
	return r ? failed("read the ring buffer", r) : 0;
}

int session_attach_raw(struct session *s, const struct image_object *o, const char *program,
	const char *tracepoint)
{
	struct bpf_program *prog = image_object_attached(o, program);
	struct bpf_link *link = prog ? bpf_program__attach_raw_tracepoint(prog, tracepoint) : NULL;

	if (!link)
		return prog ? -errno : -ENOENT;
	vec_push(&s->links.list, link);
	return 0;
}

static int open_roots(struct session *s, const struct image_object *o, int tree)
{
	int r = s->opt.roots.children ? session_attach_raw(s, o, "tree_fork", "sched_process_fork") : 0;

	return r ? failed("follow the children of processes", r) : roots_name(s, tree);
}

/* Follows the descendants of -c's command, or of -p's processes. */
static int open_tree(struct session *s, const struct image_object *o)
{
	int fd = shared_fd(&s->shared, "tree");
	uint32_t one = 1, pid;

	if (fd >= 0 && s->opt.roots.n)
		return open_roots(s, o, fd);
	if (fd < 0 || !s->opt.child)
		return 0;
	pid = s->opt.child->pid;
	if (bpf_map_update_elem(fd, &pid, &one, BPF_ANY))
		return failed("name the command to the kernel", -errno);
	fd = session_attach_raw(s, o, "tree_fork", "sched_process_fork");
	return fd ? failed("follow the command's processes", fd) : 0;
}

/* Called with the first image. Before that, a signal ends strata at once, because there is nothing to print. */
static int set_up(struct session *s, const struct image_object *o)
{
	int r;

	if (s->is_set_up)
		return 0;
	s->is_set_up = true;
	r = open_signals(s);
	if (r)
		return r;
	watch_output(s);
	if (s->opt.until_eof && (r = session_watch(s, STDIN_FILENO, FROM_INPUT)))
		return failed("wait for the end of the standard input", r);
	return open_tree(s, o);
}

static void set_output(struct session *s, const struct session_options *opt)
{
	s->out = (struct out){
		.output = opt->output,
		.stream = opt->stream,
		.show = &s->show,
		.terminal = isatty(stream_fd(opt->stream)),
		.quiet = opt->quiet,
		.long_names = opt->long_names,
	};
	s->show = (struct show){
		.target = s->target,
		.libraries = opt->libraries,
		.begins = &s->advice.begins,
		.exact = opt->output->exact,
		.text = output_show_text(opt->output, s->out.terminal),
		.skips_empty = s->out.terminal || !opt->settings->print_empty_stacks,
		.skips_startup = !opt->startup && !opt->settings->print_startup_stacks,
		.skips_idle = !opt->idle && !opt->settings->print_idle_stacks,
	};
}

static void each_waiting_stack(void *waiting, void (*f)(void *arg, uint64_t id), void *arg)
{
	struct session *s = waiting;

	for (size_t i = 0; i < s->objects.len; i++)
		if (session_object(s, (uint32_t)i) && s->objects.data[i]->env.holds)
			holds_each_stack(s->objects.data[i]->env.holds, f, arg);
}

int session_open(struct target *t, const struct session_options *opt, struct session **ret)
{
	struct session *s = calloc(1, sizeof(*s));
	int r;

	if (!s)
		out_of_memory();
	*ret = s;
	s->target = t;
	s->opt = *opt;
	s->process = s->forget_link = -1;
	s->signals = s->window = -1;
	s->load = (struct load_env){
		.target = t,
		.shared = &s->shared,
		.walkers = &s->walkers,
		.ticks = &s->ticks,
		.pid = opt->roots.n ? 0 : opt->pid,
		.only_pid = opt->child || opt->roots.n ? 0 : opt->pid,
		.may_enter = !opt->child && !opt->dry_run && !opt->grows && opt->mode == SCRIPT_RUNS,
		.ring_pages = opt->settings->perf_rb_pages,
	};
	set_output(s, opt);
	r = output_open(&s->out, opt->pack);
	if (r)
		return failed("compress the output", r);
	s->forget.shared = &s->shared;
	s->forget.each_waiting = each_waiting_stack;
	s->forget.waiting = s;
	s->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (s->epoll < 0)
		return failed("wait for events", -errno);
	r = ticks_open(&s->ticks);
	r = r ? r : session_watch(s, s->ticks.timer, FROM_TICKS);
	if (r)
		return failed("make a timer", r);
	priority_raise(); /* -c's command was forked before */
	return opt->dry_run ? 0 : open_process(s);
}

/* ---- images ------------------------------------------------------------- */

uint32_t session_next(const struct session *s)
{
	return s->objects.len;
}

/* Compares the memory that a script and its maps need with the limit of the control group, above which the
 * kernel would kill strata. */
static int check_group(struct session *s, const struct image *img)
{
	enum { STACKS_MB = 80, SCRIPT_MB = 6 };
	uint64_t limit = target_memory_limit(s->target) >> 20, needs = img->user_stacks ? STACKS_MB : SCRIPT_MB;

	if (limit >= needs)
		return 0;
	log_error("out of memory: the control group of strata may use %llu MiB, and a script with%s stacks needs about "
		"%llu", (unsigned long long)limit, img->user_stacks ? "" : "out", (unsigned long long)needs);
	log_hint("raise memory.max (memory.limit_in_bytes), or run strata in another control group");
	return -ENOMEM;
}

/* Reads processes while the kernel verifies. */
static int load(struct session *s, struct image_object *o, const struct image *img)
{
	int verified, r = check_group(s, img);

	if (!r && !s->opt.dry_run)
		r = open_self(s, img);
	if (img->user_stacks || img->streams)
		priority_urgent();
	r = r ? r : image_object_start(o, img, &s->load);
	if (r)
		return r;
	if (!s->opt.dry_run)
		r = session_open_unwinders(s, o);
	s->forget.unwinders = s->unwinders;
	r = r ? r : open_ring(s, img, image_object_ring(o)); /* the kernel maps each page, which takes a millisecond */
	verified = image_object_wait(o, &s->load, s->unwinders);
	if (!r && !verified && o->entries)
		r = session_watch(s, entries_fd(o->entries), FROM_ENTRIES);
	return r ? r : verified;
}

static void say_attached(struct session *s, const struct image_object *o, unsigned places)
{
	unsigned skipped = o->links.skipped;
	struct output_event e = {.kind = OUTPUT_ATTACHED, .n = places - skipped, .early = s->ended};

	s->out.output->event(&s->out, &e);
	if (skipped && !s->opt.quiet)
		log_warn("%u place%s skipped: the kernel cannot probe the instruction there "
			 "(-v lists them)", skipped, skipped == 1 ? " was" : "s were");
}

static bool drain_step(void *arg)
{
	struct session *s = arg;

	session_drain(s, 0);
	return !s->ended && !stop_asked();
}

/* The output of begin is held back, because it comes after the line with the number of
 * attached probes, as in bpftrace. */
struct held {
	FILE *file, *out;
	char *text;
	size_t size;
};

static void hold(struct session *s, struct held *h)
{
	h->out = s->out.file;
	h->file = open_memstream(&h->text, &h->size);
	if (h->file)
		s->out.file = h->file;
}

static void let_go(struct session *s, struct held *h)
{
	if (!h->file)
		return;
	fclose(h->file);
	fwrite(h->text, 1, h->size, h->out);
	free(h->text);
	stream_flush(s->opt.stream);
}

static int attach(struct session *s, struct image_object *o)
{
	bool reports = s->opt.mode == SCRIPT_RUNS && !s->opt.is_prompt;
	struct held held = {};
	unsigned places;
	int r;

	if (reports)
		hold(s, &held);
	r = image_object_run(o, RUN_BEGIN, 0, drain_all, s);
	if (!r && s->ended)
		places = image_object_begin_places(o);
	else if (!r)
		r = image_object_attach(o, &s->load, &places);
	if (held.file)
		s->out.file = held.out;
	if (!r && reports)
		say_attached(s, o, places);
	let_go(s, &held);
	return r;
}

static int start(struct session *s, struct image_object *o)
{
	int r = attach(s, o);

	if (!r && s->opt.mode != SCRIPT_RUNS)
		r = trials_run(s, o, drain_all);
	if (!r && !s->ended)
		r = image_object_iterate(o, drain_step, s);
	if (!image_object_has_probes(o) && !s->opt.grows && !s->opt.child)
		s->ended = true;
	return r;
}

static int run(struct session *s, struct image_object *o)
{
	int r = set_up(s, o);

	if (r)
		return r;
	session_forget_programs(s, o);
	r = session_open_requests(s, o);
	if (r) {
		log_error("cannot follow the requests of processes: %s", why_errno(r));
		return r;
	}
	if (s->out.output->begin)
		s->out.output->begin(&s->out, o->img);
	r = open_ring(s, o->img, shared_fd(&s->shared, "ring"));
	if (!r)
		r = start(s, o);
	r = r ? r : session_open_window(s);
	if (!r && s->opt.child && !s->ended && !s->is_released)
		r = child_release(s->opt.child);
	s->is_released = true;
	if (s->unwinders)
		unwinders_settle(s->unwinders);
	s->begun = s->seen;
	if (!s->about_whom.len)
		about_process(s, &s->about_whom);
	silence_begin(&s->silence, s->target, s->opt.pid, s->opt.child);
	if (!r && !s->opt.quiet)
		silence_expect(s->target, o->img->named, o->img->nnamed);
	return r;
}

bool session_next_grows(const struct session *s)
{
	return s->opt.grows && !s->shared.maps.len;
}

bool session_has_walker(const struct session *s)
{
	return s->walkers.elf && target_feature(s->target, FEATURE_TAIL_CALL);
}

static bool is_in_order(const struct session *s, const struct image *img)
{
	if (img->number == s->objects.len && img->number < IMAGES_MAX &&
		img->grows == session_next_grows(s) && (s->opt.grows || !img->number))
		return true;
	log_error("internal error: image %u is not the session's next", img->number);
	return false;
}

static struct image_object *new_object(struct session *s, const struct image *img)
{
	struct image_object *o = calloc(1, sizeof(*o));

	if (!o)
		out_of_memory();
	o->env = (struct record_env){
		.out = &s->out,
		.image = img,
		.shared = &s->shared,
		.settings = s->opt.settings,
		.again = session_on_script,
		.again_arg = s,
		.top = s->opt.top,
		.warn_reads = s->opt.warn_reads,
	};
	vec_push(&s->objects, o);
	vec_push(&s->images, img);
	s->show.images = s->images.data;
	s->show.nimages = s->images.len;
	return o;
}

int session_add(struct session *s, const struct image *img)
{
	struct image_object *o;
	int r;

	if (!is_in_order(s, img))
		return -EINVAL;
	o = new_object(s, img);
	r = load(s, o, img);
	if (!r && img->grows)
		r = walkers_begin(&s->walkers, img);
	if (!r && !s->opt.dry_run)
		r = run(s, o);
	if (r) {
		image_object_done(o);
		shared_forget(&s->shared, img);
	}
	return r;
}

int session_drop(struct session *s, uint32_t image)
{
	struct image_object *o = session_object(s, image);
	int r;

	if (!o)
		return -ENOENT;
	image_object_stop(o);
	ticks_drop(&s->ticks, image);
	links_detach(&o->links);
	session_drain(s, 0);
	r = image_object_run(o, RUN_END, 0, drain_all, s);
	image_object_done(o);
	return r;
}

int session_fd(const struct session *s)
{
	return s->epoll;
}

bool session_is_reading(const struct session *s)
{
	return s->nunread;
}

bool session_exited(const struct session *s, uint32_t *ret_image)
{
	for (size_t i = 0; i < s->objects.len; i++)
		if (session_object(s, (uint32_t)i) && s->objects.data[i]->env.exit_called) {
			*ret_image = (uint32_t)i;
			return true;
		}
	return false;
}

void session_forget(struct session *s, uint32_t image)
{
	static const struct image nothing;

	if (image >= s->images.len || session_object(s, image))
		return;
	s->images.data[image] = &nothing;
	s->objects.data[image]->img = &nothing;
}

const struct shared *session_maps(const struct session *s)
{
	return &s->shared;
}

const struct show *session_show(const struct session *s)
{
	return &s->show;
}

void session_progress(const struct session *s, struct session_progress *ret)
{
	*ret = (struct session_progress){
		.samples = losses_events(&s->shared),
		.lost = losses_total(&s->shared),
		.incomplete = s->unwinders ? unwinders_incomplete(s->unwinders) : 0,
	};
}

void session_cost(const struct session *s, uint32_t image, uint64_t *ret_ns, uint64_t *ret_runs)
{
	const struct image_object *o = session_object(s, image);

	*ret_ns = *ret_runs = 0;
	if (o)
		image_object_cost(o, ret_ns, ret_runs);
}

/* ---- running ------------------------------------------------------------ */

/* Returns false at the end of the standard input. */
static bool has_input(void)
{
	char buf[256];
	ssize_t n = read(STDIN_FILENO, buf, sizeof(buf));

	return n > 0 || (n < 0 && (errno == EINTR || errno == EAGAIN));
}

static void on_event(struct session *s, enum event_from from)
{
	switch (from) {
	case FROM_RING:
	case FROM_TIMER:
		session_drain(s, SLICE_NS);
		pace_next(&s->pace);
		break;
	case FROM_FOLLOW:
		session_drain(s, SLICE_NS);
		follow_rest(s->follow);
		break;
	case FROM_TICKS:
		ticks_run(&s->ticks);
		break;
	case FROM_SELF:
		on_self(s);
		break;
	case FROM_REQUESTS:
		requests_poll(s->requests);
		break;
	case FROM_WINDOW:
		session_end_window(s);
		break;
	case FROM_ENTRIES: /* see grow() */
		break;
	case FROM_INPUT:
		s->ended = !has_input();
		break;
	case FROM_PROCESS:
		s->ended = !s->opt.roots.n || roots_ended(s);
		break;
	case FROM_SIGNAL:
	case FROM_OUTPUT:
		s->ended = true;
		break;
	}
}

/* Processes may have mapped another language. */
static void grow(struct session *s)
{
	for (size_t i = 0; i < s->objects.len; i++)
		image_object_grow(s->objects.data[i], s->unwinders);
}

bool session_poll(struct session *s, int timeout_ms)
{
	struct epoll_event events[16];
	int n;

	if (s->ended || s->opt.dry_run)
		return false;
	priority_spend();
	n = epoll_wait(s->epoll, events, 16, s->nunread || s->backlog.bytes ? 0 : timeout_ms);
	if (n < 0 && errno != EINTR)
		s->ended = true;
	for (int i = 0; i < n; i++)
		on_event(s, events[i].data.u32);
	if (n <= 0 && s->backlog.bytes)
		session_drain(s, SLICE_NS);
	else if (n <= 0 && s->nunread)
		session_read_one_process(s);
	grow(s);
	return !s->ended;
}

/* ---- the end ------------------------------------------------------------ */

static void stats(struct session *s)
{
	struct str text = {};

	if (s->unwinders && log_level >= 1) {
		unwinders_stats(s->unwinders, &text);
		fputs(str_text(&text), stderr);
		str_done(&text);
	}
}

/* Returns whether an image has probes that can fire, and maps to print. A script without maps that prints only in
 * begin wants no events. */
static bool wants_events(const struct session *s)
{
	bool wants = false;

	for (size_t i = 0; i < s->objects.len; i++)
		wants |= s->images.data[i]->print_maps && image_object_has_probes(s->objects.data[i]) &&
			(!s->begun || s->images.data[i]->nmaps);
	return wants;
}

static void end_images(struct session *s)
{
	session_find_lost(s);
	for (size_t i = 0; i < s->objects.len; i++)
		if (session_object(s, i))
			image_object_stop(s->objects.data[i]);
	ticks_close(&s->ticks);
	for (size_t i = 0; i < s->objects.len; i++)
		links_detach(&s->objects.data[i]->links);
	session_drain(s, 0);
	stream_last(s->opt.stream);
	for (size_t i = 0; i < s->objects.len; i++) {
		struct image_object *o = session_object(s, i);

		if (!o)
			continue;
		o->env.exit_called = false;
		image_object_run(o, RUN_END, 0, drain_all, s);
	}
	session_drain(s, 0);
}

static void report_problems(struct session *s)
{
	uint64_t undecided = problems_report(&s->shared, s->images.data, s->images.len);

	for (size_t i = 0; i < s->objects.len; i++)
		holds_report(s->objects.data[i]->env.holds);
	if (s->seen == s->begun && !undecided && !s->advice.startup && wants_events(s))
		silence_explain(&s->silence, s->target);
}

int session_finish(struct session *s)
{
	if (s->opt.dry_run)
		return 0;
	s->ended_ns = clock_ns(CLOCK_MONOTONIC);
	end_images(s);
	priority_normal();
	if (s->opt.mode == SCRIPT_RUNS)
		session_print_last(s);
	stream_flush(s->opt.stream);
	if (!stream_has_reader(s->opt.stream))
		return s->code;
	losses_report(&s->out, &s->shared, s->objects.data, s->objects.len);
	if (!s->opt.quiet)
		report_problems(s);
	if (!s->opt.quiet) {
		advice_begins(&s->advice);
		advice_show_idle(&s->advice);
		advice_own_code(&s->advice);
	}
	stats(s);
	return s->code;
}

static void stop_following(struct session *s)
{
	follow_close(s->follow);
	closep(&s->forget_link);
	reuse_close(&s->reuse);
}

void session_close(struct session *s)
{
	if (!s)
		return;
	output_close(&s->out);
	pcap_close();
	ticks_close(&s->ticks);
	links_detach(&s->links);
	for (size_t i = 0; i < s->objects.len; i++) {
		image_object_done(s->objects.data[i]);
		free(s->objects.data[i]);
	}
	links_done(&s->links);
	stop_following(s);
	pace_close(&s->pace);
	ring_buffer__free(s->ring);
	backlog_done(&s->backlog);
	free(s->whole);
	if (s->unwinders)
		unwinders_feed(s->unwinders, NULL);
	requests_free(s->requests);
	if (s->opt.is_last)
		unwinders_leave(s->unwinders);
	else
		unwinders_free(s->unwinders);
	if (s->load.maps)
		s->load.maps->free(s->load.maps);
	walkers_done(&s->walkers);
	shared_done(&s->shared);
	for (size_t i = 0; i < s->root_fds.len; i++)
		close(s->root_fds.data[i]);
	vec_done(&s->root_fds);
	str_done(&s->about_whom);
	str_done(&s->about);
	vec_done(&s->objects);
	free(s->advice.begins);
	vec_done(&s->images);
	free(s->unread);
	closep(&s->process);
	closep(&s->window);
	closep(&s->signals);
	closep(&s->epoll);
	free(s);
}
