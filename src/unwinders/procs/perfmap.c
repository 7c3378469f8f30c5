// SPDX-License-Identifier: Apache-2.0
/* perfmap.c - the code that JITs list. See perfmap.h, and jitdump.h for jitdump files.
 *
 * Lines are "START SIZE name", in hex, in the order of time: if two overlap, the later line is right, because
 * code moves. A map of perf is in the process's own /tmp, named by the pid that the process has there. It must
 * belong to the process's user or root, and it is hostile. */
#include "perfmap.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/memory.h"
#include "base/owner.h"
#include "base/regular.h"
#include "base/vec.h"
#include "jitdump.h"
#include "target/target.h"

#define FILE_MAX    (256 << 20)
#define ENTRIES_MAX (4 << 20)
#define BACK_MAX    256 /* entries looked at for an address */
#define POLL_NS     20000000ull
#define CHANGES_MAX 1000 /* of a process: each takes a file's number */
#define LINES_MAX   (1 << 22)
#define KEPT_SECONDS 5 /* kept after the end of its process: stacks may still arrive */

struct entry {
	uint64_t start, end;
	uint32_t name, order; /* name: offset in text, or a number in names plus DUMPED */
};
#define DUMPED 0x80000000u

struct dumped { /* code of a jitdump file */
	const char *name;
	uint64_t start;        /* where it was loaded, as the lines have it */
	uint32_t lines, nlines;
};

struct dumped_line {
	uint64_t addr;
	const char *file;
	uint32_t line;
};

struct perfmap {
	int pid;
	bool ended;      /* its process has ended: all was read */
	int fd;          /* open while the process lives; -1: none yet, or closed */
	char *text;
	size_t len;      /* read so far */
	size_t base;     /* where the present file begins in text: it may be written anew */
	char tail[64];   /* the last bytes that were read from it */
	size_t parsed;
	VEC(struct entry) entries;
	uint32_t orders; /* orders given */
	size_t sorted;   /* the first entries are */
	time_t last;
	struct jitdump *dump; /* NULL: none */
	struct arena *arena;  /* names and files of the dump */
	VEC(struct dumped) dumped;
	VEC(struct dumped_line) lines;
	bool watched;
	uint32_t changes; /* found by perfmap_poll() */
	uint64_t polled;  /* CLOCK_MONOTONIC ns */
};

struct perfmap *perfmap_new(int pid)
{
	struct perfmap *m = calloc(1, sizeof(*m));

	if (m) {
		m->pid = pid;
		m->fd = -1;
	}
	return m;
}

void perfmap_drop(struct perfmap *m)
{
	vec_done(&m->entries);
	vec_done(&m->dumped);
	vec_done(&m->lines);
	arena_free(m->arena);
	m->arena = NULL;
	free(m->text);
	m->text = NULL;
	m->len = m->parsed = m->base = m->sorted = 0;
}

void perfmap_free(struct perfmap *m)
{
	if (!m)
		return;
	closep(&m->fd);
	jitdump_free(m->dump);
	perfmap_drop(m);
	free(m);
}

/* Returns the pid that the process has for itself: the last of NSpid. Sets *uid to its real user. */
static int inner_pid(struct target *t, int pid, uid_t *ret_uid)
{
	char path[64], line[256];
	_cleanup_(fclosep) FILE *f = NULL;
	int inner = pid;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	f = fopen(target_path(t, path), "re");
	*ret_uid = (uid_t)-1;
	while (f && fgets(line, sizeof(line), f)) {
		char *last = strrchr(line, '\t');

		if (!strncmp(line, "NSpid:", 6) && last)
			inner = atoi(last);
		sscanf(line, "Uid: %u", ret_uid);
	}
	return inner;
}

static int open_in_root(struct target *t, int pid, int inner)
{
	struct open_how how = {
		.flags = O_PATH | O_NOFOLLOW | O_CLOEXEC,
		.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS,
	};
	char path[64];
	_cleanup_(closep) int root = -1;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/root", pid);
	root = open(target_path(t, path), O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root < 0) /* it has ended: most processes have the same root as strata */
		root = open(target_root(t), O_PATH | O_DIRECTORY | O_CLOEXEC);
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", inner);
	fd = (int)syscall(SYS_openat2, root, path, &how, sizeof(how));
	return regular_reopen(fd < 0 ? -errno : fd);
}

static void open_map(struct perfmap *m, struct target *t)
{
	uid_t uid;
	int inner = inner_pid(t, m->pid, &uid);
	_cleanup_(closep) int fd = open_in_root(t, m->pid, inner);
	struct stat st;

	if (fd < 0 || fstat(fd, &st))
		return;
	if (st.st_uid != 0 && uid != (uid_t)-1 && st.st_uid != uid)
		return;
	m->fd = TAKE_FD(fd);
}

