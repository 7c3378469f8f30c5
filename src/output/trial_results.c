// SPDX-License-Identifier: Apache-2.0
/* trial_results.c - results of tests and benchmarks, as text: bpftrace's lines, which are googletest's. */
#include "output.h"

#include <inttypes.h>

#include "base/owner.h"

static void print_mark(bool is_good, const char *mark, bool colours, FILE *file)
{
	if (colours)
		fprintf(file, "\033[%dm[%s]\033[0m ", is_good ? 32 : 31, mark);
	else
		fprintf(file, "[%s] ", mark);
}

static const char *tests(size_t n)
{
	return n == 1 ? "test" : "tests";
}

static void print_summary(const struct output_trials *t, bool colours, FILE *file)
{
	size_t failed = 0;

	for (size_t i = 0; i < t->n; i++)
		failed += t->list[i].failed;
	print_mark(true, "==========", colours, file);
	fprintf(file, "%zu %s ran.\n", t->n, tests(t->n));
	print_mark(true, "  PASSED  ", colours, file);
	fprintf(file, "%zu %s.\n", t->n - failed, tests(t->n - failed));
	if (!failed)
		return;
	print_mark(false, "  FAILED  ", colours, file);
	fprintf(file, "%zu %s, listed below:\n", failed, tests(failed));
	for (size_t i = 0; i < t->n; i++)
		if (t->list[i].failed) {
			print_mark(false, "  FAILED  ", colours, file);
			fprintf(file, "%s\n", t->list[i].name);
		}
}

static void print_test(const struct output_trials *t, bool colours, FILE *file)
{
	const struct output_trial *one = &t->list[t->at];

	switch (t->step) {
	case TRIALS_BEGIN:
		print_mark(true, "==========", colours, file);
		fprintf(file, "Running %zu %s.\n", t->n, tests(t->n));
		break;
	case TRIAL_BEGINS:
		print_mark(true, " RUN      ", colours, file);
		fprintf(file, "%s\n", one->name);
		break;
	case TRIAL_ENDS:
		print_mark(!one->failed, one->failed ? "  FAILED  " : "       OK ", colours, file);
		fprintf(file, "%s (%.1f us)\n", one->name, one->ns / 1000);
		break;
	case TRIALS_END:
		print_summary(t, colours, file);
		break;
	}
}

static void print_bench(const struct output_trials *t, FILE *file)
{
	static const char head[] = "Benchmark                                Time(ns)       Iterations";
	const struct output_trial *one = &t->list[t->at];

	if (t->step == TRIALS_BEGIN) {
		fprintf(file, "%s\n", head);
		for (size_t i = 0; i < sizeof(head) - 1; i++)
			fputc('-', file);
		fputc('\n', file);
	} else if (t->step == TRIAL_ENDS) {
		fprintf(file, "%-40s %-14.1f %" PRIu64 "\n", one->name, one->ns, one->runs);
	}
}

void output_trials_text(const struct output_trials *t, bool colours, FILE *file)
{
	if (t->are_tests)
		print_test(t, colours, file);
	else
		print_bench(t, file);
	fflush(file);
}
