// SPDX-License-Identifier: Apache-2.0
/* files.c - the limit on open files, RLIMIT_NOFILE. */
#include "base/files.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/log.h"

static struct rlimit before;

void files_raise(void)
{
	struct rlimit most;

	if (getrlimit(RLIMIT_NOFILE, &before))
		return;
	most = (struct rlimit){before.rlim_max, before.rlim_max};
	setrlimit(RLIMIT_NOFILE, &most);
}

void files_restore(void)
{
	if (before.rlim_max)
		setrlimit(RLIMIT_NOFILE, &before);
}

/* The kernel hands out the lowest free number: if that number plus n is below the limit, n files fit. */
int files_suffice(unsigned n)
{
	int next = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0);
	struct rlimit limit;

	if (next >= 0)
		close(next);
	if (getrlimit(RLIMIT_NOFILE, &limit) || (next >= 0 && (unsigned)next + n <= limit.rlim_cur))
		return 0;
	log_error("too few files may be open: ulimit -n is %lu, strata needs about %u for this",
		(unsigned long)limit.rlim_cur, next < 0 ? n : next + n);
	return -EMFILE;
}
