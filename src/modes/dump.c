// SPDX-License-Identifier: Apache-2.0
/* dump.c - strata dump and --unwind. They read the states of threads before they stop the first one, and look up
 * names when all of them run again. The threads of a core have no state. */
#include "dump.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/log.h"
#include "base/owner.h"
#include "base/str.h"
#include "base/vec.h"
#include "base/why.h"
#include "model/image.h"
#include "model/type.h"
#include "output/output.h"
#include "output/stream.h"
#include "target/elf.h"
#include "target/target.h"
#include "threads.h"
#include "unwinders/procs/core.h"
#include "unwinders/unwinders.h"
#include "values/entries.h"
#include "values/show.h"
#include "values/syscalls.h"

enum { NAME_SIZE = 16 };

struct thread {
	int pid, tid;
	char name[NAME_SIZE]; /* the thread's name */
	const char *own_name; /* its name in its language ("worker 1"), or NULL */
	const char *state;    /* "asleep" */
	const char *call;     /* the system call in which it waits, or NULL */
	char place[64];       /* place in the kernel, if it is blocked */
	bool is_blocked;      /* it does not stop: see threads_walk() */
	bool holds_lock;      /* it held the GIL while it was walked */
	uint64_t stack;       /* id of its stack */
	size_t index;         /* number in the core */
};

struct dump {
	struct target *target;
	struct unwinders *unwinders;
	struct arena *arena;
	VEC(struct thread) threads;
	struct core *core; /* NULL: the threads are those of living processes */
	const struct type *stack;
	const struct output *output;
	struct stream *stream;
	FILE *out; /* the stream's file */
};

/* ---- a thread's state in /proc -------------------------------------------- */

static char *read_of(const struct dump *d, const struct thread *t, const char *file)
{
	return proc_read(d->target, t->pid, arena_printf(d->arena, "task/%d/%s", t->tid, file), NULL);
}

static const char *state_name(char state)
{
	switch (state) {
	case 'R':
		return "running";
	case 'D':
		return "uninterruptible (state D)";
	case 'T':
	case 't':
		return "stopped";
	case 'Z':
		return "ended";
	default:
		return "asleep";
	}
}

/* Reads the number of the system call in which it waits (proc(5), syscall: the first word). */
static void read_doing(const struct dump *d, struct thread *t)
{
	char state = proc_thread_state(d->target, t->pid, t->tid), *text = read_of(d, t, "syscall"), *end;
	long nr = text ? strtol(text, &end, 10) : -1;

	t->state = state_name(state);
	t->call = state != 'R' && text && end != text && nr >= 0 ? syscall_name(nr) : NULL;
	free(text);
}

/* Reads where in the kernel a thread waits (proc(5), wchan). */
static void read_place(const struct dump *d, struct thread *t)
{
	char *text = read_of(d, t, "wchan");

	if (text && *text && strcmp(text, "0") != 0)
		snprintf(t->place, sizeof(t->place), "%s", text);
	free(text);
}

static void read_name(const struct dump *d, struct thread *t)
{
	char *text = read_of(d, t, "comm");
	size_t n = text ? strcspn(text, "\n") : 0;

	memcpy(t->name, text ? text : "", n < NAME_SIZE ? n : NAME_SIZE - 1);
	free(text);
}

/* Adds "python3 app.py"; in the file, NULs separate the arguments. */
static void add_living_command(const struct dump *d, int pid, struct str *out)
{
	size_t n = 0;
	char *text = proc_read(d->target, pid, "cmdline", &n);

	for (size_t i = 0; text && i + 1 < n; i++)
		if (!text[i])
			text[i] = ' ';
	if (text)
		str_add_safe(out, text, strlen(text));
	free(text);
}

/* Adds the arguments that a core has, and its program if they do not begin with it. */
static void add_recorded_command(const struct core *c, struct str *out)
{
	const struct core_facts *f = core_facts(c);
	const char *exe = core_exe(c);

	str_add_safe(out, f->args, strlen(f->args));
	if (!exe || !strncmp(f->args, exe, strlen(exe)))
		return;
	str_add(out, *f->args ? " (" : "");
	str_add_safe(out, exe, strlen(exe));
	str_add(out, *f->args ? ")" : "");
}

static void add_command(const struct dump *d, int pid, struct str *out)
{
	if (d->core)
		add_recorded_command(d->core, out);
	else
		add_living_command(d, pid, out);
}

