// SPDX-License-Identifier: Apache-2.0
/* rights.c - the effective capabilities of this process, by capget(2). Without CAP_BPF and CAP_PERFMON nothing runs,
 * and the error that follows names them. */
#include "rights.h"

#include <linux/capability.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "log.h"
#include "owner.h"

static bool has(const struct __user_cap_data_struct *data, unsigned capability)
{
	return data[CAP_TO_INDEX(capability)].effective & CAP_TO_MASK(capability);
}

void rights_warn(unsigned what)
{
	static const struct {
		unsigned needs, capability;
		const char *name, *lost;
	} rows[] = {
		{RIGHTS_USER, CAP_DAC_READ_SEARCH, "DAC_READ_SEARCH",
			"stacks of other users' processes may end early and have no names"},
		{RIGHTS_KERNEL, CAP_SYSLOG, "SYSLOG", "kernel functions have no names"},
		{RIGHTS_USER, CAP_SYS_PTRACE, "SYS_PTRACE",
			"functions of JavaScript have no names, and processes that /proc hides have no stacks"},
	};
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {};

	if (syscall(SYS_capget, &head, data) || !has(data, CAP_BPF) || !has(data, CAP_PERFMON))
		return;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (rows[i].needs & what && !has(data, rows[i].capability))
			log_warn("CAP_%s is missing: %s", rows[i].name, rows[i].lost);
}
