/* SPDX-License-Identifier: Apache-2.0 */
/* late.h - the constructors of LLVM's archives, which late.ld keeps from running before main(). */
#pragma once

/* Runs them, once. Called before any function of LLVM, on the thread that compiles. */
void late_run(void);
