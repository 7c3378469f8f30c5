// SPDX-License-Identifier: Apache-2.0
/* bench.c - measures the cost of a frame in the kernel: our walk by tables and
 * bpf_get_stack() by frame pointers, on the same program built both ways:
 * bench DEEP-TABLES DEEP-FRAME-POINTERS [DEPTH [FUNCTION]] */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "loader.h"
#include "target/target.h"

#define ROUNDS   7
#define ROUND_US 200000

static int start(const char *program, const char *depth)
{
	int pid = fork();

	if (!pid) {
		execl(program, program, depth, NULL);
		_exit(127);
	}
	usleep(50000);
	return pid;
}

static void counters(struct loaded *l, const char *program, uint64_t *ns, uint64_t *runs)
{
	struct bpf_prog_info info = {};
	uint32_t size = sizeof(info);

	bpf_prog_get_info_by_fd(bpf_program__fd(bpf_object__find_program_by_name(l->obj, program)),
		&info, &size);
	*ns = info.run_time_ns;
	*runs = info.run_cnt;
}

/* The median round's ns per run. */
static double measure(struct loaded *l, const char *program, int pid, const char *path,
	const char *function, struct stack_req *r)
{
	struct bpf_link *link = loader_attach(l, program, pid, path, function, 0);
	double ns[ROUNDS];

	if (!link)
		return 0;
	usleep(20000);
	for (int i = 0; i < ROUNDS; i++) {
		uint64_t t0, t1, n0, n1;
		int k;

		counters(l, program, &t0, &n0);
		usleep(ROUND_US);
		counters(l, program, &t1, &n1);
		double v = n1 > n0 ? (double)(t1 - t0) / (n1 - n0) : 0;
		for (k = i; k > 0 && ns[k - 1] > v; k--)
			ns[k] = ns[k - 1];
		ns[k] = v;
	}
	loader_result(l, r);
	bpf_link__destroy(link);
	return ns[ROUNDS / 2];
}

int main(int argc, char **argv)
{
	const char *depth = argc > 3 ? argv[3] : "100", *function = argc > 4 ? argv[4] : "bottom";
	struct target *t = target_open("/");
	struct loaded l = {};
	struct stack_req ours = {}, theirs = {}, none;
	struct test_process *p;
	double empty, walk, get;
	int tables, pointers, stats;

	if (argc < 3 || geteuid() != 0 || loader_open(t, UNWIND_LIMIT_DEFAULT, false, LANGS_ALL, &l)) {
		puts("SKIP: needs root and two programs");
		return 77;
	}
	stats = bpf_enable_stats(BPF_STATS_RUN_TIME);
	tables = start(argv[1], depth);
	pointers = start(argv[2], depth);
	p = test_process_new(t, tables);
	loader_add(&l, p);
	empty = measure(&l, "test_nothing", tables, argv[1], function, &none);
	walk = measure(&l, "test_walk", tables, argv[1], function, &ours);
	get = measure(&l, "test_get_stack", pointers, argv[2], function, &theirs);
	printf("empty program          %7.1f ns\n", empty);
	printf("walk by tables         %7.1f ns  %4u frames  %5.1f ns/frame\n", walk, ours.nr,
		(walk - empty) / ours.nr);
	printf("bpf_get_stack by fp    %7.1f ns  %4u frames  %5.1f ns/frame\n", get, theirs.nr,
		(get - empty) / theirs.nr);
	printf("ratio per frame        %7.2f\n",
		(walk - empty) / ours.nr / ((get - empty) / theirs.nr));
	kill(tables, SIGKILL);
	kill(pointers, SIGKILL);
	while (wait(NULL) > 0)
		;
	close(stats);
	test_process_free(p);
	loader_close(&l);
	target_close(t);
	return 0;
}
