// SPDX-License-Identifier: Apache-2.0
/* idle.c - classifies a wait by its functions, from the innermost on; the rows are in idle.def.
 *
 * First come the functions through which every thread waits (primitives). They give the kind of the wait. The next
 * function gives its purpose: the loop of a known pool or event loop waits for work. A wait for events (epoll, accept)
 * is a wait for work, whatever the caller. A wait for a condition variable may be the answer that a person looks
 * for. An unknown function therefore waits for work only if the thread begins there and its name has the word worker
 * or pool, or if that function calls one that takes a task. Waits for a mutex or Python's GIL are never idle.
 *
 * A C library without debug information has no names for its own static functions. Threads begin in such functions,
 * and wait in them: around the innermost named function, or, for a semaphore, in place of it.
 *
 * Names of programs and threads do not count. */
#include "idle.h"

#include <ctype.h>
#include <string.h>

#include "base/owner.h"
#include "base/str.h"
#include "show.h"
#include "unwinders/unwinders.h"

/* WAKE: it ends another thread's wait. */
enum wait { NONE, EVENTS, POLL, SLEEP, COND, MUTEX, JOIN, LATCH, QUEUE, WAKE, PY_COND, PY_LOCK, PY_PIPE };

struct row {
	const char *pattern, *file;
	enum wait wait;
};

#define PRIMITIVE(pattern, file, wait) {pattern, file, wait},
#define POOL(pattern, file)
#define START(pattern, file)
static const struct row primitives[] = {
#include "idle.def"
};
#undef PRIMITIVE
#undef POOL
#undef START
#define PRIMITIVE(pattern, file, wait)
#define POOL(pattern, file) {pattern, file, NONE},
#define START(pattern, file)
static const struct row pools[] = {
#include "idle.def"
};
#undef POOL
#undef START
#define POOL(pattern, file)
#define START(pattern, file) {pattern, file, NONE},
static const struct row starts[] = {
#include "idle.def"
};

enum { NAME_BYTES = 256, FRAMES_LOOKED_AT = 64 };

struct named {
	char name[NAME_BYTES]; /* "" if the function has none */
	const char *file;
	bool python, native;
};

/* A stack, innermost function first. */
struct wait_stack {
	struct named frames[FRAMES_LOOKED_AT];
	size_t n, first_python; /* n without Python */
};

/* Returns the '(' before the parameters of a C++ function, or NULL. The one of "(anonymous namespace)" is another. */
static const char *parameters(const char *name)
{
	static const char nameless[] = "(anonymous namespace)";
	const char *at = strchr(name, '(');

	while (at && !strncmp(at, nameless, strlen(nameless)))
		at = strchr(at + 1, '(');
	return at;
}

/* Copies a name without the parameters of C++ and the class of Python: "Condition.wait" is wait. */
static void plain_name(const struct frame_name *f, char *buf)
{
	const char *name = f->name ? f->name : "", *from = name, *end = parameters(name);
	size_t n;

	if (f->lang == FRAME_LANG_PYTHON && strrchr(name, '.'))
		from = strrchr(name, '.') + 1;
	n = end && end > from ? (size_t)(end - from) : strlen(from);
	n = n < NAME_BYTES ? n : NAME_BYTES - 1;
	memcpy(buf, from, n);
	buf[n] = 0;
}

static void add_frame(struct wait_stack *w, const struct frame_name *f)
{
	struct named *to = &w->frames[w->n];

	plain_name(f, to->name);
	to->python = f->lang == FRAME_LANG_PYTHON;
	to->native = f->lang == FRAME_LANG_NATIVE || f->lang == FRAME_LANG_GO || f->lang == FRAME_LANG_ADDRESS;
	to->file = f->file ? f->file : f->module;
	w->n++;
}

/* Only the innermost frames of a deep stack are read: its outermost are then not known to begin a thread. */
static void read_stack(const struct show *s, uint64_t id, struct wait_stack *ret)
{
	const uint64_t *frames;
	enum unwind_end end;
	ssize_t n = id && s->unwinders ? unwinders_stack(s->unwinders, id, &frames, &end) : 0;

	ret->n = 0;
	for (ssize_t i = 0; i < n && ret->n < FRAMES_LOOKED_AT; i++) {
		struct frame_name first;

		unwinders_name(s->unwinders, frames[i], &first);
		for (const struct frame_name *f = &first; f && ret->n < FRAMES_LOOKED_AT; f = f->caller)
			add_frame(ret, f);
	}
	for (ret->first_python = 0; ret->first_python < ret->n; ret->first_python++)
		if (ret->frames[ret->first_python].python)
			break;
}

static const struct row *match(const struct row *rows, size_t n, const struct named *f)
{
	for (size_t i = 0; i < n; i++) {
		bool of_python = rows[i].file && strstr(rows[i].file, "py");

		if (f->python == of_python && glob_match(rows[i].pattern, f->name) && *f->name &&
			(!rows[i].file || (f->file && glob_match(rows[i].file, f->file))))
			return &rows[i];
	}
	return NULL;
}

