// SPDX-License-Identifier: Apache-2.0
/* why.c - explains errors of the kernel to a user. */
#include "why.h"

#include <errno.h>
#include <linux/capability.h>
#include <string.h>
#include <sys/syscall.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

#include "base/log.h"
#include "base/memory.h"

enum { ENOTSUPP_KERNEL = 524 }; /* an error of the kernel that errno.h lacks */

/* ENOMEM: the kernel has no memory, or strata is at a limit of its own. */
static const char *no_memory(void)
{
	static char text[160];
	char limit[128];

	if (!memory_limit(limit, sizeof(limit)))
		return "no memory for it in the kernel";
	snprintf(text, sizeof(text), "out of memory: %s", limit);
	return text;
}

const char *why_errno(int r)
{
	switch (-r) {
	case EPERM:
	case EACCES:
		return "the kernel does not permit it";
	case ENOENT:
		return "it does not exist";
	case ENODEV:
		return "this machine has no such device or event";
	case EINVAL:
		return "the kernel does not take it";
	case EOPNOTSUPP:
	case ENOTSUPP_KERNEL:
		return "this kernel does not support it";
	case ENOMEM:
		return no_memory();
	case E2BIG:
		return "it is larger than the kernel allows";
	case EMFILE:
	case ENFILE:
		return "too many files are open (raise ulimit -n)";
	case ESRCH:
		return "there is no such process";
	case EEXIST:
		return "it is there already";
	case ENOSPC:
	case EDQUOT:
		return "no space is left on the device";
	case EPIPE:
		return "its reader has gone";
	case EBUSY:
		return "it is in use";
	case EILSEQ:
		return "the instruction there cannot be probed";
	default:
		return strerror(-r);
	}
}

const char *why_write(int r)
{
	if (r == -EFBIG)
		return "the file would be larger than ulimit -f allows";
	return r == -ENOENT ? "its directory does not exist" : why_errno(r);
}

static bool has_cap(unsigned cap)
{
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[2] = {};

	if (syscall(SYS_capget, &head, data))
		return false;
	return data[cap / 32].effective >> (cap % 32) & 1;
}

void why_hint(int r)
{
	if (r != -EPERM && r != -EACCES)
		return;
	if (has_cap(CAP_SYS_ADMIN))
		log_hint("a security module, lockdown or kernel.perf_event_paranoid forbids it");
	else if (!has_cap(CAP_PERFMON))
		log_hint("CAP_PERFMON is missing: run strata as root (sudo strata ...)");
	else if (!has_cap(CAP_BPF))
		log_hint("CAP_BPF is missing: run strata as root (sudo strata ...)");
}

void why_no_bpf(int r)
{
	if (r == -EPERM && !has_cap(CAP_SYS_ADMIN) && !(has_cap(CAP_BPF) && has_cap(CAP_PERFMON)))
		log_error("tracing needs root, or the capabilities CAP_BPF and CAP_PERFMON: "
			  "run it as `sudo strata ...`");
	else
		log_error("the kernel refuses BPF programs: %s", why_errno(r));
}
