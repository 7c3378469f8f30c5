// SPDX-License-Identifier: Apache-2.0
/* test_units.c - unit tests of the unwinders: names, stacks by id, mappings. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "../lib/check.h"
#include "base/owner.h"
#include "target/demangle.h"
#include "target/target.h"
#include "unwinders/idmap.h"
#include "unwinders/maps/maps.h"
#include "unwinders/procs/perfmap.h"
#include "unwinders/procs/process.h"
#include "unwinders/python/python.h"
#include "unwinders/stacks.h"

static void check_demangle(const char *mangled, const char *want)
{
	_cleanup_(freep) char *got = demangle(mangled);

	CHECK_STR(got, want);
}

static void test_demangle(void)
{
	check_demangle("_ZN3foo3barEi", "foo::bar(int)");
	check_demangle("_ZN4core3fmt5write17h0123456789abcdefE", "core::fmt::write");
	check_demangle("main", NULL);
	check_demangle("_Znonsense", NULL);
}

static void test_perfmap(struct target *t)
{
	struct perfmap *m = perfmap_new(getpid());
	struct perfmap_code c = {};
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
	f = fopen(path, "w");
	fputs("1000 100 first\n2000 10 second one\n1010 10 inner\nnonsense\n3000 0 empty\n5000 10 cut", f);
	fclose(f);
	perfmap_read(m, t);
	CHECK_STR(perfmap_find(m, 0x1000, 0, &c) ? c.name : NULL, "first");
	CHECK_STR(perfmap_find(m, 0x1015, 0, &c) ? c.name : NULL, "inner");
	CHECK(c.offset == 5);
	CHECK_STR(perfmap_find(m, 0x1030, 0, &c) ? c.name : NULL, "first");
	CHECK_STR(perfmap_find(m, 0x200f, 0, &c) ? c.name : NULL, "second one");
	CHECK_STR(perfmap_find(m, 0x2010, 0, &c) ? c.name : NULL, NULL);
	CHECK_STR(perfmap_find(m, 0x3000, 0, &c) ? c.name : NULL, NULL);
	CHECK_STR(perfmap_find(m, 0x5000, 0, &c) ? c.name : NULL, NULL);
	CHECK_STR(perfmap_find(m, 0x1015, 3, &c) ? c.name : NULL, "first"); /* before the third line was written */
	f = fopen(path, "w"); /* written anew, and longer */
	for (int i = 0; i < 9; i++)
		fprintf(f, "%x 100 again%d\n", 0x1000 + i * 0x100, i);
	fclose(f);
	perfmap_end(m, (uint32_t)getpid(), t);
	CHECK_STR(perfmap_find(m, 0x1015, 0, &c) ? c.name : NULL, "again0");
	CHECK_STR(perfmap_find(m, 0x1800, 0, &c) ? c.name : NULL, "again8");
	CHECK_STR(perfmap_find(m, 0x1030, 4, &c) ? c.name : NULL, "first");
	unlink(path);
	perfmap_free(m);
}

static void test_stacks(void)
{
	struct stacks *s = stacks_new();
	uint64_t buf[8] = {};
	struct stack_record *r = (struct stack_record *)buf;
	const uint64_t *frames;
	enum unwind_end end;

	*r = (struct stack_record){ .head.kind = RECORD_STACK, .id = 7, .nr = 3, .end = UNWIND_LIMIT };
	stacks_record(s, r, sizeof(*r) + 16); /* too short for three frames */
	CHECK(stacks_find(s, 7, &frames, &end) < 0);
	r->frames[2] = 0x1234;
	stacks_record(s, r, sizeof(*r) + 24);
	CHECK(stacks_find(s, 7, &frames, &end) == 3 && frames[2] == 0x1234 && end == UNWIND_LIMIT);
	stacks_alias(s, STACK_PROVISIONAL | 9, 7);
	CHECK(stacks_real_id(s, STACK_PROVISIONAL | 9) == 7);
	CHECK(stacks_find(s, STACK_PROVISIONAL | 9, &frames, &end) == 3);
	CHECK(stacks_find(s, 0, &frames, &end) == 0);
	stacks_free(s);
}

