// SPDX-License-Identifier: Apache-2.0
/* value.h - the value of a macro's body, or of a block in the place of a value. */
#pragma once

struct arena;
struct expr;
struct stmt;

/* Returns the value of the last statement: an expression without a ';', an if with an else whose blocks
 * both have a value, or a block. The statement is removed from the block; the other statements run before
 * the value. Returns NULL if there is no value; then the block cannot be used any more. */
struct expr *value_of_block(struct arena *a, struct stmt *block);
