// SPDX-License-Identifier: Apache-2.0
/* builtins.c - the list of the families. */
#include "builtins.h"

const struct builtin *const builtin_families[] = {
	builtins_agg,
	builtins_assert,
	builtins_cgroup,
	builtins_change,
	builtins_clock,
	builtins_config,
	builtins_format,
	builtins_map,
	builtins_meta,
	builtins_net,
	builtins_output,
	builtins_path,
	builtins_probe,
	builtins_process,
	builtins_request,
	builtins_script,
	builtins_search,
	builtins_skb,
	builtins_stack,
	builtins_string,
	builtins_symbol,
	builtins_task,
	builtins_text,
	NULL,
};
