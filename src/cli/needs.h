// SPDX-License-Identifier: Apache-2.0
/* needs.h - checks that the machine can run a script. */
#pragma once
#include <stdbool.h>

struct target;

/* Returns false after an error that names the missing thing. */
bool needs_met(struct target *t);
