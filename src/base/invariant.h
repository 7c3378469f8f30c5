// SPDX-License-Identifier: Apache-2.0
/* invariant.h - checks that a structure's own code keeps its guarantees. Only the build with sanitizers
 * checks it, and ends the program on a violation. Wrong input is not a violation: it gets an error. */
#pragma once

#ifdef __SANITIZE_ADDRESS__
#include <assert.h>
#define INVARIANT(holds) assert(holds)
#else
#define INVARIANT(holds) ((void)sizeof(!(holds)))
#endif
