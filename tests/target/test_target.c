// SPDX-License-Identifier: Apache-2.0
/* test_target.c - tests src/target/ on a recorded machine, the tree beside this file. argv[1]: the
 * tree. Tests that need real ELF files use this machine's. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "../lib/check.h"
#include "base/owner.h"
#include "target/filemap.h"
#include "target/target.h"

static void test_paths(struct target *t)
{
	const char *skipped = NULL;
	const char *const *found;

	found = target_find_binary(t, "python3", &skipped);
	CHECK_STR(found[0], "/usr/bin/python3.11");
	CHECK(!found[1]);
	CHECK_STR(skipped, "/usr/local/bin/python3");
	CHECK_STR(target_which(t, "python3"), "/usr/local/bin/python3");
	CHECK(!target_which(t, "nothing"));
#ifdef __x86_64__ /* the recorded machine's libraries */
	CHECK_STR(target_find_binary(t, "libc", NULL)[0], "/usr/lib/x86_64-linux-gnu/libc.so.6");
	CHECK(!target_find_binary(t, "libc", NULL)[1]);
	CHECK_STR(target_find_binary(t, "libc.so.6", NULL)[0],
		"/usr/lib/x86_64-linux-gnu/libc.so.6");
	CHECK_STR(target_find_binary(t, "libpython3.11", NULL)[0],
		"/usr/lib/x86_64-linux-gnu/libpython3.11.so.1.0");
#endif
	CHECK(!target_find_binary(t, "libnothing", NULL)[0]);
	CHECK_STR(target_find_binary(t, "/usr/bin/py*", NULL)[0], "/usr/bin/python3.11");
	CHECK_STR(target_find_binary(t, "/opt/absolute", NULL)[0], "/usr/bin/python3.11");
	CHECK(!target_find_binary(t, "/opt/escape", NULL)[0]);
	CHECK(!target_is_elf(t, "/usr/local/bin/python3"));
}

static void test_tracefs(struct target *t)
{
	const char *const *names = target_events(t, "sched", "*");
	struct trace_event ev;

	CHECK_STR(target_tracefs(t), "/sys/kernel/tracing");
	CHECK_STR(names[0], "sched:sched_process_exec");
	CHECK_STR(names[1], "sched:sched_switch");
	CHECK(!names[2]);
	CHECK(target_event(t, "sched", "nothing", &ev) == -ENOENT);
	CHECK(!target_event(t, "sched", "sched_switch", &ev) && ev.id > 0);
	CHECK_STR(ev.fields[0].name, "prev_comm");
	CHECK_STR(ev.fields[0].type, "char[]");
	CHECK(ev.fields[0].elements == 16 && ev.fields[0].offset == 8);
	CHECK_STR(ev.fields[1].name, "prev_pid");
	CHECK(ev.fields[1].is_signed && ev.fields[1].size == 4);
	CHECK(!target_event(t, "sched", "sched_process_exec", &ev));
	CHECK_STR(ev.fields[0].type, "__data_loc char[]");
	CHECK_STR(ev.fields[0].name, "filename");
	CHECK(!ev.fields[0].elements);
}

static void test_kernel(struct target *t)
{
	const char *name = "", *module = "";
	uint64_t offset = 0;

	CHECK(target_ksym(t, 0xffffffff81000010, &name, &offset, &module));
	CHECK_STR(name, "_text");
	CHECK(offset == 0x10 && !*module);
	CHECK(target_ksym(t, 0xffffffffc0000004, &name, &offset, &module));
	CHECK_STR(name, "helper");
	CHECK_STR(module, "e1000");
	CHECK(!target_ksym(t, 0x1000, &name, &offset, &module));

	CHECK(target_has_btf(t));
	CHECK(target_btf_offset(t, "task_struct", "thread.fsbase") == 32);
	CHECK(target_btf_offset(t, "task_struct", "y") == 16);
	CHECK(target_btf_offset(t, "task_struct", "thread.none") == -ENOENT);
	CHECK(target_btf_offset(t, "none", "y") == -ENOENT);
	CHECK_STR(target_raw_tracepoints(t, "vmlinux", "sched_w*")[0], "sched_wakeup");
	CHECK(!target_raw_tracepoints(t, "vmlinux", "other")[0]);
	CHECK(target_feature(t, FEATURE_BPF_LOOP) && !target_feature(t, FEATURE_UPROBE_MULTI));
	CHECK(target_disable(t, "bpf_loop") && !target_feature(t, FEATURE_BPF_LOOP));
	CHECK(!target_disable(t, "nothing"));
}