static void add_entry(struct perfmap *m, uint64_t start, uint64_t size, uint32_t name)
{
	vec_push(&m->entries, (struct entry){start, start + size, name, ++m->orders});
}

static void sort(struct perfmap *m);
static const struct entry *newest(const struct perfmap *m, size_t n, uint64_t start, uint64_t end, uint32_t before);

/* A map that is written anew has most of its lines again. */
static bool is_listed(const struct perfmap *m, uint64_t start, uint64_t end, const char *name)
{
	const struct entry *e = m->base ? newest(m, m->sorted, start, end, 0) : NULL;

	return e && e->start == start && e->end == end && !(e->name & DUMPED) && !strcmp(m->text + e->name, name);
}

static void parse_line(struct perfmap *m, char *line)
{
	char *end;
	uint64_t start = strtoull(line, &end, 16), size;

	if (end == line || *end != ' ')
		return;
	line = end;
	size = strtoull(line, &end, 16);
	if (end == line || *end != ' ' || !size || start + size < start ||
		m->entries.len >= ENTRIES_MAX || is_listed(m, start, start + size, end + 1))
		return;
	add_entry(m, start, size, (uint32_t)(end + 1 - m->text));
}

/* Reads only whole lines: the process may be writing the last one. */
static void parse(struct perfmap *m)
{
	char *nl;

	while ((nl = memchr(m->text + m->parsed, '\n', m->len - m->parsed))) {
		*nl = '\0';
		parse_line(m, m->text + m->parsed);
		m->parsed = (size_t)(nl + 1 - m->text);
	}
}

static size_t tail_size(const struct perfmap *m)
{
	size_t n = m->len - m->base;

	return n < sizeof(m->tail) ? n : sizeof(m->tail);
}

/* Returns whether the bytes that were read are no longer in the file. */
static bool is_rewritten(const struct perfmap *m, size_t size)
{
	size_t n = tail_size(m), at = m->len - m->base - n;
	char now[sizeof(m->tail)];

	if (size < m->len - m->base)
		return true;
	return n && (pread(m->fd, now, n, (off_t)at) != (ssize_t)n || memcmp(now, m->tail, n));
}

/* Opens a file that has taken the place of the open one. */
static void follow_name(struct perfmap *m, struct target *t)
{
	int old = m->fd;

	m->fd = -1;
	open_map(m, t);
	if (m->fd < 0)
		m->fd = old;
	else
		closep(&old);
}

static void read_map(struct perfmap *m, struct target *t)
{
	struct stat st;
	size_t left;
	ssize_t n;

	if (m->fd < 0)
		open_map(m, t);
	if (m->fd < 0 || fstat(m->fd, &st))
		return;
	if (!st.st_nlink) {
		follow_name(m, t);
		if (fstat(m->fd, &st))
			return;
	}
	if (is_rewritten(m, (size_t)st.st_size)) { /* its lines are later than those that it had */
		m->base = m->parsed = m->len;
		sort(m);
	}
	left = (size_t)st.st_size - (m->len - m->base);
	if (!left || left > FILE_MAX - m->len)
		return;
	m->text = realloc(m->text, m->len + left + 1);
	if (!m->text)
		out_of_memory();
	n = pread(m->fd, m->text + m->len, left, (off_t)(m->len - m->base));
	if (n > 0)
		m->len += (size_t)n;
	n = pread(m->fd, m->tail, tail_size(m), (off_t)(m->len - m->base - tail_size(m))); /* text has no newlines */
	if (n != (ssize_t)tail_size(m))
		m->tail[0] = '\0'; /* it is being written anew */
	parse(m);
}

/* ---- jitdump files ------------------------------------------------------------------ */

void perfmap_dump(struct perfmap *m, int fd)
{
	if (m->dump || m->ended) /* a file is mapped again by a child, or by mprotect() */
		closep(&fd);
	else
		m->dump = jitdump_new(fd);
}

static const struct entry *find(struct perfmap *m, uint64_t addr, uint32_t before);

static void add_lines(struct perfmap *m, const struct jitdump_code *c, struct dumped *d)
{
	const char *file = NULL;

	d->lines = (uint32_t)m->lines.len;
	for (size_t i = 0; i < c->nlines && m->lines.len < LINES_MAX; i++) {
		const char *text = c->files + c->lines[i].file;

		if (!file || strcmp(file, text) != 0)
			file = arena_strdup(m->arena, text);
		vec_push(&m->lines, (struct dumped_line){c->lines[i].addr, file, c->lines[i].line});
		d->nlines++;
	}
}

