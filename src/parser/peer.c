// SPDX-License-Identifier: Apache-2.0
/* peer.c - names that bpftrace has and strata does not have yet, for error messages. A name is removed here
 * when strata gets it. */
#include "builtin_names.h"

#include <string.h>
#include <strings.h>

#include "base/diag.h"

static const char *const functions[] = {
	"unwatch",
};

static const char *const probes[] = {
	"asyncwatchpoint",
};

/* Keywords that the grammar does not have. */
static const char *const words[] = {"fn"};

static bool among(const char *name, const char *const *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(list[i], name))
			return true;
	return false;
}

#define AMONG(name, list) among(name, list, sizeof(list) / sizeof((list)[0]))

bool peer_has(enum peer_kind kind, const char *name)
{
	switch (kind) {
	case PEER_FUNCTION:
		return AMONG(name, functions);
	case PEER_PROBE:
		return AMONG(name, probes);
	case PEER_WORD:
		return AMONG(name, words);
	}
	return false;
}
