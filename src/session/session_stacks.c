// SPDX-License-Identifier: Apache-2.0
/* session_stacks.c - a session's work for stacks: makes the unwinders, follows and reads processes. */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/owner.h"
#include "base/rights.h"
#include "session/child.h"
#include "session/follow.h"
#include "session/session_priv.h"
#include "target/demangle.h"
#include "target/target.h"
#include "unwinders/requests/requests.h"
#include "unwinders/unwinders.h"

#define READ_RUNNING_NS 1000000000ull

/* Makes the command's tables before it runs: it may live only 5 ms. */
static void preload_command(struct session *s, struct child *c)
{
	char *exe = c->traced ? proc_exe(s->target, c->pid) : NULL;
	const char *path = c->traced ? exe : target_which(s->target, c->argv[0]);
	const char *const *files = path ? target_closure(s->target, path) : NULL;

	for (; files && *files; files++)
		unwinders_preload_file(s->unwinders, *files);
	if (c->traced)
		unwinders_add_process(s->unwinders, c->pid);
	free(exe);
}

static void preload(struct session *s)
{
	if (s->opt.roots.n)
		roots_read(s);
	else if (s->opt.pid)
		unwinders_add_process(s->unwinders, s->opt.pid);
	if (s->opt.child)
		preload_command(s, s->opt.child);
}

/* Reads running processes before the first sample, for at most 1 s: a walk that is finished later
 * has only the copied stack. */
static void read_running(struct session *s)
{
	uint64_t end = clock_ns(CLOCK_MONOTONIC) + READ_RUNNING_NS;
	size_t n = s->nunread;

	s->nunread = 0;
	for (size_t i = 0; i < n; i++)
		if (clock_ns(CLOCK_MONOTONIC) < end && s->unread[i] != getpid() &&
			proc_running(s->target, s->unread[i]))
			unwinders_add_process(s->unwinders, s->unread[i]);
		else
			s->unread[s->nunread++] = s->unread[i];
}

/* Returns max_memory_mb, or a third of the memory limit of strata's control group if that is less. */
static uint64_t memory_limit_of(const struct session *s)
{
	uint64_t limit = s->opt.settings->max_memory_mb << 20, third = target_memory_limit(s->target) / 3;

	return third < limit ? third : limit;
}

/* Makes the unwinders, which name frames and addresses, and fill the maps that the kernel half reads. */
static int make_unwinders(struct session *s)
{
	int r = 0;

	s->on_bpf = s->load.maps;
	if (!s->load.maps)
		r = walk_maps_memory(&s->load.maps);
	if (r)
		return r;
	r = unwinders_new(s->target, s->load.maps, &s->unwinders);
	s->load.maps = NULL; /* the unwinders own it */
	if (r)
		return r;
	unwinders_limit(s->unwinders, s->opt.settings->max_cache_mb << 20, memory_limit_of(s));
	unwinders_on_table(s->unwinders, session_gather, s);
	s->backlog.limit = memory_limit_of(s) / 4;
	demangle_enable(s->opt.settings->cpp_demangle);
	if (!s->opt.settings->inlines)
		unwinders_show_inlines(false);
	if (s->opt.settings->js_source_maps)
		unwinders_use_source_maps(s->unwinders);
	s->show.unwinders = s->unwinders;
	return 0;
}

static int follow_processes(struct session *s)
{
	int pid = s->opt.child ? s->opt.child->pid : s->opt.pid;
	_cleanup_(freep) int *family = NULL;
	size_t n;
	int r;

	if (s->opt.roots.n)
		n = proc_family(s->target, s->opt.roots.pids, s->opt.roots.n, s->opt.roots.children, &family);
	else
		n = pid ? 1 : 0;
	r = follow_open(s->unwinders, family ? family : &pid, n, &s->follow);
	if (!r)
		r = session_watch(s, follow_fd(s->follow), FROM_FOLLOW);
	if (!r)
		preload(s);
	return r;
}

static uint32_t usual_languages(const struct session *s, int pid)
{
	_cleanup_(freep) char *exe = proc_exe(s->target, pid);

	return exe ? unwinders_usual_languages(exe) : 0;
}

/* Leaves out the kernel's threads, which have no program. Returns the languages of the programs by their names: to load
 * the programs that walk again, for a language that is found later, costs more than all these names. */
static uint32_t look_at_programs(struct session *s)
{
	size_t n = s->nunread;
	uint32_t ret = 0;

	s->nunread = 0;
	for (size_t i = 0; i < n; i++) {
		_cleanup_(freep) char *exe = proc_exe(s->target, s->unread[i]);

		if (exe || errno != ENOENT)
			s->unread[s->nunread++] = s->unread[i];
		ret |= exe ? unwinders_usual_languages(exe) : 0;
	}
	return ret;
}

