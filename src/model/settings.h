// SPDX-License-Identifier: Apache-2.0
/* settings.h - what a config block and the environment can set. */
#pragma once
#include <stdint.h>

enum missing_probes { MISSING_ERROR, MISSING_WARN, MISSING_IGNORE };

struct settings {
	uint64_t js_source_maps; /* read source maps: show JavaScript as it was written */
	uint64_t max_cache_mb;  /* largest size of the cache directory, in MiB */
	uint64_t max_cat_bytes; /* of a file that cat() prints */
	uint64_t max_map_keys;  /* elements of a map */
	uint64_t max_memory_mb; /* for tables and files, in MiB: see unwinders_limit() */
	uint64_t max_probes;    /* places that the whole script may be attached to */
	uint64_t max_strlen;    /* bytes of a string as str() reads it, with the NUL */
	uint64_t missing_probes; /* enum missing_probes: what an attach point is that finds nothing */
	uint64_t perf_rb_pages; /* size of the ring buffer in pages; 0: chosen by what the script sends */
	uint64_t print_maps_on_exit;
	uint64_t stack_mode;    /* enum stack_mode: of stacks for which the script names none */
};
