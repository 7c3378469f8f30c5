// SPDX-License-Identifier: Apache-2.0
/* output.c - the list of formats. See output.h. */
#include "output.h"

#include <inttypes.h>
#include <string.h>

#include "base/diag.h"
#include "base/log.h"
#include "base/owner.h"

const struct output *const outputs[] = {
#define O(name) &output_##name,
#include "outputs.def"
#undef O
	NULL,
};

const struct output *output_by_name(const char *name)
{
	for (const struct output *const *o = outputs; *o; o++)
		if (!strcmp((*o)->name, name))
			return *o;
	return NULL;
}

const char *output_nearest(const char *written)
{
	const char *names[ARRAY_SIZE(outputs)];
	size_t n = 0;

	for (; outputs[n]; n++)
		names[n] = outputs[n]->name;
	return nearest(written, names, n);
}

void output_event_log(struct out *o, const struct output_event *e)
{
	switch (e->kind) {
	case OUTPUT_ATTACHED:
		if (!o->quiet && !e->early)
			fprintf(stderr, "Attached %" PRIu64 " probe%s\n", e->n, e->n == 1 ? "" : "s");
		break;
	case OUTPUT_LOST:
		log_warn("%" PRIu64 " %s", e->n, e->what);
		break;
	}
}