/* Returns whether it is a static function of the C library. */
static bool is_in_libc(const struct named *f)
{
	static const char *const names[] = {"*/libc.so*", "*/libc-2.*", "*/libpthread*", "*/ld-musl-*"};

	if (*f->name || !f->native || !f->file)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (glob_match(names[i], f->file))
			return true;
	return false;
}

/* ---- how it waits ---------------------------------------------------------- */

/* Functions of CPython that wait for the GIL; the static take_gil() has no name in a stripped Python. */
static bool wants_gil(const char *name)
{
	static const char *const names[] = {
		"take_gil*", "PyEval_RestoreThread", "PyEval_AcquireThread", "PyEval_AcquireLock", "PyGILState_Ensure",
		"_PyThreadState_Attach", "PyThreadState_Swap", "_PyEval_AcquireLock", "_PyThreadState_Suspend",
	};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (glob_match(names[i], name))
			return true;
	return false;
}

static bool is_python_lock(const char *name)
{
	return glob_match("PyThread_acquire_lock*", name) || glob_match("_PyParkingLot_Park", name) ||
		glob_match("_PySemaphore_Wait", name) || glob_match("*PyMutex_Lock*", name);
}

/* Between the C library and Python are functions of CPython, or of an extension that waits itself. */
static enum wait wait_of_python(const struct wait_stack *w, enum wait wait)
{
	bool lock = false;

	for (size_t i = 0; i < w->first_python; i++) {
		if (wants_gil(w->frames[i].name))
			return MUTEX;
		lock |= is_python_lock(w->frames[i].name);
	}
	if (wait == COND || wait == NONE)
		return lock ? PY_LOCK : MUTEX;
	return wait;
}

/* Returns how the thread waits, and the index of the first function that is not a primitive. */
static enum wait how(const struct wait_stack *w, size_t *ret_at)
{
	enum wait wait = NONE;
	const struct row *row;
	size_t i = 0;

	for (; i < w->n; i++) {
		if (i == w->first_python)
			wait = wait_of_python(w, wait);
		row = match(primitives, ARRAY_SIZE(primitives), &w->frames[i]);
		if (!row && is_in_libc(&w->frames[i]))
			continue;
		if (!row && (i >= w->first_python || w->first_python == w->n || !i))
			break;
		if (row && row->wait != NONE && wait != MUTEX)
			wait = row->wait;
	}
	if (wait == NONE && i && is_in_libc(&w->frames[i - 1])) /* sem_wait() jumps to its static function */
		wait = COND;
	*ret_at = i;
	return wait;
}

/* ---- the purpose of a wait --------------------------------------------------- */

/* Returns whether the thread begins with this function, or the program, if it is main. */
static bool begins(const struct wait_stack *w, size_t at)
{
	bool python = at < w->n && w->frames[at].python;

	if (w->n == FRAMES_LOOKED_AT)
		return false;
	for (size_t i = at + 1; i < w->n; i++)
		if (!(python && w->frames[i].native) && !is_in_libc(&w->frames[i]) &&
			!match(starts, ARRAY_SIZE(starts), &w->frames[i]))
			return false;
	return true;
}

/* Returns whether the name has one of the words, whatever its case, without '_'. */
static bool has_word(const char *name, const char *const *words, size_t n)
{
	char plain[NAME_BYTES];
	size_t len = 0;

	for (; *name; name++)
		if (*name != '_')
			plain[len++] = (char)tolower((unsigned char)*name);
	plain[len] = 0;
	for (size_t i = 0; i < n; i++)
		if (strstr(plain, words[i]))
			return true;
	return false;
}

static bool is_worker(const struct named *f)
{
	static const char *const words[] = {"worker", "pool"};

	return has_word(f->name, words, ARRAY_SIZE(words));
}

static bool takes_task(const struct named *f)
{
	static const char *const words[] = {
		"pop", "dequeue", "gettask", "getjob", "getwork", "nexttask", "nextjob", "nextwork", "waitforwork",
		"waitforjob", "waitfortask", "bsemwait",
	};

	return has_word(f->name, words, ARRAY_SIZE(words));
}

static bool is_main(const struct named *f)
{
	return !strcmp(f->name, f->python ? "<module>" : "main");
}

static bool is_idle(const struct wait_stack *w, enum wait wait, size_t at)
{
	const struct named *f = &w->frames[at];

	if (wait == NONE || wait == MUTEX)
		return false;
	if (wait == EVENTS)
		return true;
	if (at == w->n)
		return false;
	if (match(pools, ARRAY_SIZE(pools), f))
		return true;
	if (wait == QUEUE || wait == JOIN)
		return begins(w, at);
	if (wait == SLEEP)
		return is_main(f) && begins(w, at);
	if (wait == COND)
		return (is_worker(f) && begins(w, at)) || (takes_task(f) && at + 1 < w->n && begins(w, at + 1));
	return false;
}

bool idle_stack(const struct show *s, uint64_t id)
{
	struct wait_stack w;
	enum wait wait;
	size_t at;

	read_stack(s, id, &w);
	wait = how(&w, &at);
	return is_idle(&w, wait, at);
}
