// SPDX-License-Identifier: Apache-2.0
/* needs.c - checks strata's needs at the start, since libraries would otherwise fail one after another with
 * other errors. */
#include "needs.h"

#include <unistd.h>

#include "base/files.h"
#include "base/log.h"
#include "target/target.h"

enum { FILES_MIN = 20 }; /* open files that the smallest script needs */

static bool has_proc(void)
{
	if (!access("/proc/self/fd", X_OK))
		return true;
	log_error("/proc is not mounted: strata links BPF programs and reads processes there");
	log_hint("mount -t proc proc /proc");
	return false;
}

static bool has_sys(struct target *t)
{
	if (!access(target_path(t, "/sys/devices/system/cpu/possible"), R_OK))
		return true;
	log_error("/sys is not mounted: it is not known how many CPUs there are");
	log_hint("mount -t sysfs sysfs /sys");
	return false;
}

bool needs_met(struct target *t)
{
	return !files_suffice(FILES_MIN) && has_proc() && has_sys(t);
}
