// SPDX-License-Identifier: Apache-2.0
/* unwind.c - --unwind PID or CORE. A process is held by ptrace only while it is walked:
 * names are looked up when it runs again. */
#include "unwind.h"

#include <errno.h>
#include <stdlib.h>

#include "base/log.h"
#include "base/owner.h"
#include "base/str.h"
#include "model/type.h"
#include "runtime/show.h"
#include "runtime/why.h"
#include "target/elf.h"
#include "target/target.h"
#include "unwinders/procs/core.h"
#include "unwinders/procs/stopped.h"
#include "unwinders/unwinders.h"

struct walked { /* one thread */
	int tid;
	uint64_t stack; /* its id */
};

static size_t walk_threads(struct unwinders *u, int pid, const struct stopped *s,
	struct walked *ret)
{
	struct host_regs regs;
	size_t n = 0;

	for (size_t i = 0; i < s->n; i++) {
		ret[n] = (struct walked){.tid = s->tids[i]};
		if (!stopped_regs(s->tids[i], &regs) &&
			!unwinders_walk(u, pid, &regs, 0, UNWIND_LIMIT_MAX, &ret[n].stack))
			n++;
	}
	return n;
}

static void print_threads(struct target *t, struct unwinders *u, const struct walked *threads,
	size_t n, FILE *out)
{
	const struct show show = {.target = t, .unwinders = u};
	const struct type type = {
		.kind = TYPE_STACK,
		.size = 8,
		.stack = {.lang = FRAME_LANG_NATIVE, .mode = STACK_BPFTRACE, .limit = UNWIND_LIMIT_MAX},
	};

	for (size_t i = 0; i < n; i++) {
		struct str text = {};

		show_stack(&show, &type, threads[i].stack, &text);
		fprintf(out, "%sthread %d:%s", i ? "\n" : "", threads[i].tid, str_text(&text));
		str_done(&text);
	}
}

static int walk_process(struct target *t, struct unwinders *u, int pid, FILE *out)
{
	_cleanup_(freep) struct walked *threads = NULL;
	struct stopped s;
	size_t n;
	int r = stopped_open(pid, &s);

	if (r) {
		log_error("cannot stop process %d: %s", pid, why_errno(r));
		log_hint("ptrace allows it for one's own processes that nobody else traces, and "
			 "for root");
		return 1;
	}
	threads = calloc(s.n + 1, sizeof(*threads));
	n = threads ? walk_threads(u, pid, &s, threads) : 0;
	stopped_close(&s);
	print_threads(t, u, threads, n, out);
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
	int r = u ? walk_process(t, u, pid, out) : 1;

	unwinders_free(u);
	return r;
}

/* ---- a core ------------------------------------------------------------- */

static struct core *open_core(const char *path)
{
	struct core *c = NULL;
	struct elf *e = NULL;
	int r = elf_open(path, &e);

	if (!r && !elf_is_core(e)) {
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
	size_t n = 0;

	if (r) {
		log_error("cannot read %s: %s", exe ? exe : "the core's files", why_errno(r));
		return 1;
	}
	for (size_t i = 0; threads && i < core_threads(c); i++) {
		threads[n] = (struct walked){.tid = core_tid(c, i)};
		if (!unwinders_walk_core(u, c, i, 0, UNWIND_LIMIT_MAX, &threads[n].stack))
			n++;
	}
	print_threads(t, u, threads, n, out);
	return !n;
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
