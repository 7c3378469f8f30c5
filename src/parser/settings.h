// SPDX-License-Identifier: Apache-2.0
/* settings.h - the config block: `config = { max_strlen = 200 }`, and the environment
 * (BPFTRACE_MAX_STRLEN=200), which wins. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "type.h"

struct diags;
struct script;

enum missing_probes { MISSING_ERROR, MISSING_WARN, MISSING_IGNORE };

struct settings {
	uint64_t js_source_maps; /* JavaScript's frames are told as they were before a compiler */
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

/* All settings, their defaults where the script and the environment are silent. False
 * after a complaint. */
bool settings_read(const struct script *s, struct diags *d, struct settings *ret);
/* The defaults alone. */
struct settings settings_default(void);

/* The mode of a stack by its name; see stack_mode_names, too. */
bool stack_mode_by_name(const char *name, enum stack_mode *ret);
