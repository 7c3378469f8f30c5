// SPDX-License-Identifier: Apache-2.0
/* self.c - self:signal:NAME, when strata itself gets a signal: a way to send requests to a running script.
 * The session runs the program itself, like begin. */
#include "probes.h"

#include <linux/bpf.h>
#include <signal.h>
#include <string.h>

static const struct {
	const char *name;
	int number;
} signals[] = {
	{"SIGUSR1", SIGUSR1},
	{"SIGUSR2", SIGUSR2},
};

static const char *const names[] = {"signal:SIGUSR1", "signal:SIGUSR2", NULL};

static bool self_expand(const struct request *req, struct attach_point *ap)
{
	if (ap->nwords != 3)
		return form_error(req, ap, "a signal is missing");
	if (strcmp(ap->words[1], "signal") != 0)
		return form_error(req, ap, "only signals can be waited for");
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		if (!strcmp(ap->words[2], signals[i].name)) {
			place_add(req, ap)->config = signals[i].number;
			return true;
		}
	diag(req->diags, ap->word_spans[2], DIAG_ATTACH_POINT, "%s is not a signal that a script can have",
		ap->words[2]);
	diag_hint(req->diags, "there are SIGUSR1 and SIGUSR2; others end strata or are the system's");
	return false;
}

const struct provider provider_self = {
	.name = "self",
	.form = "self:signal:(SIGUSR1|SIGUSR2)",
	.help = "a signal to strata",
	.ctx = CTX_NONE,
	.prog_type = BPF_PROG_TYPE_RAW_TRACEPOINT,
	.section = "raw_tp",
	.run = RUN_SIGNAL,
	.names = names,
	.expand = self_expand,
};
