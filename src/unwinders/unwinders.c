// SPDX-License-Identifier: Apache-2.0
/* unwinders.c - the front of the unwinders: follows processes, finishes walks, names frames.
 * unwinders.h explains each. */
#include "unwinders.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/owner.h"
#include "base/regular.h"
#include "base/str.h"
#include "frame_names.h"
#include "frame_store.h"
#include "stacks.h"
#include "target/elf.h"
#include "target/target.h"
#include "thread_notes.h"
#include "unwinders/host/walk.h"
#include "unwinders/maps/maps.h"
#include "unwinders/procs/core.h"
#include "unwinders/procs/file.h"
#include "unwinders/procs/process.h"
#include "unwinders/procs/rest.h"

#ifdef __aarch64__
#define MACHINE EM_AARCH64
#else
#define MACHINE EM_X86_64
#endif

struct unwinders {
	struct target *target;
	struct walk_maps *maps;
	struct files *files;
	struct processes *processes;
	struct stacks *stacks;
	void *lang_names[FRAME_LANGS]; /* results of lang.names_new() */
	struct host_memory *recorded; /* the core that is being walked, or NULL */
	struct names *names;
	uint64_t reread_after;     /* CLOCK_MONOTONIC ns, see read_again() */
	uint64_t memory_limit, stacks_left; /* bytes: of all memory; of stacks after the last forgetting */
	struct host_pages pages;   /* memory of the process whose walk is being finished */
	struct host_pages objects; /* memory of the process whose object is being read */
	struct {
		unsigned processes, misses, walks, unfinished, unreadable;
		uint64_t add_ns, walk_ns;
	} stats;
};

static int open_of_process(void *arg, int pid, const char *path)
{
	return proc_open_file(arg, pid, path);
}

static bool new_lang_names(struct unwinders *u)
{
	struct sourcemap_files files = { open_of_process, u->target };
	bool ok = true;

	for (unsigned i = 1; i < FRAME_LANGS; i++) {
		if (!langs[i]->names_new)
			continue;
		u->lang_names[i] = langs[i]->names_new();
		ok &= u->lang_names[i] != NULL;
		if (u->lang_names[i] && langs[i]->use_files)
			langs[i]->use_files(u->lang_names[i], &files);
	}
	return ok;
}

int unwinders_new(struct target *t, struct walk_maps *maps, struct unwinders **ret)
{
	struct unwinders *u = calloc(1, sizeof(*u));

	if (!u) {
		maps->free(maps);
		return -ENOMEM;
	}
	u->target = t;
	u->maps = maps;
	u->files = files_new(t, maps);
	u->processes = u->files ? processes_new(t, u->files, maps) : NULL;
	u->stacks = stacks_new();
	u->names = u->files ? names_new(t, u->files, u->lang_names) : NULL;
	if (!new_lang_names(u) || !u->processes || !u->stacks || !u->names) {
		unwinders_free(u);
		return -ENOMEM;
	}
	*ret = u;
	return 0;
}

void unwinders_free(struct unwinders *u)
{
	if (!u)
		return;
	names_free(u->names);
	for (unsigned i = 1; i < FRAME_LANGS; i++)
		if (u->lang_names[i])
			langs[i]->names_free(u->lang_names[i]);
	stacks_free(u->stacks);
	processes_free(u->processes);
	files_free(u->files);
	u->maps->free(u->maps);
	free(u);
}

void unwinders_leave(struct unwinders *u)
{
	if (u)
		files_keep(u->files);
}

void unwinders_use_source_maps(struct unwinders *u)
{
	for (unsigned i = 1; i < FRAME_LANGS; i++)
		if (langs[i]->use_source_maps)
			langs[i]->use_source_maps(u->lang_names[i],
				&(struct sourcemap_files){ open_of_process, u->target });
}

/* ---- memory ---- */

enum { DEAD_KEPT = 512 }; /* dead processes kept when memory is short: usym() soon asks for their names */

