/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
#include "types.h"

/* A macro of Linux' headers, as AF_INET: false if it is not in the table. */
bool known_constant(const char *name, struct constant *ret);
