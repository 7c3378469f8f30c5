// SPDX-License-Identifier: Apache-2.0
/* capture.c - writes, for each frame of node, a file of the memory that naming it reads (heapfile.h):
 *
 *     capture [-m] NEW PID              of a process, which is stopped meanwhile
 *     capture [-m] NEW CORE SYSROOT     of the thread that crashed
 *
 * -m: with source maps. Writes NEW.0, NEW.1, ... Prints a line for each JavaScript frame, innermost
 * first, and for each function it was inlined into: "NUMBER\tNAME\tFILE\tLINE\tCOLUMN". Linked
 * with --wrap=v8_codes_record, so that the walk's own calls are captured. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/owner.h"
#include "base/str.h"
#include "base/vec.h"
#include "heapfile.h"
#include "target/elf.h"
#include "target/target.h"
#include "unwinders/procs/core.h"
#include "unwinders/procs/stopped.h"
#include "unwinders/unwinders.h"
#include "unwinders/v8/sourcemap.h"

void __real_v8_codes_record(struct v8_codes *c, const struct v8_record *r, const struct v8_heap *h);
void __wrap_v8_codes_record(struct v8_codes *c, const struct v8_record *r, const struct v8_heap *h);

static const char *new; /* prefix of the files' names */
static bool maps;

static _Noreturn void die(const char *what)
{
	fprintf(stderr, "capture: %s\n", what);
	exit(1);
}

/* ---- the memory that is read ---- */

struct piece {
	uint64_t addr;
	size_t size;
};

struct reads {
	const struct v8_heap *of;
	VEC(struct piece) pieces;
};

static int read_and_keep(void *arg, uint64_t addr, void *buf, size_t size)
{
	struct reads *r = arg;
	int err = r->of->read(r->of->arg, addr, buf, size);

	if (!err && size)
		vec_push(&r->pieces, (struct piece){ addr, size });
	return err;
}

static int by_address(const void *a, const void *b)
{
	const struct piece *x = a, *y = b;

	return (x->addr > y->addr) - (x->addr < y->addr);
}

static void merge(struct reads *r)
{
	size_t n = 0;

	qsort(r->pieces.data, r->pieces.len, sizeof(*r->pieces.data), by_address);
	for (size_t i = 0; i < r->pieces.len; i++) {
		struct piece x = r->pieces.data[i], *last = n ? &r->pieces.data[n - 1] : NULL;

		if (!last || x.addr > last->addr + last->size)
			r->pieces.data[n++] = x;
		else if (x.addr + x.size > last->addr + last->size)
			last->size = x.addr + x.size - last->addr;
	}
	r->pieces.len = n;
}

/* ---- a file ---- */

static uint32_t add(struct str *out, const void *data, size_t size)
{
	uint32_t at = (uint32_t)out->len;

	str_addn(out, data, size);
	return at;
}

static void add_ranges(struct str *out, const struct reads *r)
{
	size_t table = out->len;

	for (size_t i = 0; i < r->pieces.len; i++)
		add(out, &(struct heapfile_range){}, sizeof(struct heapfile_range));
	for (size_t i = 0; i < r->pieces.len; i++) {
		struct heapfile_range range = { r->pieces.data[i].addr, 0, (uint32_t)r->pieces.data[i].size };
		void *buf = malloc(range.size);

		if (!buf || r->of->read(r->of->arg, range.addr, buf, range.size))
			die("what was read once cannot be read again");
		range.at = add(out, buf, range.size);
		memcpy(out->data + table + i * sizeof(range), &range, sizeof(range));
		free(buf);
	}
}

static void write_file(unsigned number, const struct v8_record *record, const struct reads *r,
	const char *told)
{
	const struct v8_layout *at = r->of->at;
	struct heapfile_head h = { .magic = HEAPFILE_MAGIC, .maps = maps };
	struct str out = {}, path = {};
	FILE *f;

	if (r->pieces.len > HEAPFILE_RANGES)
		return;
	heapfile_set_record(&h, record);
	heapfile_set_layout(&h, at);
	h.nranges = (uint32_t)r->pieces.len;
	add(&out, &h, sizeof(h));
	add_ranges(&out, r);
	h.sizes = at->bytecode_sizes && record->compiled ? 3 * at->bytecodes : 0;
	h.sizes_at = add(&out, at->bytecode_sizes, h.sizes);
	h.told = (uint32_t)strlen(told);
	h.told_at = add(&out, told, h.told);
	memcpy(out.data, &h, sizeof(h));
	str_addf(&path, "%s.%u", new, number);
	f = fopen(path.data, "we");
	if (!f || fwrite(out.data, 1, out.len, f) != out.len || fclose(f))
		die("cannot write");
	str_done(&path);
	str_done(&out);
}