static void take_code(void *arg, const struct jitdump_code *c)
{
	struct perfmap *m = arg;
	struct dumped d = {.name = c->name, .start = c->start};
	const struct entry *from;

	if (!c->size || c->start + c->size < c->start || m->entries.len >= ENTRIES_MAX)
		return;
	if (!m->arena)
		m->arena = arena_new();
	if (!c->name) {
		from = find(m, c->from, 0);
		if (from && from->start == c->from)
			add_entry(m, c->start, c->size, from->name);
		return;
	}
	d.name = arena_strdup(m->arena, c->name);
	add_lines(m, c, &d);
	vec_push(&m->dumped, d);
	add_entry(m, c->start, c->size, (uint32_t)(m->dumped.len - 1) | DUMPED);
}

static void read_rest(struct perfmap *m, struct target *t)
{
	read_map(m, t);
	if (m->dump)
		jitdump_read(m->dump, take_code, m);
}

void perfmap_read(struct perfmap *m, struct target *t)
{
	time_t now = time(NULL);

	if (m->ended || now == m->last)
		return;
	m->last = now;
	read_rest(m, t);
}

void perfmap_end(struct perfmap *m, uint32_t pid, struct target *t)
{
	if (m->ended || m->pid != (int)pid)
		return;
	read_rest(m, t);
	closep(&m->fd);
	m->fd = -1;
	jitdump_free(m->dump);
	m->dump = NULL;
	m->ended = true;
	m->last = time(NULL);
}

size_t perfmap_over(const struct perfmap *m)
{
	return m->ended && time(NULL) - m->last > KEPT_SECONDS ? m->len + m->entries.cap * sizeof(*m->entries.data) : 0;
}

static int cmp_entry(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->order < y->order ? -1 : 1;
}

static void sort(struct perfmap *m)
{
	if (m->sorted < m->entries.len)
		qsort(m->entries.data, m->entries.len, sizeof(*m->entries.data), cmp_entry);
	m->sorted = m->entries.len;
}

/* Returns the newest of the first n entries, which are sorted, that contains an address from start to end. Few starts
 * precede it within a function's size, so a bounded search backwards suffices. */
static const struct entry *newest(const struct perfmap *m, size_t n, uint64_t start, uint64_t end, uint32_t before)
{
	const struct entry *e = m->entries.data, *best = NULL;
	size_t lo = 0, hi = n;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (e[mid].start < end)
			lo = mid + 1;
		else
			hi = mid;
	}
	for (size_t i = lo; i > 0 && lo - i < BACK_MAX; i--)
		if (start < e[i - 1].end && (!before || e[i - 1].order < before) &&
			(!best || e[i - 1].order > best->order))
			best = &e[i - 1];
	return best;
}

static const struct entry *find(struct perfmap *m, uint64_t addr, uint32_t before)
{
	sort(m);
	return addr + 1 ? newest(m, m->entries.len, addr, addr + 1, before) : NULL;
}

static const char *name_of(const struct perfmap *m, const struct entry *e)
{
	return e->name & DUMPED ? m->dumped.data[e->name & ~DUMPED].name : m->text + e->name;
}

/* A line reaches to the next one. */
static void find_line(const struct perfmap *m, const struct entry *e, struct perfmap_code *ret)
{
	const struct dumped *d = &m->dumped.data[e->name & ~DUMPED];
	uint64_t addr = d->start + ret->offset, best = 0;

	for (uint32_t i = 0; i < d->nlines; i++) {
		const struct dumped_line *l = &m->lines.data[d->lines + i];

		if (l->addr > addr || l->addr < best)
			continue;
		best = l->addr;
		ret->line = l->line;
		ret->file = l->file;
	}
}

bool perfmap_find(struct perfmap *m, uint64_t addr, uint32_t before, struct perfmap_code *ret)
{
	const struct entry *e = find(m, addr, before);

	if (!e)
		return false;
	*ret = (struct perfmap_code){.name = name_of(m, e), .offset = addr - e->start};
	if (e->name & DUMPED)
		find_line(m, e, ret);
	return true;
}

/* ---- code that takes the place of other code ----------------------------------------- */

void perfmap_watch(struct perfmap *m)
{
	m->watched = true;
}

/* Returns whether an entry after the first n is in the place of another one with another name. */
static bool replaces(const struct perfmap *m, size_t n)
{
	for (size_t i = n; i < m->entries.len; i++) {
		const struct entry *e = &m->entries.data[i], *old = newest(m, n, e->start, e->end, 0);

		if (old && strcmp(name_of(m, old), name_of(m, e)) != 0)
			return true;
	}
	return false;
}

uint32_t perfmap_poll(struct perfmap *m, struct target *t)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC_COARSE);
	uint32_t before = m->orders + 1;
	size_t n;

	if (!m->watched || m->ended || now - m->polled < POLL_NS || m->changes >= CHANGES_MAX)
		return 0;
	m->polled = now;
	sort(m);
	n = m->entries.len;
	if (m->fd < 0 && !m->dump) {
		perfmap_read(m, t); /* looks for the file at most once a second */
		return 0;
	}
	read_rest(m, t);
	if (!n || !replaces(m, n))
		return 0;
	m->changes++;
	return before;
}
