// SPDX-License-Identifier: Apache-2.0
/* environment.c - see environment.h. */
#include "environment.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/diag.h"
#include "base/log.h"
#include "base/owner.h"

/* The first ones are for users, the others for the tests of strata. */
enum { FOR_USERS = 2 };
static const char *const known[] = {
	"STRATA_CACHE_DIR", "STRATA_NO_IMAGES", "STRATA_VERIFY_IR",
	"STRATA_FEW", "STRATA_GO", "STRATA_NODE", "STRATA_NO_PEER", "STRATA_PACKAGES", "STRATA_PHP", "STRATA_PYTHONS",
	"STRATA_BEAM", "STRATA_LUA", "STRATA_PERL", "STRATA_RUBY", "STRATA_SLOW",
};

void environment_check(void)
{
	for (char **variable = environ; *variable; variable++) {
		size_t n = strcspn(*variable, "=");
		char name[64];
		bool is_known = false;
		const char *near;

		if (strncmp(*variable, "STRATA_", strlen("STRATA_")) != 0 || n >= sizeof(name))
			continue;
		snprintf(name, sizeof(name), "%.*s", (int)n, *variable);
		for (size_t i = 0; i < ARRAY_SIZE(known); i++)
			is_known |= !strcmp(name, known[i]);
		if (is_known)
			continue;
		near = nearest(name, known, FOR_USERS);
		log_warn("%s in the environment has no effect: strata has no such variable", name);
		if (near)
			log_hint("did you mean %s?", near);
	}
}
