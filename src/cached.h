// SPDX-License-Identifier: Apache-2.0
/* cached.h - compiled scripts in the cache directory. */
#pragma once
#include <stdbool.h>

struct options;

/* Does what script_compile() does, and keeps the image; or takes the image of an earlier run that had the same script,
 * options and machine. */
bool cached_compile(struct options *o);