void unwinders_limit(struct unwinders *u, uint64_t cache, uint64_t memory)
{
	files_limit(u->files, cache, memory);
	frame_store_limit(memory);
	u->memory_limit = memory;
}

void unwinders_on_table(struct unwinders *u, void (*f)(void *arg), void *arg)
{
	files_on_table(u->files, f, arg);
}

/* Must not be called while a process or a file is in use, because it may free both. */
static void trim(struct unwinders *u)
{
	_cleanup_(freep) struct file **list = NULL;
	uint64_t excess;
	size_t n;

	if (!files_due(u->files))
		return;
	excess = files_excess(u->files);
	if (files_refused(u->files)) {
		processes_mark_files(u->processes);
		if (files_make_up(u->files))
			processes_reread(u->processes);
	}
	if (!excess)
		return;
	processes_forget(u->processes, DEAD_KEPT);
	processes_mark_files(u->processes);
	n = files_choose(u->files, excess, &list);
	for (size_t i = 0; i < n; i++)
		list[i]->leaving = true;
	if (n)
		names_keep(u->names, u->stacks);
	for (size_t i = 0; i < n; i++)
		files_evict(u->files, list[i]);
	if (n)
		log_info("memory: %zu files that nothing has mapped were evicted", n);
}

void unwinders_save_memory(struct unwinders *u, uint64_t *ret_tables, unsigned *ret_refused)
{
	trim(u);
	*ret_tables = files_kernel(u->files);
	*ret_refused = files_refused(u->files);
}

/* ---- files and processes ---- */

static void preload_closure(struct unwinders *u, const char *path, struct file *f)
{
	const char *const *files;

	if (!f || f->closure_done)
		return;
	f->closure_done = true;
	for (files = target_closure(u->target, path); *files; files++)
		files_of_path(u->files, *files);
}

void unwinders_preload_file(struct unwinders *u, const char *path)
{
	preload_closure(u, path, files_of_path(u->files, path));
}

void unwinders_preload_done(struct unwinders *u)
{
	u->maps->flush(u->maps);
}

void unwinders_settle(struct unwinders *u)
{
	u->maps->settle(u->maps);
}

static int add_process(struct unwinders *u, int pid)
{
	uint64_t start = clock_ns(CLOCK_MONOTONIC);
	int err = processes_add(u->processes, (uint32_t)pid);

	u->stats.processes++;
	u->stats.add_ns += clock_ns(CLOCK_MONOTONIC) - start;
	return err;
}

int unwinders_add_process(struct unwinders *u, int pid)
{
	trim(u);
	return add_process(u, pid);
}

void unwinders_mmap(struct unwinders *u, const struct process_mmap *m)
{
	struct file *begins;

	trim(u);
	begins = processes_mmap(u->processes, m);
	if (begins) /* the loader maps libraries soon, so make their tables now */
		preload_closure(u, m->path, begins);
}

void unwinders_fork(struct unwinders *u, uint32_t parent, uint32_t child)
{
	processes_fork(u->processes, parent, child);
}

bool unwinders_knows(const struct unwinders *u, uint32_t pid)
{
	return processes_find(u->processes, pid);
}

void unwinders_exec(struct unwinders *u, uint32_t pid)
{
	processes_exec(u->processes, pid);
}

void unwinders_exit(struct unwinders *u, uint32_t pid)
{
	processes_exit(u->processes, pid);
}

void unwinders_lost(struct unwinders *u)
{
	processes_lost(u->processes);
}

uint32_t unwinders_languages(const struct unwinders *u)
{
	return files_languages(u->files);
}

int unwinders_share_maps(struct unwinders *u, struct bpf_object *obj, uint32_t languages)
{
	return u->maps->share(u->maps, obj, languages);
}

void unwinders_feed(struct unwinders *u, struct requests *rs)
{
	processes_feed(u->processes, rs);
}

void unwinders_publish(struct unwinders *u)
{
	processes_publish_all(u->processes);
}

/* ---- walks that the kernel could not finish ---- */

