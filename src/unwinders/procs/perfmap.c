// SPDX-License-Identifier: Apache-2.0
/* perfmap.c - /tmp/perf-PID.map, in which JITs list their code.
 *
 * Lines are "START SIZE name", in hex, in the order of time: if two overlap, the later line is right, because
 * code moves. The file is in the process's own /tmp, named by the pid that the process has there. It must
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

#include "base/memory.h"
#include "base/owner.h"
#include "base/regular.h"
#include "base/vec.h"
#include "target/target.h"

#define FILE_MAX    (256 << 20)
#define ENTRIES_MAX (4 << 20)
#define KEPT_SECONDS 5 /* kept after the end of its process: stacks may still arrive */

struct entry {
	uint64_t start, end;
	uint32_t name, order; /* name: offset in text */
};

struct perfmap {
	int pid;
	bool ended;      /* its process has ended: all was read */
	int fd;          /* open while the process lives; -1: none yet, or closed */
	char *text;
	size_t len;      /* read so far */
	size_t parsed;
	VEC(struct entry) entries;
	bool sorted;
	time_t last;
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
	free(m->text);
	m->text = NULL;
	m->len = m->parsed = 0;
}

void perfmap_free(struct perfmap *m)
{
	if (!m)
		return;
	closep(&m->fd);
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

static void parse_line(struct perfmap *m, char *line)
{
	char *end;
	uint64_t start = strtoull(line, &end, 16), size;

	if (end == line || *end != ' ')
		return;
	line = end;
	size = strtoull(line, &end, 16);
	if (end == line || *end != ' ' || !size || start + size < start ||
		m->entries.len >= ENTRIES_MAX)
		return;
	vec_push(&m->entries, (struct entry){ start, start + size,
		(uint32_t)(end + 1 - m->text), (uint32_t)m->entries.len });
	m->sorted = false;
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

static void read_rest(struct perfmap *m, struct target *t)
{
	struct stat st;
	ssize_t n = 0;

	if (m->fd < 0)
		open_map(m, t);
	if (m->fd < 0 || fstat(m->fd, &st) || st.st_size > FILE_MAX ||
		(size_t)st.st_size <= m->len)
		return;
	m->text = realloc(m->text, (size_t)st.st_size + 1);
	if (!m->text)
		out_of_memory();
	n = pread(m->fd, m->text + m->len, (size_t)st.st_size - m->len, (off_t)m->len);
	if (n > 0)
		m->len += (size_t)n;
	parse(m);
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

/* Overlaps are resolved here: the newest entry that contains addr is right. Few starts precede addr
 * within a function's size, so a bounded search backwards suffices. */
const char *perfmap_find(struct perfmap *m, uint64_t addr, uint64_t *ret_offset)
{
	const struct entry *e = m->entries.data, *best = NULL;
	size_t lo = 0, hi = m->entries.len;

	if (!m->sorted && hi)
		qsort(m->entries.data, hi, sizeof(*e), cmp_entry);
	m->sorted = true;
	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (e[mid].start <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	for (size_t i = lo; i > 0 && lo - i < 64; i--)
		if (addr < e[i - 1].end && (!best || e[i - 1].order > best->order))
			best = &e[i - 1];
	if (!best)
		return NULL;
	*ret_offset = addr - best->start;
	return m->text + best->name;
}
