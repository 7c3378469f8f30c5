// SPDX-License-Identifier: Apache-2.0
/* peer_options.h - options of bpftrace that strata lacks. */
#pragma once
#include <stdbool.h>

struct peer_option {
	const char *name; /* as the user writes it: "--fmt", "-b" */
	bool takes_arg;
	const char *instead; /* the replacement, for a hint; NULL if strata does the same without the option */
};

/* word is "--fmt" or "--mode=test". Returns NULL if bpftrace has no such option either. */
const struct peer_option *peer_option(const char *word);

/* Finds a stage of -d by bpftrace's name. Returns NULL if there is no such name. */
struct peer_stage {
	const char *name;
	const char *stage;   /* strata's name, or NULL */
	const char *instead; /* the replacement if stage is NULL */
};
const struct peer_stage *peer_stage(const char *name);