struct walk_tables {
	struct host_tables tables;
	struct unwinders *u;
	struct mapping_chunk chunk[2]; /* the first one, and another */
};

static struct mapping_chunk *find_chunk(struct host_tables *t, uint32_t pid, uint32_t i)
{
	struct walk_tables *w = (struct walk_tables *)t;
	const struct process *p = processes_find(w->u->processes, pid);

	return p && process_chunk(p, i, &w->chunk[!!i]) ? &w->chunk[!!i] : NULL;
}

static const void *find_table(struct host_tables *t, uint32_t file, size_t *ret_size)
{
	struct walk_tables *w = (struct walk_tables *)t;
	const struct file *f = files_get(w->u->files, file);

	*ret_size = f ? f->table.size : 0;
	return f ? f->table.data : NULL;
}

static const void *find_proc(struct host_tables *t, unsigned lang, uint32_t pid)
{
	struct walk_tables *w = (struct walk_tables *)t;
	const struct process *p = processes_find(w->u->processes, pid);

	return p ? p->lang[lang].proc : NULL;
}

static void take_record(struct host_tables *t, const struct record *r, size_t size)
{
	unwinders_record(((struct walk_tables *)t)->u, r, size);
}

/* Reads mappings that the kernel half missed, if they still exist. */
static void catch_up(struct unwinders *u, uint32_t pid)
{
	if (add_process(u, (int)pid) == -ESRCH)
		unwinders_exit(u, pid);
}

/* r: the record of a process that continues; NULL: the process is stopped. The frames of a LANG_LIST
 * language are not in the copy of the stack, and a process that continues has other ones by now: so they
 * come only with the record. */
static int walk_here(struct unwinders *u, struct host_thread thread, const struct stack_req *req,
	const struct walk_record *r, struct host_stack *ret)
{
	_cleanup_(freep) struct walk_tables *w = calloc(1, sizeof(*w));
	enum unwind_end end;
	ssize_t n;

	if (!w)
		return -ENOMEM;
	w->tables = (struct host_tables){ .chunk = find_chunk, .table = find_table,
		.proc = find_proc, .record = take_record, .is_late = r != NULL };
	w->u = u;
	n = r && r->list ? stacks_find(u->stacks, r->list, &w->tables.list, &end) : 0;
	w->tables.nlist = n > 0 ? (size_t)n : 0;
	w->tables.list_lang = r ? r->list_lang : 0;
	thread.tables = &w->tables;
	return host_walk(&thread, req->filter, req->limit, ret);
}

/* Returns whether the stack outside of the copy may have changed: then the end of the copy, its deepest part, has
 * changed, too. Go switches from a thread's own stack to any goroutine, so all of the copy must be unchanged for Go. */
static bool has_moved(struct unwinders *u, struct host_memory *process, const struct walk_record *r,
	const struct host_copy *copy, bool anywhere)
{
	uint64_t sp;

	if (!anywhere && proc_thread_sp(u->target, (int)r->pid, (int)r->tid, &sp) && sp >= copy->start + copy->size)
		return true; /* it has left the copied frames: they are unchanged, the rest is not */
	return host_copy_has_changed(copy, process, r->sp, anywhere);
}

static void end_with(struct host_stack *s, enum unwind_end end)
{
	s->end = end;
	s->id = stack_id(s->frames, s->nr, end);
}

/* refuse: read no stack memory outside of the copy. Sets *ret_beyond if some was read. Returns -EAGAIN if it
 * may belong to another stack by now. */
static int walk_copy(struct unwinders *u, const struct walk_record *r, bool refuse,
	struct host_stack *ret, bool *ret_beyond)
{
	struct host_process process;
	struct rest_memory rest = {
		.memory.read = rest_read,
		.first = &u->pages.memory,
		.files = u->files,
		.mapped = processes_find(u->processes, r->pid),
		.stack = WALK_COPY(r->sp) + r->size,
		.refuse = refuse,
	};
	struct host_copy copy;
	struct host_regs regs;
	int err;

