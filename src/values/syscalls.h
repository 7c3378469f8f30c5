// SPDX-License-Identifier: Apache-2.0
/* syscalls.h - the system calls of the machine that strata runs on. */
#pragma once
#include <stdint.h>

/* Returns "openat", or NULL if no system call has the number. */
const char *syscall_name(int64_t number);
