// SPDX-License-Identifier: Apache-2.0
/* gen_tick.c - counts the runs of a timer's program, see probes/ticks.h. */
#include <linux/bpf.h>

#include "gen.h"

/* The session maps the page. */
void gen_tick(struct gen *g, struct ir_block *out)
{
	const struct ir_map runs = {
		.name = IMAGE_TICKS,
		.type = BPF_MAP_TYPE_ARRAY,
		.key_size = 4,
		.value_size = 8,
		.max_entries = IMAGE_TICKS_MAX,
		.flags = BPF_F_MMAPABLE,
	};
	struct ir_block *found;
	struct ir *key, *run;

	if (!g->provider->counts_runs || g->img->nprogs > IMAGE_TICKS_MAX)
		return;
	found = ir_block(g->ir, "found");
	key = ir_alloca(g->ir, 8);
	ir_store(g->ir, key, 0, 4, ir_int(g->ir, g->img->nprogs - 1));
	run = gen_lookup(g, ir_map(g->ir, &runs), key);
	ir_branch(g->ir, ir_is_null(g->ir, run), out, found);
	ir_at(g->ir, found);
	ir_store(g->ir, run, 0, 8, ir_binary(g->ir, IR_ADD, ir_load(g->ir, run, 0, 8, false), ir_int(g->ir, 1)));
}