	rest.anywhere = rest.mapped && rest.mapped->languages & LANGS_NATIVE;
	host_process_init(&process, (int)r->pid);
	host_pages_init(&u->pages, &process.memory);
	host_copy_init(&copy, r, &rest.memory);
	copy.refuse = refuse;
	host_regs_record(r, MACHINE, &regs);
	regs.address_bits = target_address_bits();
	err = walk_here(u, (struct host_thread){ &copy.memory, &regs, NULL, r->pid },
		&(struct stack_req){ .filter = r->filter, .limit = r->limit }, r, ret);
	*ret_beyond = !err && (rest.beyond || copy.late) && !refuse;
	/* Few stacks end with 0, but wrong stack memory often does. */
	if (!err && ret->by_zero && copy.zeros && refuse)
		end_with(ret, UNWIND_MOVED);
	else if (!err && ret->by_zero && (*ret_beyond || copy.zeros))
		return -EAGAIN;
	return *ret_beyond && has_moved(u, &process.memory, r, &copy, rest.anywhere) ? -EAGAIN : err;
}

/* Memory above the copy is trusted if it gives the same stack twice and the copy's end is unchanged: a
 * process that continues may be in the same call again by then. */
static int finish_walk(struct unwinders *u, const struct walk_record *r, struct host_stack *ret)
{
	struct host_stack again = {};
	bool beyond;
	int err = walk_copy(u, r, false, ret, &beyond);

	if (!err && beyond) {
		err = walk_copy(u, r, false, &again, &beyond);
		err = !err && again.id != ret->id ? -EAGAIN : err;
		free(again.frames);
	}
	if (err != -EAGAIN)
		return err;
	free(ret->frames);
	*ret = (struct host_stack){};
	err = walk_copy(u, r, true, ret, &beyond);
	if (!err && ret->end != UNWIND_COMPLETE && ret->end != UNWIND_LIMIT)
		end_with(ret, UNWIND_MOVED);
	return err;
}

/* Returns whether the filter's frames are known: an empty stack would be wrong otherwise. */
static bool has_language(const struct unwinders *u, const struct walk_record *r)
{
	const struct process *p = processes_find(u->processes, r->pid);

	return !r->filter || !p || (p->languages & r->filter);
}

/* Returns whether the walk may lack a mapping: the process may have more than were read. A frame without a file was
 * passed by its frame pointer, and the frames after it are guesses. */
static bool lost_its_way(const struct host_stack *s)
{
	for (size_t i = 0; i < s->nr; i++)
		if (s->frames[i] >> FRAME_LANG_SHIFT == FRAME_LANG_ADDRESS)
			return true;
	return s->end == UNWIND_NO_PROCESS || s->end == UNWIND_NO_MAPPING || s->end == UNWIND_TABLE_LATE ||
		s->end == UNWIND_NO_TABLE;
}

/* Returns whether the process could tell more, if it were still there. */
static bool wants_process(enum unwind_end end)
{
	return end == UNWIND_NO_PROCESS || end == UNWIND_NO_MAPPING || end == UNWIND_MOVED;
}

static void add_alone(struct unwinders *u, const struct walk_record *r, enum unwind_end end)
{
	uint64_t alone = FRAME_OF(FRAME_LANG_ADDRESS, r->pc), id = STACK_EMPTY(end);

	if (!r->filter) {
		id = stack_id(&alone, 1, end);
		stacks_add(u->stacks, id, &alone, 1, end);
	}
	stacks_alias(u->stacks, r->id, id);
}

