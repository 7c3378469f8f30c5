// SPDX-License-Identifier: Apache-2.0
/* namespace.c - warns about features that do not work in a container. */
#include "namespace.h"

#include "base/log.h"
#include "model/image.h"
#include "model/provider.h"
#include "target/target.h"

/* Returns whether programs see other processes than those of -p and -c. */
static bool is_system_wide(const struct image *img)
{
	for (unsigned i = 0; i < img->nprogs; i++)
		if (img->progs[i].provider->run == RUN_ATTACHED &&
			!img->progs[i].provider->any_process)
			return true;
	return false;
}

void namespace_warn(struct target *t, const struct image *img, bool one)
{
	const struct pid_ns *ns = target_pid_ns(t);

	if (ns->no_proc || ns->foreign_proc) {
		log_warn(ns->no_proc ? "/proc is not mounted: nothing is known of processes" :
			"/proc is that of another PID namespace: names and stacks of processes will "
			"be missing or wrong");
		log_hint("mount -t proc proc /proc");
	} else if (ns->inode && !one && is_system_wide(img)) {
		log_warn("strata is in a PID namespace (a container): processes outside of it have "
			 "pid 0 and no user stacks");
	}
}
