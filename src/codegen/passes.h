/* SPDX-License-Identifier: Apache-2.0 */
/* passes.h - LLVM's passes over a script's functions. */
#pragma once
#include <llvm-c/TargetMachine.h>
#include <llvm-c/Types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Simplifies every function of the module: SROA, EarlyCSE, InstCombine, SimplifyCFG. */
void ir_run_passes(LLVMModuleRef module, LLVMTargetMachineRef machine);

#ifdef __cplusplus
}
#endif