static void take_walk(struct unwinders *u, const struct walk_record *r, size_t size)
{
	struct host_stack stack = {};
	uint64_t start = clock_ns(CLOCK_MONOTONIC);
	int failed = 0;

	if (size < sizeof(*r) || r->size > size - sizeof(*r) || r->size > WALK_STACK_MAX || r->end >= UNWIND_END_MAX)
		return;
	u->stats.walks++;
	/* The known data of the process usually suffices, and is all that is left if the process has ended. */
	processes_publish(u->processes, r->pid);
	if (finish_walk(u, r, &stack) || lost_its_way(&stack)) {
		free(stack.frames);
		stack = (struct host_stack){};
		catch_up(u, r->pid);
		failed = finish_walk(u, r, &stack);
	}
	if (r->end == UNWIND_UNREADABLE && !failed && (stack.end == UNWIND_COMPLETE || stack.end == UNWIND_LIMIT))
		processes_readable(u->processes, r->pid);
	if (!failed && wants_process(stack.end) && !proc_alive(u->target, (int)r->pid))
		end_with(&stack, UNWIND_ENDED);
	if (!failed && (stack.nr || (stack.end == UNWIND_COMPLETE && !has_language(u, r)))) {
		stacks_add(u->stacks, stack.id, stack.frames, stack.nr, stack.end);
		stacks_alias(u->stacks, r->id, stack.id);
	} else { /* keep at least the place of the walk, or the reason why the language's frames are missing */
		add_alone(u, r, !failed && stack.end != UNWIND_COMPLETE ? stack.end : (enum unwind_end)r->end);
		u->stats.unfinished++;
	}
	free(stack.frames);
	u->stats.walk_ns += clock_ns(CLOCK_MONOTONIC) - start;
}

/* Adds the stack and frees it. Returns its id. */
static uint64_t keep_stack(struct unwinders *u, struct host_stack *s)
{
	stacks_add(u->stacks, s->id, s->frames, s->nr, s->end);
	free(s->frames);
	return s->id;
}

/* A process with many threads has many mappings: reading them again may take 1/REREAD_SHARE of the time. */
enum { REREAD_SHARE = 20 };

static bool read_again(struct unwinders *u, int pid)
{
	uint64_t start = clock_ns(CLOCK_MONOTONIC);

	if (start < u->reread_after || unwinders_add_process(u, pid))
		return false;
	u->reread_after = start + (clock_ns(CLOCK_MONOTONIC) - start) * REREAD_SHARE;
	return true;
}

int unwinders_walk(struct unwinders *u, int pid, const struct host_regs *regs,
	uint32_t filter, uint32_t limit, uint64_t *ret_id)
{
	const struct process *p = processes_find(u->processes, (uint32_t)pid);
	struct host_process memory;
	struct host_thread thread = {&u->pages.memory, regs, NULL, (uint32_t)pid};
	struct stack_req req = {.filter = filter, .limit = limit};
	struct host_stack stack = {};
	int err = p && !p->dead ? 0 : unwinders_add_process(u, pid);

	host_process_init(&memory, pid);
	host_pages_init(&u->pages, &memory.memory);
	err = err ? err : walk_here(u, thread, &req, NULL, &stack);
	if (!err && lost_its_way(&stack) && read_again(u, pid)) {
		free(stack.frames);
		stack = (struct host_stack){};
		err = walk_here(u, thread, &req, NULL, &stack);
	}
	if (!err)
		*ret_id = keep_stack(u, &stack);
	return err;
}

void unwinders_note_threads(struct unwinders *u, int pid, struct core *c, struct thread_note *notes, size_t n)
{
	const struct process *p = processes_find(u->processes, (uint32_t)pid);

	if (p && !p->dead)
		thread_notes_fill(u->target, p, c, &u->pages, notes, n);
}

/* ---- recorded processes ---- */

/* All threads of a core have the process id of its first thread. */
static uint32_t core_pid(const struct core *c)
{
	return (uint32_t)core_tid(c, 0);
}

int unwinders_add_core(struct unwinders *u, struct core *c, const char *exe)
{
	const char *program = exe ? core_exe(c) : NULL;
	const struct proc_map *maps;
	size_t n = core_maps(c, &maps);
	_cleanup_(closep) int fd = -1;

	if (exe) {
		fd = regular_open(AT_FDCWD, exe, 0);
		if (fd < 0)
			return fd;
		if (program)
			files_stand_in(u->files, program, fd);
	}
	return processes_add_recorded(u->processes, core_pid(c), maps, n, core_memory(c));
}

