// SPDX-License-Identifier: Apache-2.0
/* settings.h - the config block, `config = { max_strlen = 200 }`, and the environment
 * (BPFTRACE_MAX_STRLEN=200), which takes precedence. */
#pragma once
#include <stdbool.h>

#include "model/settings.h"

struct diags;
struct script;

/* Reads the settings of the script and of the environment; the others get their defaults. Returns false
 * after an error. */
bool settings_read(const struct script *s, struct diags *d, struct settings *ret);
/* Reads the i-th setting in the order of names, from 0 on. Returns false after the last one. */
struct setting_value {
	const char *name;
	enum setting_kind { SETTING_NUMBER, SETTING_TRUTH, SETTING_TEXT } kind;
	uint64_t number;  /* NUMBER, TRUTH */
	const char *text; /* TEXT */
};
bool settings_nth(const struct settings *s, unsigned i, struct setting_value *ret);
/* Returns the default settings. */
struct settings settings_default(void);
/* Returns whether the script or the environment sets the setting of that name, which must exist. */
bool settings_given(const struct settings *s, const char *name);