/* ---- one process --------------------------------------------------------- */

static void add_thread(struct dump *d, int pid, const struct walked *w)
{
	struct thread t = {.pid = pid, .tid = w->tid};

	read_name(d, &t);
	read_doing(d, &t);
	vec_push(&d->threads, t);
}

/* Returns the name in the language, if it is not the one that the kernel has. */
static const char *own_name(const struct dump *d, const struct thread *t, const char *name)
{
	return name && *name && (!*t->name || strcmp(name, t->name) != 0) ? arena_printf(d->arena, "%s", name) : NULL;
}

/* Removes threads that have ended from the list. */
static void keep_walked(struct dump *d, size_t before, const struct walked *walked, size_t n)
{
	size_t kept = before;

	for (size_t i = 0; i < n; i++) {
		struct thread *t = &d->threads.data[before + i];

		t->stack = walked[i].stack;
		t->is_blocked = walked[i].is_blocked;
		t->holds_lock = walked[i].holds_lock;
		t->own_name = own_name(d, t, walked[i].name);
		free(walked[i].name);
		if (t->is_blocked)
			read_place(d, t);
		if (walked[i].is_walked)
			d->threads.data[kept++] = *t;
	}
	d->threads.len = kept;
}

static bool walk(struct dump *d, int pid)
{
	_cleanup_(freep) struct walked *walked = NULL;
	size_t before = d->threads.len;
	long n = threads_list(d->target, pid, &walked);
	int r = n < 0 ? (int)n : 0;

	for (long i = 0; i < n; i++)
		add_thread(d, pid, &walked[i]);
	if (!r)
		r = threads_walk(d->target, d->unwinders, pid, walked, (size_t)n);
	keep_walked(d, before, walked, r ? 0 : (size_t)n);
	if (r) {
		log_error("cannot stop process %d: %s", pid, why_errno(r));
		log_hint("ptrace allows it for one's own processes that nobody else traces, and for root");
	} else if (d->threads.len == before) {
		log_error("no thread of process %d could be walked", pid);
	}
	return d->threads.len > before;
}

/* ---- a core -------------------------------------------------------------- */

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

/* Returns whether the signal, which ended the process with a core, came to its first thread. A debugger that writes
 * a core of a living process names another signal, or none. */
static bool is_crash(int signal)
{
	static const int ends[] = {SIGQUIT, SIGILL, SIGABRT, SIGBUS, SIGFPE, SIGSEGV, SIGXCPU, SIGXFSZ, SIGSYS};

	for (size_t i = 0; i < ARRAY_SIZE(ends); i++)
		if (ends[i] == signal)
			return true;
	return false;
}

/* Returns "crashed: SIGSEGV, address 0x10 is not mapped". */
static const char *crash_text(const struct dump *d, const struct core_facts *f)
{
	bool has_address = f->code > 0 && (f->signal == SIGSEGV || f->signal == SIGBUS) && f->code != SI_KERNEL;
	const char *name = arena_printf(d->arena, "crashed: SIG%s", sigabbrev_np(f->signal));
	const char *why = f->signal == SIGBUS ? "has no memory" : f->code == SEGV_MAPERR ? "is not mapped" :
		"does not allow this access";

	if (f->has_info && has_address)
		return arena_printf(d->arena, "%s, address 0x%" PRIx64 " %s", name, f->address, why);
	if (f->sender && f->sender != f->pid)
		return arena_printf(d->arena, "%s, sent by process %d", name, f->sender);
	return name;
}

/* A core has the name of the main thread only. */
static void add_recorded_thread(struct dump *d, size_t i, uint64_t stack)
{
	const struct core_facts *f = core_facts(d->core);
	struct thread t = {.pid = f->pid ? f->pid : core_tid(d->core, 0), .tid = core_tid(d->core, i), .stack = stack,
		.index = i};

	if (t.tid == t.pid)
		snprintf(t.name, sizeof(t.name), "%.*s", (int)sizeof(t.name) - 1, f->name);
	t.state = !i && is_crash(f->signal) ? crash_text(d, f) : "stopped";
	vec_push(&d->threads, t);
}

