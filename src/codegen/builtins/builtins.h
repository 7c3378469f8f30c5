// SPDX-License-Identifier: Apache-2.0
/* builtins.h - functions that the files of builtins share, and the families of builtins. */
#pragma once
#include "base/arena.h"
#include "base/owner.h"
#include "codegen/gen.h"
#include "model/builtin.h"
#include "model/type.h"
#include "parser/check.h"

#define BUILTINS_END {.name = NULL}

extern const struct builtin builtins_agg[];
extern const struct builtin builtins_assert[];
extern const struct builtin builtins_cgroup[];
extern const struct builtin builtins_change[];
extern const struct builtin builtins_clock[];
extern const struct builtin builtins_config[];
extern const struct builtin builtins_format[];
extern const struct builtin builtins_map[];
extern const struct builtin builtins_meta[];
extern const struct builtin builtins_net[];
extern const struct builtin builtins_output[];
extern const struct builtin builtins_path[];
extern const struct builtin builtins_probe[];
extern const struct builtin builtins_process[];
extern const struct builtin builtins_request[];
extern const struct builtin builtins_script[];
extern const struct builtin builtins_search[];
extern const struct builtin builtins_skb[];
extern const struct builtin builtins_stack[];
extern const struct builtin builtins_string[];
extern const struct builtin builtins_symbol[];
extern const struct builtin builtins_task[];
extern const struct builtin builtins_text[];

/* In task.c: returns the process id in strata's PID namespace. */
struct ir *gen_current_pid(struct gen *g);
