/* SPDX-License-Identifier: Apache-2.0 */
/* allowance.h - the memory that strata agent allows a unit at present: a number in memory that the agent and its units
 * share. The agent changes it, because all units together have one limit. */
#pragma once
#include <stdint.h>

/* The variables with the number of the file and with the unit's place in it. */
#define ALLOWANCE_FD "STRATA_MEMORY_FD"
#define ALLOWANCE_AT "STRATA_MEMORY_AT"
enum { ALLOWANCE_NUMBER = 4, ALLOWANCES = 512 /* 64-bit numbers of the file */ };

/* Reads the environment, and removes both variables, so that commands do not inherit them. */
void allowance_open(void);
/* Returns the bytes that this process may use, or 0 if nobody limits it. */
uint64_t allowance(void);
