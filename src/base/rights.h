/* SPDX-License-Identifier: Apache-2.0 */
/* rights.h - capabilities without which strata runs, but shows less. */
#pragma once

enum rights { RIGHTS_USER = 1, RIGHTS_KERNEL = 2 }; /* stacks of programs; names of the kernel's functions */

/* Warns about each missing capability, and says what stacks lack without it. what: enum rights, the names that a script
 * needs. */
void rights_warn(unsigned what);
