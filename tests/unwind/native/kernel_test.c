// SPDX-License-Identifier: Apache-2.0
/* kernel_test.c - walks in the kernel, from a uprobe on the innermost function of known stacks:
 * kernel_test PROGRAM.. */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "child.h"
#include "loader.h"
#include "target/target.h"

/* Limits of instructions that the verifier processes: its time dominates the start of strata, which loads only the
 * languages that processes have. On arm64 the walk also looks for function bounds; Linux 7.2 counts more than 6.18:
 * 86,964 with all languages, of which 19,188 are Erlang's, where 6.18 has 74,231 and 6,960. */
#ifdef __aarch64__
#define MOST_INSTRUCTIONS 90000 /* with all languages */
#define MOST_NATIVE       20000 /* without any */
#else
#define MOST_INSTRUCTIONS 90000
#define MOST_NATIVE       21000
#endif
/* The most instructions that one language of each kind adds. */
#define MOST_LIST   12000
#define MOST_NATIVE_LANG 6000
#define MOST_FRAME  20000
/* For kernels without bpf_loop(), before 5.17. The kernel's own limit is a million. Linux 6.18 counts 311,000. */
#define MOST_NOLOOP 350000

static struct target *target;

/* Reads the stack of an id from the ring buffer. */
struct wanted {
	uint64_t id;
	struct host_stack stack;
	unsigned walks;
};

static int take(void *ctx, void *data, size_t size)
{
	const struct stack_record *r = data;
	struct wanted *w = ctx;

	w->walks += r->head.kind == RECORD_WALK;
	if (r->head.kind != RECORD_STACK || r->id != w->id || size < sizeof(*r) + 8ul * r->nr)
		return 0;
	free(w->stack.frames);
	w->stack = (struct host_stack){r->id, malloc(8ul * r->nr + 1), r->nr, r->end};
	memcpy(w->stack.frames, r->frames, 8ul * r->nr);
	return 0;
}

static void read_ring(struct loaded *l, struct wanted *w)
{
	struct ring_buffer *ring = ring_buffer__new(
		bpf_map__fd(bpf_object__find_map_by_name(l->obj, "ring")), take, w, NULL);

	ring_buffer__consume(ring);
	ring_buffer__free(ring);
}

static void forget_ring(struct loaded *l)
{
	struct wanted none = {};

	read_ring(l, &none);
	free(none.stack.frames);
}

/* The id is the hash of the frames and of the end that were sent. */
static int id_is_right(const struct host_stack *s)
{
	uint64_t h = STACK_HASH_SEED;

	for (uint32_t i = 0; i < s->nr; i++)
		h = STACK_HASH(h, s->frames[i]);
	return (STACK_HASH(h, (uint64_t)s->end) & ~STACK_PROVISIONAL) == s->id;
}

static void test_stack(struct loaded *l, const char *program, const char *depth)
{
	struct child c = child_start(program, depth, "loop");
	struct test_process *p = test_process_new(target, c.pid);
	struct bpf_link *link;
	struct stack_req r = {};
	struct wanted w = {};
	char what[128];

	loader_add(l, p);
	forget_ring(l);
	link = loader_attach(l, "test_walk", c.pid, program, "marker", 0);
	if (link && loader_result(l, &r) == 0) {
		w.id = r.id;
		read_ring(l, &w);
	}
	snprintf(what, sizeof(what), "depth %s: %u frames, end %u", depth, r.nr, r.end);
	ok(w.stack.nr == r.nr && id_is_right(&w.stack) && child_agrees(p, &c, &w.stack) &&
		!w.walks, program, what);
	bpf_link__destroy(link);
	free(w.stack.frames);
	test_process_free(p);
	child_finish(&c);
}

/* Waits until a process has a mapping of that name, for ten seconds at most. */
static void wait_for_mapping(int pid, const char *name)
{
	char path[32], line[512];
	bool found = false;

	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	for (int i = 0; i < 10000 && !found; i++) {
		FILE *f = fopen(path, "re");

		while (f && fgets(line, sizeof(line), f))
			found |= strstr(line, name) != NULL;
		if (f)
			fclose(f);
		usleep(found ? 0 : 1000);
	}
}

/* Functions on the stack whose return addresses uretprobes have replaced. */
static void test_uretprobe(struct loaded *l, const char *program)
{
	struct child c = child_start(program, "20", "loop");
	struct bpf_link *ret = loader_attach(l, "test_nothing", c.pid, program, "next", 1);
	struct bpf_link *link = loader_attach(l, "test_walk", c.pid, program, "marker", 0);
	struct test_process *p;
	struct stack_req r = {};
	struct wanted w = {};

	wait_for_mapping(c.pid, "[uprobes]"); /* the kernel maps the trampoline's page at the first hit */
	p = test_process_new(target, c.pid);
	loader_add(l, p);
	if (link && ret && loader_result(l, &r) == 0 && loader_result(l, &r) == 0) {
		w.id = r.id;
		read_ring(l, &w);
	}
	ok(child_agrees(p, &c, &w.stack), program, "through uretprobes");
	bpf_link__destroy(link);
	bpf_link__destroy(ret);
	free(w.stack.frames);
	test_process_free(p);
	child_finish(&c);
}

