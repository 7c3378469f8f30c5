// SPDX-License-Identifier: Apache-2.0
/* rows.c - the languages. */
#include "unwinder_row.h"

#include <stddef.h>

#include "go.h"
#include "python.h"
#include "v8.h"

const struct unwinder *const unwinder_rows[] = {
	&unwinder_python,
	&unwinder_go,
	&unwinder_v8,
	NULL,
};
