// SPDX-License-Identifier: Apache-2.0
#include "version.h"

#include <string.h>

#include "commit.h"

const char *version(void)
{
	return !strcmp(COMMIT, VERSION) || !strcmp(COMMIT, "v" VERSION) ? VERSION : VERSION " (" COMMIT ")";
}
