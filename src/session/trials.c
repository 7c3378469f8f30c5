// SPDX-License-Identifier: Apache-2.0
/* trials.c - see trials.h. A benchmark's time is the kernel's measure of its programs, less that of a program
 * that does nothing: both contain the reading of the clock. */
#include "trials.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/owner.h"
#include "base/stop.h"
#include "base/why.h"
#include "session/session_priv.h"

#define BENCH_NS 200000000ull /* time that one benchmark runs */
enum { BATCH = 1000 };        /* runs until their output is read */

struct trials {
	struct session *s;
	struct image_object *o;
	void (*drain)(void *arg);
	struct output_trials out;
	int *progs;     /* descriptor of each, owned by the object */
	double nothing; /* ns of a program that does nothing */
};

static int run_once(int prog, uint32_t *ret)
{
	LIBBPF_OPTS(bpf_test_run_opts, opts);
	int r = bpf_prog_test_run_opts(prog, &opts);

	*ret = opts.retval;
	return r;
}

/* ---- tests -------------------------------------------------------------- */

/* exit() and a failed assert() end only the test. */
static int run_test(struct trials *t, struct output_trial *one, int prog)
{
	struct record_env *env = &t->o->env;
	uint64_t start = clock_ns(CLOCK_MONOTONIC);
	uint32_t result = 0;
	int r = run_once(prog, &result);

	one->ns = (double)(clock_ns(CLOCK_MONOTONIC) - start);
	t->drain(t->s);
	one->failed = result || (env->exit_called && env->code);
	env->exit_called = t->s->ended = false;
	return r;
}

/* ---- benchmarks --------------------------------------------------------- */

static int count(int prog, uint64_t *ns, uint64_t *runs)
{
	struct bpf_prog_info info = {};
	uint32_t size = sizeof(info);

	if (bpf_prog_get_info_by_fd(prog, &info, &size))
		return -errno;
	*ns = info.run_time_ns;
	*runs = info.run_cnt;
	return 0;
}

static int measure(const struct trials *t, int prog, uint64_t limit_ns, double *ret_ns, uint64_t *ret_runs)
{
	uint64_t end = clock_ns(CLOCK_MONOTONIC) + limit_ns, ns[2], runs[2];
	int r = count(prog, &ns[0], &runs[0]);
	uint32_t result;

	while (!r && clock_ns(CLOCK_MONOTONIC) < end && !t->o->env.exit_called && !stop_asked()) {
		for (int i = 0; i < BATCH && !r; i++)
			r = run_once(prog, &result);
		t->drain(t->s);
	}
	r = r ? r : count(prog, &ns[1], &runs[1]);
	if (r)
		return r;
	*ret_runs = runs[1] - runs[0];
	*ret_ns = *ret_runs ? (double)(ns[1] - ns[0]) / (double)*ret_runs : 0;
	return 0;
}

static int measure_nothing(struct trials *t)
{
	const struct bpf_insn code[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	_cleanup_(closep) int prog = bpf_prog_load(BPF_PROG_TYPE_RAW_TRACEPOINT, "nothing", "GPL", code,
		ARRAY_SIZE(code), NULL);
	uint64_t runs;

	return prog < 0 ? -errno : measure(t, prog, BENCH_NS / 4, &t->nothing, &runs);
}

static int run_bench(struct trials *t, struct output_trial *one, int prog)
{
	struct record_env *env = &t->o->env;
	int r = measure(t, prog, BENCH_NS, &one->ns, &one->runs);

	one->ns = one->ns > t->nothing ? one->ns - t->nothing : 0;
	one->failed = env->exit_called && env->code;
	env->exit_called = t->s->ended = false;
	return r;
}

/* ---- all trials ----------------------------------------------------------- */

static void report(struct trials *t, int step, size_t at)
{
	struct out *o = &t->s->out;
	struct output_event e = {.kind = OUTPUT_TRIALS, .trials = &t->out};

	t->out.step = step;
	t->out.at = at;
	o->output->event(o, &e);
}

static int run_all(struct trials *t)
{
	bool failed = false;
	int r = 0;

	report(t, TRIALS_BEGIN, 0);
	for (size_t i = 0; i < t->out.n && !r && !stop_asked(); i++) {
		struct output_trial *one = &t->out.list[i];

		report(t, TRIAL_BEGINS, i);
		r = t->out.are_tests ? run_test(t, one, t->progs[i]) : run_bench(t, one, t->progs[i]);
		if (!r)
			report(t, TRIAL_ENDS, i);
		failed |= one->failed;
	}
	t->s->code = failed;
	report(t, TRIALS_END, 0);
	return r;
}

int trials_run(struct session *s, struct image_object *o, void (*drain)(void *arg))
{
	const struct image *img = o->img;
	bool are_tests = s->opt.mode == SCRIPT_TESTS;
	_cleanup_(freep) struct output_trial *list = calloc(img->nprogs + 1, sizeof(*list));
	_cleanup_(freep) int *progs = calloc(img->nprogs + 1, sizeof(*progs));
	_cleanup_(closep) int stats = are_tests ? -1 : bpf_enable_stats(BPF_STATS_RUN_TIME);
	struct trials t = {s, o, drain, {.list = list, .are_tests = are_tests}, progs, 0};
	int r;

	if (!list || !progs)
		return -ENOMEM;
	for (unsigned i = 0; i < img->nprogs; i++) {
		if (img->progs[i].provider->run != (are_tests ? RUN_TEST : RUN_BENCH))
			continue;
		progs[t.out.n] = image_object_program(o, i);
		list[t.out.n++].name = img->places[img->progs[i].first_place].place->func;
	}
	o->env.exit_called = s->ended = false; /* begin, which runs before, may have set them */
	r = are_tests ? 0 : measure_nothing(&t);
	r = r ? r : run_all(&t);
	if (r)
		log_error("cannot run the script's %s: %s", are_tests ? "tests" : "benchmarks", why_errno(r));
	return r;
}
