// SPDX-License-Identifier: Apache-2.0
/* invariant.h - what a structure's own code guarantees: looked at in the build with sanitizers alone,
 * which ends where it does not hold. Never for input: that gets an error. */
#pragma once

#ifdef __SANITIZE_ADDRESS__
#include <assert.h>
#define INVARIANT(holds) assert(holds)
#else
#define INVARIANT(holds) ((void)sizeof(!(holds)))
#endif
