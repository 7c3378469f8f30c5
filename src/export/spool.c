// SPDX-License-Identifier: Apache-2.0
/* spool.c - files NUMBER-SECONDS-KIND[.pb][.gz], written under another name and renamed, so that a file is whole. */
#include "spool.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "base/owner.h"
#include "base/why.h"
#include "message.h"

enum { NAME_BYTES = 96 };
#define NEW "new"

/* Returns false for a file that is not the spool's. */
static bool read_name(const char *name, struct spool_file *ret)
{
	char kind[16];
	const char *at;

	*ret = (struct spool_file){};
	if (sscanf(name, "%20" SCNu64 "-%20" SCNu64 "-%15[a-z]", &ret->number, &ret->since, kind) != 3)
		return false;
	at = strstr(name, kind);
	while (ret->kind < MESSAGE_KINDS && strcmp(message_name(ret->kind), kind) != 0)
		ret->kind++;
	at = at ? at + strlen(kind) : "";
	ret->encoded = !strncmp(at, ".pb", 3);
	at += ret->encoded ? 3 : 0;
	ret->packed = !strcmp(at, ".gz");
	return ret->kind < MESSAGE_KINDS && (ret->packed || !*at);
}

static void make_name(const struct spool_file *f, char name[NAME_BYTES])
{
	snprintf(name, NAME_BYTES, "%020" PRIu64 "-%" PRIu64 "-%s%s%s", f->number, f->since, message_name(f->kind),
		f->encoded ? ".pb" : "", f->packed ? ".gz" : "");
}

static int by_number(const void *a, const void *b)
{
	const struct spool_file *x = a, *y = b;

	return (x->number > y->number) - (x->number < y->number);
}

static int find_files(struct spool *s)
{
	int fd = dup(s->dir);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	struct spool_file f;
	struct stat st;

	if (!d)
		return -errno;
	for (struct dirent *e; (e = readdir(d));) {
		if (!read_name(e->d_name, &f) || fstatat(s->dir, e->d_name, &st, AT_SYMLINK_NOFOLLOW) ||
			!S_ISREG(st.st_mode))
			continue;
		f.bytes = (uint64_t)st.st_size;
		s->bytes += f.bytes;
		s->next = f.number >= s->next ? f.number + 1 : s->next;
		vec_push(&s->files, f);
	}
	closedir(d);
	if (s->files.len)
		qsort(s->files.data, s->files.len, sizeof(*s->files.data), by_number);
	return 0;
}

/* Who can write to the directory can put a link where a file will be, and root would follow it. */
static int check_rights(int fd)
{
	struct stat st;

	if (fstat(fd, &st))
		return -errno;
	return (st.st_uid && st.st_uid != geteuid()) || st.st_mode & (S_IWGRP | S_IWOTH) ? -EPERM : 0;
}

int spool_open(const char *path, uint64_t bytes_max, double age_max, struct spool *ret)
{
	int r;

	*ret = (struct spool){.dir = -1, .lock = -1, .bytes_max = bytes_max, .age_max = (uint64_t)age_max, .next = 1};
	if (mkdir(path, 0700) && errno != EEXIST)
		return -errno;
	ret->dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	if (ret->dir < 0)
		return -errno;
	r = check_rights(ret->dir);
	if (r)
		return r;
	ret->lock = openat(ret->dir, "lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (ret->lock < 0)
		return -errno;
	if (flock(ret->lock, LOCK_EX | LOCK_NB))
		return errno == EWOULDBLOCK ? -EBUSY : -errno;
	return find_files(ret);
}

void spool_close(struct spool *s)
{
	closep(&s->dir);
	closep(&s->lock);
	vec_done(&s->files);
	s->dir = s->lock = -1;
}

size_t spool_count(const struct spool *s)
{
	return s->files.len - s->first;
}

void spool_drop(struct spool *s)
{
	struct spool_file *f = &s->files.data[s->first];
	char name[NAME_BYTES];

	make_name(f, name);
	unlinkat(s->dir, name, 0);
	s->bytes -= f->bytes;
	s->first++;
	if (s->first < 1024 && s->first < s->files.len)
		return;
	memmove(s->files.data, s->files.data + s->first, (s->files.len - s->first) * sizeof(*s->files.data));
	s->files.len -= s->first;
	s->first = 0;
}

void spool_expire(struct spool *s)
{
	uint64_t now = (uint64_t)time(NULL);

	while (spool_count(s) && now > s->files.data[s->first].since + s->age_max) {
		spool_drop(s);
		s->aged++;
	}
}

static bool write_all(int fd, const char *data, size_t n)
{
	for (ssize_t done; n; data += done, n -= (size_t)done) {
		done = write(fd, data, n);
		if (done < 0 && errno == EINTR)
			done = 0;
		if (done < 0)
			return false;
	}
	return true;
}

/* Says it once for each time of trouble. */
static void fail(struct spool *s, int r)
{
	unlinkat(s->dir, NEW, 0);
	s->failed++;
	if (!s->failing)
		log_warn("cannot write to the spool, and messages are lost: %s", why_errno(r));
	s->failing = true;
}

void spool_put(struct spool *s, const struct message *m)
{
	struct spool_file f = {.number = s->next, .bytes = m->body.len, .since = m->since, .kind = m->kind,
		.encoded = m->encoded, .packed = m->packed};
	char name[NAME_BYTES];
	int fd, r = 0;

	if (f.bytes > s->bytes_max) {
		s->full++;
		return;
	}
	for (; spool_count(s) && s->bytes + f.bytes > s->bytes_max; s->full++)
		spool_drop(s);
	make_name(&f, name);
	unlinkat(s->dir, NEW, 0); /* of a process that was killed */
	fd = openat(s->dir, NEW, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0 || !write_all(fd, m->body.data, m->body.len))
		r = -errno;
	if (fd >= 0 && close(fd) && !r)
		r = -errno;
	if (!r && renameat(s->dir, NEW, s->dir, name))
		r = -errno;
	if (r) {
		fail(s, r);
		return;
	}
	s->failing = false;
	s->next++;
	s->bytes += f.bytes;
	vec_push(&s->files, f);
}

static bool read_all(int fd, struct str *out)
{
	char buf[65536];
	ssize_t n;

	while ((n = read(fd, buf, sizeof(buf))) > 0)
		str_addn(out, buf, (size_t)n);
	return !n;
}

/* A file that cannot be read is dropped. */
struct message *spool_read(struct spool *s)
{
	for (; spool_count(s); spool_drop(s), s->failed++) {
		const struct spool_file *f = &s->files.data[s->first];
		struct message *m = calloc(1, sizeof(*m));
		_cleanup_(closep) int fd = -1;
		char name[NAME_BYTES];

		make_name(f, name);
		fd = openat(s->dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
		if (m && fd >= 0 && read_all(fd, &m->body) && m->body.len) {
			m->kind = f->kind;
			m->encoded = f->encoded;
			m->packed = f->packed;
			m->since = f->since;
			return m;
		}
		message_free(m);
	}
	return NULL;
}
