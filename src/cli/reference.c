// SPDX-License-Identifier: Apache-2.0
#include "reference.h"

#include <stddef.h>
#include <string.h>

#define MODE(name, help)
#define EXAMPLE(name, script)
#define STATEMENT(name, form, help, script) {#name, form, help, script},
#define SETTING(name, help, script)
const struct language_entry language_statements[] = {
#include "reference.def"
	{},
};
#undef STATEMENT
#undef SETTING

#define STATEMENT(name, form, help, script)
#define SETTING(name, help, script) {#name, NULL, help, script},
const struct language_entry language_settings[] = {
#include "reference.def"
	{},
};
#undef EXAMPLE
#undef SETTING
#undef MODE

#define EXAMPLE(name, script)
#define SETTING(name, help, script)
#define MODE(name, help) {#name, NULL, help, NULL},
const struct language_entry language_modes[] = {
#include "reference.def"
	{},
};
#undef EXAMPLE
#undef SETTING
#undef MODE

#define MODE(name, help)
#define EXAMPLE(name, script) {#name, script},
#define SETTING(name, help, script)
static const struct {
	const char *name, *script;
} examples[] = {
#include "reference.def"
};

const char *language_example(const char *name)
{
	for (size_t i = 0; i < sizeof(examples) / sizeof(*examples); i++)
		if (!strcmp(examples[i].name, name))
			return examples[i].script;
	return NULL;
}
