// SPDX-License-Identifier: Apache-2.0
/* settings.h - the settings of a config block and of the environment. */
#pragma once
#include <stdint.h>

enum missing_probes { MISSING_ERROR, MISSING_WARN, MISSING_IGNORE };
/* Whether a script may use features that bpftrace calls unstable. */
enum unstable { UNSTABLE_ENABLE, UNSTABLE_WARN, UNSTABLE_ERROR };
/* The key of bpftrace's cache of symbols. */
enum symbol_cache { SYMBOLS_PER_PID, SYMBOLS_PER_PROGRAM, SYMBOLS_NONE };

/* Settings marked with 0 are bpftrace's and have no effect. strata(8) has the reasons. */
struct settings {
	uint64_t given;         /* bits of settings that are set; see settings_given() */
	uint64_t all_processes; /* probes also fire in processes that -p and -c exclude; see `traced` */
	uint64_t cache_user_symbols; /* 0; enum symbol_cache */
	uint64_t cpp_demangle;  /* show functions of C++ and Rust in the form of their source */
	uint64_t find_lost;     /* before end, put lost blocks of @kept into @lost: see session/session_lost.c */
	uint64_t inlines;       /* show inlined functions and lines of native code */
	uint64_t js_source_maps; /* read source maps, to show JavaScript in the form of its source */
	uint64_t lazy_symbolication; /* 0 */
	const char *license;    /* 0; a license that the kernel accepts as GPL */
	uint64_t log_size;      /* 0 */
	uint64_t max_bpf_progs; /* the most BPF programs of a script */
	uint64_t max_cache_mb;  /* largest size of the cache directory, in MiB */
	uint64_t max_cat_bytes; /* the most bytes of a file that cat() prints */
	uint64_t max_hold_mb;   /* the most bytes of records that hold() keeps, in MiB */
	uint64_t max_hold_time; /* ns after which records that hold() keeps are dropped */
	uint64_t max_map_keys;  /* the most elements of a map */
	uint64_t max_memory_mb; /* limit of tables and files, in MiB: see unwinders_limit() */
	uint64_t max_probes;    /* the most places to which the whole script may be attached */
	uint64_t max_strlen;    /* bytes of a string that str() reads, with the NUL */
	uint64_t missing_probes; /* enum missing_probes: effect of an attach point that matches nothing */
	uint64_t on_stack_limit; /* 0 */
	uint64_t perf_rb_pages; /* pages of the ring buffer; 0: the size depends on the script's records */
	uint64_t print_answer;   /* begin with a line for each map of stacks: the own function with the most */
	uint64_t print_empty_stacks; /* the text of a key has its empty stacks, as in bpftrace */
	uint64_t print_idle_stacks; /* maps have the waits that are idle by nature; --idle sets it */
	uint64_t print_maps_on_exit;
	uint64_t print_startup_stacks; /* maps have the memory of the C library's start; --startup sets it */
	uint64_t print_table;    /* maps with equal keys are columns of one table */
	uint64_t show_debug_info; /* 0 */
	uint64_t stack_mode;    /* enum stack_mode: mode of stacks for which the script does not name one */
	const char *str_trunc_trailer; /* the end of a string that str() has cut */
	uint64_t thin;          /* profile probes run once in `thin` periods, and their aggregations count as often */
	uint64_t unstable_dw_ustack, unstable_import_statement, unstable_tseries,
		unstable_typeinfo; /* enum unstable */
	uint64_t use_blazesym;  /* 0 */
	uint64_t window;        /* ns after which aggregations are printed and begin anew; 0: only at the end */
};
