/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
#include "types.h"

/* Finds a macro of Linux headers, such as AF_INET. Returns false if it is not in the table. */
bool known_constant(const char *name, struct constant *ret);