int unwinders_walk_core(struct unwinders *u, struct core *c, size_t thread, uint32_t filter,
	uint32_t limit, uint64_t *ret_id)
{
	struct rest_memory memory = {
		.memory.read = rest_read,
		.first = core_memory(c),
		.files = u->files,
		.mapped = processes_find(u->processes, core_pid(c)),
	};
	struct host_stack stack = {};
	int err;

	u->recorded = &memory.memory;
	err = walk_here(u, (struct host_thread){ &memory.memory, core_regs(c, thread), NULL, core_pid(c) },
		&(struct stack_req){ .filter = filter, .limit = limit }, NULL, &stack);
	u->recorded = NULL;
	if (!err)
		*ret_id = keep_stack(u, &stack);
	return err;
}

/* ---- records ---- */

/* Returns NULL if the process has ended, or belongs to a core that is not open. */
static const struct process *process_of_record(struct unwinders *u, const struct lang_record *r)
{
	const struct process *p = processes_find(u->processes, r->pid);

	if (!p && !add_process(u, (int)r->pid))
		p = processes_find(u->processes, r->pid);
	return p && p->lang[r->head.id].proc && (!p->recorded || u->recorded) ? p : NULL;
}

/* Returns false if its file was evicted after the process had ended. */
static bool has_opened(const struct process *p, unsigned lang)
{
	return !langs[lang]->open || p->lang[lang].file->opened[lang];
}

static int read_object(void *arg, uint64_t addr, void *buf, size_t size)
{
	struct host_memory *m = arg;

	return m->read(m, addr, buf, size);
}

static void take_lang(struct unwinders *u, const struct lang_record *r, size_t size)
{
	unsigned lang = r->head.id;
	struct lang_process of = { .read = read_object };
	struct host_process memory;
	const struct process *p;

	if (size < sizeof(*r) || !lang || lang >= FRAME_LANGS || !langs[lang]->record)
		return;
	p = process_of_record(u, r);
	if (p && !has_opened(p, lang))
		p = NULL;
	if (p) {
		host_process_init(&memory, (int)r->pid);
		host_pages_init(&u->objects, &memory.memory);
		of.proc = p->lang[lang].proc;
		of.opened = p->lang[lang].file->opened[lang];
		of.arg = p->recorded ? u->recorded : &u->objects.memory;
	}
	u->stats.unreadable += langs[lang]->record(u->lang_names[lang], r, size, p ? &of : NULL);
}

void unwinders_record(struct unwinders *u, const struct record *r, size_t size)
{
	const struct miss_record *miss = (const void *)r;

	if (size < sizeof(*r))
		return;
	switch (r->kind) {
	case RECORD_STACK:
		stacks_record(u->stacks, (const void *)r, size);
		processes_watch(u->processes, (const void *)r, size);
		break;
	case RECORD_WALK:
		take_walk(u, (const void *)r, size);
		break;
	case RECORD_MISS:
		u->stats.misses++;
		if (size >= sizeof(*miss))
			catch_up(u, miss->pid);
		break;
	case RECORD_LANG:
		take_lang(u, (const void *)r, size);
		break;
	}
}

/* ---- stacks and names ---- */

ssize_t unwinders_stack(struct unwinders *u, uint64_t id, const uint64_t **ret_frames,
	enum unwind_end *ret_end)
{
	return stacks_find(u->stacks, id, ret_frames, ret_end);
}

void unwinders_expect_stack(const struct unwinders *u, uint64_t id, bool near)
{
	stacks_expect(u->stacks, id, near);
}

uint64_t unwinders_real_id(struct unwinders *u, uint64_t id)
{
	return stacks_real_id(u->stacks, id);
}

static uint64_t bytes_of_stacks(const struct unwinders *u)
{
	return stacks_bytes(u->stacks) + names_bytes(u->names);
}

/* Due if stacks and names need twice the memory that was left last time, and an eighth of all memory. */
bool unwinders_stacks_due(const struct unwinders *u)
{
	uint64_t bytes = bytes_of_stacks(u);

	return u->memory_limit && bytes > u->memory_limit / 8 && bytes > 2 * u->stacks_left;
}

