// SPDX-License-Identifier: Apache-2.0
/* unwind.c - --unwind PID or CORE. Each thread is held only while it is walked; names are looked up later. */
#include "unwind.h"

#include <errno.h>
#include <stdlib.h>

#include "base/log.h"
#include "base/owner.h"
#include "base/str.h"
#include "base/why.h"
#include "model/type.h"
#include "target/elf.h"
#include "target/target.h"
#include "threads.h"
#include "unwinders/procs/core.h"
#include "unwinders/unwinders.h"
#include "values/show.h"

/* Returns the number of printed threads. pid is 0 for a core, in which no thread is blocked. */
static size_t print_threads(struct target *t, struct unwinders *u, int pid, const struct walked *threads, size_t n,
	FILE *out)
{
	const struct show show = {.target = t, .unwinders = u};
	const struct type type = {
		.kind = TYPE_STACK,
		.size = 8,
		.stack = {.lang = FRAME_LANG_NATIVE, .mode = STACK_BPFTRACE, .limit = UNWIND_LIMIT_MAX},
	};

	size_t printed = 0;

	for (size_t i = 0; i < n; i++) {
		struct str text = {};

		if (!threads[i].is_walked)
			continue;
		if (threads[i].is_blocked)
			thread_kernel_stack(t, pid, threads[i].tid, &text);
		show_stack(&show, &type, threads[i].stack, &text);
		fprintf(out, "%sthread %d%s:%s", printed++ ? "\n" : "", threads[i].tid,
			threads[i].is_blocked ? ", uninterruptible (state D)" : "", str_text(&text));
		str_done(&text);
	}
	return printed;
}

static int walk_process(struct target *t, struct unwinders *u, int pid, FILE *out)
{
	_cleanup_(freep) struct walked *threads = NULL;
	long n = threads_list(t, pid, &threads);
	int r = n < 0 ? (int)n : threads_walk(t, u, pid, threads, (size_t)n);

	if (r) {
		log_error("cannot stop process %d: %s", pid, why_errno(r));
		log_hint("ptrace allows it for one's own processes that nobody else traces, and "
			 "for root");
		return 1;
	}
	n = (long)print_threads(t, u, pid, threads, (size_t)n, out);
	if (!n)
		log_error("no thread of process %d could be walked", pid);
	return !n;
}

static struct unwinders *set_up(struct target *t)
{
	struct walk_maps *maps = NULL;
	struct unwinders *u = NULL;
	int r = walk_maps_memory(&maps);

	if (!r)
		r = unwinders_new(t, maps, &u);
	if (r)
		log_error("cannot set up the unwinder: %s", why_errno(r));
	return u;
}

int unwind_process(struct target *t, int pid, FILE *out)
{
	struct unwinders *u = set_up(t);
	int r = 1;

	if (u) {
		unwinders_use_source_maps(u);
		r = walk_process(t, u, pid, out);
	}
	unwinders_free(u);
	return r;
}

/* ---- a core ------------------------------------------------------------- */

static struct core *open_core(const char *path)
{
	struct core *c = NULL;
	struct elf *e = NULL;
	int r = elf_open(path, &e);

	if (!r && (!elf_is_core(e) || elf_is_32(e))) {
		elf_close(e);
		r = -ENOEXEC;
	} else if (!r) {
		r = core_open(e, &c);
	}
	if (r == -ENOEXEC)
		log_error("%s is neither a process ID nor a core file", path);
	else if (r)
		log_error("cannot read %s: %s", path, why_errno(r));
	return c;
}

static int walk_core(struct target *t, struct unwinders *u, struct core *c, const char *exe, FILE *out)
{
	_cleanup_(freep) struct walked *threads = calloc(core_threads(c) + 1, sizeof(*threads));
	int r = unwinders_add_core(u, c, exe);

	if (r) {
		log_error("cannot read %s: %s", exe ? exe : "the core's files", why_errno(r));
		return 1;
	}
	for (size_t i = 0; threads && i < core_threads(c); i++) {
		threads[i].tid = core_tid(c, i);
		threads[i].is_walked = !unwinders_walk_core(u, c, i, 0, UNWIND_LIMIT_MAX, &threads[i].stack);
	}
	return !threads || !print_threads(t, u, 0, threads, core_threads(c), out);
}

int unwind_core(const char *path, const char *exe, const char *sysroot, FILE *out)
{
	struct core *c = open_core(path);
	struct target *t = c ? target_open(sysroot ? sysroot : "/") : NULL;
	struct unwinders *u = t ? set_up(t) : NULL;
	int r = u ? walk_core(t, u, c, exe, out) : 1;

	unwinders_free(u);
	target_close(t);
	core_close(c);
	return r;
}
