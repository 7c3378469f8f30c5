// SPDX-License-Identifier: Apache-2.0
/* stdout.c - checks that all output was written. */
#include "stdout.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>

#include "base/log.h"
#include "base/why.h"

int stdout_check(int code)
{
	errno = 0;
	if (!fflush(stdout) && !ferror(stdout))
		return code;
	if (errno == EPIPE)
		return 128 + SIGPIPE;
	log_error("cannot write to the standard output: %s",
		errno ? why_errno(-errno) : "a write failed");
	return 1;
}
