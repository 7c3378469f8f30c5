// SPDX-License-Identifier: Apache-2.0
/* needs.h - what strata needs of the machine before it can run a script. */
#pragma once
#include <stdbool.h>

struct target;

/* Returns false after an error that names the missing thing. */
bool needs_met(struct target *t);
