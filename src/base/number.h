/* SPDX-License-Identifier: Apache-2.0 */
/* number.h - reads integers as scripts write them: 12  1_000  0x1f  017  5e3. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Reads the number at the beginning of the text and its length. Returns 0 on success, -EINVAL if no number
 * begins there, -ERANGE if it does not fit. */
int number_read(const char *text, size_t len, uint64_t *ret, size_t *ret_len);

/* Reads a whole literal, which may have a suffix (10ull) or a unit of time (5ms, converted to nanoseconds).
 * Returns the same values as number_read(). */
int number_literal(const char *text, size_t len, uint64_t *ret);

/* Returns whether the whole text is a number that fits. */
bool number_is(const char *text, uint64_t *ret);
