// SPDX-License-Identifier: Apache-2.0
/* jitdump.c - reads the records of a jitdump file. See jitdump.h. The machine code in it is skipped. */
#include "jitdump.h"

#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/owner.h"
#include "base/str.h"
#include "base/vec.h"

#define MAGIC 0x4a695444 /* "JiTD" */

enum { CODE_LOAD, CODE_MOVE, CODE_DEBUG_INFO };
enum {
	NAME_BYTES = 4096,
	LINES_MAX = 1 << 16,        /* of a function */
	DEBUG_BYTES_MAX = 8 << 20,  /* of its record */
	RECORDS_MAX = 1 << 22,
};

struct file_head {
	uint32_t magic, version, size, machine, pad, pid;
	uint64_t time, flags;
};

struct record_head {
	uint32_t id, size; /* size: of the whole record */
	uint64_t time;     /* CLOCK_MONOTONIC ns, mostly */
};

struct load { /* then the name with a NUL, then the code */
	uint32_t pid, tid;
	uint64_t vma, addr, size, index;
};

struct move {
	uint32_t pid, tid;
	uint64_t vma, old_addr, new_addr, size, index;
};

struct debug_info { /* then the entries: addr u64, line u32, discriminator u32, file with a NUL */
	uint64_t addr, n;
};
enum { ENTRY_BYTES = 16 };

struct jitdump {
	int fd;
	uint64_t at; /* next record; 0: the head */
	bool bad;
	uint32_t records;
	uint64_t lines_of; /* function of lines, which precede its code */
	VEC(struct jitdump_line) lines;
	struct str files;
	char name[NAME_BYTES];
};

struct jitdump *jitdump_new(int fd)
{
	struct jitdump *d = calloc(1, sizeof(*d));

	if (!d)
		out_of_memory();
	d->fd = fd;
	return d;
}

void jitdump_free(struct jitdump *d)
{
	if (!d)
		return;
	closep(&d->fd);
	vec_done(&d->lines);
	str_done(&d->files);
	free(d);
}

static bool read_at(const struct jitdump *d, uint64_t at, void *ret, size_t size)
{
	return pread(d->fd, ret, size, (off_t)at) == (ssize_t)size;
}

static void read_head(struct jitdump *d, uint64_t file_size)
{
	struct file_head h;

	if (file_size < sizeof(h))
		return;
	d->bad = !read_at(d, 0, &h, sizeof(h)) || h.magic != MAGIC || h.version != 1 || h.size < sizeof(h);
	d->at = h.size;
}

static void drop_lines(struct jitdump *d)
{
	d->lines.len = 0;
	str_clear(&d->files);
	d->lines_of = 0;
}

static void read_load(struct jitdump *d, uint64_t at, uint32_t size, jitdump_fn *f, void *arg)
{
	struct load l;
	size_t n = size > sizeof(l) ? size - sizeof(l) : 0;
	struct jitdump_code c;

	n = n < NAME_BYTES - 1 ? n : NAME_BYTES - 1;
	if (size < sizeof(l) || !read_at(d, at, &l, sizeof(l)) || !read_at(d, at + sizeof(l), d->name, n))
		return;
	d->name[n] = '\0';
	c = (struct jitdump_code){.start = l.addr, .size = l.size, .name = d->name};
	if (d->lines_of == l.addr && d->lines.len) {
		c.lines = d->lines.data;
		c.nlines = d->lines.len;
		c.files = str_text(&d->files);
	}
	f(arg, &c);
	drop_lines(d);
}

static void read_move(const struct jitdump *d, uint64_t at, uint32_t size, jitdump_fn *f, void *arg)
{
	struct move m;

	if (size >= sizeof(m) && read_at(d, at, &m, sizeof(m)))
		f(arg, &(struct jitdump_code){.start = m.new_addr, .size = m.size, .from = m.old_addr});
}

/* Returns the place of the text in files. "\xff" means the file of the entry before. */
static uint32_t keep_file(struct jitdump *d, const char *text)
{
	const struct jitdump_line *last = d->lines.len ? &d->lines.data[d->lines.len - 1] : NULL;
	uint32_t at = (uint32_t)d->files.len;

	if (last && (!strcmp(text, "\xff") || !strcmp(text, str_text(&d->files) + last->file)))
		return last->file;
	str_add(&d->files, text);
	str_addn(&d->files, "", 1);
	return at;
}

static void read_entries(struct jitdump *d, const char *p, const char *end, uint64_t n)
{
	for (uint64_t i = 0; i < n && i < LINES_MAX && end - p > ENTRY_BYTES; i++) {
		const char *name = p + ENTRY_BYTES, *nul = memchr(name, 0, (size_t)(end - name));
		struct jitdump_line l = {};

		if (!nul)
			return;
		memcpy(&l.addr, p, sizeof(l.addr));
		memcpy(&l.line, p + 8, sizeof(l.line));
		l.file = keep_file(d, name);
		vec_push(&d->lines, l);
		p = nul + 1;
	}
}

static void read_debug_info(struct jitdump *d, uint64_t at, uint32_t size)
{
	_cleanup_(freep) char *data = NULL;
	struct debug_info i;

	drop_lines(d);
	if (size < sizeof(i) || size > DEBUG_BYTES_MAX)
		return;
	data = malloc(size);
	if (!data || !read_at(d, at, data, size))
		return;
	memcpy(&i, data, sizeof(i));
	d->lines_of = i.addr;
	read_entries(d, data + sizeof(i), data + size, i.n);
}

void jitdump_read(struct jitdump *d, jitdump_fn *f, void *arg)
{
	struct record_head h;
	struct stat st;
	uint64_t size;

	if (fstat(d->fd, &st) || st.st_size < 0)
		return;
	size = (uint64_t)st.st_size;
	if (!d->at)
		read_head(d, size);
	/* The process may be writing the last record. */
	while (!d->bad && d->at && size >= sizeof(h) && d->at <= size - sizeof(h) && read_at(d, d->at, &h, sizeof(h))) {
		uint64_t at = d->at + sizeof(h);

		d->bad = h.size < sizeof(h) || ++d->records > RECORDS_MAX;
		if (d->bad || h.size > size - d->at)
			return;
		if (h.id == CODE_LOAD)
			read_load(d, at, h.size - (uint32_t)sizeof(h), f, arg);
		else if (h.id == CODE_MOVE)
			read_move(d, at, h.size - (uint32_t)sizeof(h), f, arg);
		else if (h.id == CODE_DEBUG_INFO)
			read_debug_info(d, at, h.size - (uint32_t)sizeof(h));
		d->at += h.size;
	}
}
