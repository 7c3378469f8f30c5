// SPDX-License-Identifier: Apache-2.0
/* points.c - selects the places of an attach point, by the mode of the script and by --probe-filter. */
#include <string.h>

#include "ast.h"
#include "base/diag.h"
#include "builtin_names.h"
#include "model/attach_point.h"
#include "model/provider.h"
#include "model/request.h"

static bool is_trial(const struct provider *p)
{
	return p->run == RUN_TEST || p->run == RUN_BENCH;
}

bool points_check_name(const struct script *s, struct diags *d, const struct attach_point *ap)
{
	if (!is_trial(ap->provider) || !ap->places)
		return true;
	for (const struct probe *p = s->probes; p; p = p->next)
		for (const struct attach_point *other = p->points; other; other = other->next) {
			if (other == ap)
				return true;
			if (other->provider != ap->provider || strcmp(other->words[1], ap->words[1]) != 0)
				continue;
			return diag(d, ap->word_spans[1], DIAG_ATTACH_POINT, "there is another %s of this name",
				ap->provider->name);
		}
	return true;
}

/* Returns whether probes of the type run in this mode. begin and end always run. */
static bool mode_has(enum script_mode mode, enum provider_run run)
{
	switch (run) {
	case RUN_BEGIN:
	case RUN_END:
		return true;
	case RUN_TEST:
		return mode == SCRIPT_TESTS;
	case RUN_BENCH:
		return mode == SCRIPT_BENCHES;
	case RUN_ATTACHED:
	case RUN_SIGNAL:
	case RUN_ITER:
		return mode == SCRIPT_RUNS;
	}
	return true;
}

void points_leave_out(const struct request *req, struct attach_point *ap)
{
	enum provider_run run = ap->provider->run;
	bool is_named = is_trial(ap->provider);
	struct place **last = &ap->places;

	if (!req->names_only && !req->lists_args && !mode_has(req->cmd.mode, run))
		ap->places = NULL;
	while (req->hooks.wanted && (run == RUN_ATTACHED || is_named) && *last)
		if (req->hooks.wanted(req, is_named ? (*last)->func : (*last)->name))
			last = &(*last)->next;
		else
			*last = (*last)->next;
}
