// SPDX-License-Identifier: Apache-2.0
/* settings.h - what a config block and the environment can set. */
#pragma once
#include <stdint.h>

enum missing_probes { MISSING_ERROR, MISSING_WARN, MISSING_IGNORE };

struct settings {
	uint64_t js_source_maps; /* JavaScript's frames have the positions of the source before a compiler */
	uint64_t max_cache_mb;  /* 2^20 bytes of the directory of tables */
	uint64_t max_map_keys;  /* elements of a map */
	uint64_t max_memory_mb; /* 2^20 bytes of memory for tables and files, see unwinders_limit() */
	uint64_t max_probes;    /* places of the whole script */
	uint64_t max_strlen;    /* bytes of a string as str() reads it, with the NUL */
	uint64_t missing_probes; /* enum missing_probes: of an attach point without place */
	uint64_t perf_rb_pages; /* pages of the ring buffer; 0: by what the script does */
	uint64_t print_maps_on_exit;
	uint64_t stack_mode;    /* enum stack_mode: where a stack names none */
};