/* An unknown process: the walk is handed over to userspace; a walk that only counts is marked. */
static void test_stranger(struct loaded *l, const char *program)
{
	struct child c = child_start(program, "10", "loop");
	struct bpf_link *link = loader_attach(l, "test_walk", c.pid, program, "marker", 0);
	struct stack_req r = {};
	struct wanted w = {};
	int fd = bpf_map__fd(bpf_object__find_map_by_name(l->obj, "result"));
	uint32_t zero = 0;

	forget_ring(l);
	for (int i = 0; i < 100 && !w.walks; i++) {
		usleep(20000);
		bpf_map_lookup_elem(fd, &zero, &r);
		read_ring(l, &w);
	}
	ok(w.walks > 0 && w.walks <= MAPPING_MISSES_MAX, program, "unknown: walks handed over");
	for (int i = 0; i < 100 && (!r.nr || (r.id & STACK_PROVISIONAL)); i++) {
		usleep(100000); /* an emulated machine is slow */
		bpf_map_lookup_elem(fd, &zero, &r);
	}
	ok(!(r.id & STACK_PROVISIONAL) && r.nr, program, "unknown: and no more than that");
	bpf_link__destroy(link);
	child_finish(&c);
}

static void test_all(int argc, char **argv, uint32_t limit)
{
	struct loaded l = {};
	char what[128];
	int err = loader_open(target, limit, false, LANGS_ALL, &l);

	if (err) {
		ok(0, "/unwind.bpf.o", strerror(-err));
		return;
	}
	snprintf(what, sizeof(what), "loads: %u instructions, three programs in %.1f ms", l.instructions,
		l.load_ms);
	ok(l.instructions < MOST_INSTRUCTIONS, "/unwind.bpf.o", what);
	for (int i = 1; i < argc; i++) {
		test_stack(&l, argv[i], "1");
		test_stack(&l, argv[i], "10");
		test_stack(&l, argv[i], "100");
		test_stack(&l, argv[i], "1000");
		if (limit > 10000)
			test_stack(&l, argv[i], "5000");
		test_uretprobe(&l, argv[i]);
		test_stranger(&l, argv[i]);
	}
	loader_close(&l);
}

/* Returns the number of instructions of an object with these languages, or 0 if it does not load. */
static uint32_t count(uint32_t languages)
{
	struct loaded l = {};
	uint32_t n = loader_open(target, UNWIND_LIMIT_DEFAULT, false, languages, &l) ? 0 : l.instructions;

	loader_close(&l);
	return n;
}

/* A language costs nothing if it is not loaded, and no more than its limit if it is. */
static void test_languages(void)
{
	static const struct {
		const char *name;
		uint32_t most;
	} rows[] = {
#define LIST_MOST   MOST_LIST
#define NATIVE_MOST MOST_NATIVE_LANG
#define FRAME_MOST  MOST_FRAME
#define L(id, stem, builtin, kind, name) {name, kind##_MOST},
#include "bpf/languages.def"
#undef L
	};
	uint32_t native = count(0), all = count(LANGS_ALL), sum = native;
	char what[128];

	snprintf(what, sizeof(what), "without languages: %u instructions, with all: %u", native, all);
	ok(native && native < MOST_NATIVE && all > 2 * native, "languages", what);
	for (unsigned i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		uint32_t n = count(1U << (i + 1));

		snprintf(what, sizeof(what), "%s: %u more instructions", rows[i].name, n - native);
		ok(n > native && n - native < rows[i].most, "languages", what);
		sum += n - native;
	}
	snprintf(what, sizeof(what), "all languages: the sum of their parts is %u of %u", sum, all);
	ok(sum > all - all / 4 && sum < all + all / 4, "languages", what);
}

/* An object without languages walks native stacks as before. */
static void test_without_languages(const char *program)
{
	struct loaded l = {};

	if (loader_open(target, UNWIND_LIMIT_MAX, false, 0, &l)) {
		ok(0, "languages", "an object without languages loads");
		return;
	}
	test_stack(&l, program, "10");
	test_stack(&l, program, "1000");
	loader_close(&l);
}

/* The object for kernels without bpf_loop(). */
static void test_noloop(const char *program)
{
	struct loaded l = {};
	char what[128];

	if (loader_open(target, UNWIND_LIMIT_MAX, true, LANGS_ALL, &l)) {
		ok(0, "/unwind_noloop.bpf.o", "loads");
		return;
	}
	snprintf(what, sizeof(what), "loads: %u instructions in %.1f ms", l.instructions, l.load_ms);
	ok(l.instructions < MOST_NOLOOP, "/unwind_noloop.bpf.o", what);
	test_stack(&l, program, "10");
	test_stack(&l, program, "100");
	test_stranger(&l, program);
	loader_close(&l);
}

int main(int argc, char **argv)
{
	if (geteuid() != 0) {
		puts("1..0 # SKIP needs root");
		return 0;
	}
	target = target_open("/");
	if (!target_feature(target, FEATURE_UPROBE_MULTI)) {
		puts("1..0 # SKIP needs uprobe_multi (6.6): account.py tests such kernels");
		return 0;
	}
	test_all(argc, argv, UNWIND_LIMIT_MAX);
	test_languages();
	test_without_languages(argv[1]);
	test_noloop(argv[1]);
	target_close(target);
	return plan();
}
