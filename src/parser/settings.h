// SPDX-License-Identifier: Apache-2.0
/* settings.h - the config block: `config = { max_strlen = 200 }`, and the environment
 * (BPFTRACE_MAX_STRLEN=200), which wins. */
#pragma once
#include <stdbool.h>

#include "model/settings.h"

struct diags;
struct script;

/* The settings of the script and of the environment, defaults for the others. False after an
 * error. */
bool settings_read(const struct script *s, struct diags *d, struct settings *ret);
/* The i-th of them, from 0 on, by name; false: there are no more. */
struct setting_value {
	const char *name;
	enum setting_kind { SETTING_NUMBER, SETTING_TRUTH, SETTING_TEXT } kind;
	uint64_t number;  /* NUMBER, TRUTH */
	const char *text; /* TEXT */
};
bool settings_nth(const struct settings *s, unsigned i, struct setting_value *ret);
/* The defaults alone. */
struct settings settings_default(void);
/* Whether the script or the environment sets the setting of that name, which must exist. */
bool settings_given(const struct settings *s, const char *name);
