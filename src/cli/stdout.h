// SPDX-License-Identifier: Apache-2.0
/* stdout.h - checks stdout at the end of a command that prints with stdio: all modes do, except running a
 * script. */
#pragma once

/* Flushes stdout. Returns code, or the exit status of a failed write. */
int stdout_check(int code);
