// SPDX-License-Identifier: Apache-2.0
/* go.h - Go's code: rules by address, from what its linker says of each function. */
#pragma once

#include "unwinders/lang.h"

/* The row of rows.c. */
extern const struct unwinder unwinder_go;