/* Whether the stacks from first on, each step, are those that remain of n, with their frames. */
static bool remain(struct stacks *s, uint64_t n, uint64_t first, uint64_t step)
{
	const uint64_t *frames;
	enum unwind_end end;

	for (uint64_t id = 1; id <= n; id++) {
		bool stays = id >= first && (id - first) % step == 0;
		ssize_t found = stacks_find(s, id, &frames, &end);

		if (stays ? found != (ssize_t)(id % 7) || (found && frames[found - 1] != id) : found >= 0)
			return false;
	}
	return true;
}

/* Few stacks are only left out; if most go, the others move. */
static void test_forget(void)
{
	enum { N = 5000 };
	struct stacks *s = stacks_new();
	uint64_t frames[7];
	size_t bytes, none = stacks_bytes(s);

	for (uint64_t id = 1; id <= N; id++) {
		for (unsigned i = 0; i < 7; i++)
			frames[i] = id;
		stacks_add(s, id, frames, id % 7, UNWIND_COMPLETE);
	}
	CHECK(stacks_count(s) == N && remain(s, N, 1, 1));
	stacks_renew(s);
	for (uint64_t id = 101; id <= N; id++)
		stacks_keep(s, id);
	bytes = stacks_bytes(s);
	stacks_forget(s);
	CHECK(stacks_count(s) == N - 100 && remain(s, N, 101, 1) && stacks_bytes(s) <= bytes);
	stacks_renew(s);
	for (uint64_t id = 101; id <= N; id += 10)
		stacks_keep(s, id);
	stacks_alias(s, STACK_PROVISIONAL | 9, 101);
	stacks_forget(s);
	CHECK(stacks_count(s) == (N - 100) / 10 && remain(s, N, 101, 10) && stacks_bytes(s) < bytes / 4);
	stacks_renew(s);
	stacks_renew(s); /* the alias is of an earlier generation */
	stacks_forget(s);
	CHECK(!stacks_count(s) && remain(s, N, N + 1, 1) && stacks_bytes(s) < none + 4096);
	stacks_free(s);
}

/* A new mapping replaces what it overlaps: the start, the end, the middle, all of an old one. */
static void test_mappings(struct target *t)
{
	struct walk_maps *maps;
	struct files *fs;
	struct processes *ps;
	const struct process *p;
	uint64_t base = 0x10000000;
	struct process_mmap m = { .pid = (uint32_t)getpid(), .start = base, .len = 0x4000,
		.exec = true, .path = "//anon" };

	CHECK(!walk_maps_memory(&maps));
	fs = files_new(t, maps);
	ps = processes_new(t, fs, maps);
	CHECK(!processes_add(ps, (uint32_t)getpid()));
	p = processes_find(ps, (uint32_t)getpid());
	CHECK(process_mapping(p, (uintptr_t)&test_mappings));
	CHECK(!process_mapping(p, base));
	processes_mmap(ps, &m);
	CHECK(process_mapping(p, base)->flags & MAPPING_ANON);
	m.start = base + 0x1000;
	m.len = 0x1000;
	m.exec = false; /* data in the middle of it */
	processes_mmap(ps, &m);
	CHECK(process_mapping(p, base) && process_mapping(p, base)->end == base + 0x1000);
	CHECK(!process_mapping(p, base + 0x1000));
	CHECK(process_mapping(p, base + 0x2000) && process_mapping(p, base + 0x3fff));
	m.start = base;
	m.len = 0x10000;
	processes_mmap(ps, &m);
	CHECK(!process_mapping(p, base) && !process_mapping(p, base + 0x3000));
	processes_fork(ps, (uint32_t)getpid(), 4000000);
	CHECK(process_mapping(processes_find(ps, 4000000), (uintptr_t)&test_mappings));
	processes_exit(ps, 4000000);
	CHECK(processes_find(ps, 4000000)->dead);
	CHECK(processes_add(ps, 4000001) == -ESRCH);
	processes_free(ps);
	files_free(fs);
	maps->free(maps);
}

