// SPDX-License-Identifier: Apache-2.0
/* peer_options.h - options that bpftrace has and strata has not. */
#pragma once
#include <stdbool.h>

struct peer_option {
	const char *name; /* as written: "--fmt", "-b" */
	bool takes_arg;
	const char *instead; /* what to use, for a hint; NULL: it asks for nothing that strata does not do anyway */
};

/* word: "--fmt", "--mode=test". NULL: bpftrace has no such option either. */
const struct peer_option *peer_option(const char *word);

/* bpftrace's name of a stage of -d; NULL: it has none of that name. */
struct peer_stage {
	const char *name;
	const char *stage;   /* strata's; or NULL */
	const char *instead; /* else what to use */
};
const struct peer_stage *peer_stage(const char *name);