static void test_proc(struct target *t)
{
	_cleanup_(freep) struct proc_map *maps = NULL;
	_cleanup_(freep) char *comm = proc_comm(t, 7);

	CHECK(proc_maps(t, 7, &maps) == 5);
	CHECK(maps[1].exec && !maps[0].exec && maps[1].offset == 0x2000);
	CHECK(maps[1].dev_major == 0xfe && maps[1].inode == 1234);
	CHECK_STR(maps[1].path, "/usr/bin/a b");
	CHECK_STR(maps[2].path, "");
	CHECK_STR(maps[3].path, "/memfd:x\ny (deleted)");
	CHECK_STR(maps[4].path, "[vdso]");
	CHECK_STR(comm, "worker");
	CHECK(proc_maps(t, 8, &maps) == -ESRCH);
	CHECK(!proc_alive(t, 8));
}

static bool has_name(const char *const *list, const char *name)
{
	for (; *list; list++)
		if (strstr(*list, name))
			return true;
	return false;
}

static void test_live(void)
{
	struct target *t = target_open("/");
	const char *const *sh = target_find_binary(t, "sh", NULL);
	_cleanup_(freep) struct proc_map *maps = NULL;
	ssize_t n = proc_maps(t, getpid(), &maps);
	_cleanup_(freep) int *tids = NULL;

	CHECK(sh[0]);
	CHECK(has_name(target_closure(t, sh[0]), "libc.so.6"));
	CHECK(has_name(target_closure(t, sh[0]), "ld-linux"));
	CHECK(has_name(target_find_binary(t, "libc", NULL), "libc.so.6"));
	CHECK(n > 5);
	for (ssize_t i = 0; i < n; i++) {
		int fd = maps[i].path[0] == '/' ? proc_open_mapping(t, getpid(), &maps[i]) : -1;

		CHECK(maps[i].path[0] != '/' || fd >= 0);
		closep(&fd);
	}
	CHECK(proc_threads(t, getpid(), &tids) == 1 && tids[0] == getpid());
	target_close(t);
}

static void test_cache(void)
{
	char dir[] = "/tmp/strata-test-XXXXXX";
	struct target *t;

	CHECK(mkdtemp(dir));
	setenv("STRATA_CACHE_DIR", dir, 1);
	t = target_open("/");
	CHECK(target_cache_dir(t) >= 0);
	target_close(t);
	chmod(dir, 0755); /* the mode of a new directory: its files are private */
	t = target_open("/");
	CHECK(target_cache_dir(t) >= 0);
	target_close(t);
	chmod(dir, 0775); /* others can replace its files */
	t = target_open("/");
	CHECK(target_cache_dir(t) == -EPERM);
	target_close(t);
	rmdir(dir);
}

/* A library that is truncated while it is read. */
static void test_shrunk(void)
{
	char path[] = "/tmp/strata-shrunk-XXXXXX";
	int fd = mkstemp(path);
	const uint8_t *data;

	CHECK(fd >= 0 && !ftruncate(fd, 1 << 16) && pwrite(fd, "x", 1, 40000) == 1);
	data = filemap(fd, 1 << 16);
	CHECK(data && data[40000] == 'x');
	CHECK(!ftruncate(fd, 4096));
	CHECK(data && data[40000] == 0 && data[65535] == 0);
	if (data)
		filemap_done(data, 1 << 16);
	close(fd);
	unlink(path);
}

int main(int argc, char **argv)
{
	struct target *t = target_open(argv[1]);

	CHECK(t);
	if (!t)
		return 1;
	test_paths(t);
	test_tracefs(t);
	test_kernel(t);
	test_proc(t);
	test_shrunk();
	target_close(t);
	test_cache();
	test_live();
	return failed;
}
