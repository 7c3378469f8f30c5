// SPDX-License-Identifier: Apache-2.0
/* settings.h - the config block: `config = { max_strlen = 200 }`, and the environment
 * (BPFTRACE_MAX_STRLEN=200), which wins. */
#pragma once
#include <stdbool.h>

#include "model/settings.h"

struct diags;
struct script;

/* All settings, their defaults where the script and the environment are silent. False
 * after a complaint. */
bool settings_read(const struct script *s, struct diags *d, struct settings *ret);
/* The defaults alone. */
struct settings settings_default(void);
