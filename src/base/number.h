/* SPDX-License-Identifier: Apache-2.0 */
/* number.h - integers as scripts write them: 12  1_000  0x1f  017  5e3. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Reads the number at the beginning of the text, and gives its length. Returns 0 on success, -EINVAL where no
 * number begins, -ERANGE if it does not fit. */
int number_read(const char *text, size_t len, uint64_t *ret, size_t *ret_len);

/* A whole literal, which may have a suffix: 10ull, or a unit of time, which makes nanoseconds of it: 5ms.
 * Returns as number_read() does. */
int number_literal(const char *text, size_t len, uint64_t *ret);

/* Is the whole text a number that fits? */
bool number_is(const char *text, uint64_t *ret);