/* Adds what languages know about the core's threads. */
static void note_recorded(struct dump *d)
{
	size_t n = d->threads.len;
	struct thread_note *notes = calloc(n + 1, sizeof(*notes));

	for (size_t i = 0; notes && i < n; i++) {
		const struct host_regs *regs = core_regs(d->core, d->threads.data[i].index);

		notes[i] = (struct thread_note){.tid = d->threads.data[i].tid, .tp = regs->tp};
	}
	if (!notes)
		return;
	unwinders_note_threads(d->unwinders, core_tid(d->core, 0), d->core, notes, n);
	for (size_t i = 0; i < n; i++) {
		d->threads.data[i].own_name = own_name(d, &d->threads.data[i], notes[i].name);
		d->threads.data[i].holds_lock = unwinders_holds_lock(0, d->core, &notes[i]);
	}
	thread_notes_free(notes, n);
}

static bool walk_core(struct dump *d, const struct dump_options *opt)
{
	int r = unwinders_add_core(d->unwinders, d->core, opt->exe);

	if (r) {
		log_error("cannot read %s: %s", opt->exe ? opt->exe : "the core's files", why_errno(r));
		return false;
	}
	for (size_t i = 0; i < core_threads(d->core); i++) {
		uint64_t stack;

		if (!unwinders_walk_core(d->unwinders, d->core, i, 0, UNWIND_LIMIT_MAX, &stack))
			add_recorded_thread(d, i, stack);
	}
	note_recorded(d);
	if (!d->threads.len)
		log_error("no thread of %s could be walked", opt->core);
	return d->threads.len;
}

/* ---- output -------------------------------------------------------------- */

static void add_name(const struct thread *t, struct str *out)
{
	if (!*t->name && !t->own_name)
		return;
	str_addc(out, '(');
	str_add_safe(out, t->name, strlen(t->name));
	str_add(out, *t->name && t->own_name ? ", " : "");
	if (t->own_name)
		str_add_safe(out, t->own_name, strlen(t->own_name));
	str_add(out, ") ");
}

static void print_text(struct dump *d)
{
	const struct show show = {.target = d->target, .unwinders = d->unwinders};

	for (size_t i = 0; i < d->threads.len; i++) {
		const struct thread *t = &d->threads.data[i];
		struct str text = {};

		if (!i || t->pid != t[-1].pid) {
			str_addf(&text, "%sProcess %d: ", i ? "\n" : "", t->pid);
			add_command(d, t->pid, &text);
			str_addc(&text, '\n');
		}
		str_addf(&text, "\nThread %d ", t->tid);
		add_name(t, &text);
		str_addf(&text, "%s%s%s%s%s%s", t->state, t->call ? " in " : "", t->call ? t->call : "",
			*t->place ? ", at " : "", t->place, t->holds_lock ? ", holds the GIL" : "");
		if (t->is_blocked)
			thread_kernel_stack(d->target, t->pid, t->tid, &text);
		show_stack(&show, d->stack, t->stack, &text);
		fwrite(str_text(&text), 1, text.len, d->out);
		str_done(&text);
	}
}

/* Makes @threads[comm, pid, tid, stack] = count(). */
static void make_map(struct dump *d, struct image_map *map)
{
	const struct type *members[] = {type_string(d->arena, NAME_SIZE), type_int32, type_int32, d->stack};

	*map = (struct image_map){
		.name = "threads",
		.key = type_tuple(d->arena, members, ARRAY_SIZE(members)),
		.value = type_agg(d->arena, AGG_COUNT, false),
	};
}

static void make_entry(struct dump *d, const struct type *key, const struct thread *t, struct map_entry *e)
{
	static const uint64_t one = 1;

	e->key = arena_alloc(d->arena, key->size);
	e->value = (uint8_t *)&one;
	memcpy(e->key + key->tuple.offsets[0], t->name, NAME_SIZE);
	memcpy(e->key + key->tuple.offsets[1], &t->pid, sizeof(t->pid));
	memcpy(e->key + key->tuple.offsets[2], &t->tid, sizeof(t->tid));
	memcpy(e->key + key->tuple.offsets[3], &t->stack, sizeof(t->stack));
}

static void print_map(struct dump *d)
{
	const struct show show = {.target = d->target, .unwinders = d->unwinders};
	struct out o = {.output = d->output, .stream = d->stream, .file = d->out, .show = &show};
	const struct output *to = d->output;
	const struct image_map *maps[1];
	struct image_map map;
	struct image img = {.maps = &map, .nmaps = 1};
	struct map_content c = {.map = &map, .n = d->threads.len};

	make_map(d, &map);
	maps[0] = &map;
	c.list = arena_new_array(d->arena, struct map_entry, c.n + 1);
	for (size_t i = 0; i < c.n; i++)
		make_entry(d, map.key, &d->threads.data[i], &c.list[i]);
	if (to->begin)
		to->begin(&o, &img);
	if (to->end)
		to->end(&o, maps, 1);
	to->map(&o, &c);
	if (to->finish)
		to->finish(&o);
}

