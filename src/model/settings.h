// SPDX-License-Identifier: Apache-2.0
/* settings.h - what a config block and the environment can set. */
#pragma once
#include <stdint.h>

enum missing_probes { MISSING_ERROR, MISSING_WARN, MISSING_IGNORE };
/* Whether a script may use what bpftrace calls unstable. */
enum unstable { UNSTABLE_ENABLE, UNSTABLE_WARN, UNSTABLE_ERROR };
/* What bpftrace caches symbols by. */
enum symbol_cache { SYMBOLS_PER_PID, SYMBOLS_PER_PROGRAM, SYMBOLS_NONE };

/* Those marked with 0 are bpftrace's and change nothing: strata(8) has the reasons. */
struct settings {
	uint64_t given;         /* bits of the settings that the script or the environment sets: settings_given() */
	uint64_t all_processes; /* probes fire in processes that -p and -c leave out, too: see `traced` */
	uint64_t cache_user_symbols; /* 0: enum symbol_cache */
	uint64_t cpp_demangle;  /* show functions of C++ and Rust as they were written */
	uint64_t js_source_maps; /* read source maps: show JavaScript as it was written */
	uint64_t lazy_symbolication; /* 0 */
	const char *license;    /* 0: one that the kernel takes for the GPL */
	uint64_t log_size;      /* 0 */
	uint64_t max_bpf_progs; /* BPF programs that a script may be */
	uint64_t max_cache_mb;  /* largest size of the cache directory, in MiB */
	uint64_t max_cat_bytes; /* of a file that cat() prints */
	uint64_t max_map_keys;  /* elements of a map */
	uint64_t max_memory_mb; /* for tables and files, in MiB: see unwinders_limit() */
	uint64_t max_probes;    /* places that the whole script may be attached to */
	uint64_t max_strlen;    /* bytes of a string as str() reads it, with the NUL */
	uint64_t missing_probes; /* enum missing_probes: what an attach point is that finds nothing */
	uint64_t on_stack_limit; /* 0 */
	uint64_t perf_rb_pages; /* size of the ring buffer in pages; 0: chosen by what the script sends */
	uint64_t print_maps_on_exit;
	uint64_t show_debug_info; /* 0 */
	uint64_t stack_mode;    /* enum stack_mode: of stacks for which the script names none */
	const char *str_trunc_trailer; /* what a string ends in that str() has cut */
	uint64_t unstable_dw_ustack, unstable_import_statement, unstable_tseries,
		unstable_typeinfo; /* enum unstable */
	uint64_t use_blazesym;  /* 0 */
};
