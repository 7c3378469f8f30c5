// SPDX-License-Identifier: Apache-2.0
/* needs.h - what strata needs of the machine before it can run a script. */
#pragma once
#include <stdbool.h>

struct target;

/* False after an error that names what is missing. */
bool needs_met(struct target *t);
