// SPDX-License-Identifier: Apache-2.0
/* value.h - the value of a macro's body, or of a block where a value stands. */
#pragma once

struct arena;
struct expr;
struct stmt;

/* The value of the last statement: of an expression without a ';' behind it, of an if with an else both of
 * whose blocks have one, or of a block. The statement is taken out of the block; the others go before the
 * value. NULL: it has none; then the block is of no use any more. */
struct expr *value_of_block(struct arena *a, struct stmt *block);
