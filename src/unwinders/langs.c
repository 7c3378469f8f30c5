// SPDX-License-Identifier: Apache-2.0
/* rows.c - the languages. */
#include "lang.h"

#include <stddef.h>

#include "unwinders/go/go.h"
#include "unwinders/python/python.h"
#include "unwinders/v8/v8.h"

const struct unwinder *const unwinder_rows[] = {
	&unwinder_python,
	&unwinder_go,
	&unwinder_v8,
	NULL,
};
