// SPDX-License-Identifier: Apache-2.0
/* known_constants.c - macros of headers that may be missing on this machine. */
#include "known_constants.h"

#include <string.h>

#include "base/owner.h"
#include "model/type.h"

#define K(name, value) {#name, (uint64_t)(value)},
static const struct known {
	const char *name;
	uint64_t value;
} list[] = {
#include "known_constants.def"
};
#undef K

bool known_constant(const char *name, struct constant *ret)
{
	for (size_t i = 0; i < ARRAY_SIZE(list); i++)
		if (!strcmp(list[i].name, name)) {
			*ret = (struct constant){.type = type_int(4, true), .value = list[i].value};
			return true;
		}
	return false;
}