static int open_none(void *arg, int pid, const char *path)
{
	return -ENOENT;
}

static VEC(uint64_t) captured; /* frames; the index is the number of the file */

static bool is_captured(uint64_t frame, size_t *ret)
{
	for (*ret = 0; *ret < captured.len; ++*ret)
		if (captured.data[*ret] == frame)
			return true;
	return false;
}

/* Uses a new name cache, so that its script and its code are not known yet. */
static void capture(const struct v8_record *r, const struct v8_heap *h)
{
	struct reads reads = { .of = h };
	struct v8_heap kept = { h->at, read_and_keep, &reads };
	struct v8_codes *c = v8_codes_new();
	struct frame_name name;
	struct str told = {};
	size_t known;

	if (is_captured(r->frame, &known))
		return;
	if (maps)
		v8_codes_use_source_maps(c, &(struct sourcemap_files){ open_none, NULL });
	__real_v8_codes_record(c, r, &kept);
	if (!v8_codes_name(c, r->frame, &name))
		die("a record that names no frame");
	heapfile_told(&name, &told);
	merge(&reads);
	write_file((unsigned)captured.len, r, &reads, str_text(&told));
	vec_push(&captured, r->frame);
	vec_done(&reads.pieces);
	str_done(&told);
	v8_codes_free(c);
}

void __wrap_v8_codes_record(struct v8_codes *c, const struct v8_record *r, const struct v8_heap *h)
{
	if (h)
		capture(r, h);
	__real_v8_codes_record(c, r, h);
}

/* ---- walks ---- */

static void print_stack(struct unwinders *u, uint64_t id)
{
	const uint64_t *frames;
	enum unwind_end end;
	ssize_t n = unwinders_stack(u, id, &frames, &end);
	struct frame_name name;
	size_t number;

	for (ssize_t i = 0; i < n; i++) {
		unwinders_name(u, frames[i], &name);
		if (!is_captured(frames[i], &number))
			continue;
		for (const struct frame_name *f = &name; f; f = f->caller)
			printf("%zu\t%s\t%s\t%u\t%u\n", number, f->name, f->file ? f->file : "",
				f->line, f->column);
	}
}

static int walk_process(struct unwinders *u, int pid, uint64_t *ret)
{
	struct host_regs regs;
	struct stopped s;
	int err = stopped_open(pid, &s);

	if (!err)
		err = stopped_regs(pid, &regs);
	return err ? err : unwinders_walk(u, pid, &regs, 0, UNWIND_LIMIT_MAX, ret);
}

static int walk_core(struct unwinders *u, const char *path, uint64_t *ret)
{
	struct core *c = NULL;
	struct elf *e = NULL;
	int err = elf_open(path, &e);

	if (!err)
		err = core_open(e, &c);
	if (!err)
		err = unwinders_add_core(u, c, NULL);
	return err ? err : unwinders_walk_core(u, c, 0, 0, UNWIND_LIMIT_MAX, ret);
}

int main(int argc, char **argv)
{
	struct walk_maps *walk_maps = NULL;
	struct unwinders *u = NULL;
	struct target *t;
	uint64_t id;
	int n;

	maps = argc > 1 && !strcmp(argv[1], "-m");
	argv += maps;
	n = argc - maps;
	if (n != 3 && n != 4)
		die("[-m] NEW PID, or [-m] NEW CORE SYSROOT");
	new = argv[1];
	t = target_open(n == 4 ? argv[3] : "/");
	if (!t || walk_maps_memory(&walk_maps) || unwinders_new(t, walk_maps, &u))
		die("cannot set up the walk");
	if (maps)
		unwinders_use_source_maps(u);
	if (n == 4 ? walk_core(u, argv[2], &id) : walk_process(u, atoi(argv[2]), &id))
		die("it cannot be walked");
	print_stack(u, id);
	unwinders_free(u);
	target_close(t);
	return 0;
}