/* A program's mappings come only by events; its first file is the program. */
static void test_exec(struct target *t)
{
	struct process_mmap m = { .pid = 4000002, .start = 0x10000000, .len = 0x4000, .exec = true,
		.path = "/proc/self/exe" };
	struct walk_maps *maps;
	struct files *fs;
	struct processes *ps;
	const struct process *p;
	struct stat st;

	CHECK(!stat(m.path, &st) && !walk_maps_memory(&maps));
	m.inode = st.st_ino;
	m.dev_major = major(st.st_dev);
	m.dev_minor = minor(st.st_dev);
	fs = files_new(t, maps);
	ps = processes_new(t, fs, maps);
	processes_exec(ps, m.pid);
	p = processes_find(ps, m.pid);
	CHECK(p && !p->nmaps && p->changed && !p->published);
	CHECK(processes_mmap(ps, &m) && p->nmaps == 1);
	CHECK(!processes_mmap(ps, &m) && !p->published);
	processes_publish_all(ps);
	CHECK(p->published && !p->changed);
	processes_exit(ps, m.pid);
	CHECK(!p->published);
	processes_free(ps);
	files_free(fs);
	maps->free(maps);
}

/* A thousand keys come and go, in an order that is the same each time. */
static void test_idmap(void)
{
	struct idmap m = {};
	uint64_t value[1000] = {}, seed = 1;
	size_t n = 0;

	for (int i = 0; i < 100000; i++) {
		uint64_t key = (seed = seed * 6364136223846793005ULL + 1) >> 33, k = key % 1000;

		if (key >> 20 & 1) {
			n += !value[k];
			value[k] = seed | 1;
			idmap_set(&m, k, value[k]);
		} else {
			n -= value[k] != 0;
			value[k] = 0;
			idmap_remove(&m, k);
		}
		k = (k + 7) % 1000;
		CHECK(idmap_pointer(&m, k) == (void *)(uintptr_t)value[k]);
	}
	CHECK(m.n + m.has_zero == n && m.cap <= 2048);
	for (uint64_t k = 0; k < 1000; k++)
		CHECK(idmap_pointer(&m, k) == (void *)(uintptr_t)value[k]);
	idmap_done(&m);
}

static void test_python_lines(void)
{
	static struct python_code_record r = {
		.code = 5, .firstlineno = 10, .lines = PYTHON_LOCATIONS, .linetable_size = 8,
		.name_kind = 2, .file_kind = 1, .name_size = 4, .file_size = 1,
	};
	/* no line for 1 unit; +1 for 2 units, columns; long form: +300, 1 unit */
	static const uint8_t table[] = { 0xf8, 0xd9, 1, 2, 0xe8, 0x58, 0x09, 0 };
	struct python_codes *c = python_codes_new();
	struct frame_name n;

	memcpy(r.linetable, table, sizeof(table));
	memcpy(r.name, "\xe9\x00\x09\x59", 4);
	memcpy(r.file, "f", 1);
	python_codes_record(c, &r, offsetof(struct python_code_record, linetable) - 1);
	CHECK(!python_codes_name(c, FRAME_PYTHON(5, 0), &n));
	python_codes_record(c, &r, sizeof(r));
	CHECK(python_codes_name(c, FRAME_PYTHON(5, 0), &n) && n.line == 10 && !n.begins); /* it has not begun */
	CHECK_STR(n.name, "\u00e9\u5909");
	CHECK_STR(n.file, "f");
	CHECK(python_codes_name(c, FRAME_PYTHON(5, 1), &n) && n.line == 11 && !n.begins);
	CHECK(python_codes_name(c, FRAME_PYTHON(5, 2), &n) && n.line == 11);
	CHECK(python_codes_name(c, FRAME_PYTHON(5, 3), &n) && n.line == 311);
	CHECK(python_codes_name(c, FRAME_PYTHON(5, 900), &n) && !n.line && n.begins == 10); /* beyond the line table */
	python_codes_free(c);
}

int main(void)
{
	struct target *t = target_open("/");

	test_demangle();
	test_perfmap(t);
	test_stacks();
	test_forget();
	test_idmap();
	test_mappings(t);
	test_exec(t);
	test_python_lines();
	target_close(t);
	return failed;
}