/* Prints {"type": "thread", ..}: facts about a thread that the map of stacks lacks. */
static void print_json_thread(struct dump *d, const struct thread *t)
{
	struct str command = {}, line = {};

	add_command(d, t->pid, &command);
	str_addf(&line, "{\"type\": \"thread\", \"data\": {\"pid\": %d, \"tid\": %d, \"name\": ", t->pid, t->tid);
	str_add_json(&line, t->name, strlen(t->name));
	str_add(&line, ", \"command\": ");
	str_add_json(&line, str_text(&command), command.len);
	str_addf(&line, ", \"state\": \"%s\"", t->state);
	if (t->own_name) {
		str_add(&line, ", \"own_name\": ");
		str_add_json(&line, t->own_name, strlen(t->own_name));
	}
	str_add(&line, t->holds_lock ? ", \"holds_gil\": true" : "");
	if (t->call)
		str_addf(&line, ", \"syscall\": \"%s\"", t->call);
	if (*t->place) {
		str_add(&line, ", \"at\": ");
		str_add_json(&line, t->place, strlen(t->place));
	}
	str_add(&line, "}}\n");
	fwrite(str_text(&line), 1, line.len, d->out);
	str_done(&command);
	str_done(&line);
}

static int open_unwinders(struct dump *d)
{
	struct walk_maps *maps = NULL;
	int r = walk_maps_memory(&maps);

	if (!r)
		r = unwinders_new(d->target, maps, &d->unwinders);
	if (r)
		log_error("cannot set up the unwinder: %s", why_errno(r));
	else if (!d->core) /* a core does not have the files that the process read */
		unwinders_use_source_maps(d->unwinders);
	return r;
}

static bool walk_all(struct dump *d, const struct dump_options *opt)
{
	_cleanup_(freep) int *pids = NULL;
	bool ok = true;
	size_t n;

	if (d->core)
		return walk_core(d, opt);
	n = proc_family(d->target, opt->pids, opt->npids, opt->children, &pids);
	for (size_t i = 0; i < n; i++)
		ok &= walk(d, pids[i]);
	return ok;
}

static int dump_all(struct dump *d, const struct dump_options *opt)
{
	int code = open_unwinders(d) || !walk_all(d, opt);

	for (size_t i = 0; d->output->content == OUTPUT_OBJECTS && i < d->threads.len; i++)
		print_json_thread(d, &d->threads.data[i]);
	if (d->threads.len && d->output->content == OUTPUT_TEXT)
		print_text(d);
	else if (d->threads.len)
		print_map(d);
	stream_flush(d->stream);
	return code;
}

static int dump_to_stream(struct dump *d, const struct dump_options *opt)
{
	int r = stream_open(opt->file, &d->stream), code;

	if (r) {
		log_error("cannot write %s: %s", opt->file ? opt->file : "the output", why_write(r));
		return 1;
	}
	d->out = stream_file(d->stream);
	d->arena = arena_new();
	d->stack = type_stack(d->arena, FRAME_LANG_NATIVE, STACK_LINE, UNWIND_LIMIT_MAX, false);
	code = dump_all(d, opt);
	unwinders_free(d->unwinders);
	vec_done(&d->threads);
	arena_free(d->arena);
	r = stream_close(d->stream);
	return r ? r : code;
}

int dump(struct target *t, const struct dump_options *opt)
{
	struct dump d = {.target = t, .output = opt->output ? opt->output : output_by_file(opt->file)};
	int code = 1;

	if (!opt->npids && !opt->core) {
		log_error("strata dump needs a process or a core file: -p PID, or dump CORE");
		return 1;
	}
	if (opt->core) {
		d.core = open_core(opt->core);
		d.target = d.core ? target_open(opt->sysroot ? opt->sysroot : "/") : NULL;
	}
	if (d.target)
		code = dump_to_stream(&d, opt);
	core_close(d.core);
	if (opt->core)
		target_close(d.target);
	return code;
}
