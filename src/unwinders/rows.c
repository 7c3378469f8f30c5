// SPDX-License-Identifier: Apache-2.0
/* rows.c - the languages. */
#include "unwinder_row.h"

#include <stddef.h>

#include "python.h"

const struct unwinder *const unwinder_rows[] = {
	&unwinder_python,
	NULL,
};
