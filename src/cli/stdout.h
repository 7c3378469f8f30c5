// SPDX-License-Identifier: Apache-2.0
/* stdout.h - the end of a command that prints by stdio: all modes but running a script do. */
#pragma once

/* Flushes stdout. Returns code, or the exit status of a failed write. */
int stdout_check(int code);
