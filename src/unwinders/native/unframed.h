// SPDX-License-Identifier: Apache-2.0
/* unframed.h - rules for code without call frame information, such as assembler: its instructions are followed, on
 * x86_64 and arm64. The userspace half of no BPF file: the rules are those of .eh_frame. Code is untrusted. */
#pragma once
#include <stdbool.h>

#include "ehframe.h"

struct elf;

/* Adds rules where rows has none, or only RULE_FP. functions: also sets the functions that were found there,
 * ascending; NULL: they are not wanted. Where a function is not understood there is no new rule, and the walk marks
 * stacks that come through it. Returns false if large pieces of code were left out, because a unit of strata agent had
 * no room (base/allowance.h). */
bool unframed_rows(struct elf *e, struct eh_rows *rows, struct eh_ranges *functions);
/* Sets only the functions. This needs half the memory: the rows of a large file take 30 MB. */
void unframed_functions(struct elf *e, const struct eh_rows *rows, struct eh_ranges *functions);