void unwinders_renew_stacks(struct unwinders *u)
{
	stacks_renew(u->stacks);
}

void unwinders_keep_stack(struct unwinders *u, uint64_t id)
{
	stacks_keep(u->stacks, id);
}

void unwinders_forget_stacks(struct unwinders *u)
{
	size_t before = stacks_count(u->stacks);

	stacks_forget(u->stacks);
	names_forget(u->names, u->stacks, before - stacks_count(u->stacks));
	u->stacks_left = bytes_of_stacks(u);
	log_info("memory: %zu of %zu stacks that nothing mentions were forgotten",
		before - stacks_count(u->stacks), before);
}

static void add_frames(struct unwinders *u, uint64_t id, struct name_list *list)
{
	enum unwind_end end;
	const uint64_t *frames;
	ssize_t n = stacks_find(u->stacks, id, &frames, &end);

	for (ssize_t i = 0; i < n; i++)
		names_list(u->names, frames[i], list);
}

void unwinders_name_stacks(struct unwinders *u, const uint64_t *ids, size_t n)
{
	struct name_list list = {};

	for (size_t i = 0; i < n; i++)
		add_frames(u, ids[i], &list);
	names_frames(u->names, &list);
}

void unwinders_name_stack(struct unwinders *u, const uint64_t *frames, size_t n)
{
	names_stack(u->names, frames, n);
}

void unwinders_name(struct unwinders *u, uint64_t frame, struct frame_name *ret)
{
	names_frame(u->names, frame, ret);
}

void unwinders_name_address(struct unwinders *u, uint32_t pid, uint64_t addr,
	struct frame_name *ret)
{
	const struct process *p = processes_find(u->processes, pid);
	const struct mapping *m = p ? process_mapping(p, addr) : NULL;

	if (!m && (!p || !p->dead) && !add_process(u, (int)pid)) {
		p = processes_find(u->processes, pid);
		m = p ? process_mapping(p, addr) : NULL;
	}
	if (m && m->file)
		names_code(u->names, FRAME_NATIVE(m->file, addr - m->bias), ret);
	else
		*ret = (struct frame_name){ .vaddr = addr, .name = names_variable(u->names, p, addr) };
}

size_t unwinders_build_id(struct unwinders *u, uint64_t frame, uint8_t ret[64])
{
	uint32_t id = (uint32_t)(frame >> FRAME_FILE_SHIFT) & (FILES_MAX - 1);
	const struct file *f =
		frame >> FRAME_LANG_SHIFT == FRAME_LANG_NATIVE ? files_get(u->files, id) : NULL;

	if (f && f->evicted)
		memcpy(ret, f->build_id, sizeof(f->build_id));
	return !f ? 0 : f->evicted ? f->build_id_size : f->elf ? elf_build_id(f->elf, ret) : 0;
}

unsigned unwinders_incomplete(const struct unwinders *u)
{
	return u->stats.unfinished;
}

void unwinders_stats(const struct unwinders *u, struct str *out)
{
	const struct files_stats *f = files_stats(u->files);

	str_addf(out, "files: %u, tables: %u (%u from the cache, %u failed, %u evicted), %llu KB in %.1f ms\n",
		f->files, f->tables, f->cached, f->failed, f->evicted, (unsigned long long)f->bytes >> 10,
		(double)f->ns / 1e6);
	str_addf(out, "processes: %zu, read %u times in %.1f ms; misses: %u\n",
		processes_count(u->processes), u->stats.processes, (double)u->stats.add_ns / 1e6,
		u->stats.misses);
	str_addf(out, "languages: %u records completed from the process\n", u->stats.unreadable);
	str_addf(out, "stacks: %zu; walks finished here: %u (%u not) in %.1f ms\n",
		stacks_count(u->stacks), u->stats.walks - u->stats.unfinished,
		u->stats.unfinished, (double)u->stats.walk_ns / 1e6);
}
