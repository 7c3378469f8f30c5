// SPDX-License-Identifier: Apache-2.0
/* test_bench.c - test:NAME and bench:NAME, which run only with --test and --bench: they test and time a script's
 * macros next to their code. The session runs the programs itself, see trials.c. */
#include "probes.h"

#include <linux/bpf.h>

static bool trial_expand(const struct request *req, struct attach_point *ap)
{
	if (ap->nwords != 2 || !*ap->words[1])
		return form_error(req, ap, "a name is missing");
	place_add(req, ap)->func = ap->words[1];
	return true;
}

const struct provider provider_test = {
	.name = "test",
	.form = "test:NAME",
	.help = "a test: --test runs it once; assert() or a returned number other than 0 makes it fail",
	.ctx = CTX_NONE,
	.prog_type = BPF_PROG_TYPE_RAW_TRACEPOINT,
	.section = "raw_tp",
	.run = RUN_TEST,
	.expand = trial_expand,
};

const struct provider provider_bench = {
	.name = "bench",
	.form = "bench:NAME",
	.help = "a benchmark: --bench runs it repeatedly and prints the time per run",
	.ctx = CTX_NONE,
	.prog_type = BPF_PROG_TYPE_RAW_TRACEPOINT,
	.section = "raw_tp",
	.run = RUN_BENCH,
	.expand = trial_expand,
};
