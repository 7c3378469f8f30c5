/* SPDX-License-Identifier: Apache-2.0 */
/* rights.h - capabilities without which strata runs, but shows less. */
#pragma once

enum rights { RIGHTS_USER = 1, RIGHTS_KERNEL = 2 }; /* stacks of programs; names of the kernel's functions */

/* Warns about each missing capability that these need, with what is lost. */
void rights_warn(unsigned what);
