/* SPDX-License-Identifier: Apache-2.0 */
/* allowance.h - the memory that strata agent allows a unit at present: numbers in memory that the agent and its units
 * share. The agent changes them once a second, because all units together have one limit.
 *
 * Work that needs much memory for a short time, such as the tables of a large program, is done by one unit at a time,
 * and only if there is room for it. The turn is a lock on the file, which the kernel takes back from a unit that
 * ends. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

/* The variables with the number of the file and with the unit's place in it. */
#define ALLOWANCE_FD "STRATA_MEMORY_FD"
#define ALLOWANCE_AT "STRATA_MEMORY_AT"
enum { ALLOWANCE_NUMBER = 4, ALLOWANCES = 512 };

struct allowances { /* contents of the file: bytes */
	uint64_t allowed[ALLOWANCES]; /* by unit; 0: no limit, or not yet known */
	uint64_t shared[ALLOWANCES];  /* by unit: pages that other processes have, too, less its share of them */
	uint64_t limit;  /* of all processes; 0: none */
	uint64_t room;   /* that nobody used at the agent's last look, less what units have taken since then */
	uint64_t wanted; /* the largest room that a unit did not get since that look */
	uint64_t busy;   /* place of the unit that has memory for a short time, + 1; 0: none */
};

/* Reads the environment, and removes both variables, so that commands do not inherit them. */
void allowance_open(void);
/* Returns whether this process is a unit of an agent. */
bool allowance_is_unit(void);
/* Returns the bytes that this process may use, or 0 if nobody limits it. */
uint64_t allowance(void);
/* Returns the bytes of this process that the agent counts for others. A limit of its own does not include them. */
uint64_t allowance_shared(void);

/* Waits for this unit's turn, for a second at most. Returns whether it has it. Turns nest. Outside of the agent it is
 * always this process's turn. */
bool allowance_begin(void);
void allowance_end(void);
/* Returns whether there is room for so many bytes until the turn ends. If not, the agent asks the units for them at its
 * next look. Only the unit whose turn it is may ask. */
bool allowance_fits(uint64_t bytes);
/* Counts bytes that this unit has taken (or, if negative, given back) for longer. */
void allowance_take(int64_t bytes);
