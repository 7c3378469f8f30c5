// SPDX-License-Identifier: Apache-2.0
/* begin.c - begin and end: run once, before the other probes fire and after they are gone. They need no
 * kernel event: the session runs the programs itself (BPF_PROG_RUN). */
#include "probes.h"

#include <linux/bpf.h>
#include <string.h>

static bool once_expand(const struct request *req, struct attach_point *ap)
{
	if (ap->nwords != 1)
		return form_error(req, ap, "this probe takes no arguments");
	place_add(req, ap)->name = ap->provider->name;
	return true;
}

const struct provider provider_begin = {
	.name = "begin",
	.form = "begin",
	.help = "start of the script, before all other probes",
	.ctx = CTX_NONE,
	.prog_type = BPF_PROG_TYPE_RAW_TRACEPOINT,
	.section = "raw_tp",
	.run = RUN_BEGIN,
	.expand = once_expand,
};

const struct provider provider_end = {
	.name = "end",
	.form = "end",
	.help = "end of the script",
	.ctx = CTX_NONE,
	.prog_type = BPF_PROG_TYPE_RAW_TRACEPOINT,
	.section = "raw_tp",
	.run = RUN_END,
	.expand = once_expand,
};