/* Reads other processes while the kernel makes maps and verifies: the first sample may be of one that sleeps now. */
static void read_others(struct session *s, const struct image_object *o)
{
	while (s->nunread && image_object_is_loading(o))
		session_read_one_process(s);
}

/* The more processes are read before the programs that walk are loaded, the more likely these have all languages. */
static void read_all(struct session *s, struct image_object *o)
{
	s->nunread = proc_list(s->target, &s->unread);
	image_object_expect(o, look_at_programs(s));
	read_running(s);
	do
		read_others(s, o);
	while (image_object_load_walks(o, s->unwinders));
	while (s->nunread && o->img->requests) /* events of a process that was not read have no request */
		session_read_one_process(s);
}

/* A process that has just begun has not mapped its interpreter yet: its program's name gives the language. */
static void expect_of_program(struct session *s, struct image_object *o)
{
	const struct roots *roots = &s->opt.roots;
	const struct child *c = s->opt.child;
	uint32_t languages = 0;

	for (size_t i = 0; i < roots->n; i++)
		languages |= usual_languages(s, roots->pids[i]);
	if (s->opt.pid)
		languages |= usual_languages(s, s->opt.pid);
	if (c)
		languages |= c->traced ? usual_languages(s, c->pid) : unwinders_usual_languages(c->argv[0]);
	image_object_expect(o, languages);
}

/* The command of -c is this user's own. */
static void warn_rights(const struct session *s, bool user, bool kernel)
{
	user &= !s->opt.child;
	rights_warn((user ? RIGHTS_USER : 0) | (kernel ? RIGHTS_KERNEL : 0));
}

int session_open_unwinders(struct session *s, struct image_object *o)
{
	const struct image *img = o->img;
	bool names = img->user_stacks || img->user_symbols || img->requests;
	int r = 0;

	if (!names && !img->kernel_stacks)
		return 0;
	if (!s->unwinders) {
		warn_rights(s, names, img->kernel_stacks);
		r = make_unwinders(s);
	}
	if (!r && img->user_stacks && !s->on_bpf) {
		log_error("internal error: the session was not opened for stacks");
		r = -EINVAL;
	}
	if (!r && names && !s->follow)
		r = follow_processes(s);
	for (unsigned i = 0; !r && names && i < img->nnamed; i++)
		unwinders_add_process(s->unwinders, (int)img->named[i]);
	if (!r && (img->user_stacks || img->requests) && !s->opt.pid && !s->opt.child && !s->unread)
		read_all(s, o);
	else if (!r && img->user_stacks)
		expect_of_program(s, o);
	if (!r && img->user_stacks)
		image_object_load_walks(o, s->unwinders);
	if (!r)
		unwinders_preload_done(s->unwinders);
	return r;
}

/* Called when the object is loaded: its maps exist. */
int session_open_requests(struct session *s, const struct image_object *o)
{
	struct request_maps maps = {shared_fd(&s->shared, "request_procs"), shared_fd(&s->shared, "request_keys"),
		shared_fd(&s->shared, "request_texts")};
	int r;

	if (!o->img->requests || s->requests)
		return 0;
	s->requests = requests_new(s->target, &maps);
	r = s->requests ? requests_fd(s->requests) : -ENOMEM;
	r = r < 0 ? r : session_watch(s, r, FROM_REQUESTS);
	if (!r)
		unwinders_feed(s->unwinders, s->requests);
	return r;
}

static int attach_forget(struct session *s, const struct image_object *o)
{
	int r = session_attach_raw(s, o, "forget_program", "task_rename");

	if (r != -ENOENT || !s->walkers.forget)
		return r;
	s->forget_link = bpf_raw_tracepoint_open("task_rename", s->walkers.forget);
	return s->forget_link < 0 ? -errno : 0;
}

/* From now on the kernel forgets a process's mappings at its exec; earlier execs are read here. */
void session_forget_programs(struct session *s, const struct image_object *o)
{
	int r;

	if (!s->follow)
		return;
	r = s->forgets ? 0 : attach_forget(s, o);
	s->forgets = !r;
	if (r && r != -ENOENT)
		log_info("execs are heard of by perf's events alone: no raw tracepoint task_rename");
	follow_drain(s->follow, FOLLOW_NOW);
	unwinders_publish(s->unwinders);
}

void session_trim(struct session *s, uint64_t *ret_tables, unsigned *ret_refused)
{
	*ret_tables = 0;
	*ret_refused = 0;
	if (s->unwinders)
		unwinders_save_memory(s->unwinders, ret_tables, ret_refused);
	else
		malloc_trim(0); /* that of the compiler, above all */
}

void session_read_one_process(struct session *s)
{
	unwinders_add_process(s->unwinders, s->unread[--s->nunread]);
}
